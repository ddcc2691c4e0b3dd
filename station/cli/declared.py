"""What a rule set declares besides its options: ways to win, facts of a claim, calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.facts import FactSpec
from engine.ruledata import CallSpec, HowSpec
from engine.rulesets import RuleSet, ScoreSheet
from engine.sheet import SheetFact


def declared_object(rules: RuleSet | ScoreSheet) -> dict[str, Any]:
    """Return it as JSON-able values: lists of objects under ``hows``, ``facts``, ``seat_facts``, ``calls``.

    A score sheet has ``facts`` alone.
    """
    if isinstance(rules, ScoreSheet):
        return {"facts": [_sheet_fact(spec) for spec in rules.data.facts.values()]}
    data = rules.data
    return {
        "hows": [_how(spec) for spec in data.hows.values()],
        "facts": [_fact(spec) for spec in data.facts.values()],
        "seat_facts": [_fact(spec) for spec in data.seat_facts.values()],
        "calls": [_call(spec) for spec in data.calls.values()],
    }


def declared_lines(rules: RuleSet | ScoreSheet) -> Iterator[str]:
    """Yield it as text for people."""
    told = declared_object(rules)
    titles = {
        "hows": "ways to win (how=):",
        "facts": "facts of a claim:",
        "seat_facts": "facts of every player:",
        "calls": "calls, the lower rank first:",
    }
    if isinstance(rules, ScoreSheet):
        titles = {"facts": "what is entered about a deal:"}
    for kind, title in titles.items():
        if told[kind]:
            yield title
            yield from _lines(told[kind])


def _lines(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        about = ", ".join(_about(entry))
        yield f"  {entry['name']} ({'; '.join(filter(None, (about, entry['section'])))})"
        yield f"      {entry['text']}"


def _about(entry: dict[str, Any]) -> Iterator[str]:
    """The short remarks on one entry, by what it is."""
    if "discarder" in entry:
        yield from ({"required": ["from= is needed"], "optional": ["from= may be given"]}).get(
            entry["discarder"], []
        )
        yield from ({"none": ["no winning tile"], "optional": ["with or without a winning tile"]}).get(
            entry["tile"], []
        )
        if entry["dealer"]:
            yield "the dealer only"
    if "rank" in entry:
        yield f"rank {entry['rank']}"
        if entry["next_only"]:
            yield "the next player only"
    if "type" in entry:
        yield _values(entry)


def _values(entry: dict[str, Any]) -> str:
    listed = entry.get("allowed") or entry.get("names")
    if listed:
        return f"{entry['type']} of {', '.join(listed)}"
    if entry["type"] == "int":
        return f"int from {entry['minimum']} to {entry['maximum']}"
    return str(entry["type"])


def _how(spec: HowSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "claimed": spec.claimed,
        "tile": spec.tile,
        "discarder": spec.discarder,
        "meld": spec.meld or None,
        "dealer": spec.dealer,
        "section": spec.section,
        "text": spec.text,
        "zh": spec.zh,
    }


def _fact(spec: FactSpec) -> dict[str, Any]:
    is_number = spec.type in ("int", "counters")
    return {
        "name": spec.name,
        "key": spec.key,
        "word": spec.word,
        "inside": spec.inside or None,
        "type": spec.type,
        "minimum": spec.minimum if is_number else None,
        "maximum": spec.maximum if is_number else None,
        "allowed": list(spec.allowed) or None,
        "names": list(spec.names) or None,
        "role": spec.role or None,
        "section": spec.section,
        "text": spec.text,
        "zh": spec.zh,
    }


def _sheet_fact(spec: SheetFact) -> dict[str, Any]:
    return {
        "name": spec.name,
        "type": spec.type,
        "minimum": spec.minimum,
        "maximum": spec.maximum,
        "allowed": list(spec.allowed) or None,
        "section": spec.section,
        "text": spec.text,
        "zh": spec.zh,
    }


def _call(spec: CallSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "rank": spec.rank,
        "next_only": spec.next_only,
        "suits_only": spec.suits_only,
        "section": spec.section,
        "text": spec.text,
        "zh": spec.zh,
    }
