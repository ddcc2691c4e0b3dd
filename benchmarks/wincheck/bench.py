"""Win check of this engine and of the `mahjong` library on the same winning hands, in one run.

    python benchmarks/wincheck/bench.py [--hands N] [--json]

Every figure is the median of five passes over N hands, in thousand hands per second of CPU time.
`mahjong` gets its counts of 34 kinds ready made, and again counted from the tile ids this engine starts from.
"""

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from mahjong.agari import Agari

from engine import rulesets
from engine.notation import parse_claim
from engine.tiles import KINDS, Tile
from engine.verdict import Outcome
from engine.wincheck import WinChecker, counts_of, wins
from engine.wintable import honour_row, suit_rows

PASSES = 5
WILD = Tile.S6
VERDICTS = {
    0: "123m456m789m11z34s +5s flip=1p how=self seat=0",
    4: "2222p13m46m79m11z5s +5s flip=1p how=self seat=0",
}


def winning_hand(rng, sets):
    """Ids of a random winning hand, shuffled, at most four of a kind, none of the wildcard kind."""
    while True:
        tiles = [rng.randrange(KINDS)] * 2
        for _ in range(sets):
            first = rng.randrange(KINDS)
            run = first < 27 and first % 9 < 7 and rng.random() < 0.6
            tiles += [first, first + 1, first + 2] if run else [first] * 3
        if WILD not in tiles and max(map(tiles.count, tiles)) <= 4:
            rng.shuffle(tiles)
            return tiles


def rates(contestants):
    """Thousand hands per second of CPU time by name, each with its list of hands; all hands must win.

    The contestants take turns in every pass, so that a busy machine slows them alike.
    """
    seconds = {name: [] for name in contestants}
    for _ in range(PASSES):
        for name, (check, hands) in contestants.items():
            start = time.process_time()
            won = sum(map(check, hands))
            seconds[name].append((time.process_time() - start) / len(hands))
            if won != len(hands):
                raise SystemExit(f"{name}: a winning hand was not found to win")
    return {name: 1 / statistics.median(passes) / 1000 for name, passes in seconds.items()}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rng = random.Random(1)

    start = time.process_time()
    suit_rows(), honour_row()
    figures = {"tables_ms": (time.process_time() - start) * 1000}

    hands = [winning_hand(rng, 4) for _ in range(args.hands)]
    counted = [counts_of(hand) for hand in hands]
    checker = WinChecker(WILD).wins_unchecked
    contestants = {
        "mahjong, counts": (Agari.is_agari, counted),
        "mahjong, 14 tile ids": (lambda hand: Agari.is_agari(counts_of(hand)), hands),
        "engine, counts, checked": (wins, counted),
        "engine, 17 tile ids": (checker, [winning_hand(rng, 5) for _ in hands]),
    }
    for wilds in range(5):
        with_wilds = [[*hand[wilds:], *[WILD] * wilds] for hand in hands]
        contestants[f"engine, 14 tile ids, {wilds} wildcards"] = checker, with_wilds
    rules = rulesets.load("zhenjiang")
    for wilds, line in VERDICTS.items():
        claim = parse_claim(line, "zhenjiang")
        contestants[f"engine, full verdict, {wilds} wildcards"] = (
            lambda claim: rules.check(claim).outcome is Outcome.WIN,
            [claim] * 500,
        )
    figures |= rates(contestants)
    figures["ratio"] = figures["engine, 14 tile ids, 0 wildcards"] / figures["mahjong, counts"]

    if args.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        unit = {"tables_ms": "ms", "ratio": "x"}.get(name, "k/s")
        print(f"{name:36}{value:10.1f} {unit}")


if __name__ == "__main__":
    main()
