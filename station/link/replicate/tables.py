"""The tables that are connected now, and what the central station has still to say to each. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol, TypeAlias

import msgspec

from station.link.replicate.sender import Sender, SenderState, SenderTimes
from station.link.replicate.store import Authoring
from station.link.replicate.values import Board, Inbox, Outbox
from station.link.said import Ack, Message, Nack, Resume
from station.log.chain import Entry

__all__ = ["Peer", "PeerId", "Said", "Tables"]

PeerId: TypeAlias = tuple[bytes, str]
"""Routing id of a connection and the public key (Z85) that it proved to have; never one of them alone."""
Said: TypeAlias = tuple[PeerId, Message]
"""A message, and to whom."""


class Commands(Authoring, Protocol):
    """The log with the chains that are addressed to tables."""

    @property
    def authored(self) -> Mapping[bytes, str]:
        """Whom each of them is addressed to, by its id."""


class Peer(msgspec.Struct):
    """A connection that has greeted: its table, its session and chain, and both directions of its values."""

    peer: PeerId
    table: str
    session: bytes
    log_id: bytes
    inbox: Inbox = msgspec.field(default_factory=Inbox)
    outbox: Outbox = msgspec.field(default_factory=Outbox)
    sender: Sender | None = None
    held: tuple[int, float] | None = None
    """An acknowledgement that waits: up to which seq, and until when."""


class Tables:
    """The newest connection of each key.

    Args:
        log: where the commands lie.
        times: durations and window for them.
    """

    def __init__(self, log: Commands, times: SenderTimes) -> None:
        self._log = log
        self._times = times
        self._chains = {name: log_id for log_id, name in log.authored.items()}  # of several the last
        self._peers: dict[PeerId, Peer] = {}
        self._by_key: dict[str, Peer] = {}
        self._for_all = Board()
        self._for_one: dict[str, Board] = {}
        self._busy: dict[PeerId, Peer] = {}
        """Those for whom `poll` has something to do, now or later."""

    def of(self, peer: PeerId) -> Peer | None:
        """Give a connection that has greeted."""
        return self._peers.get(peer)

    def greeted(self, new: Peer, now: float) -> PeerId | None:
        """Take a connection in; give the older one of the same key that it replaces, if there is one."""
        key = new.peer[1]
        older = self._by_key.get(key)
        if older is not None:
            self.drop(older.peer)
        self._peers[new.peer] = self._by_key[key] = new
        new.outbox.put(self._for_all.values)
        if new.table in self._for_one:
            new.outbox.put(self._for_one[new.table].values)
        if new.table in self._chains:
            self._begin(new, now)
        self._busy[new.peer] = new
        return older.peer if older is not None and older.peer != new.peer else None

    def drop(self, peer: PeerId) -> None:
        """Forget a connection."""
        gone = self._peers.pop(peer, None)
        self._busy.pop(peer, None)
        if gone is not None and self._by_key.get(peer[1]) is gone:
            del self._by_key[peer[1]]

    def commanded(self, table: str, entry: Entry, now: float) -> None:
        """Tell that a command was stored for a table."""
        self._chains[table] = entry.log_id
        for peer in self._of_table(table):
            if peer.sender is None or peer.sender.log_id != entry.log_id:
                self._begin(peer, now)
            else:
                peer.sender.appended(entry.head)
            self._busy[peer.peer] = peer

    def commands(self, table: str) -> bool:
        """Tell whether there ever was a command for a table."""
        return table in self._chains

    def turn_to(self, table: str, log_id: bytes) -> None:
        """Take another chain of commands for a table, from its next greeting on."""
        self._chains[table] = log_id

    def begin_anew(self, peer: Peer, log_id: bytes, now: float) -> None:
        """Send from now on another chain of commands to a table."""
        self.turn_to(peer.table, log_id)
        self._begin(peer, now)
        self._busy[peer.peer] = peer

    def answered(self, peer: Peer, message: Message, now: float) -> list[Message]:
        """Take a table's answer about its commands; give the messages to send at once."""
        if peer.sender is None or not isinstance(message, Ack | Resume | Nack):
            return []
        self._busy[peer.peer] = peer
        return list(peer.sender.received(message, now))

    def set_value(self, table: str | None, key: str, body: bytes, at_ms: int) -> None:
        """Set a value for one table, or for all; see `Board.set`."""
        board = self._for_all if table is None else self._for_one.setdefault(table, Board())
        board.set(key, body, at_ms)
        for peer in self._peers.values() if table is None else self._of_table(table):
            peer.outbox.put({key: board.values[key]})
            self._busy[peer.peer] = peer

    def hold(self, peer: PeerId, seq: int, until: float) -> None:
        """Let an acknowledgement wait."""
        known = self._peers.get(peer)
        if known is not None:
            known.held = (seq, until)
            self._busy[peer] = known

    def not_sent(self, peer: PeerId) -> None:
        """Tell that a connection took no more: its values are said again when it is next heard."""
        known = self._peers.get(peer)
        if known is not None:
            known.outbox.put(self._for_all.values)
            known.outbox.put(self._for_one.get(known.table, Board()).values)
            self._busy.pop(peer, None)

    def heard(self, peer: Peer) -> None:
        """Tell that a connection said something: it is there, so what waits for it is tried again."""
        if peer.outbox:
            self._busy[peer.peer] = peer

    def undelivered(self) -> dict[str, int]:
        """Give for each connected table how many of its commands it has not stored."""
        return {peer.table: peer.sender.unsent for peer in self._peers.values() if peer.sender is not None}

    def next_deadline(self) -> float:
        """When `poll` has something to do even if nothing happens; infinity when never."""
        return min((_deadline(peer) for peer in self._busy.values()), default=math.inf)

    def poll(self, now: float) -> list[Said]:
        """Give the messages to send now; acknowledgements first, values last."""
        messages: list[Said] = []
        for peer in list(self._busy.values()):
            if peer.held is not None and now >= peer.held[1]:
                messages.append((peer.peer, Ack(peer.session, peer.log_id, peer.held[0])))
                peer.held = None
            if peer.sender is not None:
                messages += [(peer.peer, message) for message in peer.sender.poll(now)]
            messages += [(peer.peer, value) for value in peer.outbox.take(peer.session)]
            if _deadline(peer) == math.inf:
                del self._busy[peer.peer]
        return messages

    def _begin(self, peer: Peer, now: float) -> None:
        peer.sender = Sender(
            peer.table, self._chains[peer.table], self._log, lambda: peer.session, self._times
        )
        peer.sender.connected(now)

    def _of_table(self, table: str) -> list[Peer]:
        return [peer for peer in self._peers.values() if peer.table == table]


def _deadline(peer: Peer) -> float:
    if peer.outbox:
        return -math.inf
    held = math.inf if peer.held is None else peer.held[1]
    sender = peer.sender
    if sender is None or sender.state is SenderState.DOWN:
        return held
    return min(held, sender.next_deadline())
