"""What each kind of event says of the photos of its hand: one statement a kind, on the index's tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from station import messages as m
from station.log.chain import Entry

__all__ = ["REMOVED", "Book"]

REMOVED = "evidence.removed"
DRAW = "draw"
_COUNTED = "(SELECT coalesce(max(value), 0.0) FROM meta WHERE name = 'counted_s')"
"""Seconds that the process has counted so far, see `Index.count`."""


class _Appeal(msgspec.Struct):
    hand: Annotated[int, msgspec.Meta(ge=-m.MAX_NUMBER, le=m.MAX_NUMBER)] | None = None


_of_appeal = msgspec.json.Decoder(_Appeal)


class Book:
    """Takes entries of logs, in order; one that cannot be read says nothing."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def take(self, source: str, entry: Entry) -> None:
        """Take the next entry of a log."""
        if entry.kind in _OF_APPEALS:
            self._appeal(entry)
            return
        try:
            body = m.decode(entry.kind, entry.body)
        except msgspec.DecodeError:
            return
        note = _NOTES.get(type(body)) if body is not None else None
        if note is not None:
            note(self, source, entry, body)

    # ---- photos ----

    def _indicator(self, source: str, entry: Entry, body: m.IndicatorRevealed) -> None:
        if body.photo:
            self._insert(source, entry, body.photo, "indicator", body.hand)

    def _read(self, source: str, entry: Entry, body: m.HandRead) -> None:
        if body.photo:
            self._insert(source, entry, body.photo, "hand", body.hand, body.claim, body.place)
        elif body.typed:
            self._mend(entry, body.hand, body.claim, body.place)

    def _opening(self, source: str, entry: Entry, body: m.IntakeOpenedEarly) -> None:
        if body.photo:
            self._insert(source, entry, body.photo, "opening", body.hand)
            self._db.execute(
                "UPDATE photo SET disputed = 1 WHERE log_id = ? AND seq = ?", (entry.log_id, entry.seq)
            )

    def _insert(
        self,
        source: str,
        entry: Entry,
        name: str,
        kind: str,
        hand: int,
        claim: int | None = None,
        place: int | None = None,
    ) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO photo"
            " (name, source, log_id, seq, hand, claim, place, at_ms, kind, standing)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                name,
                source,
                entry.log_id,
                entry.seq,
                hand,
                claim,
                place,
                entry.at_ms,
                kind,
                "indicator" if kind == "indicator" else "clean",
            ),
        )

    # ---- what became of them ----

    def _tile_mended(self, _: str, entry: Entry, body: m.TileMended) -> None:
        if body.kind != body.was:
            self._mend(entry, body.hand, body.claim, body.place)

    def _mend(self, entry: Entry, hand: int, claim: int, place: int | None) -> None:
        self._db.execute(
            "UPDATE photo SET mended = 1 WHERE log_id = ? AND hand = ? AND claim = ? AND place IS ?",
            (entry.log_id, hand, claim, place),
        )

    def _rejected(self, _: str, entry: Entry, body: m.HandRejected) -> None:
        self._decide(entry, body.hand, "rejected", body.claim)

    def _confirmed(self, _: str, entry: Entry, body: m.HandConfirmed) -> None:
        self._decide(entry, body.hand, None)

    def _ruled(self, _: str, entry: Entry, body: m.HandRuled) -> None:
        disputed = body.ruling != DRAW
        if body.over:
            self._decide(entry, body.hand, None, disputed=disputed)
        else:
            self._db.execute(
                "UPDATE photo SET decided = ?, disputed = 1, at_ms = ?"
                " WHERE log_id = ? AND hand = ? AND decided IS NULL AND kind <> 'indicator'",
                (entry.seq, entry.at_ms, entry.log_id, body.hand),
            )

    def _decide(
        self,
        entry: Entry,
        hand: int,
        standing: str | None,
        claim: int | None = None,
        *,
        disputed: bool = False,
    ) -> None:
        """Decide what is open of a hand, or of one claim; standing None: as it was read or mended."""
        self._db.execute(
            "UPDATE photo SET decided = ?, at_ms = ?, disputed = disputed OR ?, standing = CASE"
            " WHEN kind = 'indicator' THEN 'indicator' WHEN ? IS NOT NULL THEN ? WHEN mended THEN 'mended'"
            " ELSE 'clean' END"
            " WHERE log_id = ? AND hand = ? AND decided IS NULL AND (? IS NULL OR claim = ?)",
            (entry.seq, entry.at_ms, disputed, standing, standing, entry.log_id, hand, claim, claim),
        )

    def _penalty(self, _: str, entry: Entry, body: m.PenaltyApplied) -> None:
        self._db.execute(
            "UPDATE photo SET disputed = 1, at_ms = ? WHERE log_id = ? AND hand = ?",
            (entry.at_ms, entry.log_id, body.hand),
        )
        self._count_anew(entry)

    def _corrected(self, _: str, entry: Entry, body: m.EventCorrected) -> None:
        self._db.execute(
            "UPDATE photo SET disputed = 1, at_ms = ?, decided = NULL WHERE log_id = ? AND decided = ?",
            (entry.at_ms, entry.log_id, body.target),
        )
        self._count_anew(entry)

    def _closed(self, _: str, entry: Entry, __: m.SessionClosed) -> None:
        self._db.execute(
            f"INSERT OR REPLACE INTO ended VALUES (?, ?, {_COUNTED})",  # noqa: S608 - our own words
            (entry.log_id, entry.at_ms),
        )
        self._db.execute(
            "UPDATE photo SET decided = ?, disputed = 1 WHERE log_id = ? AND decided IS NULL",
            (entry.seq, entry.log_id),
        )

    def _appeal(self, entry: Entry) -> None:
        """An appeal keeps its hand's photos, or all of the session's, until it is decided."""
        try:
            hand = _of_appeal.decode(entry.body).hand
        except (msgspec.DecodeError, RecursionError):
            hand = None  # of all hands
        self._db.execute(
            "UPDATE photo SET disputed = 1, at_ms = ?, appeals = max(0, appeals + ?)"
            " WHERE log_id = ? AND (? IS NULL OR hand = ?)",
            (entry.at_ms, _OF_APPEALS[entry.kind], entry.log_id, hand, hand),
        )
        self._count_anew(entry)

    def _count_anew(self, entry: Entry) -> None:
        """Something was said of a session that has ended: its window begins again."""
        self._db.execute(
            f"UPDATE ended SET counted_s = {_COUNTED} WHERE log_id = ?",  # noqa: S608 - our own words
            (entry.log_id,),
        )

    def _removed(self, source: str, entry: Entry, body: m.PhotoRemoved) -> None:
        if not source:  # what another process removed is still here
            self._db.execute(
                "INSERT OR IGNORE INTO removed VALUES (?, ?, ?)", (body.photo, body.why, entry.at_ms)
            )


_OF_APPEALS = {"appeal.filed": 1, "appeal.decided": -1}
_NOTES: dict[type[m.Body], Callable[[Book, str, Entry, Any], None]] = {
    m.IndicatorRevealed: Book._indicator,
    m.HandRead: Book._read,
    m.IntakeOpenedEarly: Book._opening,
    m.TileMended: Book._tile_mended,
    m.HandRejected: Book._rejected,
    m.HandConfirmed: Book._confirmed,
    m.HandRuled: Book._ruled,
    m.PenaltyApplied: Book._penalty,
    m.EventCorrected: Book._corrected,
    m.SessionClosed: Book._closed,
    m.PhotoRemoved: Book._removed,
}
