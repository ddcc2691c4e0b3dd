"""A table that runs with some machine, as a test and a person's taps see it."""

from __future__ import annotations

import asyncio
from typing import Any

from station.table.acting import Actor
from station.table.decide import Refused
from station.table.runtime import Table


class Running:
    """Subclasses make ``table`` and ``machine``, and say how the machine is let go."""

    table: Table
    machine: Any

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []

    async def let_go(self) -> None:
        """Let the machine go."""
        raise NotImplementedError

    async def begin(self) -> None:
        await self.table.load()
        self.tasks = [asyncio.create_task(self.machine.run()), asyncio.create_task(Actor(self.table).run())]

    async def end(self) -> None:
        """Stop everything; what a task ended with is raised."""
        await self.let_go()
        for task in self.tasks:
            task.cancel()
        for result in await asyncio.gather(*self.tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    @property
    def state(self) -> dict[str, Any]:
        return self.table.state()

    async def post(self, action: str, **body: Any) -> str:
        """Tap; return ``ok`` or the refusal's code."""
        try:
            await self.table.act(action, body, None, None)
        except Refused as refused:
            return refused.code
        return "ok"
