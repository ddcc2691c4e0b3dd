"""What `verify` finds, and the walk through the entries of a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from station.log import checkpoint
from station.log.anchor import Anchor, Expected
from station.log.chain import AUTHORED, FORK, REBUILT, RELEASED, ZERO_HEAD, Head, Stored, store_hash
from station.log.quarantines import Said

__all__ = ["ChainFound", "Misfit", "Verification", "Walk"]

_MISFITS = 20
"""Most checkpoints that are named."""


class Misfit(msgspec.Struct, frozen=True):
    """What does not fit, and where. The place is None for a finding about the file as a whole.

    Args:
        what: ``missing`` (a position), ``order`` (of the file's own columns), ``gap`` (a number of a chain),
            ``prev`` (previous hash of the entry), ``bytes`` (kind, time or body), ``columns`` (source or time
            of receipt), ``source`` (whose chain it is), ``signature`` (of a checkpoint), ``unreadable``;
            of the file as a whole ``quarantine``, ``release``, ``author``, ``identity``, ``schema`` or
            ``file``.
        text: the same as a sentence.
        pos: position in the file.
        log: id of the chain in hex.
        source: who sent it; empty for the owner of the file.
        seq: number in the chain.
        kind: kind of the entry.
    """

    what: str
    text: str
    pos: int | None = None
    log: str | None = None
    source: str | None = None
    seq: int | None = None
    kind: str | None = None


class ChainFound(msgspec.Struct):
    """A chain in the file: whose it is, and where what holds of it ends (hash in hex)."""

    log: str
    source: str
    seq: int
    head: str
    name: str = ""
    """Whom it is addressed to: an own chain besides the main one."""


class Verification(msgspec.Struct, frozen=True):
    """The result of verifying a file.

    Args:
        ok: everything fits, and what was asked to anchor it is there.
        entries: how many entries hold, counted from the first.
        head: store hash of the last entry that holds, in hex.
        anchored_to: position of the last entry that is bound to something outside: that with the expected
            hash, or the last one that a checkpoint of the given key covers. A chain alone cannot see that its
            tail was cut off, or that all of it was made anew.
        first_bad: the first position that does not fit; None when all fit.
        expected: whether the expected hash is there; None when none was given.
        misfits: what does not fit: of the chains only the first, and checkpoints that do not hold. These say
            nothing against the entries after them: a table may have sent what it likes.
        checkpoints: how many checkpoints hold.
        anchors: of each key, and of the expected hash, the last anchor.
        chains: every chain in the file.
    """

    ok: bool
    entries: int
    head: str
    anchored_to: int | None
    first_bad: int | None
    expected: bool | None
    misfits: list[Misfit]
    checkpoints: int
    anchors: list[Anchor]
    chains: list[ChainFound]


class Walk:
    """Goes through the entries of a file, in its order, until one does not fit.

    Args:
        main: id of the main chain of the owner of the file.
        expected: what is known from elsewhere.
    """

    def __init__(self, main: bytes, expected: Expected | None) -> None:
        self.store = ZERO_HEAD
        self.misfits: list[Misfit] = []
        self.broken = False
        """Whether the walk ended before the end."""
        self.quarantines: list[Said] = []
        """What the entries say of quarantines and their ends."""
        self.authored: dict[bytes, str] = {}
        self.anchors: dict[tuple[str, str], Anchor] = {}
        self.checkpoints = 0
        self.matched: int | None = None
        """Position of the entry with the expected hash."""
        self._main = main
        self._expected = expected
        self._heads: dict[bytes, tuple[str, Head]] = {}
        self._elsewhere: list[Stored] = []
        """Own checkpoints that hold, but for another content of the file: it was rebuilt, or bent."""
        self._rebuilt = 0
        """Seq up to which the file says that it was rebuilt."""

    @property
    def chains(self) -> list[ChainFound]:
        """The chains as far as they hold, those of the owner first."""
        found = [
            ChainFound(log_id.hex(), source, head.seq, head.hash.hex(), self.authored.get(log_id, ""))
            for log_id, (source, head) in self._heads.items()
        ]
        return sorted(found, key=lambda chain: (chain.source, chain.name, chain.log))

    def through(self, entries: Iterable[Stored]) -> None:
        """Walk; a file that SQLite cannot read any further counts as bad from there on."""
        try:
            for item in entries:
                found = self._judged(item)
                if found is not None:
                    self._break(found)
                    return
                self._take(item)
        except (sqlite3.DatabaseError, TypeError, ValueError, UnicodeError):
            self._break(Misfit("unreadable", "it cannot be read", self.store.seq + 1))
        finally:
            self._settle()

    def _settle(self) -> None:
        """Judge the checkpoints that were signed for another content of the file, now that all is seen."""
        for item in self._elsewhere:
            if item.entry.seq > self._rebuilt:
                text = checkpoint.misfit(item.entry, ZERO_HEAD)
                self._note(_at(item, "signature", text or ""))
                continue
            self.checkpoints += 1
            found = checkpoint.read(item.entry.body)
            if found is not None and ("checkpoint", found.key) not in self.anchors:
                self.anchors["checkpoint", found.key] = _anchored("chain", item, found)

    def _break(self, found: Misfit) -> None:
        self.misfits.append(found)
        self.broken = True

    def _judged(self, item: Stored) -> Misfit | None:
        if item.pos != self.store.seq + 1:
            text = f"it is missing; the next one that is there is at position {item.pos}"
            return Misfit("missing", text, self.store.seq + 1)
        fault = self._fault(item)
        return None if fault is None else _at(item, *fault)

    def _fault(self, item: Stored) -> tuple[str, str] | None:
        entry = item.entry
        source, head = self._heads.get(entry.log_id, (item.source, ZERO_HEAD))
        own = entry.log_id == self._main or entry.log_id in self.authored
        if item.prev != self.store.hash:
            return "order", "it does not follow the position before it"
        if entry.seq != head.seq + 1:
            return "gap", f"number {head.seq + 1} of its chain has to stand here"
        if entry.prev != head.hash:
            return "prev", "its previous hash is not that of the entry before it in its chain"
        if not entry.intact:
            return "bytes", "its kind, time or body is not what was hashed"
        if item.hash != store_hash(item.prev, item.pos, item.source, item.received_ms, entry.hash):
            return "columns", "its source or its time of receipt is not what was hashed"
        if item.source != source or bool(item.source) == own:
            return "source", "its chain belongs to somebody else"
        if own and entry.kind in (FORK, RELEASED, AUTHORED, REBUILT):
            return self._own_fault(item)
        return None

    def _own_fault(self, item: Stored) -> tuple[str, str] | None:
        """Take what the file says of itself; a body that is not of the known form is a fault."""
        try:
            body = msgspec.json.decode(item.entry.body, type=dict[str, Any])
            if item.entry.kind in (FORK, RELEASED):
                self.quarantines.append(Said(item.entry.kind, item.received_ms, body))
            elif item.entry.kind == REBUILT:
                self._rebuilt = min(int(body["seq"]), item.entry.seq - 1)
                if self._rebuilt == item.pos - 1:  # a file made anew holds no copies, so none in quarantine
                    self.quarantines.clear()
            else:
                self.authored[bytes.fromhex(body["log_id"])] = str(body["name"])
        except (msgspec.DecodeError, RecursionError, KeyError, ValueError, TypeError):
            return "bytes", "its body is not of the known form"
        return None

    def _take(self, item: Stored) -> None:
        entry = item.entry
        if entry.kind == checkpoint.CHECKPOINT:
            self._anchor(item)
        self.store = Head(item.pos, item.hash)
        self._heads[entry.log_id] = (item.source, entry.head)
        if self._expected is not None and self._expected.fits(item):
            self.matched = item.pos
            anchor = Anchor("expected", item.pos, entry.log_id.hex(), item.source, entry.seq)
            self.anchors["expected", ""] = anchor

    def _anchor(self, item: Stored) -> None:
        """Note a checkpoint: it binds its whole file up to itself, and in a copy the chain it is part of."""
        text = checkpoint.misfit(item.entry, None if item.source else self.store)
        found = checkpoint.read(item.entry.body)
        if found is not None and text is not None and checkpoint.misfit(item.entry, None) is None:
            self._elsewhere.append(item)
        elif found is None or text is not None:
            self._note(_at(item, "signature", text or ""))
        else:
            self.checkpoints += 1
            self.anchors["checkpoint", found.key] = _anchored("checkpoint", item, found)

    def _note(self, found: Misfit) -> None:
        if len(self.misfits) < _MISFITS:
            self.misfits.append(found)


def _anchored(by: str, item: Stored, found: checkpoint.Checkpoint) -> Anchor:
    entry = item.entry
    return Anchor(by, item.pos, entry.log_id.hex(), item.source, entry.seq, found.key, found.why)


def _at(item: Stored, what: str, text: str) -> Misfit:
    """Say of an entry what does not fit."""
    entry = item.entry
    return Misfit(what, text, item.pos, entry.log_id.hex(), item.source, entry.seq, entry.kind)
