"""The one thread of the central station that writes the log and talks to the tables."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import zmq

from station.counting import BATCH_SIZES, COMMIT_S, Stats
from station.errors import LogError
from station.link import zap
from station.link.central_jobs import CentralJobs, closed
from station.link.connection import wait_ms
from station.link.denials import Denials
from station.link.keys import AllowList, KeyPair
from station.link.loop_thread import LoopThread, resolve
from station.link.replicate import CentralEnd, Incoming, Limits, Outgoing, SenderTimes
from station.link.replicate.values import SetKeys
from station.link.router import drain, send
from station.link.sockets import Socket, central_socket, new_context
from station.link.strangers import NO_HANDSHAKE, Knocks
from station.link.watch import OVERRUN, Watch
from station.log import Log
from station.log.chain import Entry

__all__ = ["CentralThread"]

_JOBS_S = 0.1
"""How long commands and bookings may keep one round of the tables waiting."""
_LAST_JOBS_S = 0.5
"""How long what is queued may take when the thread is stopped; after that it fails."""
_ZAP_ROUND = 256


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
        on_value: called in the loop's thread with table, key and body of a value of a table.
        clock: monotonic time in seconds.
        wall: Unix time in seconds.
        limits: what one table may send.
        times: durations and window for commands.
        after_commit: called in the worker thread between commit and acknowledgement; for tests of crashes.
        signer: secret (32 bytes) of the key that signs checkpoints; None: there are none.
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
        on_value: Callable[[str, str, bytes], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        times: SenderTimes = SenderTimes(),  # noqa: B008 - frozen
        after_commit: Callable[[], None] | None = None,
        signer: bytes | None = None,
    ) -> None:
        super().__init__("central-link")
        self._log_path = log_path
        self._endpoint = endpoint
        self._keys = keys
        self._allow_list = allow_list
        self._on_commit = on_commit
        self._on_trouble = on_trouble
        self._on_value = on_value
        self._clock = clock
        self._wall = wall
        self._limits = limits
        self._times = times
        self._after_commit = after_commit
        self._signer = signer
        self._jobs = CentralJobs()
        self._values: defaultdict[str | None, SetKeys] = defaultdict(SetKeys)
        self._end: CentralEnd | None = None
        self._told = 0
        self._trouble: LogError | None = None
        self.stats = Stats(commit_seconds=COMMIT_S, batch_entries=BATCH_SIZES)
        """Counts ``messages``, ``answers`` and ``denials`` by reason; times each commit of a batch."""

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
        seen = {} if self._end is None else dict(self._end.last_seen)
        now = self._clock()
        return {table: max(0.0, now - at) for table, at in seen.items()}

    def command(self, table: str, kind: str, body: bytes) -> asyncio.Future[Entry]:
        """Store a command for a table; it is sent, over all restarts, until the table has stored it.

        Args:
            table: its name. kind: of the command. body: JSON bytes.

        Returns:
            a future of the entry it became, resolved after the commit here; the table answers by an event of
            its own that names the entry's log id and seq. It fails with `LogError` or `ValueError`; where the
            thread has crashed, the entry may have been stored all the same.
        """
        return self._stored(lambda end: end.command(table, kind, body, self._clock(), self._wall_ms()))

    def book(self, kind: str, body: bytes) -> asyncio.Future[Entry]:
        """Store an event of the central station itself.

        Returns:
            a future of the entry it became, resolved after the commit; it fails with `LogError`.
        """
        return self._stored(lambda end: end.book(kind, body, self._wall_ms()))

    def set_value(self, table: str | None, key: str, body: bytes) -> None:
        """Say a value to a table, or to all (None); the newest of a key replaces older ones.

        Args:
            table: its name, or None. key: at most 64 bytes. body: JSON bytes, at most 4 KiB.

        Raises:
            ValueError: key or body is too large, or there are too many keys.
        """
        self._values[table].take(key, body)
        at_ms = self._wall_ms()
        self._jobs.put(lambda end: end.tables.set_value(table, key, body, at_ms))
        self._waker.wake()

    def _stored(self, store: Callable[[CentralEnd], Entry]) -> asyncio.Future[Entry]:
        """Let the thread store an entry; give a future of it."""
        future: asyncio.Future[Entry] = asyncio.get_running_loop().create_future()
        if self._finished is None or self._finished.done() or self._stop.is_set():
            future.set_exception(closed())
            return future
        self._jobs.store(store, lambda result: self._post(lambda: resolve(future, result)))
        self._waker.wake()
        return future

    def _ended(self) -> None:
        self._jobs.refuse()  # after a crash: whoever waits for an entry is told that there will be none

    # From here on: the worker thread.

    def _work(self, ready: Callable[[str], None]) -> None:
        with Log.open(self._log_path, signer=self._signer) as log:
            context = new_context()
            sockets: list[Socket] = []
            try:
                handler = context.socket(zmq.REP)
                sockets.append(handler)
                handler.bind(zap.ENDPOINT)
                router = central_socket(context, self._keys, self._endpoint)
                sockets.append(router)
                with closing(Watch(router, self._waker.wake)) as watch:
                    watch.start()
                    ready(router.get_string(zmq.LAST_ENDPOINT))
                    self._serve(log, handler, router, watch)
            finally:
                for socket in sockets:
                    socket.close(linger=0)
                context.term()

    def _serve(self, log: Log, handler: Socket, router: Socket, watch: Watch) -> None:
        denials = Denials(log.append)
        denials.stats = self.stats
        end = CentralEnd(
            log,
            self._allow_list.standing,
            denials,
            limits=self._limits,
            times=self._times,
            clock=self._clock,
            on_value=self._valued,
        )
        self._end, self._told = end, log.pos_head.seq
        knocks = Knocks()
        poller = zmq.Poller()
        for source in (self._waker.fd, handler, router):
            poller.register(source, zmq.POLLIN)
        while not self._stop.is_set():
            poller.poll(0 if self._jobs else wait_ms(end.next_deadline(), self._clock()))
            self._waker.clear()
            if self._stop.is_set():
                break  # no further round: what comes in now is sent again to the next process
            self._answer_zap(handler, denials)
            self._note_news(watch, knocks, denials)
            answers = self._receive(log, end, drain(router, watch))
            self._jobs.do(end, _JOBS_S)
            answers += end.poll(self._clock())
            self._tell(log.pos_head.seq)
            self._note_trouble(end.trouble)
            send(router, answers, end)
        self._jobs.do(end, _LAST_JOBS_S)
        self._jobs.refuse()
        self._tell(log.pos_head.seq)

    def _note_news(self, watch: Watch, knocks: Knocks, denials: Denials) -> None:
        """Write down who never proved a key, and who was cut."""
        ended, cuts = watch.news()
        now, wall_ms = self._clock(), self._wall_ms()
        if knocks.ended(ended, now):
            denials.note(NO_HANDSHAKE, key="", now=now, wall_ms=wall_ms)
        for cut in cuts:
            table = self._allow_list.standing(cut.key).holder if cut.key else ""
            denials.note(OVERRUN, key=cut.key, table=table, now=now, wall_ms=wall_ms, address=cut.address)

    def _valued(self, table: str, key: str, body: bytes) -> None:
        if self._on_value is not None:
            notify = self._on_value
            self._post(lambda: notify(table, key, body))

    def _answer_zap(self, handler: Socket, denials: Denials) -> None:
        for _ in range(_ZAP_ROUND):
            if not handler.poll(0):
                return
            decision = zap.decide(handler.recv_multipart(), self._allow_list.standing)
            handler.send_multipart(decision.reply)
            if not decision.admitted:
                denials.note(
                    decision.reason,
                    key=decision.key,
                    table=decision.holder,
                    now=self._clock(),
                    wall_ms=self._wall_ms(),
                    address=decision.address,
                )

    def _receive(self, log: Log, end: CentralEnd, batch: list[Incoming]) -> list[Outgoing]:
        """Take a batch in, and time what was stored of it."""
        if not batch:
            return []
        began, before = time.perf_counter(), log.pos_head.seq
        answers = end.receive(batch, self._clock(), self._wall_ms())
        stored = log.pos_head.seq - before
        self.stats.count("messages", by=len(batch))
        self.stats.count("answers", by=len(answers))
        if stored:
            self.stats.observe("commit_seconds", time.perf_counter() - began)
            self.stats.observe("batch_entries", stored)
        return answers

    def _tell(self, pos: int) -> None:
        if pos == self._told:
            return
        self._told = pos
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
