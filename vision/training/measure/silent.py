"""Silent errors: hands read as a table reads them, accepted ones that are wrong, what doubts catch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vision.training.measure.bounds import clopper_pearson
from vision.training.measure.hands import ART, OWN, Table, fingerprint
from vision.training.measure.journal import Journal, Record, fill
from vision.training.measure.models import header, load, remembering
from vision.training.measure.outcome import Outcome, read_hand, unfit
from vision.training.measure.unseen import find_unseen, left_out

SPARE = 2.0
"""Hands read at most, as a multiple of the accepted ones that are wanted."""


@dataclass
class Count:
    """Outcomes of one source and way of reading, added up."""

    hands: int = 0
    exact: int = 0
    accepted: int = 0
    silent: int = 0
    tiles: int = 0
    right: int = 0
    wrong: int = 0
    marked: int = 0
    flagged: int = 0
    false: int = 0
    missed: int = 0
    why: Counter[str] = field(default_factory=Counter)
    confusions: Counter[str] = field(default_factory=Counter)
    unmarked: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        """Count one hand."""
        self.hands += 1
        self.exact += outcome.exact
        self.accepted += outcome.accepted
        self.silent += outcome.silent
        self.tiles += outcome.tiles
        self.right += outcome.right
        self.flagged += outcome.flagged
        self.false += len(outcome.false)
        self.missed += len(outcome.missed)
        self.why.update(outcome.why)
        for true, read, _, doubts, _ in outcome.wrong:
            self.wrong += 1
            self.marked += bool(doubts)
            self.confusions[f"{true} read as {read}"] += 1
            if not doubts:
                self.unmarked[f"{true} read as {read}"] += 1

    def row(self, name: str) -> str:
        """Return a row of a markdown table, headed by `HEAD`."""
        low, high = clopper_pearson(self.silent, self.accepted)
        marked = f"{self.marked} of {self.wrong}" if self.wrong else "–"
        share = self.accepted / max(1, self.hands)
        return (
            f"| {name} | {self.hands} | {self.exact / max(1, self.hands):.1%} | {self.accepted} ({share:.1%})"
            f" | {self.silent} ({low:.2%}–{high:.2%}) | {self.right / max(1, self.tiles):.2%} | {marked}"
            f" | {self.missed} / {self.false} | {self.flagged / max(1, self.hands):.2f} |"
        )


HEAD = (
    "| hands | read | exact | accepted | silently wrong (95 %) | tiles right | wrong tiles marked"
    " | missed / false | flagged per hand |\n|---|---|---|---|---|---|---|---|---|"
)


def count(records: Iterable[Record]) -> dict[str, dict[str, Count]]:
    """Add up outcomes: way of reading -> source (and ``all``) -> counts."""
    counts: dict[str, dict[str, Count]] = {}
    for record in records:
        for way, outcome in record["ways"].items():
            found = Outcome.from_json(outcome)
            mine = counts.setdefault(way, defaultdict(Count))
            mine["all"].add(found)
            mine[record["source"]].add(found)
    return counts


def measure(
    models: Path,
    out: Path,
    *,
    accepted: int,
    seed: int,
    threads: int,
    unseen: frozenset[str] = frozenset(),
    rendered: Sequence[str] = (ART, OWN),
    only: frozenset[str] = frozenset(),
) -> list[Record]:
    """Read hands until ``accepted`` of them were accepted as a table reads them; write ``silent.jsonl``.

    ``rendered``: which rendered kinds take turns with the photographed ones; `ART` needs the extra ``train``.
    ``only``: sources wanted, such as the one that the model never saw.
    """
    whole = unseen | left_out(models)
    recognizer = remembering(load(models, threads))
    table = Table.of(find_unseen(whole), seed, rendered, only)
    first = header(
        "silent", recognizer, whole, seed=seed, faces=fingerprint(table.pools), sources=table.names
    )

    def work(n: int) -> Record:
        source, dealt, picture = table.hand(n)
        outcomes = read_hand(recognizer, picture, dealt)
        codes = list(unfit(recognizer, picture, dealt))
        return {"source": source, "unfit": codes, "ways": {way: o.to_json() for way, o in outcomes.items()}}

    journal = Journal(out / "silent.jsonl", first)
    reached = _Reached(accepted)
    return fill(journal, round(accepted * SPARE), work, reached)


@dataclass
class _Reached:
    """Tells when enough hands were accepted, looking at every record once."""

    wanted: int
    seen: int = 0
    have: int = 0

    def __call__(self, records: list[Record]) -> bool:
        for record in records[self.seen :]:
            self.have += bool(record["ways"]["table"]["accepted"])
        self.seen = len(records)
        return self.have >= self.wanted


def report(records: list[Record], whole: Iterable[str] = ()) -> str:
    """Return markdown: one table per way of reading, then the commonest confusions and doubts."""
    lines = []
    never = frozenset(whole)
    for way, counts in count(records).items():
        lines += [f"### read as: {way}", "", HEAD]
        for name in sorted(counts, key=lambda k: (k != "all", k)):
            mark = " (source never seen)" if name.split("/")[0] in never else ""
            lines.append(counts[name].row(name + mark))
        lines += ["", _commonest(counts), _fitness(records, way), ""]
    return "\n".join(lines)


def _commonest(counts: Mapping[str, Count]) -> str:
    total = counts["all"]
    lines = [
        "doubts: " + ", ".join(f"{k} {n}" for k, n in total.why.most_common()),
        "confusions: " + ", ".join(f"{k} {n}" for k, n in total.confusions.most_common(20)),
        "without a mark: " + (", ".join(f"{k} {n}" for k, n in total.unmarked.most_common(20)) or "none"),
    ]
    for name, one in sorted(counts.items()):
        if name != "all" and one.confusions:
            lines.append(f"{name}: " + ", ".join(f"{k} {n}" for k, n in one.confusions.most_common(8)))
    return "\n".join(f"* {line}" for line in lines)


def _fitness(records: Iterable[Record], way: str) -> str:
    """What the judgement of the pictures, all meant to be fit, would add."""
    codes: Counter[str] = Counter()
    accepted = silent = 0
    for record in records:
        codes.update(record["unfit"])
        outcome = record["ways"][way]
        if outcome["accepted"] and not record["unfit"]:
            accepted += 1
            silent += not outcome["exact"]
    found = ", ".join(f"{code} {n}" for code, n in codes.most_common()) or "none"
    return f"* found unfit: {found}; accepted and fit: {accepted}, silently wrong among them: {silent}"


def silent_records(records: Iterable[Record], way: str = "table") -> list[Record]:
    """Records whose hand was accepted and is wrong."""
    return [r for r in records if r["ways"][way]["accepted"] and not r["ways"][way]["exact"]]
