"""Events of hands with photos, as entries of a log."""

from __future__ import annotations

from typing import Any

from station import messages as m
from station.evidence.index import Line
from station.evidence.wire import name_of
from station.log import chain
from station.log.chain import ZERO_HEAD, Head

LOG = b"A" * 16


def photo(number: int, size: int = 1000) -> bytes:
    """Bytes that stand for a JPEG."""
    return (b"photo %d " % number * size)[:size]


def name(number: int, size: int = 1000) -> str:
    return name_of(photo(number, size))


class Chain:
    """One table's log in memory, with positions as a log file gives them."""

    def __init__(self, source: str = "", log_id: bytes = LOG) -> None:
        self.source, self.log_id = source, log_id
        self.lines: list[Line] = []
        self._head: Head = ZERO_HEAD

    def tell(self, *bodies: m.Body, at_s: float = 1000.0) -> int:
        """Append events; return the seq of the last one."""
        return self.tell_raw([m.encode(body) for body in bodies], at_s)

    def tell_raw(self, events: list[tuple[str, bytes]], at_s: float = 1000.0) -> int:
        for entry in chain.link(self.log_id, self._head, events, round(1000 * at_s)):
            self._head = entry.head
            # The entry's own hash stands for that of the file: it says the same of what is before.
            self.lines.append((len(self.lines) + 1, self.source, entry, entry.hash))
        return self._head.seq

    def hash_at(self, pos: int) -> bytes | None:
        return self.lines[pos - 1][3] if 1 <= pos <= len(self.lines) else None


def indicator(hand: int, file: str) -> m.IndicatorRevealed:
    return m.IndicatorRevealed(hand=hand, tile="1p", wild="2p", score=0.9, photo=file)


def read(hand: int, file: str | None, claim: int = 1, **more: Any) -> m.HandRead:
    return m.HandRead(hand=hand, claim=claim, photo=file, size=(9, 9), tiles=[], why=[], **more)


def mended(hand: int, claim: int = 1, kind: str = "2m") -> m.TileMended:
    return m.TileMended(hand=hand, claim=claim, index=0, kind=kind, was="1m")


def confirmed(hand: int, claim: int = 1) -> m.HandConfirmed:
    return m.HandConfirmed(
        hand=hand, claim=claim, winner=1, line="", cls=None, pay=[-1, 3, -1, -1], bank=0, next_dealer=1,
        photo=None, scores=[], edits=0,
    )  # fmt: skip


def ruled(hand: int, ruling: str, **more: Any) -> m.HandRuled:
    return m.HandRuled(
        hand=hand, ruling=ruling, place=None, reason=None, pay=[0] * 4, bank=0, next_dealer=1, **more
    )


def closed() -> m.SessionClosed:
    return m.SessionClosed(fines=[0] * 4, bank=0)
