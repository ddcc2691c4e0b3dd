"""A simulated machine with its training page, in one process and one loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from typing import Any

from firmware_bridge.sim.process import ControlLine, SimOptions, Simulator
from station.serving import HttpServer
from station.training.app import app
from station.training.desk import Desk


async def run(options: SimOptions, port: int, say: Callable[[dict[str, Any]], None]) -> None:
    """Run until SIGTERM or SIGINT; `say` is called with the ready line, and with answers to the control line.

    Raises:
        StationError: the port can't be bound. BridgeError: the options can not be met.
    """
    simulator = Simulator(options)
    try:
        server = HttpServer.bind(app(Desk(simulator)), "127.0.0.1", port, setting="page")
        say({"ready": True, "pty": simulator.pty, "http": server.address, "pid": os.getpid()})
        await _serve(simulator, server, control=options.control, say=say)
    finally:
        simulator.close()


async def _serve(
    simulator: Simulator, server: HttpServer, *, control: bool, say: Callable[[dict[str, Any]], None]
) -> None:
    loop, stop, wake = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_reader(simulator.fileno(), wake.set)
    if control:
        orders = ControlLine(simulator)
        loop.add_reader(0, _obey, loop, orders, say)
    machine = asyncio.create_task(_turn(simulator, wake))
    pages = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({machine, pages, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        server.stop()
        await pages
        loop.remove_reader(simulator.fileno())
        if control:
            loop.remove_reader(0)
        if not machine.done():
            machine.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await machine


async def _turn(simulator: Simulator, wake: asyncio.Event) -> None:
    while True:
        simulator.turn()
        wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(simulator.timeout()):
                await wake.wait()


def _obey(
    loop: asyncio.AbstractEventLoop, orders: ControlLine, say: Callable[[dict[str, Any]], None]
) -> None:
    data = os.read(0, 4096)
    if not data:  # the other end closed it; the machine goes on
        loop.remove_reader(0)
    for answer in orders.feed(data):
        say(answer)
