"""Runs the demo: machines, tables, central station, players, referee; then counts what the logs hold."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from engine import rulesets
from station.demo.client import TableClient
from station.demo.layout import Layout, Settings, TableFiles, asked, machine_profile, prepare
from station.demo.script import Script
from station.demo.summary import summarise
from station.demo.supervisor import Child
from station.errors import StationError

DELIVERY_S = 30.0
"""How long the central station may take to catch up after the last hand."""


class DemoStuck(StationError):
    """The demo does not come to its end."""

    code = "demo.stuck"


def _ignore(table: str, hand: int, outcome: str) -> None:
    """Tell nobody that a hand has ended."""


def _unheard(table: str, hand: int) -> None:
    """Tell nobody that the players call the referee."""


class Demo:
    """One run. Use `async with`; processes are stopped in any case."""

    def __init__(
        self,
        home: Path,
        settings: Settings,
        on_hand: Callable[[str, int, str], None] = _ignore,
        on_call: Callable[[str, int], None] = _unheard,
    ) -> None:
        self._settings = settings
        self._rules = rulesets.load(settings.ruleset)
        self._profile = machine_profile(self._rules)
        self._on_hand = on_hand
        self._on_call = on_call
        self.layout: Layout = prepare(home, settings)
        self._central = Child(
            "central", ["central", "--config", str(self.layout.central_config)], self.layout.folder
        )
        self._machines = [self._machine(number, table) for number, table in enumerate(self.layout.tables)]
        self._tables = [
            Child(t.name, ["table", "--config", str(t.config)], self.layout.folder)
            for t in self.layout.tables
        ]
        self._http = httpx.AsyncClient()
        self._scripts = [self._script(number, table) for number, table in enumerate(self.layout.tables)]

    def _machine(self, number: int, table: TableFiles) -> Child:
        settings = self._settings
        arguments = [
            "machine-sim",
            "--profile", self._profile,
            "--pty-link", str(table.pty),
            "--pulses", str(table.pulses),
            "--seed", str(1000 * settings.seed + number),
            "--speed", str(settings.speed),
        ]  # fmt: skip
        return Child(f"machine-{table.name}", arguments, self.layout.folder)

    def _script(self, number: int, table: TableFiles) -> Script:
        settings = self._settings
        return Script(
            TableClient(self._http, table.http),
            self._rules,
            table.scene,
            table=number,
            hands=settings.hands,
            seed=settings.seed,
            mend=settings.mend,
            referee=settings.referee,
            think_s=0.0 if settings.referee else settings.think_s,
            on_call=lambda hand: self._on_call(table.name, hand),
            on_hand=lambda hand, outcome: self._on_hand(table.name, hand, outcome),
        )

    @property
    def scripts(self) -> tuple[Script, ...]:
        """The players of each table, in the order of the tables."""
        return tuple(self._scripts)

    @property
    def children(self) -> dict[str, Child]:
        """All processes by name."""
        return {child.name: child for child in (self._central, *self._machines, *self._tables)}

    async def __aenter__(self) -> Demo:
        try:
            for script in self._scripts:
                script.lay_out()
            await self._central.start()
            await asyncio.gather(*(machine.start() for machine in self._machines))
            await asyncio.gather(*(table.start() for table in self._tables))
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    async def _stop(self) -> None:
        children = [*self._tables, self._central, *self._machines]
        await asyncio.gather(*(child.stop() for child in children))
        await self._http.aclose()

    async def play(self) -> None:
        """Play to the end (for ever when no number of hands was given)."""
        works = [asyncio.create_task(script.play()) for script in self._scripts]
        watching = asyncio.create_task(self._watch())
        try:
            # Ends when all scripts have played, or when a script or a process has failed for good.
            pending: set[asyncio.Task[None]] = {*works, watching}
            while any(not work.done() for work in works):
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            for task in (*works, watching):
                task.cancel()
            await asyncio.gather(*works, watching, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            for child in self.children.values():
                child.check()
            await asyncio.sleep(0.2)

    async def delivered(self) -> None:
        """Wait until the central station has everything.

        Raises:
            DemoStuck: it does not arrive.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + DELIVERY_S
        for table in self.layout.tables:
            client = TableClient(self._http, table.http)
            while (await client.state())["central"]["unsent"]:
                if loop.time() > deadline:
                    raise DemoStuck(
                        f"{table.name}'s events do not reach the central station.", fix="See the logs."
                    )
                await asyncio.sleep(0.05)

    async def pages(self) -> dict[str, int]:
        """Fetch the pages people look at; return the size of each in bytes."""
        sizes = {}
        for url in (f"{self.layout.tables[0].http}referee", f"{self.layout.central_http}wall"):
            answer = await self._http.get(url)
            answer.raise_for_status()
            sizes[url] = len(answer.content)
        return sizes

    def restarts(self) -> dict[str, int]:
        """Return how often each process had to be started again."""
        return {name: child.restarts for name, child in self.children.items() if child.restarts}

    def summary(self) -> dict[str, Any]:
        """Count what the logs hold. Call it after the processes have stopped."""
        layout = self.layout
        logs = {table.name: table.log for table in layout.tables}
        scripts = {table.name: script for table, script in zip(layout.tables, self._scripts, strict=True)}
        differ = {name: script.disagreements for name, script in scripts.items()}
        truths = {name: script.truths for name, script in scripts.items()}
        result = summarise(logs, layout.central_log, differ, truths)
        result["ruleset"] = self._rules.id
        result["settings"] = asked(self._rules)
        result["motions"] = {table.name: motions_of(table.pulses) for table in layout.tables}
        restarts = self.restarts()
        if restarts:
            result["restarts"] = restarts
        return result


def motions_of(pulses: Path) -> dict[str, int]:
    """Return how often each operation was carried out, as the machine counted it."""
    counts: dict[str, int] = json.loads(pulses.read_text())["counts"]
    return counts


async def run(
    home: Path,
    settings: Settings,
    *,
    pages: bool,
    announce: Callable[[Layout], None],
    on_hand: Callable[[str, int, str], None],
    on_call: Callable[[str, int], None] = _unheard,
) -> dict[str, Any] | None:
    """Run a demo; None when a person ended it before its end.

    Args:
        home: folder of all data. settings: what is played. pages: fetch the pages at the end.
        announce: called once everything is up. on_hand: called after each hand (table, number, outcome).
        on_call: called when the wall is empty and a person has to rule the draw (table, number of the hand).
    """
    loop = asyncio.get_running_loop()
    me = asyncio.current_task()
    assert me is not None
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        me.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    demo = Demo(home, settings, on_hand, on_call)
    try:
        async with demo:
            announce(demo.layout)
            await demo.play()
            await demo.delivered()
            sizes = await demo.pages() if pages else None
    except asyncio.CancelledError:
        if stopped:
            return None
        raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    result = demo.summary()
    if sizes is not None:
        result["pages"] = sizes
    return result
