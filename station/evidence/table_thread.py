"""The thread of a table that brings photos to the central station and removes them by rule."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import structlog
import zmq

from station.errors import LinkError, WireError
from station.evidence.address import Target
from station.evidence.index import Index
from station.evidence.keeping import Folder
from station.evidence.policy import Removal, Rules
from station.evidence.reading import LogTail
from station.evidence.sending import Sender, SendTimes
from station.evidence.sockets import EvidenceLink, connected_socket
from station.evidence.wire import encode, from_station
from station.evidence.worker import LOOK_S, PASSING, EvidenceThread
from station.link.sockets import Socket, new_context

__all__ = ["EvidenceSender"]

_TRY_AGAIN_S = 1.0
_NOWHERE = "?"
"""A station of which nothing is known: it has acknowledged nothing."""
_log = structlog.get_logger()


class EvidenceSender(EvidenceThread[None]):
    """Owns the table's end of the evidence channel; without a link it only applies the policy.

    Args:
        log_path: the table's log.
        index_path: what is known of its photos; made when missing.
        folder: where the photos lie.
        read: gives a photo's bytes, None when it is not there.
        link: keys of both sides, and where the central station takes photos (also told later, by `use`).
        rules, on_due, clock, wall: as in `EvidenceThread`. times: durations and pace.
        on_unsent: called in the loop's thread when the number of photos changes that the station lacks.
    """

    def __init__(
        self,
        log_path: Path,
        index_path: Path,
        folder: Folder,
        read: Callable[[str], bytes | None],
        link: EvidenceLink | None,
        rules: Rules,
        *,
        on_due: Callable[[list[Removal]], None],
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        times: SendTimes = SendTimes(),  # noqa: B008 - frozen
        on_unsent: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__("table-evidence", log_path, index_path, folder, rules, on_due, clock, wall)
        self._read = read
        self._link = link
        self._target: Target | None = None
        if link is not None and link.endpoint is not None:
            self._target = Target(link.endpoint, link.server_key)
        self._times = times
        self._quiet_until = self._count_at = float("-inf")
        self._on_unsent = on_unsent
        self._given_up: set[str] = set()
        self._named: tuple[Target | None, str] = None, ""
        self._unsent = 0

    def use(self, target: Target) -> None:
        """Bring photos there from now on."""
        self._target = target
        self._waker.wake()

    # From here on: the worker thread.

    def _work(self, ready: Callable[[None], None]) -> None:
        ready(None)
        with self._opened() as opened:
            if opened is None:
                return
            context = new_context()
            line = None if self._link is None else _Line(context, self._link)
            try:
                self._serve(*opened, line)
            finally:
                if line is not None:
                    line.close()
                context.term()

    def _serve(self, index: Index, tail: LogTail, line: _Line | None) -> None:
        station = None
        if self._link is not None:
            station = self._station(index, Target("", self._link.server_key)) or _NOWHERE
        keeper, sender = self._keeper(index, station), self._sender(index, station or "")
        while not self._stop.is_set():
            self._follow(tail, keeper)
            target = self._target
            # Before all of the log is known, what was removed by rule looks as if it had been lost.
            if line is not None and target is not None and not self._behind:
                now = self._station(index, target)
                if now is not None and now != station:  # the stand-by, or one made anew, may lack some
                    station = now
                    keeper, sender = self._keeper(index, station), self._sender(index, station)
                if now is not None:
                    self._exchange(line, sender, target)
            if station is not None:
                self._tell_unsent(index, station)
            self._wait(line, sender)

    def _station(self, index: Index, target: Target) -> str | None:
        """Give the name under which the acknowledgements of a target are kept; None: the disk refuses."""
        if target != self._named[0]:
            try:
                self._named = target, index.station(target.key, target.shelf)
            except PASSING as error:
                self._told(error)
                return None
        return self._named[1]

    def _tell_unsent(self, index: Index, station: str) -> None:
        now, notify = self._clock(), self._on_unsent
        if notify is None or now < self._count_at:
            return
        self._count_at = now + LOOK_S
        try:
            unsent = index.unsent_count(station, self._given_up)
        except PASSING as error:
            self._told(error)
            return
        if unsent != self._unsent:
            self._unsent = unsent
            self._post(lambda: notify(unsent))

    def _sender(self, index: Index, station: str) -> Sender:
        self._given_up.clear()
        return Sender(
            lambda: index.unsent(station),
            self._read,
            lambda name: index.note_sent(name, station),
            self._times,
            self._give_up,
        )

    def _give_up(self, name: str, why: str) -> None:
        """Take note of a photo that is never sent: it is not waited for, and the log says which it is."""
        self._given_up.add(name)
        _log.warning("photo not sent", photo=name, why=why)

    def _exchange(self, line: _Line, sender: Sender, target: Target) -> None:
        now = self._clock()
        if now < self._quiet_until:
            return
        try:
            if line.connect(target.endpoint, target.key):
                sender.restart()
            for frame in line.received():
                sender.receive(from_station(frame), now)
            message = sender.step(now)
            if message is not None and not line.send(encode(message)):
                sender.restart()
                self._quiet_until = now + _TRY_AGAIN_S
        except (WireError, *PASSING) as error:
            self._quiet_until = now + 10 * _TRY_AGAIN_S
            self._told(error)

    def _wait(self, line: _Line | None, sender: Sender) -> None:
        poller, now = zmq.Poller(), self._clock()
        poller.register(self._waker.fd, zmq.POLLIN)
        wait_s = min(max(0.0, self._look_at - now), LOOK_S)
        if line is not None and line.socket is not None:
            poller.register(line.socket, zmq.POLLIN)
            wait_s = min(wait_s, max(sender.wait_s(now), self._quiet_until - now))
        poller.poll(max(0, round(1000 * wait_s)))
        self._waker.clear()


class _Line:
    """The one socket, made anew for another address."""

    def __init__(self, context: zmq.Context[Socket], link: EvidenceLink) -> None:
        self._context = context
        self._link = link
        self._target: tuple[str, str] | None = None
        self.socket: Socket | None = None

    def connect(self, endpoint: str, server_key: str) -> bool:
        """Go to an address; say whether it is another one than before. Raises LinkError."""
        if self._target == (endpoint, server_key):
            return False
        self.close()
        self.socket = connected_socket(self._context, self._link.keys, server_key, endpoint)
        self._target = endpoint, server_key
        return True

    def received(self) -> list[bytes]:
        """Return what has come in."""
        frames: list[bytes] = []
        while self.socket is not None and len(frames) < 64:
            try:
                frames.append(self.socket.recv(zmq.NOBLOCK))
            except zmq.Again:
                break
        return frames

    def send(self, frame: bytes) -> bool:
        """Send; False: there is no connection now."""
        if self.socket is None:
            raise LinkError("There is no connection.")
        try:
            self.socket.send(frame, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def close(self) -> None:
        """Close the socket."""
        if self.socket is not None:
            self.socket.close(linger=0)
            self.socket = None
