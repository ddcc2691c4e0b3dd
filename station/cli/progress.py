"""Progress on a terminal: one line of stderr that follows the work; nothing where nobody watches."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

WIDTH = 78


class Progress:
    """Counts through ``total`` pieces of work, shown while stderr is a terminal and there are several."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._shows = total > 1 and sys.stderr.isatty()

    def begin(self, name: str) -> None:
        """Show that the next piece has begun."""
        self._done += 1
        if self._shows:
            text = f"{self._done}/{self._total} {name}"
            self._write("\r" + (text if len(text) <= WIDTH else text[: WIDTH - 1] + "…").ljust(WIDTH))

    def clear(self) -> None:
        """Empty the line, so that a result can be printed in its place."""
        if self._shows:
            self._write("\r" + " " * WIDTH + "\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()
