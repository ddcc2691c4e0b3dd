"""FastAPI behind uvicorn with one worker; each request commits its event."""

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request, Response

from benchmarks.link.events import unpack
from benchmarks.link.store import Store

__all__ = ["serve"]


def serve(folder: Path, say: Callable[..., None]) -> None:
    """Serve until SIGTERM; `say` gets the address."""
    store, app = Store(folder / "events.db"), FastAPI()

    @app.post("/events")
    async def event(request: Request) -> Response:
        entry = unpack(await request.body())
        return Response(str(store.add([entry])[entry.log_id]))

    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else 40 ms for each answer in two writes
    say(address=f"127.0.0.1:{listener.getsockname()[1]}", pids=[])
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=0)
    uvicorn.Server(config).run(sockets=[listener])
