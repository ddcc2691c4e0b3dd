"""The central side of a contestant as a process: ``python -m benchmarks.link.servers NAME FOLDER``.

Prints one line of JSON when it is ready, and stops at SIGTERM.
"""

from __future__ import annotations

import asyncio
import json
import queue
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.link.events import unpack
from benchmarks.link.store import Store

__all__: list[str] = []


def say(**words: object) -> None:
    """Print one line of JSON."""
    print(json.dumps(words), flush=True)


async def thread_alone(folder: Path) -> None:
    """Our link's thread and nothing else; no limit for each table, to see what it can take."""
    from station.link.central_thread import CentralThread
    from station.link.keys import AllowList, load_pair
    from station.link.replicate import Limits
    from station.serving import allow_many_files

    allow_many_files()
    keys = load_pair(folder / "central.key")
    thread = CentralThread(
        folder / "central.db",
        "tcp://127.0.0.1:0",
        keys,
        AllowList(folder / "tables.toml"),
        limits=Limits(events_per_s=1e6, burst=1e6, bytes_per_s=1e9, byte_burst=1e9, round_quota=10_000),
    )
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    say(address=f"{await thread.start()} {keys.public}", pids=[])
    await stop.wait()
    await thread.stop()


async def whole_process(folder: Path) -> None:
    """The central station as it runs in a hall: link, log, fold and pages."""
    from station.central.config import CentralConfig
    from station.central.process import run_central
    from station.link.keys import load_public

    public = load_public(folder / "central.pub")
    config = CentralConfig(
        home=str(folder / "home"),
        allow_list=str(folder / "tables.toml"),
        secret_key=str(folder / "central.key"),
    )
    await run_central(config, lambda ready: say(address=f"{ready['link']} {public}", pids=[]))


_BROKER = """
listener {port} 127.0.0.1
allow_anonymous true
persistence false
set_tcp_nodelay true
max_inflight_messages 0
max_queued_messages 0
log_dest none
"""


def mqtt(folder: Path) -> None:
    """A broker, and a consumer that commits what has come in as one batch and acknowledges it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "mosquitto.conf").write_text(_BROKER.format(port=port))
    broker = subprocess.Popen(["/usr/sbin/mosquitto", "-c", str(folder / "mosquitto.conf")])
    try:
        _consume(folder, port, broker.pid)
    finally:
        broker.terminate()
        broker.wait(5)


def _consume(folder: Path, port: int, broker_pid: int) -> None:
    import paho.mqtt.client as paho
    from paho.mqtt.enums import CallbackAPIVersion

    came: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    signal.signal(signal.SIGTERM, lambda *_: came.put(None))
    client = paho.Client(CallbackAPIVersion.VERSION2, client_id="consumer")
    client.on_message = lambda _client, _data, message: came.put(message.payload)
    client.on_socket_open = lambda _client, _data, opened: opened.setsockopt(
        socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
    )
    client.on_subscribe = lambda *_: say(address=f"127.0.0.1:{port}", pids=[broker_pid])
    client.on_connect = lambda *_: client.subscribe("ev/+", qos=1)
    for _ in range(100):
        try:
            client.connect("127.0.0.1", port, keepalive=600)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    client.loop_start()
    store = Store(folder / "events.db")
    batch: list[bytes | None] = []
    while None not in batch:
        batch = [came.get()]
        while not came.empty() and len(batch) < 1000:
            batch.append(came.get())
        stored = store.add(unpack(payload) for payload in batch if payload is not None)
        for log_id, seq in stored.items():
            client.publish(f"ack/{int.from_bytes(log_id, 'big')}", str(seq))
    client.disconnect()
    client.loop_stop()


if __name__ == "__main__":
    where = Path(sys.argv[2])
    match sys.argv[1]:
        case "ours":
            asyncio.run(thread_alone(where))
        case "station":
            asyncio.run(whole_process(where))
        case "http":
            from benchmarks.link.http_server import serve

            serve(where, say)
        case "mqtt":
            mqtt(where)
