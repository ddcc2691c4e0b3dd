"""The local HTTP surface of a table: what the touchscreen and the scripted referee use.

Thin: parses, asks the table, answers with a status. Sentences and decisions live elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from firmware_bridge.errors import BridgeError
from station.errors import LogError, StationError
from station.evidence.index import why_removed
from station.table.decide import Refused
from station.table.enrolling import enrolling_routes
from station.table.evidence import INDEX
from station.table.photos import PhotoStoreError
from station.table.runtime import ACTIONS, StaleRevision, Table
from station.table.teaching import teaching_routes
from station.web import pages
from station.web.photo import photo_response
from station.web.sheet_page import sheet_response

BEAT_S = 5.0
PAUSE_S = 0.05
"""Seconds until a sign of life, and between two messages: a machine reports several times a second."""
MAX_BODY = 64 * 1024
MAX_KEY = 128
_VIEWS: dict[str, pages.View] = {"referee": "referee", "players": "players"}


def routes(table: Table) -> list[BaseRoute]:
    """Return all routes of a table's HTTP surface."""
    surface = _Surface(table)
    return [
        Route("/", surface.page("players")),
        Route("/referee", surface.page("referee")),
        Route("/api/state", surface.state),
        Route("/api/{action}", surface.act, methods=["POST"]),
        Route("/events", surface.events),
        Route("/photo/{name}", surface.photo),
        Route("/sheet", surface.sheet),
        *teaching_routes(table),
        *enrolling_routes(table),
        pages.static_mount(),
    ]


class _Surface:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._one_sheet = asyncio.Lock()

    async def state(self, _: Request) -> Response:
        return JSONResponse(self._table.state())

    async def photo(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = self._table.photos.path(name)
        why = None if path else why_removed(Path(self._table.config.home) / INDEX, name)
        return photo_response(request, path, why)

    async def sheet(self, request: Request) -> Response:
        try:
            async with self._one_sheet:
                entries = await asyncio.to_thread(self._table.entries)
                return await asyncio.to_thread(sheet_response, request, entries, "table.db")
        except LogError as error:
            return _error(503, error.code, error.message, error.fix)

    def page(self, view: pages.View) -> Callable[[Request], Awaitable[Response]]:
        async def show(request: Request) -> Response:
            return pages.page_response(request, view, self._table.state())

        return show

    async def act(self, request: Request) -> Response:
        action = request.path_params["action"]
        if action not in ACTIONS:
            return _error(404, "no_action", f"There is no action {action!r}.")
        try:
            body = await pages.json_object(request, MAX_BODY)
            key, revision = _key(request), _revision(request)
        except ValueError as error:
            return _error(422, "bad_request", str(error))
        except ClientDisconnect:
            return _error(400, "gone", "The request was not sent to its end.")
        return await self._answer(action, body, key, revision)

    async def _answer(
        self, action: str, body: dict[str, Any], key: str | None, revision: int | None
    ) -> Response:
        try:
            rev = await self._table.act(action, body, key, revision)
        except StaleRevision as stale:
            return _error(409, "stale_revision", "The table has moved on.", "Look again.", rev=stale.current)
        except Refused as refused:
            return _error(422, refused.code, refused.message, refused.fix)
        except BridgeError as error:
            return _error(503, "machine.not_asked", str(error))
        except (LogError, PhotoStoreError) as error:
            return _error(503, error.code, error.message, error.fix)
        except StationError as error:
            return _error(422, error.code, error.message, error.fix)
        return JSONResponse({"ok": True, "rev": rev})

    async def events(self, request: Request) -> Response:
        wanted = request.query_params.get("view")
        lang = pages.language_of(request)
        if wanted is not None and wanted not in _VIEWS:
            return _error(422, "bad_view", f"There is no view {wanted!r}.")
        view = None if wanted is None else _VIEWS[wanted]
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self.stream(view, lang), media_type="text/event-stream", headers=headers)

    def stream(self, view: pages.View | None, lang: str) -> AsyncIterator[bytes]:
        """Yield the state, or a page's changing part, now and after every change."""
        return self._table.stream(
            lambda: self._message(view, lang), pages.BEAT, key=(view, lang), beat_s=BEAT_S, pause_s=PAUSE_S
        )

    def _message(self, view: pages.View | None, lang: str) -> bytes:
        state = self._table.state()
        if view is None:
            data, event = msgspec.json.encode(state).decode(), "state"
        else:
            data, event = pages.render_fragment(view, state, lang), "fragment"
        return pages.sse(data, event=event, event_id=state["log_pos"], retry_ms=pages.RETRY_MS)


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= MAX_KEY:
        raise ValueError(f"Idempotency-Key has to have 1 to {MAX_KEY} characters")
    return key


def _revision(request: Request) -> int | None:
    header = request.headers.get("if-match")
    if header is None:
        return None
    try:
        return int(header.strip('"'))
    except ValueError:
        raise ValueError(f"If-Match: {header!r} is no revision") from None


def _error(status: int, code: str, message: str, fix: str = "", **more: Any) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "fix": fix}, **more}, status_code=status)
