"""Decisions: a person's request against the session gives event bodies, or a refusal with a reason.

Pure: session and rules in, bodies out. The process books what comes back, then answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.claim import Seat
from engine.notation import NotationError
from engine.rulesets import RuleSet
from engine.tiles import Tile
from station import messages as m
from station.errors import StationError
from station.places import Place, by_place, place_of, seat_of
from station.session import Session, Stage
from station.table.proposal import Proposal, parse_hand, propose, wild_of

IN_HAND = (Stage.DEALT, Stage.PLAY, Stage.CLAIM)
"""Stages with tiles on the table and no ruling yet."""

UNDEALT = (Stage.CYCLE, Stage.DICED)
"""Stages of a hand whose deal is not booked yet."""

RULINGS = ("false_win", "draw", "redeal", "void", "win")
UNDEALT_RULINGS = ("redeal", "void")
TILE_FIX = "Use an id such as 5m or 7z."
LINE_FIX = "Write for example 123m456p789s11z34s +5s."
LONGEST_LINE = 200
"""Characters of a typed hand; 18 tiles in five groups take less than half of it."""
LONGEST_REASON = 500
"""Characters of a reason."""
PENALTIES = ("warning", "chips", "xianggong")


class Refused(StationError):
    """The request can't be done now."""

    exit_status = 2


def _need(condition: bool, code: str, message: str, fix: str = "") -> None:
    if not condition:
        raise Refused(message, code=code, fix=fix)


def _is_whole(value: Any) -> bool:
    """Whether a JSON value is a whole number (``true`` is none)."""
    return isinstance(value, int) and not isinstance(value, bool)


def _reason(body: dict[str, Any]) -> str | None:
    """Return the body's reason; None if it has none."""
    reason = body.get("reason")
    ok = reason is None or (isinstance(reason, str) and len(reason) <= LONGEST_REASON)
    _need(ok, "bad_reason", "A reason is a short text.", f"Use at most {LONGEST_REASON} characters.")
    return reason or None


def _place(session: Session, value: Any) -> Place:
    ok = _is_whole(value) and 0 <= value < len(session.places)
    _need(ok, "bad_place", f"There is no place {value!r}.", f"Use 0 to {len(session.places) - 1}.")
    return Place(value)


@dataclass(frozen=True, slots=True)
class Device:
    """What a decision needs to know of the machine: hand it is locked with (None: none), busy, silent.

    ``away``: code of what keeps it from being asked, None while it answers.
    """

    held: int | None = None
    moving: bool = False
    away: str | None = None


def start(session: Session, key: str | None, device: Device | None) -> list[m.Body]:
    """A person releases the machine for the next hand (or, without a machine, says tiles are dealt)."""
    _need(session.stage is not Stage.CLOSED, "session_closed", "The session is closed.")
    _need(
        session.stage not in IN_HAND, "hand_running", "The hand is not ruled yet.", "Confirm or rule first."
    )
    _need(session.cut is None, "recovery_needed", "A motion was cut.", "Choose how to go on first.")
    _need(
        session.stage in (Stage.START, Stage.RULED),
        "cycle_running",
        "The machine is already preparing this hand.",
    )
    if device is not None:
        away = device.away or ""
        _need(not away, away, "The machine does not answer.", "Check its cable and its power.")
        _need(device.held is None, "locked", "The machine has not unlocked its intake yet.", "Wait a moment.")
    hand = session.hand + 1
    bodies: list[m.Body] = [m.CycleStarted(hand=hand, key=key)]
    if device is None:
        bodies.append(m.WallDealt(hand=hand, machine_hand=None, thrower=None, wall=None, stack=None))
    return bodies


def typed_dice(session: Session, dice: Any, key: str | None) -> list[m.Body]:
    """Two dice entered by a player."""
    check_dice_stage(session)
    ok = isinstance(dice, list) and len(dice) == 2 and all(_is_whole(d) and 1 <= d <= 6 for d in dice)
    _need(ok, "bad_dice", f"{dice!r} are not two dice.", "Give two numbers from 1 to 6.")
    return [m.DiceRolled(hand=session.hand, dice=list(dice), source="players", key=key)]


def check_dice_stage(session: Session) -> None:
    """Refuse dice when no wall waits for them."""
    _need(session.stage is Stage.CYCLE, "no_dice_now", "No wall is waiting for dice.")


def indicator(session: Session, rules: RuleSet, tile: Any, key: str | None) -> list[m.Body]:
    """A referee sets or approves the flipped tile."""
    _need(session.stage in IN_HAND, "no_indicator_now", "No tile is flipped now.")
    try:
        kind = Tile.of(str(tile))
    except ValueError:
        raise Refused(f"There is no tile {tile!r}.", code="bad_tile", fix=TILE_FIX) from None
    wild = wild_of(rules, kind)
    _need(wild is not None, "bad_tile", f"{kind.id} can't be the flipped tile in this rule set.")
    was = session.indicator.tile if session.indicator else None
    return [m.IndicatorCorrected(hand=session.hand, tile=kind.id, was=was, wild=wild, key=key)]


def claim(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """Somebody declares a win."""
    _need(session.stage is not Stage.CLAIM, "claim_pending", "A claim is waiting for its ruling.")
    _need(session.stage is Stage.PLAY, "no_claim_now", "No hand is being played.")
    _need(
        not session.indicator or not session.indicator.doubt,
        "indicator_doubt",
        "Check the flipped tile first.",
    )
    place = _place(session, body.get("place"))
    how = body.get("how")
    hows = list(rules.data.hows)
    _need(how in hows, "bad_how", f"{how!r} is no way to win here.", f"Use {', '.join(hows)}.")
    source = body.get("from")
    if how in ("discard", "robkong"):
        source = _place(session, source)
        _need(source != place, "bad_from", "Nobody wins on the own discard.")
    else:
        _need(source is None, "bad_from", "A self-drawn tile comes from nobody.", "Leave `from` out.")
    da = _counters(body.get("da") or {})
    return [
        m.HandClaimed(
            hand=session.hand,
            claim=session.claims + 1,
            place=place,
            how=str(how),
            source=source,
            da=da,
            key=key,
        )
    ]


def _counters(da: Any) -> dict[str, int]:
    ok = isinstance(da, dict) and set(da) <= {"shou", "er", "peng"}
    ok = ok and all(_is_whole(n) and 0 <= n <= 4 for n in da.values())
    _need(ok, "bad_da", f"{da!r} are no counters of discarded wildcards.", "Use shou, er, peng with 0 to 4.")
    return {name: int(da.get(name, 0)) for name in ("shou", "er", "peng")}


def typed_hand(session: Session, rules: RuleSet, line: Any, key: str | None) -> list[m.Body]:
    """A person types the whole hand in one-line notation (tiles, melds, ``+`` winning tile)."""
    _need(session.claim is not None, "no_claim", "No claim is pending.")
    assert session.claim is not None
    ok = isinstance(line, str) and len(line) <= LONGEST_LINE
    _need(ok, "bad_line", f"A hand is one line of at most {LONGEST_LINE} characters.", LINE_FIX)
    try:
        tiles = parse_hand(session, rules, line)
    except NotationError as error:
        raise Refused(str(error), code="bad_line", fix=LINE_FIX) from None
    return [
        m.HandRead(
            hand=session.hand,
            claim=session.claim.number,
            photo=None,
            size=None,
            tiles=tiles,
            why=[],
            expect=len(tiles),
            key=key,
        )
    ]


def tile(session: Session, index: Any, kind: Any, key: str | None) -> list[m.Body]:
    """A referee changes a tile's kind; the same kind says "it is right"."""
    _need(session.claim is not None, "no_claim", "No claim is pending.")
    assert session.claim is not None
    tiles = session.claim.tiles
    ok = _is_whole(index) and 0 <= index < len(tiles)
    _need(ok, "bad_index", f"There is no tile number {index!r}.")
    try:
        new = Tile.of(str(kind))
    except ValueError:
        raise Refused(f"There is no tile {kind!r}.", code="bad_tile", fix=TILE_FIX) from None
    _need(new.id != "?", "bad_tile", "A tile has to be named.")
    return [
        m.TileMended(
            hand=session.hand,
            claim=session.claim.number,
            index=index,
            kind=new.id,
            was=tiles[index].kind,
            key=key,
        )
    ]


def confirm(session: Session, rules: RuleSet, key: str | None) -> list[m.Body]:
    """Book the engine's verdict."""
    _need(session.claim is not None, "no_claim", "No claim is pending.")
    assert session.claim is not None
    proposal = propose(session, rules)
    _need(not proposal.blocked, "blocked", "The hand can't be confirmed yet.", ", ".join(proposal.blocked))
    _need(proposal.wins, "no_win", "The hand does not win.", "Reject it or rule.")
    pending = session.claim
    return [
        m.HandConfirmed(
            hand=session.hand,
            claim=pending.number,
            winner=pending.place,
            line=proposal.line,
            cls=proposal.cls,
            verdict=proposal.as_object(),
            pay=list(proposal.pay),
            unpaid=list(proposal.unpaid),
            bank=proposal.bank,
            next_dealer=next_dealer(session, rules, pending.place),
            photo=pending.photo,
            scores=[t.read.score for t in pending.tiles],
            edits=pending.edits,
            frame_at=pending.read_at,
            key=key,
        )
    ]


def reject(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """The claim falls; the hand goes on."""
    _need(session.claim is not None, "no_claim", "No claim is pending.")
    assert session.claim is not None
    proposal = propose(session, rules)
    return [
        m.HandRejected(
            hand=session.hand,
            claim=session.claim.number,
            reason=_reason(body) or proposal.reason,
            line=proposal.line or None,
            key=key,
        )
    ]


def ruling(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A person rules: false win, draw, redeal, void, or a win against the engine."""
    kind = body.get("kind")
    _need(kind in RULINGS, "bad_ruling", f"There is no ruling {kind!r}.", f"Use {', '.join(RULINGS)}.")
    _need(session.stage in IN_HAND, "no_hand", "No hand is being played.")
    if kind == "false_win":
        return [_false_win(session, rules, key)]
    if kind == "win":
        return [_ruled_win(session, rules, body, key)]
    _need(
        kind != "draw" or session.stage is not Stage.CLAIM,
        "claim_pending",
        "A claim is waiting for its ruling.",
    )
    zero = [0] * len(session.places)
    dealer = next_dealer(session, rules, None)
    return [_ruled(session, str(kind), None, body, key, zero, zero, 0, dealer)]


def undealt(
    session: Session, rules: RuleSet, body: dict[str, Any], key: str | None, device: Device | None
) -> list[m.Body]:
    """A person gives up a hand whose deal is not booked: the machine unlocks what it holds."""
    kind = body.get("kind")
    _need(kind in RULINGS, "bad_ruling", f"There is no ruling {kind!r}.", f"Use {', '.join(RULINGS)}.")
    held = device.held if device else None
    open_hand = session.stage is Stage.DICED or held is not None
    _need(kind in UNDEALT_RULINGS and open_hand, "no_hand", "No hand is being played.")
    _need(session.cut is None, "recovery_needed", "A motion was cut.", "Choose how to go on first.")
    _need(device is None or not device.moving, "machine.moving", "The machine is moving.", "Wait a moment.")
    zero = [0] * len(session.places)
    dealer = next_dealer(session, rules, None)
    ruled = _ruled(session, str(kind), None, body, key, zero, zero, 0, dealer)
    return [msgspec.structs.replace(ruled, machine_hand=held)]


def _ruled(
    session: Session,
    kind: str,
    place: Place | None,
    body: dict[str, Any],
    key: str | None,
    pay: list[int],
    deferred: list[int],
    bank: int,
    dealer: Place,
    proposal: Proposal | None = None,
) -> m.HandRuled:
    return m.HandRuled(
        hand=session.hand,
        ruling=kind,
        place=place,
        reason=_reason(body),
        pay=pay,
        deferred=deferred,
        bank=bank,
        next_dealer=dealer,
        line=proposal.line if proposal else None,
        verdict=proposal.as_object() if proposal else None,
        key=key,
    )


def _false_win(session: Session, rules: RuleSet, key: str | None) -> m.HandRuled:
    _need(session.claim is not None, "no_claim", "A false win needs a claim.")
    assert session.claim is not None
    proposal = propose(session, rules)
    _need(
        proposal.outcome == "no_win" and not proposal.blocked,
        "false_win_needs_no_win",
        "Only a hand that was read whole and does not win can be a false win.",
        "Mend the reading, or reject the claim.",
    )
    place = session.claim.place
    fine = rules.false_win(seat_of(place, session.dealer, len(session.places)))
    owed = [-amount for amount in by_place(fine.deferred, session.dealer)]
    zero = [0] * len(session.places)
    return _ruled(session, "false_win", place, {}, key, zero, owed, 0, session.dealer, proposal)


def _ruled_win(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> m.HandRuled:
    place = _place(session, body.get("place"))
    _need(_reason(body) is not None, "reason_needed", "A win against the engine needs a reason.")
    pay = body.get("pay")
    ok = isinstance(pay, list) and len(pay) == len(session.places) and all(_is_whole(x) for x in pay)
    _need(ok and sum(pay or []) == 0, "bad_pay", "Payments must be one whole number a place with sum 0.")
    assert isinstance(pay, list)
    broke = any(p.chips + x < 0 for p, x in zip(session.places, pay, strict=True))
    _need(not broke, "bad_pay", "A place can't pay more chips than it has.")
    proposal = propose(session, rules) if session.claim else None
    zero = [0] * len(session.places)
    dealer = next_dealer(session, rules, place)
    return _ruled(session, "win", place, body, key, list(pay), zero, 0, dealer, proposal)


def next_dealer(session: Session, rules: RuleSet, winner: Place | None) -> Place:
    """Return the dealer of the next hand; ``winner`` None = nobody won."""
    n = len(session.places)
    seat = None if winner is None else seat_of(winner, session.dealer, n)
    return session.dealer if rules.dealer_stays(seat) else place_of(Seat(1), session.dealer, n)


def penalty(session: Session, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A penalty outside a claim: a warning, a dead hand, or chips to the bank."""
    _need(session.stage is not Stage.CLOSED, "session_closed", "The session is closed.")
    place = _place(session, body.get("place"))
    kind = body.get("kind")
    _need(kind in PENALTIES, "bad_penalty", f"There is no penalty {kind!r}.", f"Use {', '.join(PENALTIES)}.")
    amount = body.get("amount") or 0
    ok = _is_whole(amount) and 0 <= amount <= session.places[place].chips
    _need(ok and (kind == "chips") == (amount > 0), "bad_amount", "The amount does not fit the penalty.")
    return [
        m.PenaltyApplied(
            hand=session.hand, place=place, penalty=str(kind), amount=amount, reason=_reason(body), key=key
        )
    ]


def undo(session: Session, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """Take the last decision of this hand back, by a compensating event."""
    _need(bool(session.undoable), "nothing_to_undo", "There is nothing to take back in this hand.")
    target = session.undoable[-1]
    return [m.EventCorrected(target=target, reason=_reason(body), key=key)]


def call(session: Session, place: Any, key: str | None) -> list[m.Body]:
    """Somebody wants the referee."""
    return [m.RefereeCalled(place=_place(session, place), key=key)]


def close(session: Session, key: str | None) -> list[m.Body]:
    """End the session: fines that were booked are collected, as far as chips reach."""
    _need(session.stage in (Stage.START, Stage.RULED), "hand_running", "A hand is not ruled yet.")
    fines = collected([p.chips for p in session.places], [p.deferred for p in session.places])
    return [m.SessionClosed(fines=fines, bank=sum(fines), key=key)]


def collected(chips: list[int], deferred: list[int]) -> list[int]:
    """Return what each place pays when deferred fines are collected (negative: it receives).

    Nobody pays more than the chips at hand; receivers share what came in by place order, the rest is the
    bank's. ``deferred``: what a place owes, negative where it is owed.
    """
    fines = [min(owed, max(0, have)) if owed > 0 else 0 for owed, have in zip(deferred, chips, strict=True)]
    pot = sum(fines)
    for place, owed in enumerate(deferred):
        if owed < 0:
            share = min(pot, -owed)
            fines[place] = -share
            pot -= share
    return fines


def retake(session: Session, key: str | None) -> list[m.Body]:
    """Take a new photograph of the claimed hand."""
    _need(session.claim is not None, "no_claim", "No claim is pending.")
    assert session.claim is not None
    return [m.RetakeAsked(hand=session.hand, claim=session.claim.number, key=key)]


def override(
    session: Session, body: dict[str, Any], key: str | None, device: Device | None = None
) -> list[m.Body]:
    """A referee unlocks the intake before a ruling, with a reason.

    Also for a hand that this session knows nothing of: it was dealt in another one.
    """
    reason = _reason(body)
    _need(reason is not None, "reason_needed", "Unlocking by hand needs a reason.")
    held = device.held if device else None
    number = session.machine_hand if held is None else held
    _need(number is not None, "no_machine_hand", "The machine has dealt nothing.")
    assert number is not None
    return [m.IntakeOverridden(hand=session.hand, machine_hand=number, reason=str(reason), key=key)]


def recovery(session: Session, choice: Any, allowed: list[str]) -> str:
    """Check a person's choice after a cut motion and return it.

    ``allowed``: what `conductor.choices` offers.
    """
    _need(session.cut is not None, "no_recovery", "No motion was cut.")
    _need(choice in allowed, "bad_choice", f"{choice!r} is no choice here.", f"Use {', '.join(allowed)}.")
    return str(choice)


Decision = Callable[[Session, RuleSet, dict[str, Any], str | None], list[m.Body]]

DECISIONS: dict[str, Decision] = {
    "dice": lambda session, _, body, key: typed_dice(session, body.get("dice"), key),
    "indicator": lambda session, rules, body, key: indicator(session, rules, body.get("tile"), key),
    "claim": claim,
    "hand": lambda session, rules, body, key: typed_hand(session, rules, body.get("line"), key),
    "tile": lambda session, _, body, key: tile(session, body.get("i"), body.get("kind"), key),
    "retake": lambda session, _, __, key: retake(session, key),
    "confirm": lambda session, rules, _, key: confirm(session, rules, key),
    "reject": reject,
    "ruling": ruling,
    "undo": lambda session, _, body, key: undo(session, body, key),
    "penalty": lambda session, _, body, key: penalty(session, body, key),
    "call": lambda session, _, body, key: call(session, body.get("place"), key),
    "override": lambda session, _, body, key: override(session, body, key),
    "close": lambda session, _, __, key: close(session, key),
}
"""What each request of a screen decides; `start`, `recovery` and some others need the machine as well."""
