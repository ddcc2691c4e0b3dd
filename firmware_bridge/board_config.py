"""What a board must keep of its machine: whether it does, when it is told, the time of its motions. Pure."""

from __future__ import annotations

from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.interlock import RULES, Surface
from firmware_bridge.ops import TIMEOUT_OPS, Op

INSTANT: Final = 2.0
"""Seconds within which an operation without motion has ended."""

LONGEST: Final = 120.0
"""Seconds for a motion of which no time is known: single-port machines take two minutes for a set."""


class ConfigKeeper:
    """The wanted configuration of one board (None: whatever it keeps), and whether it has it."""

    def __init__(self, wanted: m.BoardConfig | None) -> None:
        self._wanted = wanted
        self.fits = True
        self._sent = False

    def connected(self, crc: int) -> None:
        """A session began with a board whose configuration has this check sum."""
        self.fits = self._wanted is None or m.config_crc(self._wanted) == crc
        self._sent = False

    def due(self, status: m.StatusReport) -> m.ConfigSet | None:
        """The wish, once per session, when the board looks as if it would take it."""
        rests = not (status.active or status.cut or status.estop) and status.surface is Surface.CLEAR
        if self._wanted is None or self.fits or self._sent or not rests:
            return None
        self._sent = True
        return m.ConfigSet(self._wanted)

    def answered(self, wanted: m.BoardConfig, report: m.ConfigReport) -> bool:
        """Whether the board has it now."""
        taken = not report.reason and report.config == wanted
        self.fits = self.fits or taken
        return taken

    def time_for(self, op: Op) -> float:
        """Seconds that an operation may take, at most. A resumed one is any of them."""
        if not RULES[op].motion:
            return INSTANT
        if self._wanted is None or op not in TIMEOUT_OPS:
            return LONGEST
        steps = self._wanted.timeouts[TIMEOUT_OPS.index(op)]
        return steps * m.TIMEOUT_UNIT_MS / 1000 if steps else LONGEST
