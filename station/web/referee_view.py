"""The referee page: the pending claim, and what may be tapped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from station.web.claim_view import claim_view
from station.web.forms import fields_of, how_form
from station.web.place_view import PlaceView, State
from station.web.rule_texts import RuleTexts
from station.web.sentences import PENALTIES, PENALTY_REASONS, RULING_REASONS, RULINGS
from station.web.table_view import common
from station.web.words import Words

_PENALTY_AMOUNTS: Final = (1, 2, 4, 6, 10)
MOST: Final = 1_000_000
"""More than anybody can owe."""
_WIN_UNITS: Final = (2, 3, 5, 6, 8, 9, 10, 12)
_OVERRIDE_PHASES: Final = frozenset(
    {"start", "flowers", "gold", "indicator", "play", "offline", "claim", "verdict", "ruled"}
)
"""Phases in which a machine may hold a hand: one before its ruling, or one of another session."""


def _ruling_choices(state: State, words: Words) -> list[dict[str, Any]]:
    claim = state.get("claim") or {}
    needs_claim = ("false_win", "win")
    return [
        {
            "kind": kind,
            "word": words.code(RULINGS, kind),
            "place": claim.get("place") if kind in needs_claim else None,
        }
        for kind in state.get("ruling_options") or []
        if kind not in needs_claim or claim
    ]


def win_pays(
    claim: Mapping[str, Any], places: list[PlaceView], words: Words, state: State
) -> list[tuple[str, str]]:
    """What a win may pay that a person rules against the engine: label and JSON body.

    Capped at the chips, where an account cannot be below 0.

    On a discard the first choice is the usual one: the discarder twice what the others pay.
    """
    winner, giver = claim.get("place"), claim.get("from")
    if winner is None:
        return []
    have = {p.place: MOST if state.get("below_zero") else p.chips for p in places}
    choices = []
    if giver is not None:
        due = {p.place: 4 if p.place == giver else 2 for p in places}
        choices.append((words.say("Discarder 4, others 2"), _pay_body(due, winner, have)))
    for unit in _WIN_UNITS[: 7 if choices else 8]:
        due = {p.place: unit for p in places}
        choices.append((words.say("Each %(n)s", n=unit), _pay_body(due, winner, have)))
    return choices


def _pay_body(due: Mapping[int, int], winner: int, have: Mapping[int, int]) -> str:
    pay = [-min(due[place], have[place]) if place != winner else 0 for place in sorted(due)]
    pay[winner] = -sum(pay)
    return json.dumps({"pay": pay})


def referee(state: State, words: Words) -> dict[str, Any]:
    """Values of the referee page for ``state`` (the table state) in the language of ``words``."""
    base = common(state, words)
    texts = RuleTexts.of(str(state.get("ruleset") or ""), words.lang)
    claim = state.get("claim")
    base["claim"] = claim_view(claim, base, texts) if claim and base["claiming"] else None
    base["rulings"] = _ruling_choices(state, words)
    base["ruling_reasons"] = [(code, words.say(text)) for code, text in RULING_REASONS.items()]
    kinds = state.get("penalties") or list(PENALTIES)
    base["penalties"] = [(code, words.code(PENALTIES, code)) for code in kinds if code != "chips"]
    base["amounts"] = _PENALTY_AMOUNTS if "chips" in kinds else ()
    base["loan"] = state.get("loan_unit")
    base["penalty_reasons"] = [(code, words.say(text)) for code, text in PENALTY_REASONS.items()]
    base["win_pays"] = win_pays(claim, base["places"], words, state) if claim else []
    base["claim_forms"] = {place.place: how_form(texts, place) for place in base["places"]}
    base["fact_fields"] = fields_of(texts.facts, texts, "facts", {})
    base["recovery"] = state.get("recovery")
    base["overridable"] = base["locked"] and state["phase"] in _OVERRIDE_PHASES
    base["closable"] = state["phase"] in ("start", "ruled") and not base["resuming"]
    return base
