"""The hall as a fold over the central log. No clock, no input or output.

Each table's log goes through the same fold as on the table itself (`station.session`), so the wall
cannot show other chips than the touchscreen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any

import msgspec

from station import messages as m
from station.central.hands import tile_groups
from station.log.chain import AUTHORED, FORK, GENESIS, RELEASED, Entry, Stored
from station.log.reception import ROLLED_BACK
from station.session import Corrections, Event, Session, apply, skip
from station.timing import hall_clock

__all__ = ["WINS_SHOWN", "Alarm", "Hall", "TableFold", "Win"]

WINS_SHOWN = 50
"""Wins of the hall that are shown; of each table no more are kept."""
_ROLLBACK = f"{FORK}.{ROLLED_BACK}"
_ALARMS_KEPT = 50
_CALM = (
    m.RefereeCalled,
    m.IntakeReleased,
    m.IntakeOpenedEarly,
    m.DiceRolled,
    m.WallDealt,
    m.IndicatorRevealed,
    m.HandRead,
    m.PhotoRemoved,
    m.CommandDone,
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
    """What is known of a table from its newest log. How long the log is makes it no larger."""

    log_id: bytes
    session: Session = field(default_factory=Session)
    events: int = 0
    """Entries of the log so far: the seq of the last one."""
    wins: dict[int, Win] = field(default_factory=dict)
    """The newest wins that stand, by seq."""
    head: bytes = GENESIS
    heard_at: float = 0.0
    """When the station stored its last entry, Unix seconds."""
    called_by: tuple[int, float] | None = None
    forked: bool = False
    unreadable: int = 0
    """Events that could not be decoded or folded, and corrections of nothing that can be taken back.

    They are stored all the same, and shown as an alarm. Kinds of a newer version are not among them.
    """
    stale: bool = False
    """A correction came: the log has to be folded anew, see `refold`."""

    def apply(self, entry: Entry) -> None:
        """Take the next entry of the log."""
        self.events, self.head = entry.seq, entry.hash
        if self.stale:
            return
        event = self._decoded(entry)
        if isinstance(event.body, m.EventCorrected):
            self.stale = True
        else:
            self._fold(event, hidden=False)

    def refold(self, chain: Callable[[], Iterable[Entry]]) -> Iterator[None]:
        """Fold the log anew, without the events that are taken back, an entry a step.

        `apply` may take more between two steps. Until the last one the state of before the correction stands.

        Args:
            chain: gives the entries of the log as often as it is called; those behind `events` are left out.
        """
        while True:
            known, corrections, fresh = self.events, Corrections(), TableFold(self.log_id)
            for entry in takewhile(lambda entry: entry.seq <= known, chain()):  # noqa: B023 - ends in this turn
                corrections.note(fresh._decoded(entry))
                yield
            fresh.unreadable = corrections.ignored
            again = False
            for entry in takewhile(lambda entry: entry.seq <= self.events, chain()):
                event = fresh._decoded(entry)
                again = entry.seq > known and isinstance(event.body, m.EventCorrected)
                if again:
                    break
                fresh._fold(event, hidden=entry.seq in corrections.hidden)
                yield
            if not again:
                break
        self.session, self.wins, self.called_by = fresh.session, fresh.wins, fresh.called_by
        self.unreadable = fresh.unreadable
        self.stale = False

    def _decoded(self, entry: Entry) -> Event:
        """Decode an entry; without a body for a kind of a newer version, and where it is not what it says."""
        body = None
        try:
            body = m.decode(entry.kind, entry.body)
        except msgspec.DecodeError:
            self.unreadable += 1
        return Event(entry.seq, entry.at_ms / 1000, body)

    def _fold(self, event: Event, *, hidden: bool) -> None:
        if hidden:
            self.session = skip(self.session, event)
        else:
            try:
                self.session = apply(self.session, event)
                self._note_win(event)
            except Exception:
                # An event of a faulty table must not stop the hall: it counts as one of an unknown kind.
                self.unreadable += 1
                event = Event(event.seq, event.at, None)
                self.session = apply(self.session, event)
        body = event.body
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
        for old in sorted(self.wins)[:-WINS_SHOWN]:
            del self.wins[old]


@dataclass(slots=True)
class Hall:
    """State of the hall after `pos` entries of the central log; `hash`: the store hash there."""

    pos: int = 0
    hash: bytes = GENESIS
    tables: dict[str, TableFold] = field(default_factory=dict)
    alarms: list[Alarm] = field(default_factory=list)
    """The newest ones, the oldest of them first."""
    clock: hall_clock.Countdown = field(default_factory=hall_clock.Countdown)
    authored: dict[bytes, str] = field(default_factory=dict)
    """The station's chains that are addressed to somebody, and to whom: what it says there is no news of the
    hall."""

    def apply(self, item: Stored) -> None:
        """Take the next entry of the central log; `settle` before the state is shown."""
        self.pos, self.hash = item.pos, item.hash
        entry = item.entry
        if not item.source:
            self._own(entry)
            return
        fold = self.tables.get(item.source)
        if fold is None or (fold.log_id != entry.log_id and entry.seq == 1):
            fold = self.tables[item.source] = TableFold(entry.log_id)
        fold.heard_at = item.received_ms / 1000
        if fold.log_id == entry.log_id:  # else: a late entry of a log that the table has given up
            fold.apply(entry)

    def settle(self, chain: Callable[[bytes], Iterable[Entry]]) -> None:
        """Fold the logs anew in which something was corrected.

        Args:
            chain: gives the entries of a log by its id, from the first.
        """
        for _ in self.settling(chain):
            pass

    def settling(self, chain: Callable[[bytes], Iterable[Entry]]) -> Iterator[None]:
        """Do what `settle` does an entry a step; `apply` may take more between two steps."""
        for fold in [fold for fold in self.tables.values() if fold.stale]:
            yield from fold.refold(partial(chain, fold.log_id))

    def _own(self, entry: Entry) -> None:
        if entry.log_id in self.authored:
            return
        if entry.kind.startswith("clock."):
            self._clock_event(entry)
        elif entry.kind.startswith("link."):
            self._link_event(entry)
        elif entry.kind == AUTHORED:
            self._authored(entry)

    def _authored(self, entry: Entry) -> None:
        """A second chain for the same table: it did not follow the first one, but will follow this one."""
        body = msgspec.json.decode(entry.body, type=dict[str, Any])
        table = str(body["name"])
        if table in self.authored.values():
            settled = (entry.kind, "link.denied.not_followed")
            kept = [a for a in self.alarms if a.table != table or a.code not in settled]
            self._alarm([*kept, Alarm(entry.kind, table, entry.at_ms / 1000, {})])
        self.authored[bytes.fromhex(body["log_id"])] = table

    def _alarm(self, alarms: list[Alarm]) -> None:
        self.alarms = alarms[-_ALARMS_KEPT:]

    def _link_event(self, entry: Entry) -> None:
        params = msgspec.json.decode(entry.body, type=dict[str, Any])
        table = params.pop("table", None) or None
        params.pop("v", None)
        if entry.kind == "link.denied":
            # What the sentence calls the device: its table, or the beginning of its key.
            params["table"] = table or f"{params.get('key', '')[:8]}…"
        fold, log_id = self.tables.get(table or ""), params.get("log_id")
        if fold is not None and fold.log_id.hex() == log_id and entry.kind in (FORK, RELEASED):
            fold.forked = entry.kind == FORK
        if entry.kind == RELEASED:
            held = (FORK, _ROLLBACK)
            self.alarms = [a for a in self.alarms if a.code not in held or a.params.get("log_id") != log_id]
            return
        alarm = Alarm(_code_of(entry.kind, params), table, entry.at_ms / 1000, params)
        self._alarm([*self.alarms, alarm])

    def _clock_event(self, entry: Entry) -> None:
        try:
            change = msgspec.json.decode(entry.body, type=hall_clock.Change)
        except msgspec.DecodeError:  # of a newer version, whose kind is one of ours
            return
        self.clock = hall_clock.apply(self.clock, entry.kind, change)


def _code_of(kind: str, params: Mapping[str, Any]) -> str:
    """Give the code of an alarm; a refusal for another reason than an unknown key has its own.

    So has an older copy of a log: it is completed, while two histories are for a person to choose from.
    """
    reason = params.get("reason")
    if kind == FORK and reason == ROLLED_BACK:
        return _ROLLBACK
    return f"{kind}.{reason}" if kind == "link.denied" and reason != "not_enrolled" else kind
