"""Decisions: a person's request against the session gives event bodies, or a refusal with a reason.

Pure: session and rules in, bodies out. The process books what comes back, then answers. The larger ones
stand in `decide_hand`, `decide_claim` and `decide_ruling`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.errors import EngineError
from engine.rulesets import RuleSet
from station import messages as m
from station.session import Session, Stage
from station.table.asking import Refused, is_whole, need, place_of_request, reason_of
from station.table.decide_claim import amend, claim, retake, tile, typed_hand
from station.table.decide_hand import Device, flowers, indicator, start, throw_now, thrown
from station.table.decide_ruling import UNDEALT, UNDEALT_RULINGS, confirm, reject, ruling, undealt
from station.table.matching import match_of

__all__ = [
    "DECISIONS",
    "UNDEALT",
    "UNDEALT_RULINGS",
    "Device",
    "Refused",
    "override",
    "recovery",
    "start",
    "throw_now",
    "thrown",
    "undealt",
]

PENALTIES = ("warning", "chips", "xianggong")
ACCOUNTS = ("loan", "repay", "forfeit")
MOST_POINTS = 1_000_000
"""What one request can move, also where an account may be below 0."""


def penalty(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A penalty outside a claim: a warning, a dead hand, or chips to the bank."""
    need(session.stage is not Stage.CLOSED, "session_closed", "The session is closed.")
    place = place_of_request(session, body.get("place"))
    kind = body.get("kind")
    need(kind in PENALTIES, "bad_penalty", f"There is no penalty {kind!r}.", f"Use {', '.join(PENALTIES)}.")
    amount = body.get("amount") or 0
    most = MOST_POINTS if rules.chips_below_zero else session.places[place].chips
    ok = is_whole(amount) and 0 <= amount <= most
    need(ok and (kind == "chips") == (amount > 0), "bad_amount", "The amount does not fit the penalty.")
    return [
        m.PenaltyApplied(
            hand=session.hand, place=place, penalty=str(kind), amount=amount, reason=reason_of(body), key=key
        )
    ]


def account(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A player borrows chips or gives them back, or chips of his are taken out of play."""
    need(session.stage is not Stage.CLOSED, "session_closed", "The session is closed.")
    place = place_of_request(session, body.get("place"))
    kind, amount = body.get("kind"), body.get("amount")
    need(kind in ACCOUNTS, "bad_account", f"There is no {kind!r}.", f"Use {', '.join(ACCOUNTS)}.")
    need(is_whole(amount), "bad_amount", "The amount is a whole number of chips.")
    assert isinstance(amount, int)
    match = match_of(session, rules)
    steps = {"loan": match.loan, "repay": match.repay, "forfeit": match.forfeit}
    need(amount <= MOST_POINTS, "bad_amount", f"The amount is at most {MOST_POINTS}.")
    try:
        steps[str(kind)](place, amount)
    except EngineError as error:
        raise Refused(str(error), code="bad_amount") from None
    return [
        m.AccountMoved(
            hand=session.hand, place=place, account=str(kind), amount=amount, reason=reason_of(body), key=key
        )
    ]


def undo(session: Session, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """Take the last decision of this hand back, by a compensating event."""
    need(bool(session.undoable), "nothing_to_undo", "There is nothing to take back in this hand.")
    target = session.undoable[-1]
    return [m.EventCorrected(target=target, reason=reason_of(body) or m.UNDONE, key=key)]


def call(session: Session, place: Any, key: str | None) -> list[m.Body]:
    """Somebody wants the referee."""
    return [m.RefereeCalled(place=place_of_request(session, place), key=key)]


def close(session: Session, rules: RuleSet, key: str | None) -> list[m.Body]:
    """End the session: fines that were booked are collected, as far as chips reach."""
    need(session.stage in (Stage.START, Stage.RULED), "hand_running", "A hand is not ruled yet.")
    before = match_of(session, rules)
    after = before.close()
    fines = [old - new for old, new in zip(before.chips, after.chips, strict=True)]
    return [m.SessionClosed(fines=fines, bank=after.bank - before.bank, unpaid=list(after.unpaid), key=key)]


def override(
    session: Session, body: dict[str, Any], key: str | None, device: Device | None = None
) -> list[m.Body]:
    """A referee unlocks the intake before a ruling, with a reason.

    Also for a hand that this session knows nothing of: it was dealt in another one.
    """
    reason = reason_of(body)
    need(reason is not None, "reason_needed", "Unlocking by hand needs a reason.")
    held = device.held if device else None
    number = session.machine_hand if held is None else held
    need(number is not None, "no_machine_hand", "The machine has dealt nothing.")
    assert number is not None
    return [m.IntakeOverridden(hand=session.hand, machine_hand=number, reason=str(reason), key=key)]


def recovery(session: Session, choice: Any, allowed: list[str]) -> str:
    """Check a person's choice after a cut motion and return it.

    ``allowed``: what `conductor.choices` offers.
    """
    need(session.cut is not None, "no_recovery", "No motion was cut.")
    need(choice in allowed, "bad_choice", f"{choice!r} is no choice here.", f"Use {', '.join(allowed)}.")
    return str(choice)


Decision = Callable[[Session, RuleSet, dict[str, Any], str | None], list[m.Body]]

DECISIONS: dict[str, Decision] = {
    "dice": lambda session, rules, body, key: thrown(session, rules, body.get("dice"), "players", key),
    "flowers": lambda session, _, __, key: flowers(session, key),
    "indicator": lambda session, rules, body, key: indicator(session, rules, body.get("tile"), key),
    "claim": claim,
    "amend": amend,
    "hand": typed_hand,
    "tile": lambda session, _, body, key: tile(session, body, key),
    "retake": lambda session, _, body, key: retake(session, body, key),
    "confirm": lambda session, rules, _, key: confirm(session, rules, key),
    "reject": reject,
    "ruling": ruling,
    "undo": lambda session, _, body, key: undo(session, body, key),
    "penalty": penalty,
    "account": account,
    "call": lambda session, _, body, key: call(session, body.get("place"), key),
    "override": lambda session, _, body, key: override(session, body, key),
    "close": lambda session, rules, _, key: close(session, rules, key),
}
"""What each request of a screen decides; `start`, `recovery` and some others need the machine as well."""
