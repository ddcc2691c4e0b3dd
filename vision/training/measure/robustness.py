"""Robustness: hands spoilt in nine ways at three strengths; what is right, accepted, silently wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vision.recognizer import Recognizer
from vision.training.measure.bounds import clopper_pearson
from vision.training.measure.corrupt import CORRUPTIONS, Corruption
from vision.training.measure.hands import ART, Table, fingerprint, own_pool
from vision.training.measure.journal import Journal, Record, fill
from vision.training.measure.models import header, load
from vision.training.measure.outcome import Outcome, read_hand
from vision.training.measure.silent import Count
from vision.training.measure.unseen import find_unseen, left_out

CLAIMED = 600
"""Accepted hands from which a share of 1 in 200 can be told."""
LIMIT = 1 / 200


def outcome_of(recognizer: Recognizer, table: Table, n: int, corruption: Corruption) -> tuple[str, Outcome]:
    """Deal hand ``n``, spoil it, and read it as a table does; returns its source and what came of it."""
    rng = np.random.default_rng([table.seed, n, CORRUPTIONS.index(corruption)])
    source, dealt, picture = table.spoilt(n, rng, corruption)
    return source, read_hand(recognizer, picture, dealt, ("table",))["table"]


def measure(
    models: Path,
    out: Path,
    *,
    hands: int,
    seed: int,
    threads: int,
    unseen: frozenset[str] = frozenset(),
    corruptions: Sequence[Corruption] = CORRUPTIONS,
    rendered: Sequence[str] = (ART,),
) -> list[Record]:
    """Read ``hands`` hands per cell, cells in turn, so that a broken-off run has some of each.

    Photographed faces, those of our own design and ``rendered`` ones take turns; write ``robustness.jsonl``.
    """
    whole = unseen | left_out(models)
    recognizer = load(models, threads)
    found = Table.of(find_unseen(whole), seed, rendered)
    table = replace(found, pools=[*found.pools, own_pool()])
    first = header(
        "robustness",
        recognizer,
        whole,
        seed=seed,
        faces=fingerprint(table.pools),
        cells=[c.cell for c in corruptions],
    )

    def work(n: int) -> Record:
        corruption = corruptions[n % len(corruptions)]
        source, outcome = outcome_of(recognizer, table, n // len(corruptions), corruption)
        return {"cell": corruption.cell, "source": source, "outcome": outcome.to_json()}

    return fill(Journal(out / "robustness.jsonl", first), hands * len(corruptions), work)


def count(records: Iterable[Record]) -> dict[str, Count]:
    """Add up by cell."""
    counts: dict[str, Count] = defaultdict(Count)
    for record in records:
        counts[record["cell"]].add(Outcome.from_json(record["outcome"]))
    return dict(counts)


def report(records: Iterable[Record]) -> str:
    """Return a markdown table, one row per cell."""
    lines = [
        "| corruption | hands | tiles right | exact | accepted | silently wrong (95 %) | at most 1 in 200 |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell, one in count(records).items():
        low, high = clopper_pearson(one.silent, one.accepted)
        lines.append(
            f"| {cell} | {one.hands} | {one.right / max(1, one.tiles):.2%} | {one.exact / one.hands:.1%}"
            f" | {one.accepted} ({one.accepted / one.hands:.1%}) | {one.silent} ({low:.2%}–{high:.2%})"
            f" | {verdict(one)} |"
        )
    return "\n".join(lines)


def verdict(one: Count) -> str:
    """Whether silent errors are at most 1 in 200, where enough hands were accepted to say so."""
    if one.accepted < CLAIMED:
        return f"{one.silent} of {one.accepted}"
    return "yes" if one.silent <= LIMIT * one.accepted else "no"
