"""A central station or a table as a process of its own, to be killed: ``nodes.py central|table JSON``."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from station.link.central_thread import CentralThread
from station.link.keys import AllowList, load_pair, load_public
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread


def say(**words: Any) -> None:
    """Write one line that survives a kill: it is in the kernel when `write` returns."""
    os.write(1, (json.dumps(words) + "\n").encode())


def stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    return stop


async def central(folder: Path, endpoint: str, crash: float, seed: int) -> None:
    """Serve; with probability `crash` die between commit and acknowledgement."""
    rng = random.Random(seed)

    def after_commit() -> None:
        if rng.random() < crash:
            os.kill(os.getpid(), signal.SIGKILL)

    thread = CentralThread(
        folder / "central.log",
        endpoint,
        load_pair(folder / "keys" / "central.key"),
        AllowList(folder / "tables.toml"),
        after_commit=after_commit,
    )
    stop = stop_signal()
    say(ready=True, link=await thread.start())
    await stop.wait()
    await thread.stop()


async def table(folder: Path, endpoint: str, table_id: str, write: bool) -> None:
    """Append numbered events as fast as they are committed, and say each number after its commit."""
    keys = folder / "keys"
    server_key, pair = load_public(keys / "central.pub"), load_pair(keys / f"{table_id}.key")
    link = LinkSettings(table_id, endpoint, server_key, pair)
    drained = asyncio.Event()
    thread = LinkThread(
        folder / f"{table_id}.log",
        link,
        on_status=lambda s: drained.set() if s.unsent == 0 else drained.clear(),
    )
    stop = stop_signal()
    head = await thread.start()
    say(ready=True, head=head.seq)
    number = head.seq
    while write and not stop.is_set():
        bodies = [("e", b"%d" % (number + i + 1)) for i in range(random.randrange(1, 4))]
        for entry in await thread.append(bodies, int(1000 * time.time())):
            number = entry.seq
            say(seq=entry.seq, body=entry.body.decode())
        await asyncio.sleep(0.005)
    if not write:
        await drained.wait()
        say(drained=True)
        await stop.wait()
    await thread.stop()


if __name__ == "__main__":
    arguments = json.loads(sys.argv[2])
    arguments["folder"] = Path(arguments["folder"])
    asyncio.run({"central": central, "table": table}[sys.argv[1]](**arguments))
