"""Bodies of the events in a table's log: frozen, versioned, JSON.

The log stores ``(kind, body bytes)``; this module is the one place that says which body a kind has.
Bodies are encoded once, when they are written, and hashed as bytes; nothing re-serialises them.
Places are fixed sides of the table, counter-clockwise, 0 = the side of the touchscreen.
Amounts are integers in units of the smallest chip. Times are Unix seconds.
"""

from __future__ import annotations

from typing import Any

import msgspec


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
    """Dice of the break, and where they came from: ``machine``, ``players`` or ``host``."""

    hand: int
    dice: list[int]
    source: str


class WallDealt(Body, frozen=True, kw_only=True):
    """Tiles are on the table; ``machine_hand`` is the device's own number of this hand (None: no machine)."""

    hand: int
    machine_hand: int | None
    thrower: int | None
    wall: int | None
    stack: int | None


class IndicatorRevealed(Body, frozen=True, kw_only=True):
    """The camera read the flipped tile (``score``: calibrated probability, None when typed in)."""

    hand: int
    tile: str
    wild: str | None
    score: float | None
    photo: str | None
    doubt: bool = False


class IndicatorCorrected(Body, frozen=True, kw_only=True):
    """A referee set or approved the indicator."""

    hand: int
    tile: str
    was: str | None
    wild: str | None


class HandClaimed(Body, frozen=True, kw_only=True):
    """Somebody declared a win. ``source`` is the discarder's place (None: self-draw)."""

    hand: int
    claim: int
    place: int
    how: str
    source: int | None
    da: dict[str, int]


class TileRead(msgspec.Struct, frozen=True, kw_only=True):
    """One tile of a reading: box in pixels ``(x0, y0, x1, y1)`` of the stored photo, score 0..1."""

    kind: str
    score: float
    box: tuple[float, float, float, float] | None
    alternatives: list[tuple[str, float]]
    group: str
    why: list[str] = []


class HandRead(Body, frozen=True, kw_only=True):
    """What the camera saw of the claimed hand (or what a person typed: ``photo`` None)."""

    hand: int
    claim: int
    photo: str | None
    size: tuple[int, int] | None
    tiles: list[TileRead]
    why: list[str]
    expect: int | None = None
    ms: float | None = None


class RetakeAsked(Body, frozen=True, kw_only=True):
    """A referee wants a new photograph of the claimed hand."""

    hand: int
    claim: int


class TileMended(Body, frozen=True, kw_only=True):
    """A referee changed a tile's kind, or approved it (``kind == was``)."""

    hand: int
    claim: int
    index: int
    kind: str
    was: str


class HandRejected(Body, frozen=True, kw_only=True):
    """The claim does not win; the hand goes on. No fine: that takes a ruling."""

    hand: int
    claim: int
    reason: str | None
    line: str | None = None


class HandConfirmed(Body, frozen=True, kw_only=True):
    """A referee confirmed the engine's verdict: the payment is booked. Lists are by place."""

    hand: int
    claim: int
    winner: int
    line: str
    cls: str | None
    verdict: dict[str, Any]
    pay: list[int]
    unpaid: list[int]
    bank: int
    next_dealer: int
    photo: str | None
    scores: list[float]
    edits: int
    referee: str | None = None
    frame_at: float | None = None


class HandRuled(Body, frozen=True, kw_only=True):
    """A person ruled: ``false_win``, ``draw``, ``redeal``, ``void`` or ``win``. Lists are by place.

    ``deferred`` is booked now and collected when the session closes (a false win's fine).
    ``machine_hand``: the device's number of a hand that was ruled before its deal was booked.
    """

    hand: int
    ruling: str
    place: int | None
    reason: str | None
    pay: list[int]
    deferred: list[int]
    bank: int
    next_dealer: int
    line: str | None = None
    verdict: dict[str, Any] | None = None
    referee: str | None = None
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


class PenaltyApplied(Body, frozen=True, kw_only=True):
    """``chips``: amount moves to the bank; ``xianggong``: barred from winning; ``warning``: noted."""

    hand: int
    place: int
    penalty: str
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


class EventCorrected(Body, frozen=True, kw_only=True):
    """A compensating event: the fold leaves the target out; both stay in the log."""

    target: int
    reason: str | None = None


class SessionClosed(Body, frozen=True, kw_only=True):
    """End of the session: deferred fines move from chips to the bank. Lists are by place."""

    fines: list[int]
    bank: int


EVENTS: dict[str, type[Body]] = {
    "session.opened": SessionOpened,
    "cycle.started": CycleStarted,
    "dice.rolled": DiceRolled,
    "wall.dealt": WallDealt,
    "indicator.revealed": IndicatorRevealed,
    "indicator.corrected": IndicatorCorrected,
    "hand.claimed": HandClaimed,
    "hand.read": HandRead,
    "hand.retake_asked": RetakeAsked,
    "hand.tile_mended": TileMended,
    "hand.rejected": HandRejected,
    "hand.confirmed": HandConfirmed,
    "hand.ruled": HandRuled,
    "intake.released": IntakeReleased,
    "intake.overridden": IntakeOverridden,
    "penalty.applied": PenaltyApplied,
    "motion.cut": MotionCut,
    "motion.recovered": MotionRecovered,
    "referee.called": RefereeCalled,
    "event.corrected": EventCorrected,
    "session.closed": SessionClosed,
}
"""Every kind of event with its body."""

KIND_OF: dict[type[Body], str] = {body: kind for kind, body in EVENTS.items()}

_encoder = msgspec.json.Encoder()
_decoders = {kind: msgspec.json.Decoder(body) for kind, body in EVENTS.items()}


def encode(body: Body) -> tuple[str, bytes]:
    """Return ``(kind, bytes)`` of an event body, as the log takes it."""
    return KIND_OF[type(body)], _encoder.encode(body)


def decode(kind: str, body: bytes) -> Body | None:
    """Return the body of a logged event; None for a kind this version does not know.

    Raises:
        msgspec.DecodeError: the bytes are not such a body.
    """
    decoder = _decoders.get(kind)
    return None if decoder is None else decoder.decode(body)
