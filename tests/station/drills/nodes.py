"""A central station or a table as a lean process of its own, to be killed: log and link, nothing else.

The functions are forked from a server that has imported this module and no more (`hall.Node`), so a start
costs some milliseconds and every process is a real one. What a process says is one line of JSON a time,
written to a file: it is in the kernel when `write` returns, so a kill does not take it back.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq

from station.evidence.central_thread import EvidenceTaker
from station.evidence.policy import Rules
from station.evidence.shelf import Shelf
from station.link.central_thread import CentralThread
from station.link.connection import LinkStatus
from station.link.keys import AllowList, load_pair, load_public
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from tests.station.drills.cameras import camera

SEEN_S = 6.0
"""Seconds of silence until the pages call a table offline (`station.central.view.ONLINE_S`)."""
_CLONE_NEWNET = 0x40000000


def run(kind: str, words: str, netns: str | None, arguments: dict[str, Any]) -> None:
    """Run a node until SIGTERM; `netns`: the network namespace it lives in."""
    out = os.open(words, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if netns is not None:
        _enter(netns)

    def say(**line: Any) -> None:
        os.write(out, (json.dumps(line) + "\n").encode())

    async def main() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await {"central": central, "table": table, "camera": camera}[kind](say, stop, **arguments)

    asyncio.run(main())


def _enter(netns: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(f"/run/netns/{netns}", os.O_RDONLY | os.O_CLOEXEC)
    if libc.setns(fd, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"setns {netns}")
    os.close(fd)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(fault: list[Any] | None, log: Path) -> None:
    """Prepare a death of this process.

    ``["frame", "ACK", "before", 3]``: at the third message of that kind, before or after it is sent.
    ``["write", 700]``: when a file is about to grow so many bytes beyond the write-ahead log's present size,
    so in the middle of a commit, which leaves half a frame. The kernel kills then (SIGXFSZ).
    """
    match fault:
        case ["frame", name, when, nth]:
            _at_frame(name.encode(), before=when == "before", nth=nth)
        case ["write", beyond]:
            wal = log.with_name(log.name + "-wal")
            size = wal.stat().st_size if wal.exists() else 0
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
            resource.setrlimit(resource.RLIMIT_FSIZE, (max(size, log.stat().st_size) + beyond,) * 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _at_frame(name: bytes, *, before: bool, nth: int) -> None:
    send, left = zmq.Socket.send_multipart, [nth]

    def counted(self: Any, parts: Any, *args: Any, **options: Any) -> Any:
        due = name in parts[:2]  # a ROUTER's first part is the peer
        left[0] -= due
        if due and left[0] == 0 and before:
            _die()
        sent = send(self, parts, *args, **options)
        if due and left[0] == 0:
            time.sleep(0.005)  # let the message leave: sockets of a killed process are not flushed
            _die()
        return sent

    zmq.Socket.send_multipart = counted  # type: ignore[method-assign]


async def central(
    say: Callable[..., None],
    stop: asyncio.Event,
    folder: str,
    endpoint: str,
    log: str = "central.log",
    keys: str = "central",
    crash: float = 0.0,
    seed: int = 0,
    fault: list[Any] | None = None,
    presence: bool = False,
    command: list[str] | None = None,
    evidence: str | None = None,
) -> None:
    """Serve; with probability `crash` die between commit and acknowledgement.

    `presence`: say who is seen. `command`: tables that are given numbered commands, each said once it is
    stored. `evidence`: where to take photos.
    """
    home, rng = Path(folder), random.Random(seed)
    pair, enrolled = load_pair(home / "keys" / f"{keys}.key"), AllowList(home / "tables.toml")
    thread = CentralThread(
        home / log,
        endpoint,
        pair,
        enrolled,
        on_trouble=lambda error: say(trouble=None if error is None else error.code, at=time.monotonic()),
        after_commit=lambda: _die() if rng.random() < crash else None,
    )
    link = await thread.start()
    taker = None
    if evidence is not None:
        shelf = Shelf(home / "evidence", 0)
        rules = Rules(reserve=0)
        taker = EvidenceTaker(home / log, shelf, evidence, pair, enrolled, rules, on_due=lambda _: None)
        await taker.start()
    arm(fault, home / log)
    say(ready=True, link=link)
    seen: list[str] = []
    given = 0
    while (presence or command) and not stop.is_set():
        if command:
            name, given = command[given % len(command)], given + 1
            entry = await thread.command(name, "c", b"{}")
            say(to=name, command=entry.seq)
        now = sorted(table for table, silent in thread.silence_s().items() if silent < SEEN_S)
        if presence and now != seen:
            seen = now
            say(online=seen, at=time.monotonic())
        await asyncio.sleep(0.05)
    await stop.wait()
    if taker is not None:
        await taker.stop()
    await thread.stop()


async def table(
    say: Callable[..., None],
    stop: asyncio.Event,
    folder: str,
    endpoint: str,
    table_id: str,
    write: bool,
    pause_s: float = 0.005,
    standby: str | None = None,
    log: str | None = None,
    fault: list[Any] | None = None,
) -> None:
    """Append numbered events, and say each number after its commit, and each change of the link.

    `standby`: address of a second station, whose keys have that name.
    """
    home = Path(folder)
    path = home / (log or f"{table_id}.log")
    keys = home / "keys"
    link = LinkSettings(
        table_id,
        endpoint,
        server_key=load_public(keys / "central.pub"),
        keys=load_pair(keys / f"{table_id}.key"),
        standby=None if standby is None else (standby, load_public(keys / "standby.pub")),
    )
    drained, told = asyncio.Event(), [""]

    def status(now: LinkStatus) -> None:
        reached = now.code in ("central.up", "central.standby")
        (drained.set if now.unsent == 0 and reached else drained.clear)()
        if now.code != told[0]:
            told[0] = now.code
            say(code=now.code, unsent=now.unsent, at=time.monotonic())

    thread = LinkThread(path, link, on_status=status, on_command=lambda entry: say(got=entry.seq))
    rng = random.Random(table_id)
    number = (await thread.start()).seq
    arm(fault, path)
    say(ready=True, head=number)
    thread.follow_commands({})
    while write and not stop.is_set():
        events = [("e", b"%d" % (number + i + 1)) for i in range(rng.randrange(1, 4))]
        for entry in await thread.append(events, int(1000 * time.time())):
            number = entry.seq
            say(seq=entry.seq, body=entry.body.decode())
        await asyncio.sleep(pause_s)
    await drained.wait()
    say(drained=True, at=time.monotonic())
    await stop.wait()
    await thread.stop()
