"""Messages from and to the ROUTER of the central station; nothing here ever waits."""

from __future__ import annotations

import zmq

from station.link.replicate import CentralEnd, Incoming, Outgoing
from station.link.sockets import Socket
from station.link.watch import Watch
from station.link.wire import entries_in

__all__ = ["drain", "send"]

_BATCH = 512
"""Most messages of one round, which is one transaction. libzmq takes them from the connections in turn."""
_BATCH_BYTES = 1024 * 1024
"""Bytes from which on a round takes no more: how long it may last is how long the next one has to wait, and
how long a stop takes."""
_BATCH_ENTRIES = 4096
"""The same in entries, of which a message has up to 128 however small they are."""


def drain(router: Socket, watch: Watch) -> list[Incoming]:
    """Take what has come in, at most one round; `watch` is told of it."""
    batch: list[Incoming] = []
    size = entries = 0
    while len(batch) < _BATCH and size < _BATCH_BYTES and entries < _BATCH_ENTRIES:
        try:
            peer = router.recv(zmq.NOBLOCK)
        except zmq.Again:
            break
        # One frame is taken as an object because only that knows who sent it; the others as plain bytes.
        kind = router.recv(zmq.NOBLOCK, copy=False)
        frames = [kind.bytes]
        if kind.more:
            frames += router.recv_multipart(zmq.NOBLOCK)
        size += len(frames[-1])
        entries += entries_in(frames)
        key = _key_of(kind)
        watch.took(peer, kind, key, frames)
        batch.append(Incoming(peer, key, frames))
    return batch


def _key_of(frame: zmq.Frame) -> str:
    """Give the public key that the connection of this frame proved to have (set by `zap.decide`)."""
    try:
        return str(frame.get("User-Id"))
    except zmq.ZMQError:
        return ""


def send(router: Socket, answers: list[Outgoing], end: CentralEnd) -> None:
    """Send what can be sent now; `end` is told of peers that are gone or do not read."""
    for answer in answers:
        try:
            router.send_multipart([answer.peer[0], *answer.frames], zmq.NOBLOCK)
        except zmq.Again:  # not reading: it asks again
            end.tables.not_sent(answer.peer)
        except zmq.ZMQError:  # gone
            end.gone(answer.peer)
