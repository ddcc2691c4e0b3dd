"""A venue of whole processes, kept running: `quezhuo central`, `quezhuo table`, and a referee."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec

from station.demo.layout import free_port
from station.demo.supervisor import Child
from tests.station.drills.hall import enrol

WINNING = "123m456m789m11z34s +5s"
"""A hand that wins by taking a discarded five of bamboos."""


class Venue:
    """Configurations, keys and processes of a central station and one table.

    Args:
        folder: for keys and configurations.
        table_home, central_home: where their data lies.
        words: where the table's own log (stderr) goes; left out: to `folder`.
        table: further lines of the table's configuration.
    """

    def __init__(
        self, folder: Path, table_home: Path, central_home: Path, *, words: Path | None = None, **table: Any
    ) -> None:
        enrol(folder, ["T1"])
        self.table_home, self.central_home = table_home, central_home
        http, link, hall = free_port(), free_port(), free_port()
        self.table_url, self.central_url = f"http://127.0.0.1:{http}", f"http://127.0.0.1:{hall}"
        endpoint = f"tcp://127.0.0.1:{link}"
        self._write(
            folder / "central.toml",
            {
                "home": str(central_home),
                "http_port": hall,
                "link": endpoint,
                "secret_key": "keys/central.key",
                "allow_list": "tables.toml",
            },
        )
        self._write(
            folder / "T1.toml",
            {
                "table": "T1",
                "home": str(table_home),
                "http_port": http,
                "driver": "none",
                "camera": "none",
                "chips": 5_000,
                "secret_key": "keys/T1.key",
                "central": {"endpoint": endpoint, "public_key": "keys/central.pub"},
                **table,
            },
        )
        self.central = Child("central", ["central", "--config", str(folder / "central.toml")], folder)
        self.table = Child("T1", ["table", "--config", str(folder / "T1.toml")], words or folder)

    @staticmethod
    def _write(path: Path, config: dict[str, Any]) -> None:
        path.write_bytes(msgspec.toml.encode(config))

    @property
    def table_log(self) -> Path:
        return self.table_home / "table.db"

    @property
    def central_log(self) -> Path:
        return self.central_home / "central.db"

    async def __aenter__(self) -> Venue:
        self.http = httpx.AsyncClient(timeout=10.0)
        await self.central.start()
        await self.table.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.table.stop()
        await self.central.stop()
        await self.http.aclose()

    async def state(self, url: str | None = None) -> dict[str, Any]:
        """The state as a screen gets it; waits while the process is away."""
        while True:
            try:
                answer = await self.http.get(f"{url or self.table_url}/api/state")
                answer.raise_for_status()
                return dict(answer.json())
            except httpx.HTTPError:
                await asyncio.sleep(0.05)

    async def until(
        self, reached: Callable[[dict[str, Any]], bool], url: str | None = None, limit_s: float = 30.0
    ) -> dict[str, Any]:
        """Wait until a state is so."""
        state: dict[str, Any] = {}
        try:
            async with asyncio.timeout(limit_s):
                while not reached(state := await self.state(url)):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            keep = {
                name: state.get(name)
                for name in ("phase", "central", "messages", "machine", "tables", "alarms")
            }
            raise AssertionError(f"stuck: {keep}") from None
        return state

    async def post(self, action: str, body: dict[str, Any], key: str | None = None) -> httpx.Response:
        """One request, one answer."""
        headers = {} if key is None else {"Idempotency-Key": key}
        return await self.http.post(f"{self.table_url}/api/{action}", json=body, headers=headers)


class Referee:
    """Rules hand after hand, and asks again with the same key until there is an answer.

    Every other hand is won, with a typed hand and a confirmation; the others are drawn.
    """

    def __init__(self, venue: Venue) -> None:
        self._venue = venue
        self.booked: dict[str, str] = {}
        """Key of each confirmation and ruling that was answered with 200, with its action."""
        self.retried = 0

    async def run(self) -> None:
        """Go on for ever."""
        for number in itertools.count():
            state = await self._venue.until(
                lambda s: s["phase"] in ("start", "ruled", "flowers", "indicator", "play", "claim", "verdict")
            )
            match state["phase"]:
                case "start" | "ruled":
                    await self.tap("start", {})
                case "flowers":
                    await self.tap("flowers", {})
                case "indicator":
                    await self.tap("indicator", {"tile": "1p"})
                case "play" if number % 2:
                    await self.tap("ruling", {"kind": "draw", "reason": "wall_exhausted"})
                case "play":
                    await self.tap("claim", {"place": 1, "how": "discard", "from": 2})
                case "claim":
                    await self.tap("hand", {"line": WINNING})
                case "verdict":
                    await self.tap("confirm", {})

    async def tap(self, action: str, body: dict[str, Any]) -> int:
        """Ask until it is answered; give the status."""
        key = uuid.uuid4().hex
        while True:
            try:
                answer = await self._venue.post(action, body, key)
            except httpx.HTTPError:
                self.retried += 1
                await asyncio.sleep(0.02)
                continue
            if answer.status_code == 503:
                self.retried += 1
                await asyncio.sleep(0.05)
                continue
            if answer.status_code == 200 and action in ("confirm", "ruling"):
                self.booked[f"{action}:{key}"] = action
            assert answer.status_code in (200, 409, 422), answer.text
            return answer.status_code
