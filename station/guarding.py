"""The middleware around every web application: the guard, limits, headers of safety, and counts."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from station.guard import READING, TOO_LARGE, TOO_SLOW, Asked, Names, Refusal, judge

__all__ = ["MAX_BODY", "SAFETY_HEADERS", "Guard", "Traffic", "names_of"]

MAX_BODY: Final = 64 * 1024
"""Longest body of a request, bytes."""
BODY_S: Final = 10.0
"""Within this time a body has to have come in, seconds."""
SHOWN_S: Final = 600.0
"""For how long after the last refusal the screens show that there were some, seconds."""
_TOLD_AGAIN_S: Final = 60.0

SAFETY_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "frame-ancestors 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer that has none of its own: no inline script or style, nothing from elsewhere, shown
in nobody's frame, taken in by nobody's page."""

log = structlog.get_logger()


class Traffic:
    """What an application was asked, in numbers. Belongs to one asyncio loop.

    Args:
        clock: monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.answers: Counter[str] = Counter()
        """Answers by class of status: ``2xx``."""
        self.refused: Counter[str] = Counter()
        """Refusals of the guard by code."""
        self.streams = 0
        """Streams of events that are open now."""
        self.on_refused: Callable[[], None] | None = None
        """Called when a refusal is logged."""
        self._clock = clock
        self._refused_at: float | None = None
        self._told_at: float | None = None
        self._untold = 0

    def alarm(self) -> int | None:
        """How many requests the guard refused since the start, while the last was not long ago; else None."""
        at = self._refused_at
        return None if at is None or self._clock() - at > SHOWN_S else self.refused.total()

    def refuse(self, refusal: Refusal, scope: Mapping[str, Any]) -> None:
        """Count a refusal, and log it unless one was logged within the last minute."""
        self.refused[refusal.code] += 1
        self._untold += 1
        now = self._refused_at = self._clock()
        if self._told_at is None or now - self._told_at >= _TOLD_AGAIN_S:
            log.warning(
                "request refused",
                reason=refusal.code,
                method=scope.get("method"),
                path=str(scope.get("path", ""))[:100],
                client=_address(scope.get("client")),
                refused=self._untold,
            )
            self._told_at, self._untold = now, 0
            if self.on_refused is not None:
                self.on_refused()


def names_of(bound: str, more: Iterable[str] = ()) -> Names:
    """The names of an application that listens at `bound`, with what this computer is called."""
    machine = socket.gethostname()
    return Names(bound, tuple(dict.fromkeys((machine, machine.partition(".")[0]))), tuple(more))


class Guard:
    """Wraps an application: nothing reaches it that `station.guard.judge` refuses or that is too long.

    Args:
        app: the application.
        names: by which it may be asked for.
        traffic: where to count.
        max_body: longest body, bytes.
    """

    def __init__(
        self, app: ASGIApp, names: Names, traffic: Traffic | None = None, *, max_body: int = MAX_BODY
    ) -> None:
        self._app = app
        self._names = names
        self._max_body = max_body
        self.traffic = traffic or Traffic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge a request; answer it ourselves or hand it on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        out = _Answer(send, self.traffic)
        refusal = judge(_asked(scope), self._names)
        try:
            if refusal is None and scope["method"] not in READING:
                body = await self._body(scope, receive)
                if isinstance(body, Refusal):
                    refusal = body
                elif body is None:
                    return  # gone before it was sent to its end: there is nobody to answer
                else:
                    receive = _replayed(body, receive)
            if refusal is None:
                await self._app(scope, receive, out.send)
            else:
                self.traffic.refuse(refusal, scope)
                await _refuse(refusal, out.send)
        finally:
            out.ended()

    async def _body(self, scope: Scope, receive: Receive) -> bytes | Refusal | None:
        """Take the whole body in; None when whoever sent it has gone."""
        said = dict(scope["headers"]).get(b"content-length", b"0")
        if not said.isdigit() or int(said) > self._max_body:
            return TOO_LARGE
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_S):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return None
                    body += message.get("body", b"")
                    if len(body) > self._max_body:
                        return TOO_LARGE
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            return TOO_SLOW


class _Answer:
    """The way back: safety headers are added, status and streams counted."""

    def __init__(self, send: Send, traffic: Traffic) -> None:
        self._send = send
        self._traffic = traffic
        self._streaming = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message["headers"] = list(message.get("headers", ()))
            there = {name.lower() for name, _ in headers}
            headers += [
                (name.lower().encode(), value.encode())
                for name, value in SAFETY_HEADERS.items()
                if name.lower().encode() not in there
            ]
            self._traffic.answers[f"{message['status'] // 100}xx"] += 1
            kind = dict(headers).get(b"content-type", b"")
            if kind.startswith(b"text/event-stream"):
                self._streaming = True
                self._traffic.streams += 1
        await self._send(message)

    def ended(self) -> None:
        if self._streaming:
            self._streaming = False
            self._traffic.streams -= 1


def _asked(scope: Scope) -> Asked:
    headers = tuple(
        (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]
    )
    return Asked(
        scope["method"],
        headers,
        scope.get("scheme", "http"),
        _address(scope.get("server")),
        _address(scope.get("client")),
    )


def _address(pair: Any) -> str:
    return str(pair[0]) if pair else ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give a body that was taken in already once more, then what comes after it."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


async def _refuse(refusal: Refusal, send: Send) -> None:
    """Answer in one line; the connection is closed, since what was not read of the body may still come."""
    error = {"code": refusal.code, "message": refusal.sentence, "fix": ""}
    body = msgspec.json.encode({"error": error}) + b"\n"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
