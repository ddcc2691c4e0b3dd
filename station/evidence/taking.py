"""The central station's side of the evidence channel: one answer to each message. Pure but for the shelf.

A table may put only what an event of its own names, and one photo at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from station.errors import StationError
from station.evidence.wire import LONGEST_BYTES, Chunk, Done, No, Offer, ToStation, ToTable, Want

__all__ = ["NoSpace", "PartStore", "Taker"]


class NoSpace(StationError):
    """The disk takes no more photos for now."""

    code = "evidence.full"


class PartStore(Protocol):
    """Where photos and begun photos lie. Each method raises `NoSpace` when the disk refuses."""

    def has(self, name: str) -> bool:
        """Tell whether the photo is there."""

    def part_size(self, table: str, name: str) -> int:
        """Return how many bytes of a begun photo are there; a table's other begun photo goes."""

    def append(self, table: str, name: str, data: bytes) -> None:
        """Store the next bytes."""

    def finish(self, table: str, name: str) -> bool:
        """Make a photo of what was begun; False: its bytes have another hash, and it is thrown away."""

    def drop(self, table: str, name: str) -> None:
        """Throw away what was begun."""


class _Upload(msgspec.Struct):
    name: str
    size: int
    at: int


class Taker:
    """Answers tables.

    Args:
        shelf: where photos lie.
        names: tells whether a stored event of a table names a photo.
        removed: tells whether a photo was removed by rule, so that it is not wanted again.
    """

    def __init__(
        self, shelf: PartStore, names: Callable[[str, str], bool], removed: Callable[[str], bool]
    ) -> None:
        self._shelf = shelf
        self._names = names
        self._removed = removed
        self._uploads: dict[str, _Upload] = {}
        self.full = False
        """Whether the disk refused the last photo that was to be put."""

    def receive(self, table: str, message: ToStation) -> ToTable:
        """Take one message of a table (known by its key) and return the answer."""
        try:
            if isinstance(message, Offer):
                return self._offered(table, message)
            return self._chunk(table, message)
        except NoSpace:
            self._uploads.pop(table, None)
            self.full = True
            return No(message.name, why="full")

    def _offered(self, table: str, offer: Offer) -> ToTable:
        self._uploads.pop(table, None)
        if not self._names(table, offer.name):
            return No(offer.name, why="unknown")
        if self._removed(offer.name) or self._shelf.has(offer.name):
            return Done(offer.name)
        if not 0 < offer.size <= LONGEST_BYTES:
            return No(offer.name, why="too_large")
        at = self._shelf.part_size(table, offer.name)
        if at > offer.size:
            self._shelf.drop(table, offer.name)
            at = 0
        self._uploads[table] = _Upload(offer.name, offer.size, at)
        return self._go_on(table)

    def _chunk(self, table: str, chunk: Chunk) -> ToTable:
        upload = self._uploads.get(table)
        if upload is None or upload.name != chunk.name:
            return No(chunk.name, why="not_offered")
        if chunk.at != upload.at:
            return Want(chunk.name, at=upload.at)
        if upload.at + len(chunk.data) > upload.size:
            self._uploads.pop(table)
            self._shelf.drop(table, chunk.name)
            return No(chunk.name, why="damaged")
        self._shelf.append(table, chunk.name, chunk.data)
        self.full = False
        upload.at += len(chunk.data)
        return self._go_on(table)

    def _go_on(self, table: str) -> ToTable:
        upload = self._uploads[table]
        if upload.at < upload.size:
            return Want(upload.name, at=upload.at)
        self._uploads.pop(table)
        whole = self._shelf.finish(table, upload.name)
        return Done(upload.name) if whole else No(upload.name, why="damaged")
