"""A hall for the drills: keys, and processes that can be killed and started again."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from station.link.keys import generate, write_allow_list
from tests.station.drills import nodes

DEADLINE_S = 40.0

_server = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload([nodes.__name__])


def enrol(folder: Path, tables: Iterable[str]) -> None:
    """Make the keys of a central station and of tables, and let these in."""
    generate(folder / "keys", "central")
    keys = {name: generate(folder / "keys", name).public for name in tables}
    write_allow_list(folder / "tables.toml", keys)


class Node:
    """One process of `nodes`; what it says goes to a file, over all its starts.

    Args:
        folder: with the keys; logs and words go there.
        kind: ``central`` or ``table``.
        name: of the file of words.
        netns: network namespace, if not that of the tests.
        arguments: of the function in `nodes`.
    """

    def __init__(
        self, folder: Path, kind: str, name: str, *, netns: str | None = None, **arguments: Any
    ) -> None:
        self.words = folder / f"{name}.words"
        self.starts = 0
        self.last_exit: int | None = None
        self._kind, self._netns = kind, netns
        self._arguments = {"folder": str(folder), **arguments}
        self._process: Any = None

    def start(self, *, wait: bool = True, **changes: Any) -> None:
        """Start it, with other arguments for this time."""
        self.starts += 1
        before = self._size()
        self._process = _server.Process(
            target=nodes.run,
            args=(self._kind, str(self.words), self._netns, {**self._arguments, **changes}),
            daemon=True,
        )
        self._process.start()
        if wait:
            self.wait_for("ready", before)

    def _size(self) -> int:
        return self.words.stat().st_size if self.words.exists() else 0

    def said(self, after: int = 0) -> list[dict[str, Any]]:
        """What it has said, from a size of the file on."""
        if not self.words.exists():
            return []
        with self.words.open("rb") as file:
            file.seek(after)
            # A process that dies at the limit of a file's size may leave half a line.
            return [json.loads(line) for line in file.read().splitlines() if line.endswith(b"}")]

    def wait_for(self, word: str, after: int = 0) -> dict[str, Any]:
        """Wait until it says a word, and give the line; one that died on its own is not waited for."""
        return self.wait_until(lambda line: word in line, after, word)

    def wait_until(
        self, fits: Callable[[dict[str, Any]], bool], after: int = 0, what: str = "it"
    ) -> dict[str, Any]:
        """Wait for a line."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            over = self.dead
            for line in self.said(after):
                if fits(line):
                    return line
            if over:
                return {}
            assert time.monotonic() < deadline, f"{self.words.stem} did not say {what}: {self.said()[-3:]}"
            time.sleep(0.01)

    @property
    def mark(self) -> int:
        """Where the words are now, for `said` and `wait_for`."""
        return self._size()

    @property
    def pid(self) -> int:
        """Process id."""
        return int(self._process.pid)

    @property
    def dead(self) -> bool:
        """Whether it does not run."""
        return self._process is None or not self._process.is_alive()

    def bury(self) -> int | None:
        """Give how it ended, once: minus the signal, or its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.join()
        self.last_exit = process.exitcode
        process.close()
        return self.last_exit

    def kill(self) -> bool:
        """kill -9; whether it was this that ended it."""
        if self._process is None:
            return False
        alive = self._process.is_alive()
        self._process.kill()
        return self.bury() == -signal.SIGKILL and alive

    def stop(self, within_s: float = 5.0) -> int | None:
        """End it as a service manager does."""
        os.kill(self.pid, signal.SIGTERM)
        self._process.join(within_s)
        assert self._process.exitcode is not None, f"{self.words.stem} did not end in {within_s} s"
        return self.bury()
