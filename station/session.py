"""The table session as a pure fold over the table's log.

``replay(events)`` is the whole state of a table: chips, dealer, hand, pending claim, what may be
released. Restart means replay. No clock, no device and no rule engine in here: what a rule decided
stands in the event body. Lists indexed by place, amounts in the smallest chip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from station import messages as m
from station.places import Place

REMEMBERED_KEYS = 256
"""Idempotency keys kept in the state; a touchscreen repeats within seconds, not after 256 events."""


class Stage(StrEnum):
    """Where the hand stands, as far as the log knows (the machine's own state is not in here)."""

    CLOSED = "closed"
    START = "start"
    CYCLE = "cycle"
    DICED = "diced"
    DEALT = "dealt"
    PLAY = "play"
    CLAIM = "claim"
    RULED = "ruled"


@dataclass(frozen=True, slots=True)
class PlaceState:
    """One player's account and standing.

    ``deferred``: fines collected at the close. ``barred``: false win in this hand. ``xianggong``: dead hand.
    """

    name: str
    chips: int
    deferred: int = 0
    barred: bool = False
    xianggong: bool = False


@dataclass(frozen=True, slots=True)
class TileState:
    """A tile of the pending claim: what the camera read, and what the referee made of it."""

    read: m.TileRead
    kind: str
    approved: bool = False

    @property
    def edited(self) -> bool:
        """Whether the referee changed the kind."""
        return self.kind != self.read.kind

    @property
    def doubt(self) -> bool:
        """Whether somebody still has to look at this tile."""
        return bool(self.read.why) and not self.approved and not self.edited


@dataclass(frozen=True, slots=True)
class ClaimState:
    """A declared win that waits for its ruling."""

    number: int
    place: Place
    how: str
    source: Place | None
    da: dict[str, int]
    at: float
    photo: str | None = None
    size: tuple[int, int] | None = None
    expect: int | None = None
    tiles: tuple[TileState, ...] = ()
    frame_why: tuple[str, ...] = ()
    read_at: float | None = None
    edits: int = 0


@dataclass(frozen=True, slots=True)
class IndicatorState:
    """The flipped tile and the wildcard derived from it (None where the tile derives none)."""

    tile: str
    wild: str | None
    score: float | None
    photo: str | None
    doubt: bool
    mended: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """How the last finished hand ended, for the screens."""

    hand: int
    outcome: str
    winner: Place | None
    pay: tuple[int, ...]
    cls: str | None
    line: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A motion that did not finish; nothing moves before a person chose."""

    op: str
    cmd_id: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Session:
    """State of a table after ``seq`` events; ``rev`` is the last event that bears on a decision."""

    seq: int = 0
    rev: int = 0
    stage: Stage = Stage.CLOSED
    table: str = ""
    ruleset: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    format: str = "casual"
    duration_s: int | None = None
    opened_at: float | None = None
    places: tuple[PlaceState, ...] = ()
    bank: int = 0
    first_dealer: Place = Place(0)
    dealer: Place = Place(0)
    circle: int = 1
    hand: int = 0
    hands_finished: int = 0
    cycle_at: float | None = None
    dice: tuple[int, int] | None = None
    broken: tuple[int, int, int] | None = None
    machine_hand: int | None = None
    released: bool = False
    overridden: bool = False
    """A referee wants the intake unlocked before the ruling."""
    indicator: IndicatorState | None = None
    claim: ClaimState | None = None
    claims: int = 0
    cut: Cut | None = None
    paused: bool = False
    """A person chose not to finish a cut motion: the next one waits for a new tap."""
    last: Result | None = None
    undoable: tuple[int, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()
    called: tuple[Place, ...] = ()
    """Places that called the referee and nobody has decided anything since."""

    def known(self, key: str) -> bool:
        """Whether a request with this idempotency key was booked already."""
        return any(k == key for k, _ in self.keys)


@dataclass(frozen=True, slots=True)
class Event:
    """A decoded log entry: position, time of booking (Unix seconds), body (None: unknown kind)."""

    seq: int
    at: float
    body: m.Body | None


def replay(events: Iterable[Event]) -> Session:
    """Fold a whole log; events named by an ``event.corrected`` are left out."""
    listed = list(events)
    corrected = {e.body.target for e in listed if isinstance(e.body, m.EventCorrected)}
    state = Session()
    for event in listed:
        hidden = event.seq in corrected
        state = _counted(state, event) if hidden else apply(state, event)
    return state


def apply(state: Session, event: Event) -> Session:
    """Return the state after one more event (not for ``event.corrected``: that needs `replay`)."""
    body = event.body
    handler = _HANDLERS.get(type(body)) if body is not None else None
    if handler is not None:
        state = handler(state, event, body)
    return _counted(state, event)


def _counted(state: Session, event: Event) -> Session:
    """Advance position and revision, and remember the request's key."""
    decisive = not isinstance(event.body, m.RefereeCalled | m.IntakeReleased | None)
    keys = state.keys
    if event.body is not None and event.body.key:
        keys = (*keys, (event.body.key, event.seq))[-REMEMBERED_KEYS:]
    called = () if isinstance(event.body, _ANSWERS_A_CALL) else state.called
    return replace(state, seq=event.seq, rev=event.seq if decisive else state.rev, keys=keys, called=called)


_ANSWERS_A_CALL = (
    m.HandConfirmed,
    m.HandRejected,
    m.HandRuled,
    m.PenaltyApplied,
    m.EventCorrected,
    m.CycleStarted,
    m.SessionClosed,
)
"""What a referee does: after it nobody waits for one any more."""


def _opened(state: Session, event: Event, body: m.SessionOpened) -> Session:
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
    )


def _closed(state: Session, _: Event, body: m.SessionClosed) -> Session:
    places = tuple(
        replace(p, chips=p.chips - fine, deferred=0) for p, fine in zip(state.places, body.fines, strict=True)
    )
    return replace(state, stage=Stage.CLOSED, places=places, bank=state.bank + body.bank, undoable=())


def _cycle(state: Session, event: Event, body: m.CycleStarted) -> Session:
    return replace(
        state,
        stage=Stage.CYCLE,
        hand=body.hand,
        cycle_at=event.at,
        dice=None,
        broken=None,
        machine_hand=None,
        released=False,
        overridden=False,
        indicator=None,
        claim=None,
        claims=0,
        cut=None,
        paused=False,
        undoable=(),
        places=tuple(replace(p, barred=False, xianggong=False) for p in state.places),
    )


def _diced(state: Session, _: Event, body: m.DiceRolled) -> Session:
    a, b = body.dice
    return replace(state, stage=Stage.DICED, dice=(a, b))


def _broken(body: m.WallDealt) -> tuple[int, int, int] | None:
    if body.thrower is None or body.wall is None or body.stack is None:
        return None
    return body.thrower, body.wall, body.stack


def _dealt(state: Session, _: Event, body: m.WallDealt) -> Session:
    return replace(
        state,
        stage=Stage.DEALT,
        machine_hand=body.machine_hand,
        broken=_broken(body),
    )


def _revealed(state: Session, _: Event, body: m.IndicatorRevealed) -> Session:
    indicator = IndicatorState(body.tile, body.wild, body.score, body.photo, body.doubt)
    return replace(state, stage=Stage.PLAY, indicator=indicator)


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
    stage = Stage.PLAY if state.stage is Stage.DEALT else state.stage
    return replace(state, stage=stage, indicator=indicator)


def _claimed(state: Session, event: Event, body: m.HandClaimed) -> Session:
    source = None if body.source is None else Place(body.source)
    claim = ClaimState(body.claim, Place(body.place), body.how, source, body.da, event.at)
    return replace(state, stage=Stage.CLAIM, claim=claim, claims=body.claim)


def _read(state: Session, event: Event, body: m.HandRead) -> Session:
    claim = state.claim
    if claim is None or claim.number != body.claim:
        return state
    # A hand typed by a person replaces the reading: the tiles that differ count as mended ones.
    typed = body.photo is None and bool(claim.tiles)
    edits = claim.edits + (_differing(claim.tiles, body.tiles) if typed else 0)
    claim = replace(
        claim,
        photo=body.photo or claim.photo,
        size=body.size or claim.size,
        expect=body.expect,
        tiles=tuple(TileState(t, t.kind) for t in body.tiles),
        frame_why=tuple(body.why),
        read_at=event.at,
        edits=edits,
    )
    return replace(state, claim=claim)


def _retake(state: Session, _: Event, body: m.RetakeAsked) -> Session:
    claim = state.claim
    if claim is None or claim.number != body.claim:
        return state
    return replace(state, claim=replace(claim, tiles=(), frame_why=(), read_at=None))


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
    claim = state.claim
    if claim is None or claim.number != body.claim or not 0 <= body.index < len(claim.tiles):
        return state
    tiles = list(claim.tiles)
    tiles[body.index] = replace(tiles[body.index], kind=body.kind, approved=True)
    changed = int(body.kind != body.was)
    return replace(state, claim=replace(claim, tiles=tuple(tiles), edits=claim.edits + changed))


def _rejected(state: Session, event: Event, _: m.HandRejected) -> Session:
    return replace(state, stage=Stage.PLAY, claim=None, undoable=(*state.undoable, event.seq))


def _paid(state: Session, pay: Iterable[int], deferred: Iterable[int], bank: int) -> Session:
    places = tuple(
        replace(p, chips=p.chips + amount, deferred=p.deferred + later)
        for p, amount, later in zip(state.places, pay, deferred, strict=True)
    )
    return replace(state, places=places, bank=state.bank + bank)


def _finished(state: Session, event: Event, result: Result, next_dealer: int) -> Session:
    moved = next_dealer != state.dealer
    circle = state.circle + int(moved and next_dealer == state.first_dealer)
    return replace(
        state,
        stage=Stage.RULED,
        claim=None,
        hands_finished=state.hands_finished + 1,
        dealer=Place(next_dealer),
        circle=circle,
        last=result,
        undoable=(*state.undoable, event.seq),
    )


def _confirmed(state: Session, event: Event, body: m.HandConfirmed) -> Session:
    state = _paid(state, body.pay, [0] * len(body.pay), body.bank)
    result = Result(body.hand, "win", Place(body.winner), tuple(body.pay), body.cls, body.line, event.at)
    return _finished(state, event, result, body.next_dealer)


def _ruled(state: Session, event: Event, body: m.HandRuled) -> Session:
    state = _paid(state, body.pay, body.deferred, body.bank)
    place = None if body.place is None else Place(body.place)
    if body.ruling == "false_win":
        places = tuple(replace(p, barred=p.barred or i == place) for i, p in enumerate(state.places))
        return replace(
            state,
            stage=Stage.PLAY,
            claim=None,
            places=places,
            undoable=(*state.undoable, event.seq),
        )
    result = Result(body.hand, body.ruling, place, tuple(body.pay), None, body.line, event.at)
    if body.machine_hand is not None:
        state = replace(state, machine_hand=body.machine_hand, released=False)
    return _finished(state, event, result, body.next_dealer)


def _released(state: Session, _: Event, __: m.Body) -> Session:
    return replace(state, released=True)


def _overridden(state: Session, _: Event, body: m.IntakeOverridden) -> Session:
    return replace(state, overridden=True, released=False, machine_hand=body.machine_hand)


def _penalty(state: Session, event: Event, body: m.PenaltyApplied) -> Session:
    places = list(state.places)
    place = places[body.place]
    dead = place.xianggong or body.penalty == "xianggong"
    places[body.place] = replace(place, chips=place.chips - body.amount, xianggong=dead)
    return replace(
        state,
        places=tuple(places),
        bank=state.bank + body.amount,
        undoable=(*state.undoable, event.seq),
    )


def _cut(state: Session, _: Event, body: m.MotionCut) -> Session:
    return replace(state, cut=Cut(body.op, body.cmd_id, body.why))


def _recovered(state: Session, event: Event, body: m.MotionRecovered) -> Session:
    # The choice is a person's new authority to move, so the start's age counts from here. Who lowers the
    # walls or goes on by hand does not want the same motion again at once.
    paused = body.choice in ("lower", "leave")
    return replace(state, cut=None, cycle_at=event.at, paused=paused)


def _calls(state: Session, _: Event, body: m.RefereeCalled) -> Session:
    place = Place(body.place)
    return state if place in state.called else replace(state, called=(*state.called, place))


_HANDLERS: dict[type[m.Body], Callable[[Session, Event, Any], Session]] = {
    m.SessionOpened: _opened,
    m.SessionClosed: _closed,
    m.CycleStarted: _cycle,
    m.DiceRolled: _diced,
    m.WallDealt: _dealt,
    m.IndicatorRevealed: _revealed,
    m.IndicatorCorrected: _indicator_corrected,
    m.HandClaimed: _claimed,
    m.HandRead: _read,
    m.RetakeAsked: _retake,
    m.TileMended: _mended,
    m.HandRejected: _rejected,
    m.HandConfirmed: _confirmed,
    m.HandRuled: _ruled,
    m.IntakeReleased: _released,
    m.IntakeOverridden: _overridden,
    m.PenaltyApplied: _penalty,
    m.MotionCut: _cut,
    m.RefereeCalled: _calls,
    m.MotionRecovered: _recovered,
}
