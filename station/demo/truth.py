"""What the table should have booked: the engine's match from the true claims, compared with the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.claim import Claim
from engine.match import Match, Played
from engine.rulesets import RuleSet
from engine.verdict import Outcome
from station.demo.laid import LaidOpen
from station.places import by_side

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


@dataclass(slots=True)
class Pending:
    """The claim being judged (or the exhausted wall), and what the engine says to it if it is true."""

    laid: LaidOpen
    truth: Claim
    before: Match
    expected: Played
    hand: int
    declared: bool = False


class Books:
    """Keeps what a table should have booked, and what it booked otherwise."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._expected: Match | None = None
        self.disagreements: list[str] = []
        """What was booked otherwise than it truly was; empty when all is right."""

    def note(self, state: dict[str, Any], text: str) -> None:
        """Add a disagreement in the running hand."""
        self.disagreements.append(f"hand {state['hand_no']}: {text}")

    def pending(self, claim: Claim, laid: LaidOpen, state: dict[str, Any]) -> Pending:
        """A true claim and what it is worth with the accounts of now."""
        match = match_of(self._rules, state)
        truth = match.supplied(claim)
        return Pending(laid, truth, match, match.claim(truth), state["hand_no"])

    def expect(self, match: Match | None) -> None:
        """The next state has to show the accounts of this match; None: nothing is booked."""
        self._expected = match

    def compare_accounts(self, state: dict[str, Any]) -> None:
        """Compare what has just been booked with what the true claim is worth."""
        expected, self._expected = self._expected, None
        for text in [] if expected is None else differences(expected, state):
            self.note(state, text)

    def compare_walls(self, state: dict[str, Any]) -> None:
        """The machine's walls are those of the rule set, none at an empty side."""
        if state["machine"] is None:
            return
        wanted = list(by_side(self._rules.deal_pattern.stacks, [place["side"] for place in state["places"]]))
        built = state["machine"]["walls"]
        if built != wanted:
            self.note(state, f"walls of {built} stacks, not {wanted}")

    def compare_no_win(self, pending: Pending) -> None:
        """Nobody may turn down a claim that wins."""
        if self._rules.check(pending.truth).outcome is Outcome.WIN:
            self.disagreements.append(f"hand {pending.hand}: a winning claim was turned down")

    def compare_booking(self, pending: Pending, last: dict[str, Any]) -> None:
        """Compare how a hand ended with the claim that ended it."""
        verdict, settlement = pending.expected.verdict, pending.expected.settlement
        where = f"hand {last['hand_no']}"
        if settlement is None or verdict is None or verdict.outcome.value != last["outcome"]:
            self.disagreements.append(f"{where}: a hand that does not win was confirmed")
            return
        accounts = (settlement.pay, settlement.outside)
        true = [list(pending.before.by_player(account)) for account in accounts]
        if [last["pay"], last["outside"]] != true or last["cls"] != verdict.cls:
            booked = f"{last['cls']} {last['pay']} {last['outside']}"
            self.disagreements.append(f"{where}: booked {booked}, true {verdict.cls} {true[0]} {true[1]}")
