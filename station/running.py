"""How a process of ours lives: its parts are started, it runs until it is told to stop, and they are stopped.

The parts are kept on one `contextlib.AsyncExitStack`: whatever fails, and whenever, each part that was made
is stopped, in reverse order, and one that can't be stopped keeps no other from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Protocol

import structlog

from station.errors import StationError
from station.serving import HttpServer
from station.stopping import Stop

__all__ = ["Part", "run_until", "stop_in_the_end"]

_log = structlog.get_logger()


class Part(Protocol):
    """What runs in the background."""

    async def stop(self) -> None:
        """End it; also one that was never started, or whose start failed. Raises StationError."""


def stop_in_the_end(stack: AsyncExitStack, *parts: Part) -> None:
    """Have parts stopped when the stack ends, the last one first.

    Call it before they are started: a start that fails has begun something. A part that can't be stopped is
    told by raising its error, unless something else has failed before: that stays the reason, and this is
    logged.
    """
    for part in parts:
        stack.push_async_exit(_stopping(part))


def _stopping(
    part: Part,
) -> Callable[[type[BaseException] | None, BaseException | None, TracebackType | None], Awaitable[None]]:
    async def stop(_: type[BaseException] | None, failed: BaseException | None, __: object) -> None:
        try:
            await part.stop()
        except StationError as error:
            if failed is None:
                raise
            _log.error("not stopped", part=type(part).__name__, reason=str(error))

    return stop


async def run_until(
    stop: Stop,
    server: HttpServer,
    works: Sequence[Awaitable[None]],
    *,
    end_streams: Callable[[], None],
) -> None:
    """Serve, and do the works, until `stop` is set or one of them ends, which is a failure: it is raised.

    Args:
        stop: listens already: until it does, a signal ends the process at once.
        server: answers what it was asked before, and is closed.
        works: cancelled in the end.
        end_streams: ends the answers that would never end.
    """
    serving = asyncio.ensure_future(server.serve())
    others = [asyncio.ensure_future(work) for work in (stop.wait(), *works)]
    try:
        done, _ = await asyncio.wait([serving, *others], return_when=asyncio.FIRST_COMPLETED)
    finally:
        end_streams()
        server.stop()
        for work in others:
            work.cancel()
        await asyncio.gather(serving, *others, return_exceptions=True)
    for ended in done:
        ended.result()
