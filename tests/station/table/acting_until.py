"""Letting a table act until something has come true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from station.table.acting import Actor

PATIENCE_S = 60.0


async def acting_until(condition: Callable[[], bool], actor: Actor) -> None:
    """Run the actor until the condition holds, looking after every turn of the loop.

    The bound is time, not a number of turns: photos go to a real disk meanwhile.
    """
    task = asyncio.create_task(actor.run())
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(0)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
