"""Child processes that are kept running, as a service manager does it on a real table computer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from station.errors import StationError

READY_TIMEOUT_S = 180.0
"""A process that can't start says so and ends at once: only on a busy computer it takes this long."""
STOP_TIMEOUT_S = 8.0
RESTART_PAUSE_S = 0.2
MAX_FAILED_STARTS = 5
"""Starts in a row that never got ready before the child counts as broken."""


class ChildFailed(StationError):
    """A process of the demo can't be started."""

    code = "demo.child"


class Child:
    """One process: started, restarted when it dies, stopped by pid. Its stderr goes to a file.

    It holds a pipe to us as its stdin, and ends when that does: also when we are killed.
    """

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        self.name = name
        self.ready: dict[str, Any] = {}
        self.restarts = 0
        self._arguments = list(arguments)
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._up = asyncio.Event()

    @property
    def log_file(self) -> Path:
        """Where the child's own log goes."""
        return self._folder / f"{self.name}.log"

    @property
    def pid(self) -> int | None:
        """Process id while it is ready."""
        process = self._process
        return process.pid if process and process.returncode is None and self._up.is_set() else None

    async def start(self) -> dict[str, Any]:
        """Start it and return its ready line.

        Raises:
            ChildFailed: it does not get ready; the message has its last line.
        """
        self._task = asyncio.create_task(self._keep_running())
        up = asyncio.create_task(self._up.wait())
        await asyncio.wait([up, self._task], return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        if self._task.done():
            self._task.result()
        return self.ready

    def check(self) -> None:
        """Raise ChildFailed if the child is broken for good."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            self._task.result()

    async def stop(self) -> None:
        """Stop it for good: SIGTERM, then SIGKILL."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_TIMEOUT_S)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _keep_running(self) -> None:
        failed = 0
        while failed < MAX_FAILED_STARTS:
            if await self._run_once():
                failed = 0
            else:
                failed += 1
                await asyncio.sleep(RESTART_PAUSE_S * failed)
                if not self.ready:
                    break
            self.restarts += 1
        raise ChildFailed(f"{self.name} does not start: {self._last_words()}", fix=f"See {self.log_file}.")

    async def _run_once(self) -> bool:
        """Run until it ends; say whether it got ready."""
        with self.log_file.open("ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "station.cli.leashed",
                *self._arguments,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                stdin=asyncio.subprocess.PIPE,
                # A Ctrl-C at the terminal is for the demo, which stops its children in order.
                start_new_session=True,
            )
        assert self._process.stdout is not None
        (self._folder / f"{self.name}.pid").write_text(f"{self._process.pid}\n")
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), READY_TIMEOUT_S)
            got = _ready_line(line)
        except TimeoutError:
            got = None
        if got is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            await self._process.wait()
            return False
        self.ready = got
        self._up.set()
        await self._process.stdout.read()
        await self._process.wait()
        self._up.clear()
        return True

    def _last_words(self) -> str:
        try:
            lines = self.log_file.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return lines[-1] if lines else "no message"


def _ready_line(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value.get("ready") is True else None
