"""The one thread of a table process that writes the log and talks to the central station."""

from __future__ import annotations

import asyncio
import os
import queue
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import zmq

from station.counting import BATCH_SIZES, COMMIT_S, Stats
from station.errors import LogError
from station.link.connection import Connection, wait_ms
from station.link.loop_thread import LoopThread, resolve
from station.link.replicate import CENTRAL, SenderTimes, TableEnd
from station.link.replicate.values import SetKeys
from station.link.said import SESSION_SIZE
from station.link.sockets import LinkSettings, new_context
from station.link.status import LinkState, LinkStatus
from station.link.table_jobs import Append, Follow, Job, Say
from station.log import Log
from station.log.chain import Entry, Head

__all__ = ["LinkThread"]


class LinkThread(LoopThread[Head]):
    """Owns the log's write connection and the socket to the central station.

    Works the same with no central station at all: appending never waits for the network.

    Args:
        log_path: the table's log; created when missing.
        link: how to reach the central station; None for a table on its own.
        on_status: called in the loop's thread whenever the status changes.
        on_command: called in the loop's thread with each command once it is stored; see `follow_commands`.
        on_value: called in the loop's thread with key and body of a value of the central station.
        on_time: called in the loop's thread with the four timestamps of each clock exchange, in seconds: t1
            and t4 of `clock`, t2 and t3 of the station's monotonic clock.
        clock: monotonic time in seconds.
        wall: Unix time in seconds.
        times: durations and window of the protocol.
        queue_size: how many appends may wait for the thread.
        signer: secret (32 bytes) of the key that signs checkpoints; None: there are none.
    """

    def __init__(
        self,
        log_path: Path,
        link: LinkSettings | None = None,
        *,
        on_status: Callable[[LinkStatus], None] | None = None,
        on_command: Callable[[Entry], None] | None = None,
        on_value: Callable[[str, bytes], None] | None = None,
        on_time: Callable[[float, float, float, float], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        times: SenderTimes = SenderTimes(),  # noqa: B008 - frozen
        queue_size: int = 256,
        signer: bytes | None = None,
    ) -> None:
        super().__init__("table-link")
        self._log_path = log_path
        self._link = link
        self._on_status = on_status
        self._on_command = on_command
        self._on_value = on_value
        self._on_time = on_time
        self._clock = clock
        self._wall = wall
        self._times = times
        self._signer = signer
        self._jobs: queue.Queue[Job] = queue.Queue(queue_size)
        self._values = SetKeys()
        self._closed = True
        self._handed: dict[bytes, int] | None = None
        """Of each chain of commands the last seq that was handed over or has taken effect; None: not yet."""
        self._status = LinkStatus(LinkState.OFF if link is None else LinkState.DOWN)
        self._reported = self._status
        self.stats = Stats(commit_seconds=COMMIT_S, batch_entries=BATCH_SIZES)
        """Counts ``connects``, ``acks`` and ``resent`` entries; times each append."""

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

    def append(
        self, events: Sequence[tuple[str, bytes]], at_ms: int, checkpoint: str | None = None
    ) -> asyncio.Future[list[Entry]]:
        """Store events, given as (kind, body), in one transaction; with `checkpoint` a signature for it.

        Returns:
            a future of the entries they became, the checkpoint last, resolved after the commit. It fails with
            `LogFull` or `LogError` when they could not be stored; then none of them was.
        """
        future: asyncio.Future[list[Entry]] = asyncio.get_running_loop().create_future()
        try:
            self._ask(Append(list(events), at_ms, checkpoint, future))
        except LogError as error:
            future.set_exception(error)
        return future

    def follow_commands(self, applied: Mapping[bytes, int]) -> None:
        """Hand over commands from now on, each once and in order, those that wait in the log first.

        A command takes effect at most once because its effect is an event of the table's own log that names
        the command's log id and seq, stored in the same `append`. So the highest seq named so far says what
        is left to do after a restart; nothing else remembers it. Call this once, when the log was replayed.

        Args:
            applied: for each chain of commands the highest seq that the table's own events name.

        Raises:
            LogError: the thread is not running, or too much waits for it.
        """
        self._ask(Follow(dict(applied)))

    def set_value(self, key: str, body: bytes, at_ms: int) -> None:
        """Say a value to the central station; the newest of a key replaces older ones.

        Args:
            key: at most 64 bytes. body: JSON, at most 4 KiB. at_ms: wall clock, ms since 1970-01-01 UTC.

        Raises:
            LogError: the thread is not running, or too much waits for it. ValueError: key or body too large,
                or too many keys.
        """
        self._values.take(key, body)
        self._ask(Say(key, body, at_ms))

    async def stop(self, timeout_s: float = 2.0) -> None:
        """Store what is queued, close the socket and the log, and end the thread.

        Raises:
            LinkError: the thread did not end in time.
        """
        self._closed = True
        await super().stop(timeout_s)

    def _ask(self, job: Job) -> None:
        if self._closed:
            raise LogError("The log is closed.", fix="Start the table again.")
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise LogError("The disk is too slow; too much waits to be stored.", fix="Try again.") from None
        self._waker.wake()

    def _ended(self) -> None:
        self._closed = True
        with suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if isinstance(job, Append):
                    resolve(job.future, LogError("The log is closed.", fix="Start the table again."))

    # From here on: the worker thread.

    def _work(self, ready: Callable[[Head], None]) -> None:
        with Log.open(self._log_path, signer=self._signer) as log:
            ready(log.head)
            end = self._end(log)
            if self._link is None:
                self._loop_offline(log, end)
                return
            context = new_context()
            try:
                self._loop_online(log, end, context, self._link)
            finally:
                context.term()

    def _end(self, log: Log) -> TableEnd:
        return TableEnd(
            "" if self._link is None else self._link.table_id,
            log,
            lambda: os.urandom(SESSION_SIZE),
            self._times,
            clock=self._clock,
            on_stored=self._hand_over,
            on_value=lambda key, body: self._tell(self._on_value, key, body),
            on_time=lambda *stamps: self._tell(self._on_time, *stamps),
            stats=self.stats,
        )

    def _loop_offline(self, log: Log, end: TableEnd) -> None:
        poller = zmq.Poller()
        poller.register(self._waker.fd, zmq.POLLIN)
        self._report(LinkStatus(LinkState.OFF, log.head.seq))
        while not self._stop.is_set():
            poller.poll()
            self._do_all(log, end)
        self._do_all(log, end)

    def _loop_online(
        self, log: Log, end: TableEnd, context: zmq.Context[zmq.Socket[bytes]], link: LinkSettings
    ) -> None:
        connection = Connection(context, link, end, self._clock())
        try:
            while not self._stop.is_set():
                self._report(connection.status)
                self._wait(connection)
                self._do_all(log, end)
                connection.step(self._clock(), int(1000 * self._wall()))
            self._do_all(log, end)
        finally:
            connection.close()

    def _wait(self, connection: Connection) -> None:
        poller = zmq.Poller()
        poller.register(self._waker.fd, zmq.POLLIN)
        for socket in connection.sockets:
            poller.register(socket, zmq.POLLIN)
        poller.poll(wait_ms(connection.next_deadline(), self._clock()))

    def _do_all(self, log: Log, end: TableEnd) -> None:
        self._waker.clear()
        with suppress(queue.Empty):
            while True:
                match self._jobs.get_nowait():
                    case Append() as job:
                        self._append_one(log, job)
                        end.sender.appended(log.head)
                    case Follow(applied):
                        self._follow(log, applied)
                    case Say(key, body, at_ms):
                        end.set_value(key, body, at_ms)

    def _append_one(self, log: Log, job: Append) -> None:
        result: list[Entry] | Exception
        began = time.perf_counter()
        try:
            result = log.append(job.events, job.at_ms, checkpoint=job.checkpoint)
            self.stats.observe("commit_seconds", time.perf_counter() - began)
            self.stats.observe("batch_entries", len(job.events))
            self._report(replace(self._reported, head=log.head.seq))
        except Exception as error:
            result = error
            if not isinstance(error, LogError | ValueError):
                raise  # a bug: the thread ends, and `finished` raises it
        finally:
            self._post(lambda: resolve(job.future, result))

    def _follow(self, log: Log, applied: Mapping[bytes, int]) -> None:
        self._handed = dict(applied)
        for log_id in log.chains_of(CENTRAL):
            self._hand_over(log.entries_of(log_id, applied.get(log_id, 0)))

    def _hand_over(self, entries: list[Entry]) -> None:
        if self._handed is None:
            return  # `_follow` finds them in the log
        for entry in entries:
            # A log that was rebuilt from the station's copy gets commands again that have taken effect.
            if entry.seq > self._handed.get(entry.log_id, 0):
                self._handed[entry.log_id] = entry.seq
                self._tell(self._on_command, entry)

    def _tell(self, listener: Callable[..., None] | None, *words: object) -> None:
        if listener is not None:
            self._post(lambda: listener(*words))

    def _report(self, status: LinkStatus) -> None:
        if status != self._reported or status.endpoint != self._reported.endpoint:
            if status.state is LinkState.UP and self._reported.state is not LinkState.UP:
                self.stats.count("connects")
            self._reported = status
            self._post(lambda: self._show(status))

    def _show(self, status: LinkStatus) -> None:
        self._status = status
        if self._on_status is not None:
            self._on_status(status)
