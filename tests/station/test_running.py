"""Starting and stopping the parts of a process, whatever fails in between."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from firmware_bridge.errors import BridgeError
from station.central.config import CentralConfig
from station.central.process import run_central
from station.clock import steady
from station.errors import LinkError, LogError, StationError
from station.link.keys import generate, write_allow_list
from station.log import Log
from station.running import run_until, stop_in_the_end
from station.serving import HttpServer, PortBusy
from station.stopping import Stop
from station.table.config import TableConfig
from station.table.process import run as run_table


class Told:
    """A part that writes down that it was stopped, and may fail at it."""

    def __init__(self, name: str, stopped: list[str], error: StationError | None = None) -> None:
        self._name, self._stopped, self._error = name, stopped, error

    async def stop(self) -> None:
        """End it."""
        self._stopped.append(self._name)
        if self._error is not None:
            raise self._error


def test_parts_are_stopped_in_reverse_order_also_when_one_of_them_can_not_be() -> None:
    stopped: list[str] = []
    hangs = LinkError("The thread b did not end in 2 s.")

    async def work(error: Exception | None) -> None:
        async with AsyncExitStack() as stack:
            parts = Told("a", stopped), Told("b", stopped, hangs), Told("c", stopped)
            stop_in_the_end(stack, *parts)
            if error is not None:
                raise error

    with pytest.raises(LinkError, match="did not end"):
        asyncio.run(work(None))
    with pytest.raises(LogError, match="first"), structlog.testing.capture_logs() as lines:
        asyncio.run(work(LogError("What failed first.")))
    assert stopped == ["c", "b", "a"] * 2
    assert [line["event"] for line in lines] == ["not stopped"]


async def _nothing(*_: object) -> None:
    return None


def test_serving_ends_with_the_signal_and_with_a_work_that_ends_and_everything_else_with_it() -> None:
    cut: list[str] = []

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cut.append("work")

    async def fails() -> None:
        await asyncio.sleep(0)
        raise LogError("The disk is gone.")

    async def serve(*works: Callable[[], Coroutine[Any, Any, None]]) -> None:
        server = HttpServer.bind(_nothing, "127.0.0.1", 0)
        stop = Stop()
        stop.listen()
        if len(works) == 1:
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
        await run_until(stop, server, [work() for work in works], end_streams=lambda: cut.append("streams"))

    asyncio.run(serve(for_ever))
    with pytest.raises(LogError):
        asyncio.run(serve(for_ever, fails))
    assert cut == ["streams", "work"] * 2


def test_a_server_that_never_served_lets_its_port_go() -> None:
    server = HttpServer.bind(_nothing, "127.0.0.1", 0)
    port = int(server.address.rstrip("/").rpartition(":")[2])
    server.close()
    server.close()
    with socket.socket() as again:
        again.bind(("127.0.0.1", port))


@contextmanager
def taken() -> Iterator[int]:
    """A port of this computer that somebody else has."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def held() -> set[str]:
    """Threads, but those of the loops' pools, and open descriptors of sockets, wakers and databases."""
    found = {thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_")}
    for one in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that lists the folder
            found.add(f"{one.name} {one.readlink()}")
    return {one for one in found if " " not in one or "event" in one or "socket" in one or ".db" in one}


def no_more_than(before: set[str]) -> bool:
    """Whether no more is held than before, once threads that have said goodbye are gone."""
    until = steady() + 5.0
    while held() - before and steady() < until:
        threading.Event().wait(0.01)
    assert held() - before == set()
    return True


def refuse(_: dict[str, object]) -> None:
    raise LogError("Nobody wants to hear that it is ready.")


def nowhere(_: dict[str, object]) -> None:
    raise AssertionError("it is not ready")


@pytest.fixture
def central(tmp_path: Path) -> CentralConfig:
    generate(tmp_path / "keys", "central")
    write_allow_list(tmp_path / "tables.toml", {"T1": generate(tmp_path / "keys", "T1").public})
    return CentralConfig(
        home=str(tmp_path / "central"),
        allow_list=str(tmp_path / "tables.toml"),
        secret_key=str(tmp_path / "keys" / "central.key"),
        link="tcp://127.0.0.1:0",
        evidence="tcp://127.0.0.1:0",
        http_host="127.0.0.1",
        http_port=0,
        announce=False,
    )


@pytest.mark.parametrize("part", ["link", "evidence", "http_port", "ready"])
def test_a_station_of_which_a_part_can_not_start_leaves_nothing_behind(
    central: CentralConfig, part: str, tmp_path: Path
) -> None:
    def start(before: set[str] | None) -> None:
        with taken() as port:
            values: dict[str, dict[str, Any]] = {
                "link": {"link": f"tcp://127.0.0.1:{port}"},
                "evidence": {"evidence": f"tcp://127.0.0.1:{port}"},
                "http_port": {"http_port": port},
                "ready": {},
            }
            config = msgspec.structs.replace(central, **values[part])
            with pytest.raises(StationError):
                asyncio.run(run_central(config, refuse if part == "ready" else nowhere))
        assert before is None or no_more_than(before)

    start(None)  # what libraries keep for good is there from then on
    start(held())
    with Log.open(tmp_path / "central" / "central.db"):  # for writing: nobody holds it
        pass


BARE: dict[str, Any] = {"camera": "none", "driver": "none", "http_host": "127.0.0.1", "http_port": 0}
WHY = {"http_port": "can't be used", "machine": "no-port", "ready": "Nobody wants"}


@pytest.mark.parametrize("part", WHY)
def test_a_table_of_which_a_part_can_not_start_leaves_nothing_behind(part: str, tmp_path: Path) -> None:
    def start(before: set[str] | None) -> None:
        with taken() as port:
            values: dict[str, dict[str, Any]] = {
                "http_port": {"http_port": port},
                "machine": {"driver": "native", "serial": "no-port"},
                "ready": {},
            }
            config = TableConfig(home=str(tmp_path / "table"), **{**BARE, **values[part]})
            with pytest.raises((StationError, BridgeError), match=WHY[part]):
                asyncio.run(run_table(config, refuse if part == "ready" else nowhere))
        assert before is None or no_more_than(before)

    start(None)
    start(held())
    with Log.open(tmp_path / "table" / "table.db"):
        pass


def test_a_port_that_is_taken_is_the_reason_and_not_what_follows_from_it(central: CentralConfig) -> None:
    with taken() as port, pytest.raises(PortBusy):
        asyncio.run(run_central(msgspec.structs.replace(central, http_port=port), nowhere))
