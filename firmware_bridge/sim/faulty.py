"""A line that misbehaves on purpose, in one direction: for tests and for `--faults`.

It cuts the byte stream at the frames' 00 borders, so that faults hit whole frames of chosen kinds, and
keeps the order of what it lets through, as a wire does.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from firmware_bridge.codec import FrameDecoder


@dataclass(slots=True)
class Rates:
    """Chances 0..1 per frame. `kinds`: additional chance to lose a frame of that kind."""

    drop: float = 0.0
    flip: float = 0.0
    duplicate: float = 0.0
    garbage: float = 0.0
    kinds: dict[int, float] = field(default_factory=dict)


class FaultyLine:
    """Bytes in with `push`, the surviving ones out with `pull`, both with the time in seconds.

    `split` delivers one byte at a time; `delay` holds everything back for that many seconds;
    `lose_next` loses the next frame of each listed kind (None: of any kind); `mute` swallows all for a while.
    """

    def __init__(self, rng: random.Random, rates: Rates | None = None) -> None:
        self.rates = rates or Rates()
        self.split = False
        self.delay = 0.0
        self.lose_next: list[int | None] = []
        self.lost = 0
        self._rng = rng
        self._muted_until = float("-inf")
        self._partial = bytearray()
        self._waiting: deque[tuple[float, bytes]] = deque()

    def mute(self, until: float) -> None:
        """Swallow everything pushed before `until`."""
        self._muted_until = max(self._muted_until, until)

    def cut(self) -> None:
        """Forget what is on its way, as when a cable is pulled."""
        self._partial.clear()
        self._waiting.clear()

    def push(self, data: bytes, now: float) -> None:
        """Bytes from the sender."""
        if now < self._muted_until:
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
        if self._rng.random() < rates.garbage:
            self._waiting.append((now + self.delay, self._rng.randbytes(self._rng.randint(1, 40))))
        if self._rng.random() < rates.flip:
            spoiled = bytearray(piece)
            spoiled[self._rng.randrange(len(spoiled))] ^= 1 << self._rng.randrange(8)
            piece = bytes(spoiled)
        copies = 2 if self._rng.random() < rates.duplicate else 1
        self._waiting.extend([(now + self.delay, piece)] * copies)

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
        ready = bytearray()
        while self._waiting and self._waiting[0][0] <= now:
            ready += self._waiting.popleft()[1]
        if not ready:
            return []
        return [bytes([byte]) for byte in ready] if self.split else [bytes(ready)]
