"""A line that misbehaves on purpose, in one direction: for tests and for `--faults`.

It cuts the byte stream at the frames' 00 borders, so that faults hit whole frames of chosen kinds, and
keeps the order of what it lets through, as a wire does, unless `Rates.reorder` says otherwise.
"""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from firmware_bridge.codec import FrameDecoder

OVERTAKEN: Final = 0.1
"""Seconds after which a frame that waits to be overtaken is let go anyway."""

PRELUDE_MAX: Final = 64
"""Random bytes after an opening, at most: what a boot loader or a half-spoken frame leaves."""


@dataclass(slots=True)
class Rates:
    """Chances 0..1 per frame. `kinds`: additional chance to lose a frame of that kind.

    `reorder`: the next frame overtakes it. `echo`: it also comes back to its sender. `prelude`: chance per
    opening of the port of random bytes before all else.
    """

    drop: float = 0.0
    flip: float = 0.0
    duplicate: float = 0.0
    garbage: float = 0.0
    reorder: float = 0.0
    echo: float = 0.0
    prelude: float = 0.0
    kinds: dict[int, float] = field(default_factory=dict)


class FaultyLine:
    """Bytes in with `push`, the surviving ones out with `pull`, both with the time in seconds.

    `split` delivers one byte at a time; `delay` holds everything back for that many seconds; `coalesce`
    gathers what is sent within so many seconds and delivers it as one chunk, as an adapter's latency timer
    does; `lose_next` loses the next frame of each listed kind (None: of any kind); `mute` swallows all for a
    while, `stall` keeps it and delivers it all at once; `hang_up` breaks the line in the middle of the next
    frame, after which `hung` is true until `opened`. Echoes go to `back`, the line in the other direction.
    """

    def __init__(self, rng: random.Random, rates: Rates | None = None) -> None:
        self.rates = rates or Rates()
        self.split = False
        self.delay = 0.0
        self.coalesce = 0.0
        self.back: FaultyLine | None = None
        self.hung = False
        self.lose_next: list[int | None] = []
        self.lost = 0
        self._rng = rng
        self._muted_until = float("-inf")
        self._stalled_until = float("-inf")
        self._hang_up = False
        self._overtaken: tuple[float, bytes] | None = None
        self._partial = bytearray()
        self._waiting: deque[tuple[float, bytes]] = deque()

    def mute(self, until: float) -> None:
        """Swallow everything pushed before `until`."""
        self._muted_until = max(self._muted_until, until)

    def stall(self, until: float) -> None:
        """Deliver nothing before `until`, then everything."""
        self._stalled_until = max(self._stalled_until, until)

    def hang_up(self) -> None:
        """Break in the middle of the next frame: its first half arrives, nothing after it."""
        self._hang_up = True

    def opened(self, now: float) -> None:
        """The port was opened (again)."""
        self.hung = self._hang_up = False
        if self._rng.random() < self.rates.prelude:
            self._deliver(self._rng.randbytes(self._rng.randint(1, PRELUDE_MAX)), now)

    def cut(self) -> None:
        """Forget what is on its way, as when a cable is pulled."""
        self._partial.clear()
        self._waiting.clear()
        self._overtaken = None

    def push(self, data: bytes, now: float) -> None:
        """Bytes from the sender."""
        if now < self._muted_until or self.hung:
            self.lost += 1
            return
        self._partial += data
        while (border := self._partial.find(0, 1)) >= 0:
            piece = bytes(self._partial[: border + 1])
            del self._partial[: border + 1]
            self._piece(piece, now)

    def _piece(self, piece: bytes, now: float) -> None:
        if self._loses(piece):
            self.lost += 1
            return
        rates = self.rates
        if self._hang_up:
            self.hung = True
            self._partial.clear()
            self._deliver(piece[: len(piece) // 2], now)
            return
        if self._rng.random() < rates.garbage:
            self._deliver(self._rng.randbytes(self._rng.randint(1, 40)), now)
        if self._rng.random() < rates.flip:
            spoiled = bytearray(piece)
            spoiled[self._rng.randrange(len(spoiled))] ^= 1 << self._rng.randrange(8)
            piece = bytes(spoiled)
        copies = 2 if self._rng.random() < rates.duplicate else 1
        if self.back is not None and self._rng.random() < rates.echo:
            self.back.inject(piece, now)
        if self._overtaken is None and self._rng.random() < rates.reorder:
            self._overtaken = (now, piece * copies)
            return
        self._deliver(piece * copies, now)
        self._let_go(now)

    def inject(self, data: bytes, now: float) -> None:
        """Bytes that nobody sent: an echo, noise. They suffer no faults but the line's speed."""
        self._deliver(data, now)

    def _let_go(self, now: float) -> None:
        if self._overtaken is not None:
            (_, piece), self._overtaken = self._overtaken, None
            self._deliver(piece, now)

    def _deliver(self, data: bytes, now: float) -> None:
        at = now + self.delay
        if self.coalesce > 0:
            at = math.ceil(at / self.coalesce) * self.coalesce
        self._waiting.append((at, data))

    def _loses(self, piece: bytes) -> bool:
        frames = FrameDecoder().feed(piece)
        kind = frames[0].kind if frames else None
        for wanted in self.lose_next:
            if wanted is None or wanted == kind:
                self.lose_next.remove(wanted)
                return True
        chance = max(self.rates.drop, self.rates.kinds.get(kind, 0.0) if kind is not None else 0.0)
        return self._rng.random() < chance

    def pull(self, now: float) -> list[bytes]:
        """Chunks that have arrived."""
        if self._overtaken is not None and now >= self._overtaken[0] + OVERTAKEN:
            self._let_go(now)
        if now < self._stalled_until:
            return []
        ready = bytearray()
        while self._waiting and self._waiting[0][0] <= now:
            ready += self._waiting.popleft()[1]
        if not ready:
            return []
        return [bytes([byte]) for byte in ready] if self.split else [bytes(ready)]
