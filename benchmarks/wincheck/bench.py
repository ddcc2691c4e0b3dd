"""Win checks, waits, readings and full verdicts beside other libraries on the same hands, in one run.

    python benchmarks/wincheck/bench.py [--hands N] [--json]

Every figure is the median of five passes over the same winning hands, in thousand hands per second of CPU
time. Contestants take turns slice by slice. Peers: `pip install -r benchmarks/requirements.txt`.
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
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.wincheck.hands import INDICATOR, WILD, winning_hand, with_wildcards
from benchmarks.wincheck.peers import Contestant, contestants, versions
from engine.decompose import decompositions
from engine.tiles import Tile
from engine.verdict import Outcome
from engine.wincheck import WinChecker, _keys_of_counts, counts_of, waits, wins
from engine.wintable import honour_row, suit_rows

PASSES = 5
SLICES = 10
WILDCARDS = range(5)


class Effort(NamedTuple):
    """How much of a pass a task gets."""

    share: int
    """One hand of so many."""
    rounds: int
    """How often a slice is answered in a row: where nothing is remembered, its hands shall be near."""


EFFORTS = {
    "win check": Effort(1, 5),
    "batch": Effort(1, 5),
    "waits": Effort(1, 1),
    "readings": Effort(1, 1),
    "verdict": Effort(10, 1),
}

Counted = tuple[list[int], int]
"""Counts without the wildcards, and the wildcards."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    tables = measure_tables()
    rng = random.Random(1)
    hands = [winning_hand(rng, 4) for _ in range(arguments.hands)]
    long_hands = [winning_hand(rng, 5) for _ in range(arguments.hands)]
    measured = rates([*ours(hands, long_hands), *contestants(hands, long_hands)])
    result: dict[str, Any] = {
        "machine": machine(),
        "peers": versions(),
        **tables,
        "targets": targets(measured, tables),
    }
    if arguments.json:
        print(json.dumps({**result, "k_per_s": measured}))
        return
    for task, figures in measured.items():
        print(f"{task}, k/s")
        for name, rate in figures.items():
            print(f"    {name:58}{rate:10.1f}")
    print("what is aimed at, and what was reached")
    for name, value in result.pop("targets").items():
        print(f"    {name:58}{value:>10}")
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
        for table in (suit_rows, honour_row, _keys_of_counts):
            table.cache_clear()
        start = time.process_time()
        rows, honours, keys = suit_rows(), honour_row(), _keys_of_counts()
        times.append(1000 * (time.process_time() - start))
    parts = [*{id(row): row for row in rows}.values(), rows, honours, *keys]
    size = sum(map(sys.getsizeof, [*parts, *(copies for part in keys for copies in part)]))
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
    """Thousand hands a second of CPU time by task and name, medians of the passes.

    In every pass the contestants take turns slice by slice, so that a busy machine slows them alike.
    """
    seconds: list[list[float]] = [[] for _ in all_contestants]
    for _ in range(PASSES):
        for passes in seconds:
            passes.append(0)
        for nth in range(SLICES):
            for passes, contestant in zip(seconds, all_contestants, strict=True):
                passes[-1] += _spent(contestant, nth)
    result: dict[str, dict[str, float]] = {}
    for passes, (task, name, _, hands) in zip(seconds, all_contestants, strict=True):
        number = sum(map(_size, hands[: _share(task, hands)]))
        result.setdefault(task, {})[name] = number / statistics.median(passes) / 1000
    return result


def _share(task: str, hands: Sequence[Any]) -> int:
    return max(1, len(hands) // EFFORTS[task].share)


def _spent(contestant: Contestant, nth: int) -> float:
    """Seconds for the nth slice of the hands; all must be answered rightly."""
    task, name, check, hands = contestant
    share = _share(task, hands)
    some = hands[share * nth // SLICES : share * (nth + 1) // SLICES]
    start = time.process_time()
    right = all(all(map(check, some)) for _ in range(EFFORTS[task].rounds))
    spent = (time.process_time() - start) / EFFORTS[task].rounds
    if not right:
        raise SystemExit(f"{task}, {name}: a hand was not answered rightly")
    return spent


def _size(hand: Any) -> int:
    """Hands in one item: a batch has as many as it has rows."""
    return len(hand) if getattr(hand, "ndim", 1) == 2 else 1


def targets(measured: dict[str, dict[str, float]], tables: dict[str, float]) -> dict[str, str]:
    """What is aimed at, and what was reached."""
    checks, verdicts = measured["win check"], measured["verdict"]
    scalar = _slowest(checks, "engine, 14 tile ids")
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
    for tiles in (14, 17):
        if peer := checks.get(f"mahjong, counts of {tiles}"):
            ratio = _slowest(checks, f"engine, {tiles} tile ids") / peer
            reached[f"win check, {tiles} tile ids >= 6 x mahjong"] = ratio
    return {name: f"{value:.1f}" for name, value in reached.items()}


def _slowest(rates_by_name: dict[str, float], start: str) -> float:
    """With the number of wildcards that takes longest."""
    return min(rate for name, rate in rates_by_name.items() if name.startswith(start))


if __name__ == "__main__":
    main()
