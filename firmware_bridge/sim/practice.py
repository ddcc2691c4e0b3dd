"""A host that lives inside the simulator, so that people can learn with the machine alone.

It speaks the protocol over the same faulty lines as a table does, and steps aside while a table drives the
machine through the port.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firmware_bridge.core import Finished, HostCore
from firmware_bridge.ledger import Ledger
from firmware_bridge.link import Phase
from firmware_bridge.machine import LinkState, MachineView, Outcome, Status
from firmware_bridge.ops import Op, Value

AGAIN: Final = 0.5
"""Seconds after which a lost line is opened again."""


class Practice:
    """A `HostCore` with a ledger in memory. `last` is the newest end of a command."""

    def __init__(self, numbers: Callable[[], int]) -> None:
        self._ledger = Ledger(":memory:")
        self.core = HostCore(self._ledger, numbers)
        self.last: Outcome | None = None
        self._open_at = float("-inf")

    @property
    def view(self) -> MachineView:
        """What a table would know now."""
        return self.core.view

    def turn(self, now: float, *, away: bool) -> bytes:
        """Do what is due; bytes for the machine. `away`: a table drives it."""
        phase = self.core.link.phase
        if away:
            if phase is not Phase.CLOSED:
                self.core.port_closed(now)
        elif phase is Phase.DOWN:
            self.core.port_failed(LinkState.DOWN, "", now)
            self._open_at = now + AGAIN
        elif phase is Phase.CLOSED and now >= self._open_at:
            self.core.port_opened(now)
        self.core.poll(now)
        for notice in self.core.notices():
            if isinstance(notice, Finished):
                self.last = notice.outcome
        return self.core.take()

    def close(self) -> None:
        """Let the ledger go."""
        self._ledger.close()

    def ask(self, op: Op, now: float, **args: Value) -> None:
        """Send a command; how it ends comes into `last`."""
        self.last = None
        asked = self.core.submit(op, args, now, self.view.rev)
        if isinstance(asked, Outcome):
            self.last = Outcome(Status.REJECTED, asked.code, 0, op)
