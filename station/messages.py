"""Bodies of the events in a table's log: frozen, versioned, JSON.

The log stores ``(kind, body bytes)``; this module is the one place that says which body a kind has.
Bodies are encoded once, when they are written, and hashed as bytes; nothing re-serialises them.
Places are fixed sides of the table, counter-clockwise, 0 = the side of the touchscreen.
Amounts are integers in units of the smallest chip. Times are Unix seconds. Lists called so are by place.

A body whose meaning changed has a higher ``v``; `decode` brings an older one up to date step by step, so
every log that was ever written can still be read.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from station.versions import STEPS


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """What all bodies share: the version of their layout, and the request that caused them."""

    v: int = 1
    key: str | None = None
    """``Idempotency-Key`` of the request, kept so that a repeat is known after a restart too."""


class SessionOpened(Body, frozen=True, kw_only=True):
    """A table opened its session: who sits where, by which rules, with how many chips."""

    table: str
    ruleset: str
    ruleset_hash: str
    options: dict[str, Any]
    players: list[str]
    chips: list[int]
    bank: int = 0
    dealer: int = 0
    format: str = "casual"
    duration_s: int | None = None


class CycleStarted(Body, frozen=True, kw_only=True):
    """A person released the machine for the next hand."""

    hand: int


class DiceRolled(Body, frozen=True, kw_only=True):
    """One throw of two dice, and where it came from: ``machine``, ``players`` or ``host``.

    ``nth`` of ``of`` throws that find the break; with ``gold`` the throw that finds the gold.
    """

    v: int = 2
    hand: int
    dice: list[int]
    source: str
    nth: int = 1
    of: int = 1
    gold: bool = False


class WallDealt(Body, frozen=True, kw_only=True):
    """Tiles are on the table; ``machine_hand`` is the device's own number of this hand (None: no machine).

    ``steps`` are still to be taken before the hand is played, in order: ``flowers`` (they are replaced),
    ``gold`` (dice for it), ``indicator`` (a tile is flipped).
    """

    v: int = 2
    hand: int
    machine_hand: int | None
    thrower: int | None
    wall: int | None
    stack: int | None
    steps: list[str]


class FlowersReplaced(Body, frozen=True, kw_only=True):
    """Everybody has replaced the dealt flowers."""

    hand: int


class IndicatorRevealed(Body, frozen=True, kw_only=True):
    """The camera read the flipped tile (``score``: calibrated probability, None when typed in).

    ``no_photo``: code of why there is no photograph although the camera read it.
    """

    hand: int
    tile: str
    wild: str | None
    score: float | None
    photo: str | None
    no_photo: str | None = None
    doubt: bool = False


class IndicatorCorrected(Body, frozen=True, kw_only=True):
    """A referee set or approved the indicator."""

    hand: int
    tile: str
    was: str | None
    wild: str | None


class HandClaimed(Body, frozen=True, kw_only=True):
    """Somebody declared a win. ``source`` is the discarder's place (None: self-draw).

    ``facts`` are what was tapped besides, by name (JSON values); ``shown`` the same of each place, the keys
    are places. ``open``: other places whose open tiles have to be read, where losers score too. ``place``
    None (``how`` = draw): nobody won, the wall is exhausted, and what lies open is settled.
    """

    v: int = 2
    hand: int
    claim: int
    place: int | None
    how: str
    source: int | None
    facts: dict[str, Any] = {}
    shown: dict[str, dict[str, Any]] = {}
    open: list[int] = []


class HandAmended(Body, frozen=True, kw_only=True):
    """A referee changed how the claim was made or its facts: all of them as they stand now."""

    hand: int
    claim: int
    how: str
    source: int | None
    facts: dict[str, Any]
    shown: dict[str, dict[str, Any]]


class TileRead(msgspec.Struct, frozen=True, kw_only=True):
    """One tile of a reading: box in pixels ``(x0, y0, x1, y1)`` of the stored photo, score 0..1.

    ``red``: whether a five is a red one, None where nobody can tell or the rule set has none.
    """

    kind: str
    score: float
    box: tuple[float, float, float, float] | None
    alternatives: list[tuple[str, float]]
    group: str
    why: list[str] = []
    red: bool | None = None


class HandRead(Body, frozen=True, kw_only=True):
    """What the camera saw of the claimed hand (or what a person typed: ``photo`` and ``no_photo`` None).

    ``no_photo``: code of why the photograph of what the camera read is not kept (the disk refused it).
    ``place``: another place, of which only what lies open is meant; typed without tiles: nothing does.
    ``waited``: frames that were not fit to be read before this one, by what was wrong first (codes of
    `vision.fitness`); ``anyway``: a person had it read as it was.
    """

    v: int = 2
    hand: int
    claim: int
    place: int | None = None
    photo: str | None
    size: tuple[int, int] | None
    tiles: list[TileRead]
    why: list[str]
    expect: int | None = None
    ms: float | None = None
    waited: dict[str, int] = {}
    anyway: bool = False
    no_photo: str | None = None

    @property
    def typed(self) -> bool:
        """Whether a person typed it."""
        return self.photo is None and self.no_photo is None


class RetakeAsked(Body, frozen=True, kw_only=True):
    """A referee wants a new photograph of the claimed hand, or of what lies open at another ``place``."""

    v: int = 2
    hand: int
    claim: int
    place: int | None = None


class TileMended(Body, frozen=True, kw_only=True):
    """A referee changed a tile's kind, or approved it (``kind == was``); ``place`` as in `HandRead`."""

    v: int = 2
    hand: int
    claim: int
    place: int | None = None
    index: int
    kind: str
    was: str


class HandRejected(Body, frozen=True, kw_only=True):
    """The claim does not win; the hand goes on. No fine: that takes a ruling."""

    hand: int
    claim: int
    reason: str | None
    line: str | None = None


class Booked(Body, frozen=True, kw_only=True):
    """What a decision books and what follows from it; the rules are asked once, when it is made.

    ``pay`` are chips, after ``loans`` were taken up; ``outside`` is paid beside the chips; ``deferred`` fines
    are booked now and collected when the session closes (positive: owes); ``unpaid`` nobody pays. ``bank``
    gets its share of ``pay``. ``totals`` are the rule set's own sums by name. ``stake``: everybody begins
    anew with these chips, what was won or lost before is carried. ``streak``, ``circle``, ``match_hand`` and
    ``ended`` (why the match is over) are those of the next hand; ``circle`` None: an old event, it follows
    from the dealers. An empty list means nobody.
    """

    v: int = 2
    hand: int
    pay: list[int]
    bank: int
    outside: list[int] = []
    deferred: list[int] = []
    loans: list[int] = []
    unpaid: list[int] = []
    totals: dict[str, list[int]] = {}
    next_dealer: int
    streak: int = 0
    circle: int | None = None
    match_hand: int | None = None
    ended: str | None = None
    stake: list[int] | None = None
    line: str | None = None
    verdict: dict[str, Any] | None = None
    referee: str | None = None


class HandConfirmed(Booked, frozen=True, kw_only=True):
    """A referee confirmed the engine's verdict: the payment is booked."""

    line: str
    claim: int
    winner: int
    cls: str | None
    photo: str | None
    no_photo: str | None = None
    scores: list[float]
    edits: int
    frame_at: float | None = None


class HandRuled(Booked, frozen=True, kw_only=True):
    """A person ruled: ``false_win``, ``draw``, ``redeal``, ``void`` or ``win``.

    ``over``: the hand ends with it. ``barred`` places may not win this hand any more, ``dead`` ones neither
    (相公). ``machine_hand``: the device's number of a hand that was ruled before its deal was booked.
    """

    ruling: str
    place: int | None
    reason: str | None
    over: bool = True
    barred: list[int] = []
    dead: list[int] = []
    machine_hand: int | None = None


class IntakeReleased(Body, frozen=True, kw_only=True):
    """The device unlocked its intake for this hand."""

    hand: int
    machine_hand: int


class IntakeOverridden(Body, frozen=True, kw_only=True):
    """A referee wants the intake unlocked before the ruling, with a reason."""

    hand: int
    machine_hand: int
    reason: str


class IntakeOpenedEarly(Body, frozen=True, kw_only=True):
    """Somebody opened the machine while the hand waited for its ruling, by its own button or by hand.

    ``opened`` False: the machine held its lid, and it remained a try. ``photo``: the zones of the hands laid
    open at that moment, kept only where a claim was pending (``no_photo``: code of why there is none then);
    before a claim no frame of a hand in play is ever stored.
    """

    hand: int
    machine_hand: int | None
    opened: bool = True
    photo: str | None = None
    no_photo: str | None = None


class PenaltyApplied(Body, frozen=True, kw_only=True):
    """``chips``: amount moves to the bank; ``xianggong``: barred from winning; ``warning``: noted."""

    hand: int
    place: int
    penalty: str
    amount: int
    reason: str | None = None


class AccountMoved(Body, frozen=True, kw_only=True):
    """``loan``: the place borrows chips; ``repay``: gives them back; ``forfeit``: chips leave play."""

    hand: int
    place: int
    account: str
    amount: int
    reason: str | None = None


class MotionCut(Body, frozen=True, kw_only=True):
    """A motion did not finish (lease ended, machine restarted, fault); a person has to choose."""

    hand: int
    op: str
    cmd_id: int | None
    why: str


class MotionRecovered(Body, frozen=True, kw_only=True):
    """The person's choice after a cut motion."""

    hand: int
    choice: str


class RefereeCalled(Body, frozen=True, kw_only=True):
    """Somebody at the table wants the referee."""

    place: int


UNDONE = "undone"
"""The reason of a correction for which nobody gave one: somebody took the last decision back."""


class EventCorrected(Body, frozen=True, kw_only=True):
    """A compensating event: the fold leaves the target out; both stay in the log.

    The opening of a session, another correction and what is no event of the game cannot be taken back, nor
    can one event twice: such a correction changes nothing.
    """

    v: int = 2
    target: int
    reason: Annotated[str, msgspec.Meta(min_length=1)]


class PhotoRemoved(Body, frozen=True, kw_only=True):
    """A photograph goes by rule (docs/evidence.md); it is deleted after this was booked.

    ``why``: ``window_over``, or ``thin.indicator``, ``thin.clean``, ``thin.mended``, ``thin.rejected``.
    """

    photo: str
    why: str


class SessionClosed(Body, frozen=True, kw_only=True):
    """End of the session: deferred fines move from chips to the bank; what is missing stays ``unpaid``."""

    fines: list[int]
    bank: int
    unpaid: list[int] = []


class CommandDone(Body, frozen=True, kw_only=True):
    """A command of the central station has taken effect, by the events booked with this one.

    ``log`` (hex) and ``seq`` name it; ``outcome``: ``done``, or ``unknown`` for a kind of a newer version.
    """

    log: str
    seq: int
    command: str
    outcome: str


EVENTS: dict[str, type[Body]] = {
    "session.opened": SessionOpened,
    "cycle.started": CycleStarted,
    "dice.rolled": DiceRolled,
    "wall.dealt": WallDealt,
    "flowers.replaced": FlowersReplaced,
    "indicator.revealed": IndicatorRevealed,
    "indicator.corrected": IndicatorCorrected,
    "hand.claimed": HandClaimed,
    "hand.amended": HandAmended,
    "hand.read": HandRead,
    "hand.retake_asked": RetakeAsked,
    "hand.tile_mended": TileMended,
    "hand.rejected": HandRejected,
    "hand.confirmed": HandConfirmed,
    "hand.ruled": HandRuled,
    "intake.released": IntakeReleased,
    "intake.overridden": IntakeOverridden,
    "intake_opened_early": IntakeOpenedEarly,
    "penalty.applied": PenaltyApplied,
    "account.moved": AccountMoved,
    "motion.cut": MotionCut,
    "motion.recovered": MotionRecovered,
    "referee.called": RefereeCalled,
    "event.corrected": EventCorrected,
    "session.closed": SessionClosed,
    "evidence.removed": PhotoRemoved,
    "command.done": CommandDone,
}
"""Every kind of event with its body."""

KIND_OF: dict[type[Body], str] = {body: kind for kind, body in EVENTS.items()}

MAX_NUMBER = 1 << 40
"""Greatest integer of an event, either way: sums of a great many still fit into 64 bits."""
MAX_DEPTH = 64
"""Most levels of lists and objects inside an event."""
_ODD = re.compile(rb"\d{13}")
"""What an event with a greater number holds; a hash may hold it too."""

_encoder = msgspec.json.Encoder()
_decoders = {kind: msgspec.json.Decoder(body) for kind, body in EVENTS.items()}


class _Versioned(msgspec.Struct):
    v: int = 1


_versions = msgspec.json.Decoder(_Versioned)
_CURRENT: dict[str, int] = {
    kind: next(field.default for field in msgspec.structs.fields(body) if field.name == "v")
    for kind, body in EVENTS.items()
}


def encode(body: Body) -> tuple[str, bytes]:
    """Return ``(kind, bytes)`` of an event body, as the log takes it."""
    return KIND_OF[type(body)], _encoder.encode(body)


def decode(kind: str, body: bytes) -> Body | None:
    """Return the body of a logged event; None for a kind this version does not know.

    Raises:
        msgspec.DecodeError: the bytes are not such a body, or one of a newer version, or they hold a number
            or a nesting that nothing here has a use for: a table may book what it likes, and whoever counts,
            stores or shows it must not fail because of that.
    """
    decoder = _decoders.get(kind)
    if decoder is None:
        return None
    try:
        read = _read(kind, body, decoder)
        if _ODD.search(body) or body.count(b"[") + body.count(b"{") > MAX_DEPTH:
            _check(msgspec.to_builtins(read), MAX_DEPTH)
    except RecursionError:
        raise msgspec.DecodeError(f"{kind} is nested too deep") from None
    return read


def _check(value: Any, depth: int) -> None:
    """Raise where a value holds a number beyond `MAX_NUMBER`, or more levels than `depth`."""
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise msgspec.DecodeError(f"a number of {value.bit_length()} bits")
    if isinstance(value, dict | list | tuple):
        if not depth:
            raise msgspec.DecodeError(f"more than {MAX_DEPTH} levels")
        for inner in value.values() if isinstance(value, dict) else value:
            _check(inner, depth - 1)


def _read(kind: str, body: bytes, decoder: msgspec.json.Decoder[Body]) -> Body:
    version, current = _versions.decode(body).v, _CURRENT[kind]
    if version == current:
        return decoder.decode(body)
    if not 1 <= version < current:
        raise msgspec.DecodeError(f"version {version} of {kind} is not known; the newest is {current}")
    old = msgspec.json.decode(body, type=dict[str, Any])
    try:
        for step in range(version, current):
            old = {**STEPS[kind, step](old), "v": step + 1}
    except (TypeError, ValueError) as error:
        raise msgspec.DecodeError(f"{kind}: {error}") from None
    return msgspec.convert(old, EVENTS[kind])
