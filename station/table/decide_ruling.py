"""Decisions that end a claim or a hand: confirm, reject, rulings. The event keeps what the match said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.claim import DRAW, Claim
from engine.errors import EngineError
from engine.match import Match
from engine.notation import NotationError, parse_claim
from engine.rulesets import RuleSet
from engine.settlement import Settlement
from engine.tiles import Tile
from engine.verdict import Outcome
from station import messages as m
from station.places import seat_of
from station.session import Session, Stage
from station.table.asking import Refused, is_whole, need, place_of_request, reason_of
from station.table.decide_claim import exhausted
from station.table.decide_hand import IN_HAND, Device
from station.table.matching import booking, match_of
from station.table.proposal import Proposal, propose

UNDEALT = (Stage.CYCLE, Stage.DICED)
"""Stages of a hand whose deal is not booked yet."""

RULINGS = ("false_win", "draw", "redeal", "void", "win")
UNDEALT_RULINGS = ("redeal", "void")
MOST_SPOILED = 3
"""Wins of others that one false win can spoil."""


def confirm(session: Session, rules: RuleSet, key: str | None) -> list[m.Body]:
    """Book the engine's verdict."""
    if session.claim is None:
        raise Refused("No claim is pending.", code="no_claim")
    proposal, pending = propose(session, rules), session.claim
    need(not proposal.blocked, "blocked", "The hand can't be confirmed yet.", ", ".join(proposal.blocked))
    need(proposal.settles, "no_win", "The hand does not win.", "Reject it or rule.")
    kept: dict[str, Any] = {"line": proposal.line, "verdict": proposal.as_object(), "key": key}
    if pending.place is None:
        return [m.HandRuled(**proposal.booked, **kept, ruling=DRAW, place=None, reason=None, over=True)]
    return [
        m.HandConfirmed(
            **proposal.booked,
            **kept,
            claim=pending.number,
            winner=pending.place,
            cls=proposal.cls,
            photo=pending.photo,
            no_photo=pending.laid.no_photo,
            scores=[tile.read.score for tile in pending.tiles],
            edits=pending.edits,
            frame_at=pending.read_at,
        )
    ]


def reject(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """The claim falls; the hand goes on."""
    if session.claim is None:
        raise Refused("No claim is pending.", code="no_claim")
    proposal = propose(session, rules)
    return [
        m.HandRejected(
            hand=session.hand,
            claim=session.claim.number,
            reason=reason_of(body) or proposal.reason,
            line=proposal.line or None,
            key=key,
        )
    ]


def ruling(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A person rules: false win, draw, redeal, void, or a win against the engine."""
    kind = body.get("kind")
    need(kind in RULINGS, "bad_ruling", f"There is no ruling {kind!r}.", f"Use {', '.join(RULINGS)}.")
    need(session.stage in IN_HAND, "no_hand", "No hand is being played.")
    return _RULED[str(kind)](session, rules, body, key)


def undealt(
    session: Session, rules: RuleSet, body: dict[str, Any], key: str | None, device: Device | None
) -> list[m.Body]:
    """A person gives up a hand whose deal is not booked: the machine unlocks what it holds."""
    kind = body.get("kind")
    need(kind in RULINGS, "bad_ruling", f"There is no ruling {kind!r}.", f"Use {', '.join(RULINGS)}.")
    held = device.held if device else None
    open_hand = session.stage is Stage.DICED or held is not None
    need(kind in UNDEALT_RULINGS and open_hand, "no_hand", "No hand is being played.")
    need(session.cut is None, "recovery_needed", "A motion was cut.", "Choose how to go on first.")
    need(device is None or not device.moving, "machine.moving", "The machine is moving.", "Wait a moment.")
    return [_dealt_again(session, rules, body, key, machine_hand=held)]


def _dealt_again(
    session: Session, rules: RuleSet, body: dict[str, Any], key: str | None, machine_hand: int | None = None
) -> m.HandRuled:
    """Nothing is booked, the same dealer deals again."""
    match = match_of(session, rules)
    return m.HandRuled(
        **booking(session, match, match.redeal(), None),
        ruling=str(body.get("kind")),
        place=None,
        reason=reason_of(body),
        over=True,
        machine_hand=machine_hand,
        key=key,
    )


def _again(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    return [_dealt_again(session, rules, body, key)]


def _draw(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """The wall is exhausted; where losers score, what lies open is read first, and a confirm books it."""
    need(session.stage is not Stage.CLAIM, "claim_pending", "A claim is waiting for its ruling.")
    if rules.data.seat_facts:
        return exhausted(session, rules, key)
    match = match_of(session, rules)
    # The tile flipped is no part of it: who never saw it can rule a draw too.
    flipped = session.indicator.tile if session.indicator else None
    wall = Claim(how=DRAW, indicator=Tile.of(flipped) if flipped else None)
    played = match.claim(wall)
    return [
        m.HandRuled(
            **booking(session, match, played.match, played.settlement),
            ruling=DRAW,
            place=None,
            reason=reason_of(body),
            over=True,
            key=key,
        )
    ]


def _false_win(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    if session.claim is None or session.claim.place is None:
        raise Refused("A false win needs a claim.", code="no_claim")
    proposal, place = propose(session, rules), session.claim.place
    need(
        proposal.outcome == Outcome.NO_WIN and not proposal.blocked,
        "false_win_needs_no_win",
        "Only a hand that was read whole and does not win can be a false win.",
        "Mend the reading, or reject the claim.",
    )
    match = match_of(session, rules)
    seat = seat_of(place, session.dealer, len(session.places))
    try:
        played = match.false_win(seat, _spoiled(session, rules, body.get("spoiled")))
    except EngineError as error:
        raise Refused(str(error), code="bad_spoiled") from None
    assert played.settlement is not None
    over = played.settlement.hand_over
    return [
        m.HandRuled(
            **booking(session, match, played.match, played.settlement),
            line=proposal.line,
            verdict=proposal.as_object(),
            ruling="false_win",
            place=place,
            reason=reason_of(body),
            over=over,
            barred=[] if over else list(played.match.barred),
            dead=[] if over else list(played.match.dead),
            key=key,
        )
    ]


def _spoiled(session: Session, rules: RuleSet, lines: Any) -> list[Claim]:
    """Wins of others which a false win spoiled, as a person typed them (包赔)."""
    if lines is None:
        return []
    ok = isinstance(lines, list) and len(lines) <= MOST_SPOILED and all(isinstance(x, str) for x in lines)
    need(
        ok, "bad_spoiled", f"Spoiled wins are at most {MOST_SPOILED} lines of text.", "See docs/notation.md."
    )
    flip = f" flip={session.indicator.tile}" if session.indicator else ""
    try:
        return [parse_claim(line if "flip=" in line else line + flip, rules.id) for line in lines]
    except NotationError as error:
        raise Refused(str(error), code="bad_spoiled", fix="See docs/notation.md.") from None


def _win(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A win against the engine, paid as a person says."""
    place = place_of_request(session, body.get("place"))
    need(reason_of(body) is not None, "reason_needed", "A win against the engine needs a reason.")
    match = match_of(session, rules)
    pay = _pay(session, match, body.get("pay"))
    settlement = Settlement(pay=match.by_seat(pay), unpaid=(0,) * len(pay))
    after = match.book(settlement, match.seat_of(place))
    proposal = propose(session, rules) if session.claim else Proposal(())
    return [
        m.HandRuled(
            **booking(session, match, after, settlement),
            line=proposal.line or None,
            verdict=proposal.as_object() or None,
            ruling="win",
            place=place,
            reason=reason_of(body),
            over=True,
            key=key,
        )
    ]


def _pay(session: Session, match: Match, pay: Any) -> list[int]:
    ok = isinstance(pay, list) and len(pay) == len(session.places) and all(is_whole(x) for x in pay)
    need(ok and sum(pay or []) == 0, "bad_pay", "Payments must be one whole number a place with sum 0.")
    broke = any(p.chips + x < 0 for p, x in zip(session.places, pay, strict=True))
    need(not broke or match.rules.chips_below_zero, "bad_pay", "A place can't pay more chips than it has.")
    return list(pay)


Ruling = Callable[[Session, RuleSet, dict[str, Any], "str | None"], list[m.Body]]

_RULED: dict[str, Ruling] = {
    "false_win": _false_win,
    "draw": _draw,
    "redeal": _again,
    "void": _again,
    "win": _win,
}
