"""An asyncio loop whose time passes at once: it jumps whenever nothing is ready."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Skipping(selectors.SelectSelector):
    """A selector that does not wait: it moves the clock instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop whose time passes at once."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(work)
