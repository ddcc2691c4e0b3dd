"""An asyncio loop whose time passes at once: it jumps whenever nothing is ready and no thread is at work."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Skipping(selectors.SelectSelector):
    """A selector that does not wait: it moves the clock instead."""

    now = 0.0
    threads = 0  # jobs of threads under way; their time is real, and must not run down others' deadlines

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0.05 if self.threads and timeout != 0 else 0)
        if not ready and timeout and not self.threads:
            self.now += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:
        future = super().run_in_executor(executor, func, *args)
        self._skipping.threads += 1
        future.add_done_callback(self._ended)
        return future

    def _ended(self, _: Any) -> None:
        self._skipping.threads -= 1


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop whose time passes at once."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(work)
