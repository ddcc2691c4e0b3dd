"""Robustness: hands spoilt in nine ways at three strengths; what is right, accepted, silently wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vision.recognizer import Recognizer
from vision.training.measure.bounds import clopper_pearson
from vision.training.measure.corrupt import CORRUPTIONS, Corruption
from vision.training.measure.hands import ART, Table, fingerprint, own_pool
from vision.training.measure.journal import Journal, Record, fill
from vision.training.measure.models import header, load, remembering
from vision.training.measure.outcome import Outcome, read_hand, unfit
from vision.training.measure.silent import Count
from vision.training.measure.unseen import find_unseen, left_out

CLAIMED = 600
"""Accepted hands from which a share of 1 in 200 can be told."""
LIMIT = 1 / 200


def outcome_of(recognizer: Recognizer, table: Table, n: int, corruption: Corruption) -> Record:
    """Deal hand ``n``, spoil it, read it as a table does; ``unfit``: what a table would refuse it for."""
    rng = np.random.default_rng([table.seed, n, CORRUPTIONS.index(corruption)])
    source, dealt, picture = table.spoilt(n, rng, corruption)
    outcome = read_hand(recognizer, picture, dealt, ("table",))["table"]
    codes = list(unfit(recognizer, picture, dealt))
    return {"cell": corruption.cell, "source": source, "outcome": outcome.to_json(), "unfit": codes}


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
    recognizer = remembering(load(models, threads))
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
        return outcome_of(recognizer, table, n // len(corruptions), corruptions[n % len(corruptions)])

    return fill(Journal(out / "robustness.jsonl", first), hands * len(corruptions), work)


def count(records: Iterable[Record]) -> dict[str, Count]:
    """Add up by cell; only hands that were fit to be read can be accepted."""
    counts: dict[str, Count] = defaultdict(Count)
    for record in records:
        outcome = Outcome.from_json(record["outcome"])
        counts[record["cell"]].add(replace(outcome, accepted=outcome.accepted and not record["unfit"]))
    return dict(counts)


def report(records: Sequence[Record]) -> str:
    """Return a markdown table, one row per cell.

    Accepted: without a doubt, in a picture that the table finds fit to be read.
    """
    lines = [
        "| corruption | hands | tiles right | exact | unfit | accepted | silently wrong (95 %) | 1 in 200 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    refused = Counter(record["cell"] for record in records if record["unfit"])
    for cell, one in count(records).items():
        low, high = clopper_pearson(one.silent, one.accepted)
        lines.append(
            f"| {cell} | {one.hands} | {one.right / max(1, one.tiles):.2%} | {one.exact / one.hands:.1%}"
            f" | {refused[cell] / one.hands:.1%} | {one.accepted} ({one.accepted / one.hands:.1%})"
            f" | {one.silent} ({low:.2%}–{high:.2%}) | {verdict(one)} |"
        )
    return "\n".join(lines)


def verdict(one: Count) -> str:
    """Whether silent errors are at most 1 in 200, where enough hands were accepted to say so."""
    if one.accepted < CLAIMED:
        return f"{one.silent} of {one.accepted}"
    return "yes" if one.silent <= LIMIT * one.accepted else "no"
