"""What a table's log amounts to: the values that the fold (`station.session`) works on.

Lists indexed by place, amounts in the smallest chip.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from station import messages as m
from station.places import Place


class Stage(StrEnum):
    """Where the hand stands, as far as the log knows (the machine's own state is not in here)."""

    CLOSED = "closed"
    START = "start"
    CYCLE = "cycle"
    DICED = "diced"
    FLOWERS = "flowers"
    GOLD = "gold"
    DEALT = "dealt"
    PLAY = "play"
    CLAIM = "claim"
    RULED = "ruled"


STEP_STAGES = {"flowers": Stage.FLOWERS, "gold": Stage.GOLD, "indicator": Stage.DEALT}
"""Stage of each step between deal and play."""


@dataclass(frozen=True, slots=True)
class PlaceState:
    """One player's accounts and standing.

    ``deferred``: fines collected at the close (negative: due to get). ``outside``: paid beside the chips.
    ``loans``: chips borrowed. ``carried``: net of finished stakes. ``barred``: false win in this hand.
    ``xianggong``: dead hand.
    """

    name: str
    chips: int
    deferred: int = 0
    outside: int = 0
    loans: int = 0
    carried: int = 0
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
    def red(self) -> bool:
        """Whether it was read as a red five and still is that five."""
        return bool(self.read.red) and not self.edited

    @property
    def doubt(self) -> bool:
        """Whether somebody still has to look at this tile."""
        return bool(self.read.why) and not self.approved and not self.edited


@dataclass(frozen=True, slots=True)
class Laid:
    """What was read before one place, or typed (``photo`` None). Photo, its size in pixels, the tiles.

    ``no_photo``: code of why what the camera read has no photo.
    """

    photo: str | None = None
    size: tuple[int, int] | None = None
    expect: int | None = None
    tiles: tuple[TileState, ...] = ()
    frame_why: tuple[str, ...] = ()
    read_at: float | None = None
    no_photo: str | None = None

    @property
    def nothing(self) -> bool:
        """Whether a person said that nothing lies open here."""
        unseen = self.photo is None and self.no_photo is None
        return self.read_at is not None and unseen and not self.tiles


@dataclass(frozen=True, slots=True)
class ClaimState:
    """A declared win that waits for its ruling; ``place`` None: an exhausted wall that is settled.

    ``facts`` and ``seat_facts`` (by place) are what people tapped. ``others``: what lies open at each other
    place, where losers score too.
    """

    number: int
    place: Place | None
    how: str
    source: Place | None
    at: float
    facts: dict[str, Any] = field(default_factory=dict)
    seat_facts: dict[Place, dict[str, Any]] = field(default_factory=dict)
    laid: Laid = Laid()
    others: dict[Place, Laid] = field(default_factory=dict)
    edits: int = 0

    def at_place(self, place: Place | None) -> Laid | None:
        """What lies before a place (None: the claimant's); None if it is not asked for."""
        if place is None or place == self.place:
            return None if self.place is None else self.laid
        return self.others.get(place)

    @property
    def everything(self) -> dict[Place, Laid]:
        """What lies before every place that is asked for, the claimant's first."""
        mine = {} if self.place is None else {self.place: self.laid}
        return {**mine, **self.others}

    # The claimant's reading, for what only speaks of it.

    @property
    def tiles(self) -> tuple[TileState, ...]:
        """Tiles of the claimed hand."""
        return self.laid.tiles

    @property
    def photo(self) -> str | None:
        """Photograph of the claimed hand."""
        return self.laid.photo

    @property
    def read_at(self) -> float | None:
        """When the claimed hand was read."""
        return self.laid.read_at


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
    outside: tuple[int, ...]
    totals: dict[str, tuple[int, ...]]
    cls: str | None
    line: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A motion that did not finish; nothing moves before a person chose."""

    op: str
    cmd_id: int | None
    why: str


class Session(msgspec.Struct, frozen=True):
    """State of a table after ``seq`` events; ``rev`` is the last event that bears on a decision.

    ``dice``: of the throws so far. ``steps``: what is still to be done between deal and play, the present one
    first. ``issued``: chips given out at the opening. ``match_hand`` counts the hands of the match from 1;
    ``hands_finished`` also those that were void.

    A struct, as a copy with changes is made for every event: with so many fields that costs a dataclass
    twenty times as much.
    """

    seq: int = 0
    rev: int = 0
    stage: Stage = Stage.CLOSED
    table: str = ""
    ruleset: str = ""
    options: dict[str, Any] = {}
    format: str = "casual"
    duration_s: int | None = None
    opened_at: float | None = None
    places: tuple[PlaceState, ...] = ()
    bank: int = 0
    forfeited: int = 0
    first_dealer: Place = Place(0)
    dealer: Place = Place(0)
    streak: int = 0
    circle: int = 1
    match_hand: int = 1
    ended: str | None = None
    """Why the match is over; None: it goes on."""
    hand: int = 0
    hands_finished: int = 0
    cycle_at: float | None = None
    dice: tuple[int, ...] = ()
    gold_dice: tuple[int, ...] = ()
    broken: tuple[int, int, int] | None = None
    dealt_at: float | None = None
    steps: tuple[str, ...] = ()
    machine_hand: int | None = None
    released: bool = False
    overridden: bool = False
    """A referee wants the intake unlocked before the ruling."""
    opened_early: bool = False
    """The machine was opened while this hand waited for its ruling."""
    indicator: IndicatorState | None = None
    claim: ClaimState | None = None
    claims: int = 0
    cut: Cut | None = None
    paused: bool = False
    """A person chose not to finish a cut motion: the next one waits for a new tap."""
    last: Result | None = None
    undoable: tuple[int, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()
    commands: tuple[tuple[str, int], ...] = ()
    """Chains of commands (hex), and up to which seq of each the commands have taken effect."""
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
