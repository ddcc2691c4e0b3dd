"""What the table should have booked: the engine's match from the true claims, compared with the state."""

from __future__ import annotations

from typing import Any

from engine.match import Match
from engine.rulesets import RuleSet

ACCOUNTS = ("chips", "outside", "deferred", "loans", "carried")


def match_of(rules: RuleSet, state: dict[str, Any]) -> Match:
    """Return the match as a table's state shows it, before a decision."""
    places = state["places"]
    accounts: dict[str, Any] = {name: tuple(place[name] for place in places) for name in ACCOUNTS}
    accounts["deferred"] = tuple(-owed for owed in accounts["deferred"])
    chips, loans, carried = accounts["chips"], accounts["loans"], accounts["carried"]
    return Match(
        rules=rules,
        dealer=state["dealer"],
        streak=state["streak"],
        circle=state["circle"],
        **accounts,
        unpaid=(0,) * len(places),
        bank=state["bank"],
        forfeited=state["forfeited"],
        issued=sum(chips) + sum(carried) + state["bank"] + state["forfeited"] - sum(loans),
        barred=tuple(n for n, place in enumerate(places) if place["barred"]),
        dead=tuple(n for n, place in enumerate(places) if place["xianggong"]),
    )


def differences(expected: Match, state: dict[str, Any]) -> list[str]:
    """Return what a table's state shows otherwise than a match after the same decision."""
    found = {name: [place[name] for place in state["places"]] for name in ACCOUNTS}
    found["deferred"] = [-owed for owed in found["deferred"]]
    wanted: dict[str, Any] = {name: list(getattr(expected, name)) for name in ACCOUNTS}
    for name in ("bank", "dealer", "streak", "circle"):
        found[name], wanted[name] = state[name], getattr(expected, name)
    return [f"{name} {found[name]}, true {wanted[name]}" for name in wanted if found[name] != wanted[name]]
