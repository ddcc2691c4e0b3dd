"""The table's log and link as the runtime uses them: one thin layer over the link thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from station.clock import Clock
from station.counting import Stats
from station.errors import LogError
from station.fold_cache import FOLDING, FoldCache, code_version
from station.link.sockets import LinkSettings
from station.link.status import LinkState, LinkStatus
from station.link.table_thread import LinkThread
from station.log import Log
from station.log.chain import Entry
from station.session import Session
from station.table.times import TableTimes

_KEEP_EVERY = 200
"""Events after which the folded state is kept anew."""


class LogWriter:
    """Appends through the link thread; reads as one of the log's readers."""

    def __init__(
        self,
        path: Path,
        link: LinkSettings | None,
        clock: Clock,
        on_status: Callable[[], None],
        signer: bytes | None = None,
        on_command: Callable[[Entry], None] | None = None,
        times: TableTimes | None = None,
        on_value: Callable[[str, bytes], None] | None = None,
    ) -> None:
        self._path = path
        self._clock = clock
        cache_path = path.with_name(path.name + ".fold")
        self._cache = FoldCache(cache_path, Session, code_version(FOLDING), signer or b"")
        self._session: Session | None = None
        self._kept = 0

        def valued(key: str, body: bytes) -> None:
            if times is not None:
                times.on_value(key, body)
                on_status()
            if on_value is not None:
                on_value(key, body)

        def linked(status: LinkStatus) -> None:
            if times is not None:
                times.on_station(standby=status.standby)
            on_status()

        self._thread = LinkThread(
            path,
            link,
            on_status=linked,
            on_value=valued,
            on_time=None if times is None else times.on_time,
            on_command=on_command,
            clock=clock.monotonic,
            wall=clock.wall,
            signer=signer,
        )

    async def start(self) -> None:
        """Open the log. Raises LogError."""
        await self._thread.start()

    async def stop(self) -> None:
        """Store what is queued and close."""
        await self._thread.stop()
        self._keep()

    async def finished(self) -> None:
        """Wait for the thread's end; raises what ended it."""
        await self._thread.finished()

    def stored(self, after: int = 0, limit: int | None = None) -> Sequence[Entry]:
        """Return what the log has after a seq, at most so many entries. Raises LogError."""
        with Log.open(self._path, read_only=True) as log:
            return log.entries_of(log.log_id, after, limit)

    def remembered(self) -> Session | None:
        """Return the state as it was kept, if it is that after an entry of the log. Raises LogError."""
        with Log.open(self._path, read_only=True) as log:
            session = self._cache.load(log.log_id, partial(log.hash_at, log.log_id))
        self._kept = 0 if session is None else session.seq
        return session

    def remember(self, session: Session) -> None:
        """Keep the state after the newest entry, so that the next start has less to fold."""
        self._session = session
        if session.seq - self._kept >= _KEEP_EVERY:
            self._keep()

    def _keep(self) -> None:
        session = self._session
        if session is None or session.seq == self._kept:
            return
        self._kept = session.seq
        try:
            with Log.open(self._path, read_only=True) as log:
                digest = log.hash_at(log.log_id, session.seq)
                if digest is not None:
                    self._cache.save(log.log_id, session.seq, digest, session)
        except LogError:
            return  # the log's own trouble is told by whoever writes it

    async def append(self, events: list[tuple[str, bytes]], checkpoint: str | None = None) -> Sequence[Entry]:
        """Append in one transaction; returns after the commit. Raises LogError: nothing was stored."""
        return await self._thread.append(events, int(self._clock.wall() * 1000), checkpoint)

    @property
    def status(self) -> LinkStatus:
        """The link as it is now."""
        return self._thread.status

    @property
    def stats(self) -> Stats:
        """What the link's thread has counted."""
        return self._thread.stats

    @property
    def alive(self) -> bool:
        """Whether the link's thread runs."""
        return self._thread.alive

    def follow_commands(self, applied: Mapping[bytes, int]) -> None:
        """Hand over commands from now on; see `LinkThread.follow_commands`. Raises LogError."""
        self._thread.follow_commands(applied)

    def say(self, key: str, body: bytes) -> None:
        """Tell the central station a value of which only the newest counts. Raises LogError."""
        self._thread.set_value(key, body, int(self._clock.wall() * 1000))

    def link_state(self) -> tuple[str, int]:
        """Return the link's code and how many events the central station has not acknowledged."""
        status = self._thread.status
        return status.code, 0 if status.state is LinkState.OFF else status.unsent
