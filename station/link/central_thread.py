"""The one thread of the central station that writes the log and talks to the tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import zmq

from station.errors import LogError
from station.link import zap
from station.link.denials import Denials
from station.link.keys import AllowList, KeyPair
from station.link.loop_thread import LoopThread
from station.link.receiver import Incoming, Outgoing, Receiver
from station.link.sockets import Socket, central_socket, new_context
from station.log.central_log import CentralLog

__all__ = ["CentralThread"]

_BATCH = 256
"""Most messages of one transaction."""


class CentralThread(LoopThread[str]):
    """Owns the central log's write connection, the ROUTER and the answering of ZAP requests.

    Poll, take everything that has come in, store it in one transaction, then acknowledge.

    Args:
        log_path: the central log; created when missing.
        endpoint: where to listen, for example ``tcp://127.0.0.1:0``.
        keys: the central station's keys.
        allow_list: the enrolled tables.
        on_commit: called in the loop's thread with the position of the last stored entry.
        on_trouble: called in the loop's thread with the error when storing fails, and with None when it works
            again.
        clock: monotonic time in seconds.
        wall: Unix time in seconds.
        after_commit: called in the worker thread between commit and acknowledgement; for tests of crashes.
    """

    def __init__(
        self,
        log_path: Path,
        endpoint: str,
        keys: KeyPair,
        allow_list: AllowList,
        *,
        on_commit: Callable[[int], None] | None = None,
        on_trouble: Callable[[LogError | None], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        after_commit: Callable[[], None] | None = None,
    ) -> None:
        super().__init__("central-link")
        self._log_path = log_path
        self._endpoint = endpoint
        self._keys = keys
        self._allow_list = allow_list
        self._on_commit = on_commit
        self._on_trouble = on_trouble
        self._clock = clock
        self._wall = wall
        self._after_commit = after_commit
        self._receiver: Receiver | None = None
        self._told = 0
        self._trouble: LogError | None = None

    async def start(self) -> str:
        """Open the log and the socket, and start the thread.

        Returns:
            the endpoint with its real port.

        Raises:
            LogError: the log cannot be opened. LinkError: the endpoint cannot be used.
        """
        return await super().start()

    def silence_s(self) -> dict[str, float]:
        """Give for each table that has greeted since the start how long ago it was last heard, in seconds."""
        seen = {} if self._receiver is None else dict(self._receiver.last_seen)
        now = self._clock()
        return {table: max(0.0, now - at) for table, at in seen.items()}

    # From here on: the worker thread.

    def _work(self, ready: Callable[[str], None]) -> None:
        with CentralLog.open(self._log_path) as log:
            context = new_context()
            sockets: list[Socket] = []
            try:
                handler = context.socket(zmq.REP)
                sockets.append(handler)
                handler.bind(zap.ENDPOINT)
                router = central_socket(context, self._keys, self._endpoint)
                sockets.append(router)
                ready(router.get_string(zmq.LAST_ENDPOINT))
                self._serve(log, handler, router)
            finally:
                for socket in sockets:
                    socket.close(linger=0)
                context.term()

    def _serve(self, log: CentralLog, handler: Socket, router: Socket) -> None:
        denials = Denials(log.append_own)
        receiver = Receiver(log, self._allow_list.table_of, denials)
        self._receiver, self._told = receiver, log.head.seq
        poller = zmq.Poller()
        for source in (self._waker.fd, handler, router):
            poller.register(source, zmq.POLLIN)
        while not self._stop.is_set():
            poller.poll()
            self._waker.clear()
            self._answer_zap(handler, denials)
            answers = self._store(receiver, _drain(router))
            self._tell(log.head.seq)
            _send(router, answers)

    def _answer_zap(self, handler: Socket, denials: Denials) -> None:
        while handler.poll(0):
            decision = zap.decide(handler.recv_multipart(), self._allow_list.table_of)
            handler.send_multipart(decision.reply)
            if not decision.admitted:
                denials.note(
                    "not_enrolled",
                    key=decision.key,
                    now=self._clock(),
                    wall_ms=self._wall_ms(),
                    address=decision.address,
                )

    def _store(self, receiver: Receiver, batch: list[Incoming]) -> list[Outgoing]:
        """Store a batch and give the answers; none when the disk refuses, so that the tables send again."""
        if not batch:
            return []
        try:
            return receiver.receive(batch, self._clock(), self._wall_ms())
        except LogError as error:
            self._note_trouble(error)
            return []

    def _tell(self, pos: int) -> None:
        if pos == self._told:
            return
        self._told = pos
        self._note_trouble(None)
        if self._after_commit is not None:
            self._after_commit()
        if self._on_commit is not None:
            notify = self._on_commit
            self._post(lambda: notify(pos))

    def _note_trouble(self, error: LogError | None) -> None:
        if (error is None) == (self._trouble is None):
            return
        self._trouble = error
        if self._on_trouble is not None:
            notify = self._on_trouble
            self._post(lambda: notify(error))

    def _wall_ms(self) -> int:
        return int(1000 * self._wall())


def _drain(router: Socket) -> list[Incoming]:
    batch: list[Incoming] = []
    while len(batch) < _BATCH:
        try:
            peer, *frames = router.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            break
        if frames:
            batch.append(Incoming(peer.bytes, _key_of(frames[-1]), [frame.bytes for frame in frames]))
    return batch


def _key_of(frame: zmq.Frame) -> str:
    """Give the public key that the connection of this frame proved to have (set by `zap.decide`)."""
    try:
        return str(frame.get("User-Id"))
    except zmq.ZMQError:
        return ""


def _send(router: Socket, answers: list[Outgoing]) -> None:
    for answer in answers:
        try:
            router.send_multipart([answer.peer, *answer.frames], zmq.NOBLOCK)
        except zmq.ZMQError:
            continue  # gone (EHOSTUNREACH) or not reading (EAGAIN): the table asks again
