"""The device's end of a session: answers, what it sends unasked, and events until they are acknowledged.

Times in seconds.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.codec import Frame, encode

EVENT_RING: Final = 64
"""Events kept for replay; the oldest unacknowledged one is lost when it overflows."""

EVENT_REPEAT: Final = 0.25
"""Seconds between repetitions of unacknowledged events, at most `EVENT_BURST` at a time."""

EVENT_BURST: Final = 4

SESSION_SILENCE: Final = 3.0
"""Seconds without a valid frame after which nothing is sent unasked: nobody seems to listen."""


class DeviceSession:
    """All that one run of a board sends."""

    def __init__(self, now: float) -> None:
        self.out: list[bytes] = []
        """Frames to send, as wire bytes, in order."""
        self.ring: deque[tuple[int, bytes, int]] = deque(maxlen=EVENT_RING)
        """Number, payload and kind of the newest events."""
        self.next_no = 1
        self._number = 0
        self._heard_at = now - 2 * SESSION_SILENCE
        self._acked = 0
        self._repeat_at = now

    def begin(self, number: int, now: float) -> None:
        """A host greeted; 0: one with which there is no session."""
        self._number = number
        self._heard_at = self._repeat_at = now

    def hears(self, frame: Frame, now: float) -> bool:
        """Whether a frame belongs to this session."""
        if not frame.session == self._number != 0:
            return False
        self._heard_at = now
        return True

    @property
    def first_waiting(self) -> int:
        """Number of the oldest event that is not acknowledged; the next one's, if all are."""
        return next((no for no, _, _ in self.ring if no > self._acked), self.next_no)

    def acknowledge(self, no: int) -> None:
        """Events up to this number have arrived."""
        self._acked = max(self._acked, min(no, self.next_no - 1))

    def send(self, message: m.DeviceMessage, seq: int, session: int) -> None:
        """Send a message."""
        self.out.append(encode(Frame(message.KIND, seq, session, message.to_bytes())))

    def answer(self, frame: Frame, message: m.DeviceMessage) -> None:
        """Answer a request."""
        self.send(message, frame.seq, frame.session)

    def push(self, message: m.DeviceMessage, now: float) -> None:
        """Send unasked (seq 0), if somebody listens."""
        if self._listening(now):
            self.send(message, 0, self._number)

    def queue(self, message: m.Event | m.CommandDone, now: float) -> None:
        """Send the event that has `next_no`, and keep it until it is acknowledged."""
        self.ring.append((self.next_no, message.to_bytes(), message.KIND))
        self.next_no += 1
        self.push(message, now)

    def repeat(self, now: float) -> None:
        """Send again what waits to be acknowledged, if it is time."""
        if now < self._repeat_at or not self._listening(now):
            return
        self._repeat_at = now + EVENT_REPEAT
        waiting = [entry for entry in self.ring if entry[0] > self._acked]
        for _, payload, kind in waiting[:EVENT_BURST]:
            self.out.append(encode(Frame(kind, 0, self._number, payload)))

    def _listening(self, now: float) -> bool:
        return self._number != 0 and now - self._heard_at < SESSION_SILENCE
