"""The training page over HTTP: one page, a stream of what changes, two kinds of taps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from firmware_bridge.errors import BridgeError
from station.training.desk import Desk, known, menu_rows
from station.web import pages
from station.web.training_view import menu, training
from station.web.words import Words

MAX_BODY: Final = 1024
LOOK_S: Final = 0.15
BEAT_S: Final = 5.0
STREAMS: Final = 16
"""Pages that may be open at once."""


def app(desk: Desk) -> Starlette:
    """The application for one desk."""
    surface = _Surface(desk)
    return Starlette(
        routes=[
            Route("/", surface.page),
            Route("/healthz", surface.healthz),
            Route("/api/state", surface.state),
            Route("/events", surface.events),
            Route("/fault", surface.fault, methods=["POST"]),
            Route("/do", surface.do, methods=["POST"]),
            pages.static_mount(),
        ],
    )


class _Surface:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._streams = 0

    async def page(self, request: Request) -> Response:
        words = Words.of(pages.language_of(request))
        values = {"now": training(self._desk.state(), words), "groups": menu(menu_rows(), words)}
        return pages.plain_page(request, "training", values)

    async def healthz(self, _: Request) -> Response:
        return JSONResponse({"ok": True})

    async def state(self, _: Request) -> Response:
        return JSONResponse(self._desk.state())

    async def events(self, request: Request) -> Response:
        if self._streams >= STREAMS:
            return _refused(503, "busy", "Too many pages are open; close some.")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        stream = self._stream(pages.language_of(request))
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _stream(self, lang: str) -> AsyncIterator[bytes]:
        """The changing part, now and after every change."""
        if self._streams >= STREAMS:
            return  # many that asked at the same moment: the page asks again
        self._streams += 1
        try:
            shown, quiet, words = "", 0.0, Words.of(lang)
            while True:
                html = pages.render_part("training_now", training(self._desk.state(), words), lang)
                if html != shown:
                    first = not shown
                    shown, quiet = html, 0.0
                    yield pages.sse(html, event="fragment", retry_ms=1000 if first else None)
                elif quiet >= BEAT_S:
                    quiet = 0.0
                    yield pages.BEAT
                await asyncio.sleep(LOOK_S)
                quiet += LOOK_S
        finally:
            self._streams -= 1

    async def fault(self, request: Request) -> Response:
        return await self._act(
            request, lambda body: self._desk.order(*known(body, "item", "value", "motion"))
        )

    async def do(self, request: Request) -> Response:
        return await self._act(request, lambda body: self._desk.ask(*known(body, "op")))

    async def _act(self, request: Request, act: Callable[[dict[str, Any]], None]) -> Response:
        try:
            act(await pages.json_object(request, MAX_BODY))
        except ValueError as error:
            return _refused(422, "bad_request", f"The request can't be read: {error}.")
        except ClientDisconnect:
            return _refused(400, "gone", "The request was not sent to its end.")
        except BridgeError as error:
            return _refused(422, "usage", str(error))
        return JSONResponse({"ok": True})


def _refused(status: int, code: str, message: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": message, "fix": ""}}, status_code=status)
