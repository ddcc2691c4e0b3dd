"""What a table process may ask of a machine, whatever drives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from firmware_bridge.machine import Capability, MachineEvent, MachineView, Outcome
from firmware_bridge.ops import Op, Value

Choice: TypeAlias = Literal["finish", "lower", "leave"]
"""A person's answer to a motion that was cut."""


class Machine(Protocol):
    """One automatic table. `firmware_bridge.bridge.Bridge` is the one that speaks our own protocol."""

    @property
    def capabilities(self) -> Capability:
        """What it can do as it is attached; the same as `view.capabilities`."""

    @property
    def view(self) -> MachineView:
        """The last known state."""

    @property
    def events(self) -> Sequence[MachineEvent]:
        """The newest reported events, oldest first."""

    async def run(self) -> None:
        """Own the port until `close`. Never raises because of the port; see `view.link`."""

    async def close(self) -> None:
        """Let the port go. A motion in progress is cut by its lease."""

    async def execute(self, op: Op | str, *, rev: int | None = None, **args: Value) -> Outcome:
        """Carry out `op` at most once and say how it ended.

        Never queued: with the link down the answer is REJECTED (`link_down`) at once. `rev`: the
        `view.rev` the caller acted upon; the device refuses (`stale_state`) when it has moved on. A command
        that could not be written down was not sent: REJECTED (`unwritten`).

        Raises:
            UsageError: no such operation or argument.
            LedgerError: no command number is left; nothing was sent.
        """

    async def recover(self, choice: Choice) -> Outcome:
        """A person's choice after a cut motion, as a new command.

        Raises:
            UsageError: another choice.
        """

    async def resolve_open(self) -> tuple[Outcome, ...]:
        """Outcomes of the commands a former process left open; waits until the machine has told."""

    async def wait_ready(self) -> MachineView:
        """Wait until commands are taken (`view.ready`)."""

    async def wait_for(self, reached: Callable[[MachineView], bool]) -> MachineView:
        """Wait until the view is so."""

    def hold(self) -> None:
        """Stop what moves, softly; the motion counts as cut."""

    def estop(self) -> None:
        """Ask for a latched stop. A convenience: the hardware loop is the safety function."""
