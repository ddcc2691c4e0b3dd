"""How much one table may send. Pure.

Whoever keeps to the window is only slowed down: what is over the rate is stored, and its acknowledgement
waits until the rate has caught up. Whoever goes on all the same is not listened to.
"""

from __future__ import annotations

import enum
import math

import msgspec

__all__ = ["Bucket", "Limits", "Meter", "Verdict"]


_BYTES_OVER_S = 4.0
"""How far ahead of its rate in bytes a table may be: some full windows, see `window.MOST_BYTES`."""


class Limits(msgspec.Struct, frozen=True):
    """What one table may send to the central station.

    Args:
        events_per_s: entries, on average.
        burst: entries at once, after a pause: an evening that is sent late.
        bytes_per_s: bytes of entries, on average.
        byte_burst: bytes of entries at once.
        messages_per_s: everything else (pings, values, clock exchanges, noise), on average.
        message_burst: of everything else at once.
        greetings_per_s: greetings, on average.
        greeting_burst: greetings at once.
        round_quota: entries and other messages that are looked at in one round, which is one transaction of
            all tables; the first message of a table always is.
    """

    events_per_s: float = 1000.0
    burst: float = 20_000.0
    bytes_per_s: float = 1024.0 * 1024
    byte_burst: float = 32.0 * 1024 * 1024
    messages_per_s: float = 50.0
    message_burst: float = 200.0
    greetings_per_s: float = 1.0
    greeting_burst: float = 10.0
    round_quota: int = 384


class Verdict(enum.Enum):
    """What becomes of a message."""

    TAKE = "take"
    HOLD = "hold"
    """Take it, but let the answer wait; see `Meter.free_at`."""
    DROP = "drop"


class Bucket:
    """A token bucket that may be overdrawn.

    Args:
        rate: tokens a second. most: tokens at most, and at first.
    """

    def __init__(self, rate: float, most: float) -> None:
        self._rate = rate
        self._most = most
        self._level = most
        self._at = -math.inf

    def level(self, now: float) -> float:
        """Give the tokens there are now; negative when overdrawn."""
        if now > self._at:
            if math.isfinite(self._at):
                self._level = min(self._most, self._level + (now - self._at) * self._rate)
            self._at = now
        return self._level

    def take(self, cost: float, now: float) -> float:
        """Take tokens, also where there are none; give what is left."""
        self._level = self.level(now) - cost
        return self._level

    def free_at(self, now: float) -> float:
        """Give when the bucket will not be overdrawn any more."""
        return now + max(0.0, -self.level(now)) / self._rate


class Meter:
    """What one key has sent lately; outlives its connections, so that a new one is no way around it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._events = Bucket(limits.events_per_s, limits.burst)
        self._bytes = Bucket(limits.bytes_per_s, limits.byte_burst)
        self._messages = Bucket(limits.messages_per_s, limits.message_burst)
        self._greetings = Bucket(limits.greetings_per_s, limits.greeting_burst)
        self._round, self._in_round = -1, 0

    def judge(self, kind: bytes, size: int, now: float, round_no: int, entries: int = 1) -> Verdict:
        """Say what becomes of a message.

        Args:
            kind: its first frame. size: its bytes. now: monotonic time in seconds.
            round_no: number of the round it came in.
            entries: how many it says it has; 1 for what is none.
        """
        limits = self._limits
        if round_no != self._round:
            self._round, self._in_round = round_no, 0
        if self._in_round and self._in_round + entries > limits.round_quota:
            return Verdict.DROP
        self._in_round += entries
        if kind == b"EVENT":
            return self._event(size, now, entries)
        bucket = self._greetings if kind == b"HELLO" else self._messages
        if bucket.level(now) < 1:
            return Verdict.DROP
        bucket.take(1, now)
        return Verdict.TAKE

    def _event(self, size: int, now: float, entries: int) -> Verdict:
        limits = self._limits
        most_over = _BYTES_OVER_S * limits.bytes_per_s
        level = self._events.level(now)
        if level <= 0 and level - entries < -limits.round_quota:
            return Verdict.DROP
        if self._bytes.level(now) <= -most_over:
            return Verdict.DROP
        over = min(self._events.take(entries, now), self._bytes.take(size, now)) < 0
        return Verdict.HOLD if over else Verdict.TAKE

    def free_at(self, now: float) -> float:
        """Give when answers to entries need not wait any more."""
        return max(self._events.free_at(now), self._bytes.free_at(now))
