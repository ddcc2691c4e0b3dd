"""The hall as a fold over the central log. No clock, no input or output.

Each table's log goes through the same fold as on the table itself (`station.session`), so the wall
cannot show other chips than the touchscreen.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import msgspec

from station import messages as m
from station.central.hands import tile_groups
from station.log.chain import GENESIS, CentralEntry, Entry
from station.session import Event, Session, apply, replay

__all__ = ["Alarm", "Hall", "TableFold", "Win"]

_ALARMS_KEPT = 50
_CALM = (
    m.RefereeCalled,
    m.IntakeReleased,
    m.IntakeOpenedEarly,
    m.DiceRolled,
    m.WallDealt,
    m.IndicatorRevealed,
    m.HandRead,
)
"""Events that do not mean that a referee has come."""


@dataclass(frozen=True, slots=True)
class Win:
    """A booked win. Lists are by place; ``at`` in Unix seconds; ``tiles``: groups, the winning tile last."""

    hand: int
    winner: int
    name: str
    ruleset: str
    cls: str | None
    pay: tuple[int, ...]
    outside: tuple[int, ...]
    line: str
    tiles: tuple[tuple[str, ...], ...]
    wild: str | None
    at: float


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that a person should see. ``table`` None: no table of ours; ``at`` in Unix seconds."""

    code: str
    table: str | None
    at: float
    params: dict[str, Any]


@dataclass(slots=True)
class TableFold:
    """What is known of a table from its newest log."""

    log_id: bytes
    session: Session = field(default_factory=Session)
    events: list[Event] = field(default_factory=list)
    wins: dict[int, Win] = field(default_factory=dict)
    head: bytes = GENESIS
    called_by: tuple[int, float] | None = None
    forked: bool = False
    unreadable: int = 0
    """Events that could not be decoded or folded: stored all the same, and shown as an alarm.

    Kinds of a newer version are not among them.
    """

    def apply(self, entry: Entry) -> None:
        """Take the next entry of the log."""
        self.head = entry.hash
        event = Event(entry.seq, entry.at_ms / 1000, self._decoded(entry))
        self.events.append(event)
        try:
            self._fold(event)
        except Exception:
            # An event of a faulty table must not stop the hall: it counts as one of an unknown kind.
            self.unreadable += 1
            self.events[-1] = Event(event.seq, event.at, None)
            self.session = apply(self.session, self.events[-1])

    def _decoded(self, entry: Entry) -> m.Body | None:
        """Decode a body; None for a kind of a newer version, and for one that is not what its kind says."""
        try:
            return m.decode(entry.kind, entry.body)
        except msgspec.DecodeError:
            self.unreadable += 1
            return None

    def _fold(self, event: Event) -> None:
        body = event.body
        if isinstance(body, m.EventCorrected):
            self.session = replay(self.events)
            self.wins.pop(body.target, None)
        else:
            self.session = apply(self.session, event)
        self._note_win(event)
        if isinstance(body, m.RefereeCalled):
            self.called_by = (body.place, event.at)
        elif body is not None and not isinstance(body, _CALM):
            self.called_by = None

    def _note_win(self, event: Event) -> None:
        body, indicator = event.body, self.session.indicator
        if isinstance(body, m.HandConfirmed):
            winner, cls, line = body.winner, body.cls, body.line
        elif isinstance(body, m.HandRuled) and body.ruling == "win" and body.place is not None:
            winner, cls, line = body.place, None, body.line or ""
        else:
            return
        places = self.session.places
        self.wins[event.seq] = Win(
            hand=body.hand,
            winner=winner,
            name=places[winner].name if winner < len(places) else "",
            ruleset=self.session.ruleset,
            cls=cls,
            pay=tuple(body.pay),
            outside=tuple(body.outside),
            line=line,
            tiles=tile_groups(line, self.session.ruleset),
            wild=indicator.wild if indicator else None,
            at=event.at,
        )


class Hall:
    """State of the hall after `pos` entries of the central log."""

    def __init__(self) -> None:
        self.pos = 0
        self.tables: dict[str, TableFold] = {}
        self.alarms: deque[Alarm] = deque(maxlen=_ALARMS_KEPT)

    def apply(self, item: CentralEntry) -> None:
        """Take the next entry of the central log."""
        self.pos = item.pos
        entry = item.entry
        if not item.table_id:
            self._own(entry)
            return
        fold = self.tables.get(item.table_id)
        if fold is None or (fold.log_id != entry.log_id and entry.seq == 1):
            fold = self.tables[item.table_id] = TableFold(entry.log_id)
        if fold.log_id == entry.log_id:  # else: a late entry of a log that the table has given up
            fold.apply(entry)

    def _own(self, entry: Entry) -> None:
        params = msgspec.json.decode(entry.body, type=dict[str, Any])
        table = params.pop("table", None) or None
        params.pop("v", None)
        if entry.kind == "link.denied":
            # What the sentence calls the device: its table, or the beginning of its key.
            params["table"] = table or f"{params.get('key', '')[:8]}…"
        self.alarms.append(Alarm(entry.kind, table, entry.at_ms / 1000, params))
        fold = self.tables.get(table or "")
        if entry.kind == "link.fork" and fold is not None and fold.log_id.hex() == params.get("log_id"):
            fold.forked = True
