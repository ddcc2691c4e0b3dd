"""The result sheet of one session as a value: made from the entries of a table's log. Pure.

It tells everything that moved chips, what was taken back, and which head of the log it was printed from: so a
sheet on paper binds the log up to that head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from station import messages as m
from station.log.anchor import qr_text
from station.log.chain import ZERO_HEAD, Entry, Head
from station.log.checkpoint import CHECKPOINT, Checkpoint
from station.log.checkpoint import read as read_checkpoint
from station.session import Corrections, Event, Session, replay

__all__ = ["Line", "Sheet", "SheetPhoto", "Signed", "sheet_of"]


@dataclass(frozen=True, slots=True)
class SheetPhoto:
    """A photo of a hand; ``removed``: by which rule it went."""

    name: str
    removed: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One decision.

    ``what``: ``win``, a ruling's code, ``rejected``, a penalty's or an account's code, ``override``,
    ``opened_early``. ``kind``: ``hand``, ``ruling``, ``penalty``, ``account``, ``remark``. Lists are by
    place; ``at`` in Unix seconds. ``struck``: why it was taken back ("" without a reason), None: it stands.
    """

    seq: int
    at: float
    hand: int
    kind: str
    what: str
    place: int | None = None
    cls: str | None = None
    pay: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    amount: int | None = None
    reason: str | None = None
    hand_line: str | None = None
    photos: tuple[SheetPhoto, ...] = ()
    no_photo: str | None = None
    struck: str | None = None
    struck_at: float | None = None


@dataclass(frozen=True, slots=True)
class Signed:
    """The last signed checkpoint: at which seq it stands, and what it says."""

    seq: int
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything on the page.

    ``session``: as it stands after the last entry. ``closed_at``: Unix seconds, None while it goes on.
    ``chips``: of each place at the opening. ``unreadable``: events that could not be read and are left out.
    """

    log_id: bytes
    head: Head
    session: Session
    ruleset_hash: str
    chips: tuple[int, ...]
    closed_at: float | None
    lines: tuple[Line, ...]
    signed: Signed | None = None
    unreadable: int = 0

    @property
    def code(self) -> str:
        """The text of the QR code, as ``quezhuo verify --expect`` takes it."""
        return qr_text(self.log_id, self.head.seq, self.head.hash)


def sheet_of(entries: Sequence[Entry]) -> Sheet | None:
    """Make the sheet of a table's log; None when no session was opened in it.

    Events that cannot be read, and those of kinds of a newer version, are left out.
    """
    events, unreadable = _decoded(entries)
    opened = next((e.body for e in events if isinstance(e.body, m.SessionOpened)), None)
    if opened is None:
        return None
    closed = [e.at for e in events if isinstance(e.body, m.SessionClosed)]
    hidden = Corrections(events).hidden
    struck = {
        e.body.target: e for e in events if isinstance(e.body, m.EventCorrected) and e.body.target in hidden
    }
    last = entries[-1]
    return Sheet(
        log_id=last.log_id,
        head=Head(last.seq, last.hash) if entries else ZERO_HEAD,
        session=replay(events),
        ruleset_hash=opened.ruleset_hash,
        chips=tuple(opened.chips),
        closed_at=closed[-1] if closed else None,
        lines=tuple(_struck(line, struck) for line in _lines(events)),
        signed=_signed(entries),
        unreadable=unreadable,
    )


def _decoded(entries: Sequence[Entry]) -> tuple[list[Event], int]:
    events, unreadable = [], 0
    for entry in entries:
        try:
            body = m.decode(entry.kind, entry.body)
        except msgspec.DecodeError:
            body, unreadable = None, unreadable + 1
        events.append(Event(entry.seq, entry.at_ms / 1000, body))
    return events, unreadable


def _struck(line: Line, corrections: dict[int, Event]) -> Line:
    event = corrections.get(line.seq)
    if event is None or not isinstance(event.body, m.EventCorrected):
        return line
    return replace(line, struck=event.body.reason or "", struck_at=event.at)


def _signed(entries: Sequence[Entry]) -> Signed | None:
    for entry in reversed(entries):
        if entry.kind == CHECKPOINT:
            checkpoint = read_checkpoint(entry.body)
            return None if checkpoint is None else Signed(entry.seq, checkpoint)
    return None


def _lines(events: Sequence[Event]) -> list[Line]:
    removed = {e.body.photo: e.body.why for e in events if isinstance(e.body, m.PhotoRemoved)}
    photos: dict[int, dict[str, SheetPhoto]] = {}
    lines = []
    for event in events:
        body = event.body
        if isinstance(body, m.HandRead | m.IndicatorRevealed | m.IntakeOpenedEarly) and body.photo:
            photo = SheetPhoto(body.photo, removed.get(body.photo))
            photos.setdefault(body.hand, {})[body.photo] = photo
        line = _line(event)
        if line is not None:
            ends = line.kind in ("hand", "ruling")
            shown = tuple(photos.get(line.hand, {}).values()) if ends else ()
            lines.append(replace(line, photos=shown))
    return lines


def _line(event: Event) -> Line | None:
    """The line of one event; None for what decides nothing."""
    body = event.body
    if isinstance(body, m.HandConfirmed):
        line = _booked(event, body, "hand", "win")
        return replace(line, place=body.winner, cls=body.cls, no_photo=body.no_photo)
    if isinstance(body, m.HandRuled):
        return replace(_booked(event, body, "ruling", body.ruling), place=body.place, reason=body.reason)
    if isinstance(body, m.PenaltyApplied):
        return _moved(event, body, "penalty", body.penalty, -body.amount)
    if isinstance(body, m.AccountMoved):
        return _moved(event, body, "account", body.account, body.amount)
    if isinstance(body, m.HandRejected):
        line = Line(event.seq, event.at, body.hand, "remark", "rejected")
        return replace(line, reason=body.reason, hand_line=body.line)
    if isinstance(body, m.IntakeOverridden):
        return Line(event.seq, event.at, body.hand, "remark", "override", reason=body.reason)
    if isinstance(body, m.IntakeOpenedEarly) and body.opened:
        return Line(event.seq, event.at, body.hand, "remark", "opened_early")
    return None


def _booked(event: Event, body: m.Booked, kind: str, what: str) -> Line:
    line = Line(event.seq, event.at, body.hand, kind, what)
    return replace(line, pay=tuple(body.pay), outside=tuple(body.outside), hand_line=body.line)


def _moved(event: Event, body: m.PenaltyApplied | m.AccountMoved, kind: str, what: str, amount: int) -> Line:
    line = Line(event.seq, event.at, body.hand, kind, what)
    return replace(line, place=body.place, amount=amount, reason=body.reason)
