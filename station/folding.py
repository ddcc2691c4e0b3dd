"""What each kind of event does to a table's state: one small function a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as changed

from station import messages as m
from station.places import SIDES, Place
from station.state import (
    STEP_STAGES,
    ClaimState,
    Cut,
    Event,
    IndicatorState,
    Laid,
    PlaceState,
    Result,
    Session,
    Stage,
    TileState,
)


def fold(state: Session, event: Event) -> Session:
    """Return the state after an event; one of an unknown kind changes nothing."""
    handler = _HANDLERS.get(type(event.body)) if event.body is not None else None
    return state if handler is None else handler(state, event, event.body)


MOST_UNDOABLE = 256
"""Bookings of one hand that are remembered to be taken back. Were there no end, each would cost more than the
one before."""
MOST_STATIONS = 64
"""Chains of commands that are remembered: one of each station that ever gave some."""
MOST_THROWS, MOST_DICE = 4, 4


def _undoable(state: Session, event: Event) -> tuple[int, ...]:
    return (*state.undoable, event.seq)[-MOST_UNDOABLE:]


def _opened(state: Session, event: Event, body: m.SessionOpened) -> Session:
    if len(body.players) > SIDES:
        raise ValueError(f"{len(body.players)} players")
    places = tuple(PlaceState(n, c) for n, c in zip(body.players, body.chips, strict=True))
    return Session(
        stage=Stage.START,
        table=body.table,
        ruleset=body.ruleset,
        options=body.options,
        format=body.format,
        duration_s=body.duration_s,
        opened_at=event.at,
        places=places,
        bank=body.bank,
        first_dealer=Place(body.dealer),
        dealer=Place(body.dealer),
        keys=state.keys,
        commands=state.commands,
    )


def _closed(state: Session, _: Event, body: m.SessionClosed) -> Session:
    places = tuple(
        replace(p, chips=p.chips - fine, deferred=0) for p, fine in zip(state.places, body.fines, strict=True)
    )
    return changed(state, stage=Stage.CLOSED, places=places, bank=state.bank + body.bank, undoable=())


def _cycle(state: Session, event: Event, body: m.CycleStarted) -> Session:
    return changed(
        state,
        stage=Stage.CYCLE,
        hand=body.hand,
        cycle_at=event.at,
        dice=(),
        gold_dice=(),
        broken=None,
        dealt_at=None,
        steps=(),
        machine_hand=None,
        released=False,
        overridden=False,
        opened_early=False,
        indicator=None,
        claim=None,
        claims=0,
        cut=None,
        paused=False,
        undoable=(),
        places=tuple(replace(p, barred=False, xianggong=False) for p in state.places),
    )


def _diced(state: Session, _: Event, body: m.DiceRolled) -> Session:
    if not 1 <= body.nth <= MOST_THROWS or len(body.dice) > MOST_DICE:
        raise ValueError(f"throw {body.nth} of {len(body.dice)} dice")
    if body.gold:
        return _past("gold", changed(state, gold_dice=tuple(body.dice)))
    stage = Stage.DICED if body.nth >= body.of else state.stage
    return changed(state, stage=stage, dice=(*state.dice[: 2 * (body.nth - 1)], *body.dice))


def _broken(body: m.WallDealt) -> tuple[int, int, int] | None:
    if body.thrower is None or body.wall is None or body.stack is None:
        return None
    return body.thrower, body.wall, body.stack


def _dealt(state: Session, event: Event, body: m.WallDealt) -> Session:
    dealt = changed(state, machine_hand=body.machine_hand, broken=_broken(body), dealt_at=event.at)
    return _to_step(tuple(body.steps), dealt)


def _to_step(steps: tuple[str, ...], state: Session) -> Session:
    """Go to the first of the steps that are left before the hand is played."""
    return changed(state, steps=steps, stage=STEP_STAGES[steps[0]] if steps else Stage.PLAY)


def _past(step: str, state: Session) -> Session:
    """A step was taken, and with it those before it."""
    if step not in state.steps:
        return state
    return _to_step(state.steps[state.steps.index(step) + 1 :], state)


def _flowers_replaced(state: Session, _: Event, __: m.FlowersReplaced) -> Session:
    return _past("flowers", state)


def _revealed(state: Session, _: Event, body: m.IndicatorRevealed) -> Session:
    indicator = IndicatorState(body.tile, body.wild, body.score, body.photo, body.doubt)
    return _past("indicator", changed(state, indicator=indicator))


def _indicator_corrected(state: Session, _: Event, body: m.IndicatorCorrected) -> Session:
    old = state.indicator
    indicator = IndicatorState(
        body.tile,
        body.wild,
        old.score if old else None,
        old.photo if old else None,
        doubt=False,
        mended=body.was is not None and body.tile != body.was,
    )
    return _past("indicator", changed(state, indicator=indicator))


def _claimed(state: Session, event: Event, body: m.HandClaimed) -> Session:
    claim = ClaimState(
        number=body.claim,
        place=_place(body.place),
        how=body.how,
        source=_place(body.source),
        at=event.at,
        facts=body.facts,
        seat_facts=_by_place(body.shown),
        others={Place(place): Laid() for place in body.open},
    )
    return changed(state, stage=Stage.CLAIM, claim=claim, claims=body.claim)


def _place(place: int | None) -> Place | None:
    return None if place is None else Place(place)


def _by_place(shown: dict[str, dict[str, Any]]) -> dict[Place, dict[str, Any]]:
    """Facts of places as the log has them: the keys of a JSON object are text."""
    return {Place(int(place)): facts for place, facts in shown.items()}


def _amended(state: Session, event: Event, body: m.HandAmended) -> Session:
    claim = state.claim
    if claim is None or claim.number != body.claim:
        return state
    claim = replace(
        claim,
        how=body.how,
        source=_place(body.source),
        facts=body.facts,
        seat_facts=_by_place(body.shown),
    )
    return changed(state, claim=claim, undoable=_undoable(state, event))


def _laid(state: Session, number: int, place: int | None) -> Laid | None:
    """What lies before a place of the pending claim, if the event speaks of it."""
    claim = state.claim
    return None if claim is None or claim.number != number else claim.at_place(_place(place))


def _relaid(state: Session, place: int | None, laid: Laid, edits: int = 0) -> Session:
    claim = state.claim
    assert claim is not None
    if place is None or place == claim.place:
        claim = replace(claim, laid=laid)
    else:
        claim = replace(claim, others={**claim.others, Place(place): laid})
    return changed(state, claim=replace(claim, edits=claim.edits + edits))


def _read(state: Session, event: Event, body: m.HandRead) -> Session:
    old = _laid(state, body.claim, body.place)
    if old is None:
        return state
    # A hand typed by a person replaces the reading: the tiles that differ count as mended ones.
    kept = body.typed and bool(body.tiles)
    laid = Laid(
        photo=old.photo if kept else body.photo,
        size=body.size or old.size,
        expect=body.expect,
        tiles=tuple(TileState(t, t.kind) for t in body.tiles),
        frame_why=tuple(body.why),
        read_at=event.at,
        no_photo=old.no_photo if kept else body.no_photo,
    )
    edits = _differing(old.tiles, body.tiles) if body.typed and old.tiles else 0
    return _relaid(state, body.place, laid, edits)


def _retake(state: Session, _: Event, body: m.RetakeAsked) -> Session:
    old = _laid(state, body.claim, body.place)
    if old is None:
        return state
    return _relaid(state, body.place, replace(old, tiles=(), frame_why=(), read_at=None))


def _differing(old: tuple[TileState, ...], new: list[m.TileRead]) -> int:
    """Return how many tiles of the new list are not in the old one, as multisets."""
    left = [t.kind for t in old]
    missing = 0
    for tile in new:
        if tile.kind in left:
            left.remove(tile.kind)
        else:
            missing += 1
    return missing


def _mended(state: Session, _: Event, body: m.TileMended) -> Session:
    old = _laid(state, body.claim, body.place)
    if old is None or not 0 <= body.index < len(old.tiles):
        return state
    tiles = list(old.tiles)
    tiles[body.index] = replace(tiles[body.index], kind=body.kind, approved=True)
    return _relaid(state, body.place, replace(old, tiles=tuple(tiles)), int(body.kind != body.was))


def _rejected(state: Session, event: Event, _: m.HandRejected) -> Session:
    return changed(state, stage=Stage.PLAY, claim=None, undoable=_undoable(state, event))


def _booked(state: Session, body: m.Booked) -> Session:
    """Move what a decision books; loans first, then payments, then perhaps a new stake."""
    nobody = [0] * len(state.places)
    stakes: Sequence[int | None] = body.stake or [None] * len(state.places)
    accounts = (body.pay, body.loans or nobody, body.outside or nobody, body.deferred or nobody)
    columns = zip(state.places, *accounts, stakes, strict=True)
    places = []
    for place, pay, loan, outside, deferred, stake in columns:
        chips = place.chips + loan + pay
        after = chips if stake is None else stake
        places.append(
            replace(
                place,
                chips=after,
                loans=place.loans + loan,
                outside=place.outside + outside,
                deferred=place.deferred + deferred,
                carried=place.carried + chips - after,
            )
        )
    return changed(state, places=tuple(places), bank=state.bank + body.bank)


def _finished(state: Session, event: Event, result: Result, body: m.Booked) -> Session:
    circle, match_hand = body.circle, body.match_hand
    if circle is None:
        moved = body.next_dealer != state.dealer
        circle = state.circle + int(moved and body.next_dealer == state.first_dealer)
    return changed(
        state,
        stage=Stage.RULED,
        claim=None,
        hands_finished=state.hands_finished + 1,
        dealer=Place(body.next_dealer),
        streak=body.streak,
        circle=circle,
        match_hand=state.match_hand + 1 if match_hand is None else match_hand,
        ended=body.ended,
        last=result,
        undoable=_undoable(state, event),
    )


def _result(event: Event, body: m.Booked, outcome: str, winner: int | None, cls: str | None) -> Result:
    return Result(
        hand=body.hand,
        outcome=outcome,
        winner=_place(winner),
        pay=tuple(body.pay),
        outside=tuple(body.outside),
        totals={name: tuple(amounts) for name, amounts in body.totals.items()},
        cls=cls,
        line=body.line,
        at=event.at,
    )


def _confirmed(state: Session, event: Event, body: m.HandConfirmed) -> Session:
    return _finished(_booked(state, body), event, _result(event, body, "win", body.winner, body.cls), body)


def _ruled(state: Session, event: Event, body: m.HandRuled) -> Session:
    state = _booked(state, body)
    if not body.over:
        places = tuple(
            replace(p, barred=p.barred or i in body.barred, xianggong=p.xianggong or i in body.dead)
            for i, p in enumerate(state.places)
        )
        return changed(
            state,
            stage=Stage.PLAY,
            claim=None,
            places=places,
            undoable=_undoable(state, event),
        )
    if body.machine_hand is not None:
        state = changed(state, machine_hand=body.machine_hand, released=False)
    return _finished(state, event, _result(event, body, body.ruling, body.place, None), body)


def _released(state: Session, _: Event, __: m.Body) -> Session:
    return changed(state, released=True)


def _overridden(state: Session, _: Event, body: m.IntakeOverridden) -> Session:
    return changed(state, overridden=True, released=False, machine_hand=body.machine_hand)


def _opened_early(state: Session, _: Event, body: m.IntakeOpenedEarly) -> Session:
    return changed(state, opened_early=state.opened_early or body.opened)


def _penalty(state: Session, event: Event, body: m.PenaltyApplied) -> Session:
    places = list(state.places)
    place = places[body.place]
    dead = place.xianggong or body.penalty == "xianggong"
    places[body.place] = replace(place, chips=place.chips - body.amount, xianggong=dead)
    return changed(
        state,
        places=tuple(places),
        bank=state.bank + body.amount,
        undoable=_undoable(state, event),
    )


def _account(state: Session, event: Event, body: m.AccountMoved) -> Session:
    places = list(state.places)
    place = places[body.place]
    gains = body.amount if body.account == "loan" else -body.amount
    lent = 0 if body.account == "forfeit" else gains
    places[body.place] = replace(place, chips=place.chips + gains, loans=place.loans + lent)
    return changed(
        state,
        places=tuple(places),
        forfeited=state.forfeited + (body.amount if body.account == "forfeit" else 0),
        undoable=_undoable(state, event),
    )


def _cut(state: Session, _: Event, body: m.MotionCut) -> Session:
    return changed(state, cut=Cut(body.op, body.cmd_id, body.why))


def _recovered(state: Session, event: Event, body: m.MotionRecovered) -> Session:
    # The choice is a person's new authority to move, so the start's age counts from here. Who lowers the
    # walls or goes on by hand does not want the same motion again at once.
    paused = body.choice in ("lower", "leave")
    return changed(state, cut=None, cycle_at=event.at, paused=paused)


def _calls(state: Session, _: Event, body: m.RefereeCalled) -> Session:
    place = Place(body.place)
    if not 0 <= place < SIDES:
        raise ValueError(f"place {place}")
    return state if place in state.called else changed(state, called=(*state.called, place))


def _commanded(state: Session, _: Event, body: m.CommandDone) -> Session:
    done = dict(state.commands)
    done[body.log] = max(done.get(body.log, 0), body.seq)
    return changed(state, commands=tuple(done.items())[-MOST_STATIONS:])


_HANDLERS: dict[type[m.Body], Callable[[Session, Event, Any], Session]] = {
    m.SessionOpened: _opened,
    m.SessionClosed: _closed,
    m.CommandDone: _commanded,
    m.CycleStarted: _cycle,
    m.DiceRolled: _diced,
    m.WallDealt: _dealt,
    m.FlowersReplaced: _flowers_replaced,
    m.IndicatorRevealed: _revealed,
    m.IndicatorCorrected: _indicator_corrected,
    m.HandClaimed: _claimed,
    m.HandAmended: _amended,
    m.HandRead: _read,
    m.RetakeAsked: _retake,
    m.TileMended: _mended,
    m.HandRejected: _rejected,
    m.HandConfirmed: _confirmed,
    m.HandRuled: _ruled,
    m.IntakeReleased: _released,
    m.IntakeOverridden: _overridden,
    m.IntakeOpenedEarly: _opened_early,
    m.PenaltyApplied: _penalty,
    m.AccountMoved: _account,
    m.MotionCut: _cut,
    m.RefereeCalled: _calls,
    m.MotionRecovered: _recovered,
}
