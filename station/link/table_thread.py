"""The one thread of a table process that writes the log and talks to the central station."""

from __future__ import annotations

import asyncio
import math
import os
import queue
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import zmq

from station.errors import LogError
from station.link.connection import Connection, LinkState, LinkStatus
from station.link.loop_thread import LoopThread, resolve
from station.link.sender import Sender, SenderTimes, Source
from station.link.sockets import LinkSettings, new_context
from station.link.wire import SESSION_SIZE
from station.log.chain import Entry, Head
from station.log.table_log import Log

__all__ = ["LinkThread"]


class _Append(msgspec.Struct, frozen=True):
    """A request to the thread."""

    events: list[tuple[str, bytes]]
    at_ms: int
    future: asyncio.Future[list[Entry]]


class LinkThread(LoopThread[Head]):
    """Owns the log's write connection and the socket to the central station.

    Works the same with no central station at all: appending never waits for the network.

    Args:
        log_path: the table's log; created when missing.
        link: how to reach the central station; None for a table on its own.
        on_status: called in the loop's thread whenever the status changes.
        clock: monotonic time in seconds.
        times: durations and window of the protocol.
        queue_size: how many appends may wait for the thread.
    """

    def __init__(
        self,
        log_path: Path,
        link: LinkSettings | None = None,
        *,
        on_status: Callable[[LinkStatus], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        times: SenderTimes = SenderTimes(),  # noqa: B008 - frozen
        queue_size: int = 256,
    ) -> None:
        super().__init__("table-link")
        self._log_path = log_path
        self._link = link
        self._on_status = on_status
        self._clock = clock
        self._times = times
        self._jobs: queue.Queue[_Append] = queue.Queue(queue_size)
        self._closed = True
        self._status = LinkStatus(LinkState.OFF if link is None else LinkState.DOWN)
        self._reported = self._status

    @property
    def status(self) -> LinkStatus:
        """The link as last reported."""
        return self._status

    async def start(self) -> Head:
        """Open the log, start the thread, and give the head of the log.

        Raises:
            LogError: the log cannot be opened.
        """
        self._closed = False
        return await super().start()

    def append(self, events: Sequence[tuple[str, bytes]], at_ms: int) -> asyncio.Future[list[Entry]]:
        """Store events, given as (kind, body), in one transaction.

        Returns:
            a future of the entries they became, resolved after the commit. It fails with `LogFull` or
            `LogError` when they could not be stored; then none of them was.
        """
        future: asyncio.Future[list[Entry]] = asyncio.get_running_loop().create_future()
        if self._closed:
            future.set_exception(LogError("The log is closed.", fix="Start the table again."))
            return future
        try:
            self._jobs.put_nowait(_Append(list(events), at_ms, future))
        except queue.Full:
            future.set_exception(
                LogError("The disk is too slow; too much waits to be stored.", fix="Try again.")
            )
            return future
        self._waker.wake()
        return future

    async def stop(self, timeout_s: float = 2.0) -> None:
        """Store what is queued, close the socket and the log, and end the thread.

        Raises:
            LinkError: the thread did not end in time.
        """
        self._closed = True
        await super().stop(timeout_s)

    def _ended(self) -> None:
        self._closed = True
        with suppress(queue.Empty):
            while True:
                resolve(self._jobs.get_nowait().future, LogError("The log is closed."))

    # From here on: the worker thread.

    def _work(self, ready: Callable[[Head], None]) -> None:
        with Log.open(self._log_path) as log:
            ready(log.head)
            if self._link is None:
                self._loop_offline(log)
                return
            context = new_context()
            try:
                self._loop_online(log, context, self._link)
            finally:
                context.term()

    def _loop_offline(self, log: Log) -> None:
        poller = zmq.Poller()
        poller.register(self._waker.fd, zmq.POLLIN)
        self._report(LinkStatus(LinkState.OFF, log.head.seq))
        while not self._stop.is_set():
            poller.poll()
            self._append_all(log)
        self._append_all(log)

    def _loop_online(self, log: Log, context: zmq.Context[zmq.Socket[bytes]], link: LinkSettings) -> None:
        source = Source(log.entries, log.hash_at)
        sender = Sender(link.table_id, log.log_id, log.head, source, _draw_session, self._times)
        connection = Connection(context, link, sender, self._clock())
        try:
            while not self._stop.is_set():
                self._report(connection.status)
                self._wait(connection)
                self._append_all(log)
                sender.appended(log.head)
                connection.step(self._clock())
            self._append_all(log)
        finally:
            connection.close()

    def _wait(self, connection: Connection) -> None:
        poller = zmq.Poller()
        poller.register(self._waker.fd, zmq.POLLIN)
        for socket in connection.sockets:
            poller.register(socket, zmq.POLLIN)
        left_s = connection.next_deadline() - self._clock()
        poller.poll(None if left_s == math.inf else max(0, math.ceil(1000 * left_s)))

    def _append_all(self, log: Log) -> None:
        self._waker.clear()
        with suppress(queue.Empty):
            while True:
                self._append_one(log, self._jobs.get_nowait())

    def _append_one(self, log: Log, job: _Append) -> None:
        result: list[Entry] | Exception
        try:
            result = log.append(job.events, job.at_ms)
            self._report(msgspec.structs.replace(self._reported, head=log.head.seq))
        except Exception as error:
            result = error
            if not isinstance(error, LogError | ValueError):
                raise  # a bug: the thread ends, and `finished` raises it
        finally:
            self._post(lambda: resolve(job.future, result))

    def _report(self, status: LinkStatus) -> None:
        if status != self._reported:
            self._reported = status
            self._post(lambda: self._tell(status))

    def _tell(self, status: LinkStatus) -> None:
        self._status = status
        if self._on_status is not None:
            self._on_status(status)


def _draw_session() -> bytes:
    return os.urandom(SESSION_SIZE)
