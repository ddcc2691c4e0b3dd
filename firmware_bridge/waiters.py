"""Who waits for what of a machine: for the end of a command, or for the view to be so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from firmware_bridge.errors import BridgeError
from firmware_bridge.machine import Outcome, Status
from firmware_bridge.ops import Op


class Waiters:
    """The waiting tasks of one bridge, and the ends that nobody waited for.

    Args:
        leftovers: ids of commands that a former process left open.
    """

    def __init__(self, leftovers: Iterable[int]) -> None:
        self._commands: dict[int, tuple[Op, asyncio.Future[Outcome]]] = {}
        self._orphans = set(leftovers)
        self._settled: dict[int, Outcome] = {}
        self._moments: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def expect(self, cmd_id: int, op: Op) -> asyncio.Future[Outcome]:
        """The end of a command that is sent now, for `outcome`."""
        waiter: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._commands[cmd_id] = (op, waiter)
        return waiter

    async def outcome(self, cmd_id: int, waiter: asyncio.Future[Outcome]) -> Outcome:
        """Wait for it. Given up, the command has an end that nobody waits for."""
        try:
            return await waiter
        except asyncio.CancelledError:
            self._commands.pop(cmd_id, None)
            self._orphans.add(cmd_id)
            raise

    def finished(self, outcome: Outcome, final: bool) -> None:
        """A command ended; `final` False: only the waiting did."""
        _, waiter = self._commands.pop(outcome.cmd_id, (outcome.op, None))
        if waiter is not None and not waiter.done():
            waiter.set_result(outcome)
            if not final:
                self._orphans.add(outcome.cmd_id)
        elif final:
            self._orphans.discard(outcome.cmd_id)
            self._settled[outcome.cmd_id] = outcome

    @property
    def all_known(self) -> bool:
        """Whether every command that nobody waits for has its end."""
        return not self._orphans

    def take_settled(self) -> tuple[Outcome, ...]:
        """Ends that nobody waited for, since the last call, oldest first."""
        settled, self._settled = self._settled, {}
        return tuple(settled[cmd_id] for cmd_id in sorted(settled))

    async def moment(self, reached: Callable[[], bool]) -> None:
        """Wait until `look` finds it so.

        Raises:
            BridgeError: everybody was released meanwhile.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._moments.append((reached, future))
        await future

    def look(self) -> None:
        """Wake those for whom it is so now."""
        for reached, future in self._moments:
            if not future.done() and reached():
                future.set_result(None)
        self._moments = [pair for pair in self._moments if not pair[1].done()]

    def release(self) -> None:
        """Nobody waits for a bridge that is gone; what is open stays so in the ledger."""
        for cmd_id, (op, waiter) in self._commands.items():
            if not waiter.done():
                waiter.set_result(Outcome(Status.UNKNOWN, "closed", cmd_id, op))
        self._commands.clear()
        for _, future in self._moments:
            if not future.done():
                future.set_exception(BridgeError("The bridge was closed."))
        self._moments.clear()
