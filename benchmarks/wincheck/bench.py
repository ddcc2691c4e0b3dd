"""Win checks, waits, readings and full verdicts beside other libraries on the same hands, in one run.

    python benchmarks/wincheck/bench.py [--hands N] [--json]

Every figure is the median of five passes over the same winning hands, in thousand hands per second of CPU
time. Contestants take turns in every pass. Peers: `pip install -r benchmarks/requirements.txt`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.wincheck.hands import INDICATOR, WILD, winning_hand, with_wildcards
from benchmarks.wincheck.peers import Contestant, contestants, versions
from engine.decompose import decompositions
from engine.tiles import Tile
from engine.verdict import Outcome
from engine.wincheck import WinChecker, counts_of, waits, wins
from engine.wintable import honour_row, suit_rows

PASSES = 5
WILDCARDS = range(5)
SHARE = {"win check": 1, "batch": 1, "waits": 1, "readings": 4, "verdict": 20}
"""A task gets one hand of so many; each pass takes long enough all the same."""

Counted = tuple[list[int], int]
"""Counts without the wildcards, and the wildcards."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    tables = measure_tables()
    rng = random.Random(1)
    hands = [winning_hand(rng, 4) for _ in range(arguments.hands)]
    long_hands = [winning_hand(rng, 5) for _ in range(arguments.hands)]
    measured = rates([*ours(hands, long_hands), *contestants(hands)])
    result = {"machine": machine(), "peers": versions(), **tables, "targets": targets(measured, tables)}
    if arguments.json:
        print(json.dumps({**result, "k_per_s": measured}))
        return
    for task, figures in measured.items():
        print(f"{task}, k/s")
        for name, rate in figures.items():
            print(f"    {name:58}{rate:10.1f}")
    for name, value in result.items():
        print(f"{name}: {value}")
    for name, found in versions().items():
        if found is None:
            print(f"NOT MEASURED: {name} is not installed; pip install -r benchmarks/requirements.txt")


def machine() -> str:
    """Where and under what load this was measured."""
    load = os.getloadavg()[0]
    return (
        f"{platform.machine()}, {os.cpu_count()} CPUs, load {load:.1f}, CPython {platform.python_version()}"
    )


def measure_tables() -> dict[str, float]:
    """Time to build the tables, median of five, and what they take."""
    times = []
    for _ in range(PASSES):
        suit_rows.cache_clear(), honour_row.cache_clear()
        start = time.process_time()
        rows, honours = suit_rows(), honour_row()
        times.append(1000 * (time.process_time() - start))
    size = sum(map(sys.getsizeof, [*{id(row): row for row in rows}.values(), rows, honours]))
    return {"tables_ms": round(statistics.median(times), 1), "tables_kb": round(size / 1000)}


def ours(hands: Sequence[list[int]], long_hands: Sequence[list[int]]) -> Iterator[Contestant]:
    """This engine's contestants."""
    checker = WinChecker(WILD).wins_unchecked
    for wilds in WILDCARDS:
        ids = [with_wildcards(hand, wilds) for hand in hands]
        yield Contestant("win check", f"engine, 14 tile ids, {wilds} wildcards", checker, ids)
    for wilds in WILDCARDS:
        ids = [with_wildcards(hand, wilds) for hand in long_hands]
        yield Contestant("win check", f"engine, 17 tile ids, {wilds} wildcards", checker, ids)
    for wilds in WILDCARDS:
        counted = [(counts_of(hand[wilds:]), wilds) for hand in hands]
        waiting = [(counts_of(hand[wilds:-1]), wilds) for hand in hands]
        yield Contestant("win check", f"engine, counts, checked, {wilds} wildcards", _wins, counted)
        yield Contestant("waits", f"engine, counts, {wilds} wildcards", _waits, waiting)
        yield Contestant("readings", f"engine, {wilds} wildcards", _readings, counted)
    yield from _batches(hands)
    yield from _verdicts(hands)


def _wins(hand: Counted) -> bool:
    return wins(*hand)


def _waits(hand: Counted) -> tuple[Tile, ...]:
    return waits(*hand)


def _readings(hand: Counted) -> list[Any]:
    return list(decompositions(*hand, WILD))


def _batches(hands: Sequence[list[int]]) -> Iterator[Contestant]:
    """The numpy batch; one item is a batch of all hands, ten times over."""
    import numpy as np

    from engine import batch

    for wilds in WILDCARDS:
        counted = np.array([counts_of(hand[wilds:]) for hand in hands] * 10, np.uint8)

        def check(counts: Any, wilds: int = wilds) -> bool:
            return bool(batch.wins(counts, wilds).all())

        yield Contestant("batch", f"engine, numpy batch of counts, {wilds} wildcards", check, [counted])


def _verdicts(hands: Sequence[list[int]]) -> Iterator[Contestant]:
    """Full verdicts of Zhenjiang: self-draw, the best reading and its price."""
    from engine import rulesets
    from engine.claim import Claim, Seat

    rules = rulesets.load("zhenjiang")

    def check(claim: Claim) -> bool:
        return rules.check(claim).outcome is Outcome.WIN

    for wilds in WILDCARDS:
        claims = []
        for hand in hands:
            *concealed, win = map(Tile, with_wildcards(hand, wilds))
            claims.append(
                Claim(indicator=INDICATOR, concealed=tuple(concealed), win=win, how="self", winner=Seat(0))
            )
        yield Contestant("verdict", f"engine (Zhenjiang), {wilds} wildcards", check, claims)


def rates(all_contestants: Sequence[Contestant]) -> dict[str, dict[str, float]]:
    """Thousand hands a second of CPU time by task and name.

    The contestants take turns in every pass, so that a busy machine slows them alike.
    """
    seconds: list[list[float]] = [[] for _ in all_contestants]
    for _ in range(PASSES):
        for passes, (task, name, check, hands) in zip(seconds, all_contestants, strict=True):
            some = hands[: max(1, len(hands) // SHARE[task])]
            start = time.process_time()
            won = sum(1 for hand in some if check(hand))
            passes.append((time.process_time() - start) / sum(map(_size, some)))
            if won != len(some):
                raise SystemExit(
                    f"{task}, {name}: {len(some) - won} of {len(some)} hands were not found to win"
                )
    result: dict[str, dict[str, float]] = {}
    for passes, contestant in zip(seconds, all_contestants, strict=True):
        result.setdefault(contestant.task, {})[contestant.name] = 1 / statistics.median(passes) / 1000
    return result


def _size(hand: Any) -> int:
    """Hands in one item: a batch has as many as it has rows."""
    return len(hand) if getattr(hand, "ndim", 1) == 2 else 1


def targets(measured: dict[str, dict[str, float]], tables: dict[str, float]) -> dict[str, str]:
    """What is aimed at, and what was reached."""
    checks, verdicts = measured["win check"], measured["verdict"]
    scalar = min(rate for name, rate in checks.items() if name.startswith("engine, 14 tile ids"))
    reached = {
        "batch >= 10 x scalar": min(measured["batch"].values()) / scalar,
        "waits >= 90 k/s": measured["waits"]["engine, counts, 0 wildcards"],
        "readings, 0 wildcards >= 60 k/s": measured["readings"]["engine, 0 wildcards"],
        "readings, 4 wildcards >= 1.2 k/s": measured["readings"]["engine, 4 wildcards"],
        "verdict, 0 wildcards >= 20 k/s": verdicts["engine (Zhenjiang), 0 wildcards"],
        "verdict, 4 wildcards >= 1 k/s": verdicts["engine (Zhenjiang), 4 wildcards"],
        "tables <= 50 ms": tables["tables_ms"],
        "tables <= 1000 KB": tables["tables_kb"],
    }
    if "mahjong, counts" in checks:
        reached = {"win check from ids >= 6 x mahjong": scalar / checks["mahjong, counts"], **reached}
    return {name: f"{value:.1f}" for name, value in reached.items()}


if __name__ == "__main__":
    main()
