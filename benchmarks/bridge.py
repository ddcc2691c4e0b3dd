"""The serial link beside Modbus RTU and a bare line protocol, over one and the same pseudo-terminal.

    python -m benchmarks.bridge [--requests 1500] [--seed 1]

Client and device are processes of their own; between them a third one carries every chunk on, counts it
and, in the second half, damages one in a hundred: a bit flipped, a byte lost, or all of it. Contestants take
turns on the same two pseudo-terminals. Each request asks for one act with a number in it, and the device
writes down what it was made to do, so that acts that were done twice, done otherwise than asked, or done
although the client was told that they failed, can be counted. Prints one JSON object. Times in milliseconds,
CPU in seconds per 1,000 requests, wire in bytes per request, both ways.

ours, request    QUERY and its answer over `HostLink`: what the link alone costs
ours, command    `Bridge.execute`: ledger on the disk, CMD, CMD_ACK, CMD_DONE, STATUS, EVENT_ACK
ours, in memory  the same with the ledger in memory: what the disk costs
modbus           pymodbus, RTU, write_register, with its default of three retries
modbus, once     the same with retries=0
lines            pyserial, `SET n` and `OK n`, up to three retries, no checksum
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import resource
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tty
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Self

TIMEOUT: Final = 0.25
"""Seconds all contestants begin with before they repeat or give up."""

TRIES: Final = 4
BAUD: Final = 115_200
DAMAGED: Final = 0.01
PLACES: Final = 4

Said = dict[int, str]
"""What the client was told of each number: `done` or `failed`."""


def until_stopped(work: Callable[[], Any], report: Callable[[], dict[str, Any]]) -> None:
    """Say ready and work until SIGTERM, which reports one line of JSON and ends the process."""

    def stop(*_: object) -> None:
        # At once, since an event loop swallows what a handler raises in the middle of a callback.
        print(json.dumps(report()), flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    print("ready", flush=True)
    work()


# -- the line ------------------------------------------------------------------------------------------


def spoil(chunk: bytes, rng: random.Random) -> bytes:
    """A chunk after an accident on the line."""
    kind, at = rng.randrange(3), rng.randrange(len(chunk))
    if kind == 0:
        return chunk[:at] + bytes([chunk[at] ^ 1 << rng.randrange(8)]) + chunk[at + 1 :]
    return chunk[:at] + chunk[at + 1 :] if kind == 1 else b""


def carry(ends: tuple[int, int], rate: float, seed: int) -> None:
    """Carry chunks between two descriptors."""
    rng = random.Random(seed)
    counts = {"chunks": 0, "bytes": 0, "damaged": 0}

    def work() -> None:
        while True:
            for end in select.select(ends, [], [])[0]:
                chunk = os.read(end, 4096)
                counts["chunks"] += 1
                counts["bytes"] += len(chunk)
                if rng.random() < rate:
                    counts["damaged"] += 1
                    chunk = spoil(chunk, rng)
                os.write(ends[1 - ends.index(end)], chunk)

    until_stopped(work, lambda: counts)


# -- devices -------------------------------------------------------------------------------------------

Acts = list[tuple[int, int]]
"""What a device did: (key, value). Equal keys are the same wish, executed again."""


def serve_ours(path: str, acts: Acts) -> None:
    """The device of the simulated machine; an act is a lamp."""
    from firmware_bridge import profiles
    from firmware_bridge.ops import Op
    from firmware_bridge.sim.device import Device
    from firmware_bridge.sim.plant import FRESH, Plant
    from firmware_bridge.transport import open_serial

    profile = profiles.load("136")
    plant = Plant(profile, random.Random(1), 1.0, FRESH["loaded"](profile))
    device = Device(plant, uid=1, boot_id=1, now=time.monotonic())
    execute = device._execute

    def watched(cmd_id: int, op: Op, args: Any) -> None:
        if op is Op.LAMP:
            acts.append((cmd_id, args["place"] + PLACES * args["pattern"]))
        execute(cmd_id, op, args)

    device._execute = watched  # type: ignore[method-assign]
    line = open_serial(path)
    fd = line.fileno()
    while True:
        ready, _, _ = select.select([fd], [], [], 0.1)
        now = time.monotonic()
        if ready:
            device.feed(os.read(fd, 4096), now)
        device.tick(now)
        for frame in device.take():
            os.write(fd, frame)


def serve_modbus(path: str, acts: Acts) -> None:
    """pymodbus's own server; an act is a register written."""
    from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext
    from pymodbus.server import StartSerialServer

    def trace(sending: bool, pdu: Any) -> Any:
        if not sending and type(pdu).__name__ == "WriteSingleRegisterRequest":
            value = pdu.registers[0]
            acts.append((value, value))
        return pdu

    store = ModbusDeviceContext(hr=ModbusSequentialDataBlock(1, [0] * 10))
    context = ModbusServerContext(devices=store, single=True)
    StartSerialServer(context, port=path, baudrate=BAUD, trace_pdu=trace)


def serve_lines(path: str, acts: Acts) -> None:
    """A sketch as in countless tutorials."""
    import serial

    with serial.Serial(path, BAUD) as line:
        while True:
            words = line.readline().split()
            if len(words) == 2 and words[0] == b"SET" and words[1].isdigit():
                acts.append((int(words[1]), int(words[1])))
                line.write(b"OK %s\n" % words[1])


def serve(kind: str, path: str) -> None:
    """Be a device until SIGTERM, then tell what was done."""
    acts: Acts = []
    server = {"ours": serve_ours, "modbus": serve_modbus, "lines": serve_lines}[kind]
    cpu = time.process_time()
    until_stopped(
        lambda: server(path, acts), lambda: {"acts": acts, "cpu": round(time.process_time() - cpu, 4)}
    )


# -- clients: each answers what it was told, and how long each request took, in seconds -------------------


def ask_link(path: str, count: int) -> tuple[Said, list[float]]:
    """One request with one answer."""
    return asyncio.run(_ask_link(path, count))


async def _ask_link(path: str, count: int) -> tuple[Said, list[float]]:
    from firmware_bridge import messages as m
    from firmware_bridge.link import Answered, HostLink, Phase, Unanswered
    from firmware_bridge.transport import Transport, open_port

    link = HostLink(lambda: random.getrandbits(32))
    changed = asyncio.Event()
    said: Said = {}

    def received(data: bytes) -> None:
        link.feed(data, time.monotonic())
        changed.set()

    transport = Transport(await open_port(path), received, lambda _: None)
    link.open(time.monotonic())

    async def turn() -> None:
        link.poll(time.monotonic())
        transport.write(link.take())
        for event in link.events():
            if isinstance(event, Answered | Unanswered) and isinstance(event.request, m.Query):
                said[event.request.cmd_id] = "done" if isinstance(event, Answered) else "failed"
                return
        delay = max(0.0, (link.deadline() or 0.0) - time.monotonic())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await changed.wait()
        changed.clear()

    times = []
    for number in range(1, count + 1):
        while link.phase is not Phase.UP:
            await turn()
        begin = time.perf_counter()
        link.request(m.Query(number))
        while number not in said:
            await turn()
        times.append(time.perf_counter() - begin)
    transport.close()
    return said, times


def ask_bridge(path: str, count: int) -> tuple[Said, list[float]]:
    """Commands as a table sends them, each written down before it leaves."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_ask_bridge(path, count, f"{folder}/commands.db"))


def ask_bridge_in_memory(path: str, count: int) -> tuple[Said, list[float]]:
    """The same, written down nowhere."""
    return asyncio.run(_ask_bridge(path, count, ":memory:"))


async def _ask_bridge(path: str, count: int, ledger: str) -> tuple[Said, list[float]]:
    from firmware_bridge.bridge import Bridge
    from firmware_bridge.machine import Status

    said: Said = {}
    times = []
    async with Bridge(path, ledger) as bridge:
        number = 0
        while number < count:
            await bridge.wait_ready()
            begin = time.perf_counter()
            next_id = bridge._core.desk._last_id + 1
            outcome = await bridge.execute("LAMP", place=next_id % PLACES, pattern=next_id // PLACES % 64)
            if outcome.cmd_id:
                times.append(time.perf_counter() - begin)
                told = {Status.DONE: "done", Status.REJECTED: "failed"}
                said[outcome.cmd_id] = told.get(outcome.status, "unknown")
                number += 1
    return said, times


def ask_modbus(path: str, count: int, retries: int = TRIES - 1) -> tuple[Said, list[float]]:
    """pymodbus's own client."""
    import logging

    from pymodbus import FramerType
    from pymodbus.client import ModbusSerialClient
    from pymodbus.exceptions import ModbusException

    logging.getLogger("pymodbus").setLevel(logging.CRITICAL)
    client = ModbusSerialClient(path, framer=FramerType.RTU, baudrate=BAUD, timeout=TIMEOUT, retries=retries)
    said: Said = {}
    times = []
    for number in range(1, count + 1):
        if not client.connected:
            client.connect()
        begin = time.perf_counter()
        try:
            failed = client.write_register(0, number).isError()
        except ModbusException:
            failed = True
        times.append(time.perf_counter() - begin)
        said[number] = "failed" if failed else "done"
    client.close()
    return said, times


def ask_modbus_once(path: str, count: int) -> tuple[Said, list[float]]:
    """The same without retries."""
    return ask_modbus(path, count, retries=0)


def ask_lines(path: str, count: int) -> tuple[Said, list[float]]:
    """The other half of the tutorial."""
    import serial

    said: Said = {}
    times = []
    with serial.Serial(path, BAUD, timeout=TIMEOUT) as line:
        for number in range(100_003, 100_003 + 613 * count, 613):  # so far apart that a damaged one shows
            begin = time.perf_counter()
            said[number] = "failed"
            for _ in range(TRIES):
                line.reset_input_buffer()
                line.write(b"SET %d\n" % number)
                if line.readline() == b"OK %d\n" % number:
                    said[number] = "done"
                    break
            times.append(time.perf_counter() - begin)
    return said, times


CONTESTANTS: Final[dict[str, tuple[str, Callable[[str, int], tuple[Said, list[float]]]]]] = {
    "ours, request": ("ours", ask_link),
    "ours, command": ("ours", ask_bridge),
    "ours, in memory": ("ours", ask_bridge_in_memory),
    "modbus": ("modbus", ask_modbus),
    "modbus, once": ("modbus", ask_modbus_once),
    "lines": ("lines", ask_lines),
}


# -- the run --------------------------------------------------------------------------------------------


class Terminals:
    """Two pseudo-terminals that outlive all contestants: the client's and the device's."""

    def __init__(self) -> None:
        self.pairs = [os.openpty(), os.openpty()]
        for _, slave in self.pairs:
            tty.setraw(slave)
        self.masters = tuple(master for master, _ in self.pairs)
        self.client, self.device = (os.ttyname(slave) for _, slave in self.pairs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        for pair in self.pairs:
            for fd in pair:
                os.close(fd)

    def empty(self) -> None:
        """Drop what the last contestant left."""
        import termios

        for pair in self.pairs:
            for fd in pair:
                termios.tcflush(fd, termios.TCIOFLUSH)


@contextmanager
def process(*words: str, fds: tuple[int, ...] = ()) -> Iterator[dict[str, Any]]:
    """Another role of this file as a process; its report is in the dictionary afterwards."""
    report: dict[str, Any] = {}
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.bridge", *words], stdout=subprocess.PIPE, text=True, pass_fds=fds
    ) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.5)  # a server opens its port after it is ready
            yield report
        finally:
            child.terminate()
            report.update(json.loads(child.stdout.read() or "{}"))


def measure(name: str, terminals: Terminals, count: int, rate: float, seed: int) -> dict[str, Any]:
    """One contestant on one line."""
    print(f"{name}, {rate:.0%} damaged", file=sys.stderr, flush=True)
    kind, ask = CONTESTANTS[name]
    terminals.empty()
    fds = [str(fd) for fd in terminals.masters]
    with (
        process("--carry", *fds, "--rate", str(rate), "--seed", str(seed), fds=terminals.masters) as line,
        process("--serve", kind, terminals.device) as device,
    ):
        before, begin = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        said, times = ask(terminals.client, count)
        seconds = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ordered = sorted(1000 * t for t in times)
    return {
        "p50": round(statistics.median(ordered), 2),
        "p99": round(ordered[len(ordered) * 99 // 100], 2),
        "per_second": round(count / seconds),
        "wire_bytes": round(line["bytes"] / count, 1),
        "wire_ms_at_115200": round(line["bytes"] / count * 10_000 / BAUD, 2),
        "client_cpu": round(1000 * cpu / count, 3),
        "device_cpu": round(1000 * device["cpu"] / count, 3),
        "damaged": line["damaged"],
        **({} if name == "ours, request" else judge(kind, said, device["acts"])),
    }


def judge(kind: str, said: Said, acts: Acts) -> dict[str, int]:
    """Hold what was told against what was done."""
    done = Counter(key for key, _ in acts)
    asked = {key: key % (64 * PLACES) if kind == "ours" else key for key in said}
    return {
        "executed_twice": sum(done[key] > 1 for key in said),
        "executed_wrongly": sum(asked.get(key) != value for key, value in acts),
        "said_done_but_was_not": sum(told == "done" and not done[key] for key, told in said.items()),
        "said_failed_but_was_done": sum(told == "failed" and done[key] > 0 for key, told in said.items()),
        "said_failed": sum(told == "failed" for told in said.values()),
        "said_unknown": sum(told == "unknown" for told in said.values()),
    }


def main() -> None:
    """Measure and print, or play one of the roles."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--carry", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.carry:
        carry(tuple(arguments.carry), arguments.rate, arguments.seed)
    if arguments.serve:
        serve(*arguments.serve)
    load = os.getloadavg()[0]
    with Terminals() as terminals:
        figures = {
            f"{label} % damaged": {
                name: measure(name, terminals, arguments.requests, rate, arguments.seed)
                for name in CONTESTANTS
            }
            for label, rate in ((0, 0.0), (1, DAMAGED))
        }
    print(
        json.dumps(
            {
                "requests": arguments.requests,
                "load_before": round(load, 2),
                "load_after": round(os.getloadavg()[0], 2),
                **figures,
            }
        )
    )


if __name__ == "__main__":
    main()
