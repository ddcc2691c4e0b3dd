"""One way to serve HTTP for both processes: bound before anything else starts, stopped within a second."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import resource
import socket
from collections.abc import Iterable, Iterator
from typing import Any, Self

import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from station.errors import ConfigError, StationError
from station.guard import MALFORMED
from station.guarding import Guard, Traffic, names_of

MAX_PORT = 65535
BACKLOG = 64
"""Connections that may wait to be accepted. When files run out, each of them is one failed try a second."""
MANY_FILES = 65_536
HEAD_S = 10.0
"""Within this time the head of a request has to have come in, seconds."""

log = structlog.get_logger()


def allow_many_files() -> None:
    """Let this process open as many files as the system lets it: every open page is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MANY_FILES if hard == resource.RLIM_INFINITY else min(hard, MANY_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _told_once(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell that no connection can be accepted in one line, not in a traceback for each try."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        if loop.time() - _told[0] > TOLD_AGAIN_S:
            _told[0] = loop.time()
            log.warning("too many connections; new ones have to wait", reason=error.strerror)
        return
    loop.default_exception_handler(context)


TOLD_AGAIN_S = 60.0
_told = [float("-inf")]


class PortBusy(StationError):
    """The HTTP port can't be bound."""

    code = "http.port_busy"


class _Quiet(logging.Filter):
    """Drops the reports of requests that were cut because the server stops: nothing went wrong.

    And of what is no request: that is counted, and told once a minute (`Traffic.refuse`).
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether the record is kept."""
        error = record.exc_info[1] if record.exc_info else None
        said = record.getMessage()
        expected = "graceful" in said or said.startswith("Invalid HTTP request")
        return not isinstance(error, asyncio.CancelledError) and not expected


_QUIET = _Quiet()


class _Uvicorn(uvicorn.Server):
    """A server whose signals belong to the process, not to it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signal handlers alone."""
        yield


class _Protocol(H11Protocol):
    """Ends a connection on which the head of a request does not come in time; counts what is no request."""

    traffic: Traffic
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late = self.loop.call_later(HEAD_S, transport.close)

    def data_received(self, data: bytes) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_S, self.transport.close)
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._in_time()

    def send_400_response(self, msg: str) -> None:
        self.traffic.refuse(MALFORMED, {"client": self.client})
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        self._in_time()
        super().connection_lost(exc)

    def _in_time(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class HttpServer:
    """An HTTP server on a socket that is bound already."""

    def __init__(self, app: Guard, listener: socket.socket) -> None:
        counted: dict[str, Any] = {"traffic": app.traffic}
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http=type("Protocol", (_Protocol,), counted),
            lifespan="off",
            log_config=None,
            access_log=False,
            ws="none",
            backlog=BACKLOG,
            timeout_graceful_shutdown=1,
        )
        logging.getLogger("uvicorn.error").addFilter(_QUIET)
        self._server = _Uvicorn(config)
        self._listener = listener

    @classmethod
    def bind(
        cls,
        app: ASGIApp,
        host: str,
        port: int,
        *,
        setting: str = "http_port",
        names: Iterable[str] = (),
        traffic: Traffic | None = None,
    ) -> Self:
        """Bind to an address and put the guard before the application.

        Args:
            app: the application.
            host: address.
            port: 0 takes a free one.
            setting: what a person has set the port by.
            names: by which the pages may be asked for besides the address (`http_names`).
            traffic: where requests are counted.

        Raises:
            ConfigError: that is no address or port. PortBusy: the port is taken or not allowed.
        """
        if not host:  # the socket layer would take it for "every address of this computer"
            raise ConfigError("http_host is empty.", fix='Use "127.0.0.1", or "0.0.0.0" for every address.')
        if not 0 <= port <= MAX_PORT:
            raise ConfigError(f"There is no port {port}.", fix=f"Set {setting} from 0 to {MAX_PORT}.")
        listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Inherited by what is accepted. Without it an answer written in two pieces waits 40 ms for the late
        # acknowledgement of the first; asyncio sets it only on sockets that name their protocol.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            listener.bind((host, port))
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            raise PortBusy(
                f"The address {host}:{port} can't be used: {error.strerror}.",
                fix=f"Does it run already? Else set another {setting}, or 0.",
            ) from None
        listener.setblocking(False)
        return cls(Guard(app, names_of(host, names), traffic), listener)

    @property
    def address(self) -> str:
        """The address to open, ``http://HOST:PORT/``."""
        host, port = self._listener.getsockname()[:2]
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    async def serve(self) -> None:
        """Serve until `stop`."""
        allow_many_files()
        asyncio.get_running_loop().set_exception_handler(_told_once)
        await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        """End `serve` within a second."""
        self._server.should_exit = True

    def close(self) -> None:
        """Let the port go, also where `serve` was never called; nothing happens the second time."""
        self._listener.close()
