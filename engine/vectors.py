"""Worked examples: answer one and compare with what it expects (rules README, "Keys of a claim")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import rulesets
from engine.claim import Claim
from engine.decompose import Decomposition, Group
from engine.errors import EngineError
from engine.jsonvalues import given_keys, named, want_count, want_object, want_truth
from engine.notation import IllegalNotation, claim_from_object, parse_claim
from engine.ruleset import RuleSet
from engine.settlement import Settlement
from engine.tournament.swiss import answer_swiss
from engine.verdict import Outcome, PriceItem, Problem, Verdict
from engine.wall import break_point

WALL_KEYS = frozenset({"n", "W", "d1", "d2", "single"})

SWISS_KEYS = frozenset({"R", "results"})
"""By these a Swiss score is known."""

WITHOUT_RULES = ("swiss", "walls")
"""What else a vector file can be about, besides rule sets and score sheets."""

SHOWN_ALTERNATIVES = 8
"""Readings that pay alike which an answer lists; `alternatives_count` counts all."""


def check_vector(obj: Mapping[str, Any], ruleset: str = "zhenjiang") -> dict[str, Any]:
    """Answer a vector: a claim of the rule set, a deal of a score sheet, a wall, or a Swiss score.

    `ruleset` may be "walls" or "swiss" as well. A wall is known by its key `W` beside every rule set, a Swiss
    score by `R` or `results` beside a score sheet. The result has the keys of `check_line`, those of the
    score sheet, `thrower`, `wall` and `stack`, or `A`, `C` and `cum`, and besides `id` and `ok`: whether
    every key of `expect` is equal (true without `expect`).

    Raises:
        NotationError: an unknown key, or a value that cannot be read; the message names the key.
        OptionError: an option that does not exist or cannot have the value.
        UnknownRuleSetError: no such rule set.
    """
    expect = named("expect", want_object, obj.get("expect") or {})
    answer = _answer_vector(obj, ruleset)
    ok = all(key in answer and answer[key] == value for key, value in expect.items())
    return {"id": obj.get("id"), **answer, "ok": ok}


def _answer_vector(obj: Mapping[str, Any], ruleset: str) -> dict[str, Any]:
    if ruleset == "walls" or "W" in obj:
        return _check_wall(obj)
    is_sheet = ruleset in rulesets.sheet_ids()
    if ruleset == "swiss" or (is_sheet and not SWISS_KEYS.isdisjoint(obj)):
        return answer_swiss(obj)
    if is_sheet:
        return rulesets.sheet(ruleset).answer(obj)
    return answer_claim(claim_from_object(obj, ruleset), rulesets.load(ruleset))


def check_line(line: str, ruleset: str) -> dict[str, Any]:
    """Answer a claim in one line: outcome, reason, problems, cls, pay, items, decomposition …

    Raises:
        NotationError: with the position in the line.
        UnknownRuleSetError: no such rule set.
    """
    return answer_claim(parse_claim(line, ruleset), rulesets.load(ruleset))


def answer_claim(claim: Claim, rules: RuleSet) -> dict[str, Any]:
    """Verdict and settlement of a claim as JSON-able values.

    `pay` are chips, `bonus` what is paid outside the stake; sums of the rule set (base, water, fan, lei, net)
    stand under their own names.

    Raises:
        OptionError: an option that does not exist or cannot have the value.
        EngineError: the claim's chips do not fit.
    """
    verdict = rules.check(claim)
    answer = describe_verdict(verdict)
    if verdict.outcome in (Outcome.WIN, Outcome.DRAW):
        return answer | describe_settlement(rules.settle(verdict, claim))
    return answer | {"pay": None}


def describe_settlement(settlement: Settlement) -> dict[str, Any]:
    """A settlement as JSON-able values."""
    return {
        "pay": list(settlement.pay),
        "bonus": list(settlement.outside),
        "deferred": list(settlement.deferred),
        "unpaid": list(settlement.unpaid),
        "loans": list(settlement.loans),
        "bank": settlement.bank,
        **{name: list(values) for name, values in settlement.totals.items()},
    }


def describe_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON-able values."""
    alike = verdict.alternatives
    return {
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "problems": list(verdict.problems),
        "details": [_describe_problem(problem) for problem in verdict.details],
        "warnings": [_describe_problem(problem) for problem in verdict.warnings],
        "cls": verdict.cls,
        "document": verdict.document,
        "section": verdict.section,
        "wild": None if verdict.wild is None else verdict.wild.id,
        "items": [_describe_item(item) for item in verdict.items],
        **verdict.totals,
        "decomposition": None if verdict.decomposition is None else _describe(verdict.decomposition),
        "alternatives": [_describe(reading) for reading in alike[:SHOWN_ALTERNATIVES]],
        "alternatives_count": len(alike),
    }


def _describe_problem(problem: Problem) -> dict[str, Any]:
    return {"code": problem.code, "about": list(problem.about), "section": problem.section}


def _describe_item(item: PriceItem) -> dict[str, Any]:
    return {
        "code": item.code,
        "amount": item.amount,
        "unit": item.unit,
        "section": item.section,
        "payers": item.payers.value,
    }


def _describe(reading: Decomposition) -> dict[str, Any]:
    return {
        "sets": [_describe_group(group) for group in reading.sets],
        "pair": _describe_group(reading.pair),
        "substituted": reading.substituted,
        "as_itself": reading.as_itself,
    }


def _describe_group(group: Group) -> dict[str, Any]:
    return {
        "kind": group.kind.value,
        "tiles": [tile.actual.id for tile in group.tiles],
        "as": [tile.stands_for.id for tile in group.tiles],
        "melded": group.melded,
    }


def _check_wall(obj: Mapping[str, Any]) -> dict[str, Any]:
    given = given_keys(obj, WALL_KEYS, "a wall")
    walls, stacks, d1 = (named(key, want_count, given.get(key)) for key in ("n", "W", "d1"))
    single = named("single", want_truth, given.get("single", False))
    d2 = None if single else named("d2", want_count, given.get("d2"))
    try:
        found = break_point(walls, stacks, d1, d2)
    except EngineError as error:
        raise IllegalNotation(str(error), 0) from None
    return {"thrower": found.thrower, "wall": found.wall, "stack": found.stack}
