"""The table's side of the evidence channel: what to send, and when. Pure but for the callbacks.

One photo at a time, one message on its way at a time. Nothing is remembered that a restart would need: still
to be sent is what the events name and the central station has not acknowledged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import msgspec

from station.evidence.pace import Pace
from station.evidence.wire import (
    CHUNK_BYTES,
    LONGEST_BYTES,
    Chunk,
    Done,
    No,
    Offer,
    ToStation,
    ToTable,
    Want,
    name_of,
)

__all__ = ["SendTimes", "Sender"]


class SendTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Durations in seconds, and the pace.

    ``answer_s``: until a message without an answer is sent again, as an offer. ``retry_s``: until a photo
    that was not wanted is offered again. ``full_s``: rest after the central station had no space.
    ``look_s``: until somebody looks again whether there is something to send.
    """

    answer_s: float = 15.0
    retry_s: float = 10.0
    full_s: float = 60.0
    look_s: float = 2.0
    bytes_per_s: float = 1024 * 1024.0


class _Photo(msgspec.Struct):
    """The photo on its way: the message that is next or waits for its answer, and when it is due."""

    name: str
    data: bytes
    message: ToStation
    due: float


class Sender:
    """Decides what a table sends.

    Args:
        waiting: gives the names still to be sent, the most wanted first.
        read: gives a photo's bytes, None when it is not there any more; an OSError of it passes.
        done: called with the name that the central station has.
        given_up: called with a name that is never sent, and why: ``gone``, ``damaged`` or ``too_large``.
        times: durations and pace.
    """

    def __init__(
        self,
        waiting: Callable[[], Iterable[str]],
        read: Callable[[str], bytes | None],
        done: Callable[[str], None],
        times: SendTimes = SendTimes(),  # noqa: B008 - frozen
        given_up: Callable[[str, str], None] = lambda _name, _why: None,
    ) -> None:
        self._given_up = given_up
        self._waiting = waiting
        self._read = read
        self._done = done
        self._times = times
        self._pace = Pace(times.bytes_per_s)
        self._photo: _Photo | None = None
        self._not_before: dict[str, float] = {}
        self._rest_until = -math.inf
        self.station_full = False
        """Whether the central station had no space when it was asked last."""

    def step(self, now: float) -> ToStation | None:
        """Return the message to send now, if any."""
        if self._photo is None:
            self._photo = self._next(now)
        photo = self._photo
        if photo is None or now < photo.due:
            return None
        message = photo.message
        if isinstance(message, Chunk):
            self._pace.spend(now, len(message.data))
        # Without an answer it is asked anew where to go on.
        photo.message = Offer(photo.name, size=len(photo.data))
        photo.due = now + self._times.answer_s
        return message

    def receive(self, answer: ToTable, now: float) -> None:
        """Take an answer; one to a photo that is not on its way is old and means nothing."""
        photo = self._photo
        if photo is None or answer.name != photo.name:
            return
        match answer:
            case Want(at=at) if 0 <= at < len(photo.data):
                self.station_full = False
                photo.message = Chunk(photo.name, at=at, data=photo.data[at : at + CHUNK_BYTES])
                photo.due = self._pace.due(now)
            case Done():
                self._photo, self.station_full = None, False
                self._not_before.pop(photo.name, None)
                self._done(photo.name)
            case No(why="full"):
                self._photo, self.station_full = None, True
                self._rest_until = now + self._times.full_s
            case No(why="not_offered"):
                photo.message, photo.due = Offer(photo.name, size=len(photo.data)), now
            case _:
                self._photo = None
                self._put_off(photo.name, answer, now)

    def restart(self) -> None:
        """The connection is a new one: what was on its way is offered anew."""
        if self._photo is not None:
            self._photo.message = Offer(self._photo.name, size=len(self._photo.data))
            self._photo.due = -math.inf

    def wait_s(self, now: float) -> float:
        """Return how many seconds may pass until `step` is to be asked again."""
        if self._photo is not None:
            return max(0.0, self._photo.due - now)
        return max(self._times.look_s, self._rest_until - now)

    def _put_off(self, name: str, answer: ToTable, now: float) -> None:
        if isinstance(answer, No) and answer.why == "too_large":
            self._give_up(name, answer.why)
        else:
            self._not_before[name] = now + self._times.retry_s

    def _give_up(self, name: str, why: str) -> None:
        self._not_before[name] = math.inf
        self._given_up(name, why)

    def _next(self, now: float) -> _Photo | None:
        if now < self._rest_until:
            return None
        for name in self._waiting():
            if self._not_before.get(name, -math.inf) > now:
                continue
            try:
                data = self._read(name)
            except OSError:  # too many files are open, the disk hangs: it is there all the same
                self._not_before[name] = now + self._times.retry_s
                continue
            if data is None:
                self._give_up(name, "gone")
            elif not data or name_of(data) != name:
                self._give_up(name, "damaged")
            elif len(data) > LONGEST_BYTES:
                self._give_up(name, "too_large")
            else:
                return _Photo(name, data, Offer(name, size=len(data)), now)
        return None
