"""The thread of the central station that takes photos of tables and removes them by rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import structlog
import zmq

from station.counting import Stats
from station.errors import WireError
from station.evidence.index import Index
from station.evidence.pace import Pace
from station.evidence.policy import Removal, Rules
from station.evidence.reading import LogTail
from station.evidence.shelf import Shelf
from station.evidence.sockets import bound_socket
from station.evidence.taking import Taker
from station.evidence.wire import Chunk, encode, from_table
from station.evidence.worker import LOOK_S, PASSING, EvidenceThread
from station.link import zap
from station.link.denials import Denials
from station.link.keys import AllowList, KeyPair
from station.link.sockets import Socket, new_context
from station.link.watch import OVERRUN, Watch

__all__ = ["EvidenceTaker"]

BYTES_PER_S = 8 * 1024 * 1024.0
"""What all tables together may bring: a disk and a line have events to carry too."""
_AT_ONCE = 32
_log = structlog.get_logger()


class EvidenceTaker(EvidenceThread[str]):
    """Owns the ROUTER for photos, with a ZAP handler and a context of its own.

    Args:
        log_path: the central log, which says what may be put.
        folder: where photos lie, and the index.
        endpoint: where to listen, for example ``tcp://127.0.0.1:0``.
        keys: the central station's keys. allow_list: the enrolled tables.
        rules, on_due, clock, wall: as in `EvidenceThread`. bytes_per_s: pace of all tables together.
        on_open: called in the loop's thread with the name of the shelf (`Index.shelf`), once it is known.
    """

    def __init__(
        self,
        log_path: Path,
        folder: Shelf,
        endpoint: str,
        keys: KeyPair,
        allow_list: AllowList,
        rules: Rules,
        *,
        on_due: Callable[[list[Removal]], None],
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        bytes_per_s: float = BYTES_PER_S,
        on_open: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__("central-evidence", log_path, folder.index, folder, rules, on_due, clock, wall)
        self._shelf = folder
        self._endpoint = endpoint
        self._keys = keys
        self._allow_list = allow_list
        self._pace = Pace(bytes_per_s)
        self._on_open = on_open
        self._answers: dict[str, tuple[float, bytes, bytes]] = {}
        self._taker: Taker | None = None
        self.stats = Stats()
        """Counts ``photo_denials`` by reason."""
        self._denials = Denials(_say_denied, counted="photo_denials")
        self._denials.stats = self.stats

    @property
    def full(self) -> bool:
        """Whether there was no space for the last photo; may be asked from any thread."""
        return self._taker is not None and self._taker.full

    # From here on: the worker thread.

    def _work(self, ready: Callable[[str], None]) -> None:
        context = new_context()
        sockets: list[Socket] = []
        try:
            handler = context.socket(zmq.REP)
            sockets.append(handler)
            handler.bind(zap.ENDPOINT)
            router = bound_socket(context, self._keys, self._endpoint)
            sockets.append(router)
            with closing(Watch(router, self._waker.wake)) as watch:
                watch.start()
                ready(router.get_string(zmq.LAST_ENDPOINT))
                with self._opened() as opened:
                    if opened is not None:
                        self._serve(handler, router, watch, *opened)
        finally:
            for socket in sockets:
                socket.close(linger=0)
            context.term()

    def _serve(self, handler: Socket, router: Socket, watch: Watch, index: Index, tail: LogTail) -> None:
        keeper = self._keeper(index, None)
        taker = Taker(self._shelf, lambda table, name: _names(index, tail, table, name), _gone(index))
        self._taker = taker
        poller = zmq.Poller()
        for source in (self._waker.fd, handler, router):
            poller.register(source, zmq.POLLIN)
        while not self._stop.is_set():
            poller.poll(max(0, round(1000 * self._wait_s())))
            self._waker.clear()
            self._answer_zap(handler)
            self._note_cuts(watch)
            self._tell_shelf(index)
            self._follow(tail, keeper)
            self._take(router, watch, taker)
            self._answer(router)

    def _tell_shelf(self, index: Index) -> None:
        if self._on_open is None:
            return
        try:
            notify, shelf = self._on_open, index.shelf()
        except PASSING as error:
            self._told(error)
            return
        self._on_open = None  # once is enough
        self._post(lambda: notify(shelf))

    def _wait_s(self) -> float:
        now = self._clock()
        due = min((due for due, _, _ in self._answers.values()), default=now + LOOK_S)
        return min(max(0.0, due - now), max(0.0, self._look_at - now), LOOK_S)

    def _answer_zap(self, handler: Socket) -> None:
        while handler.poll(0):
            decision = zap.decide(handler.recv_multipart(), self._allow_list.standing)
            handler.send_multipart(decision.reply)
            if not decision.admitted:
                self._note(decision.reason, decision.key, decision.holder, decision.address)

    def _note_cuts(self, watch: Watch) -> None:
        _, cuts = watch.news()
        for cut in cuts:
            table = self._allow_list.standing(cut.key).holder if cut.key else ""
            self._note(OVERRUN, cut.key, table, cut.address)

    def _note(self, reason: str, key: str, table: str, address: str = "") -> None:
        wall_ms = int(1000 * self._wall())
        self._denials.note(reason, key=key, now=self._clock(), wall_ms=wall_ms, table=table, address=address)

    def _take(self, router: Socket, watch: Watch, taker: Taker) -> None:
        for _ in range(_AT_ONCE):
            try:
                peer, *frames = router.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            if not frames:
                continue
            key, said = _key_of(frames[-1]), [frame.bytes for frame in frames]
            watch.took(peer.bytes, frames[-1], key, said)
            standing = self._allow_list.standing(key)
            if standing.table is None:  # revoked since it connected
                self._note(standing.reason, key, standing.holder)
                continue
            try:
                if len(said) != 1:
                    raise WireError("A message has one frame.")
                self._take_one(taker, standing.table, peer.bytes, said[0])
            except WireError:
                self._note("bad_message", key, standing.table)
            except PASSING as error:
                self._told(error)  # without an answer the table asks again

    def _take_one(self, taker: Taker, table: str, peer: bytes, frame: bytes) -> None:
        message, now = from_table(frame), self._clock()
        answer = taker.receive(table, message)
        due = self._pace.due(now)
        if isinstance(message, Chunk):
            self._pace.spend(now, len(message.data))
        self._answers[table] = (due, peer, encode(answer))

    def _answer(self, router: Socket) -> None:
        now = self._clock()
        for table, (due, peer, frame) in list(self._answers.items()):
            if due <= now:
                del self._answers[table]
                try:
                    router.send_multipart([peer, frame], zmq.NOBLOCK)
                except zmq.ZMQError:
                    continue  # gone, or not reading: the table asks again


def _names(index: Index, tail: LogTail, table: str, name: str) -> bool:
    """Tell whether an event of the table names the photo, also one that came in just now."""
    return index.names(table, name) or (_caught_up(tail) and index.names(table, name))


def _caught_up(tail: LogTail) -> bool:
    while tail.catch_up():
        pass
    return True


def _gone(index: Index) -> Callable[[str], bool]:
    return lambda name: index.removed(name) is not None


def _key_of(frame: zmq.Frame) -> str:
    """Give the public key that the connection of this frame proved to have."""
    try:
        return str(frame.get("User-Id"))
    except zmq.ZMQError:
        return ""


def _say_denied(events: Sequence[tuple[str, bytes]], _: int) -> None:
    for _kind, body in events:
        told = msgspec.json.decode(body)
        told["key"] = told["key"][:8]
        _log.warning("photos refused", **told)
