"""The HTTP surface of the central station: it reads, and sets the hall's clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from station.central.clock import ClockKeeper
from station.central.clock_api import clock_routes
from station.central.feed import Feed
from station.errors import LogError
from station.evidence.index import why_removed
from station.evidence.shelf import Shelf
from station.web import pages
from station.web.photo import photo_response
from station.web.sheet_page import sheet_response

__all__ = ["routes"]

_BEAT_S = 5.0
_PAUSE_S = 0.1
"""Between two messages to one listener: what happens meanwhile goes into the next."""

_VIEWS: Final[dict[str, pages.View | None]] = {"": None, "wall": "wall", "head": "head"}


def routes(feed: Feed, shelf: Shelf, keeper: ClockKeeper | None = None) -> list[BaseRoute]:
    """Give all routes of the central station.

    Args:
        feed: the hall.
        shelf: where photos lie.
        keeper: of the hall's clock; without one it cannot be set.
    """
    surface = _Surface(feed, shelf)
    setting = [] if keeper is None else clock_routes(keeper)
    return [
        Route("/", surface.page("head")),
        Route("/wall", surface.page("wall")),
        Route("/api/state", surface.state),
        Route("/events", surface.events),
        Route("/photo/{name}", surface.photo),
        Route("/sheet/{table}", surface.sheet),
        *setting,
        pages.static_mount(),
    ]


class _Surface:
    def __init__(self, feed: Feed, shelf: Shelf) -> None:
        self._feed = feed
        self._shelf = shelf
        self._one_sheet = asyncio.Lock()
        """A long log takes seconds: one at a time, and not in the loop that all pages wait for."""

    async def state(self, _: Request) -> Response:
        return JSONResponse(self._feed.state(), headers={"Cache-Control": "no-store"})

    async def photo(self, request: Request) -> Response:
        name = request.path_params["name"]
        path = self._shelf.path(name)
        why = None if path else why_removed(self._shelf.index, name)
        return photo_response(request, path, why)

    async def sheet(self, request: Request) -> Response:
        """Show the result sheet of a table, from its newest log."""
        try:
            async with self._one_sheet:
                entries = await self._feed.entries_of(request.path_params["table"])
                return await asyncio.to_thread(sheet_response, request, entries or (), "central.db")
        except LogError as error:
            told = {"code": error.code, "message": error.message, "fix": error.fix}
            return JSONResponse({"error": told}, status_code=503)

    def page(self, view: pages.View) -> Callable[[Request], Awaitable[Response]]:
        async def show(request: Request) -> Response:
            return await asyncio.to_thread(pages.page_response, request, view, self._feed.state())

        return show

    async def events(self, request: Request) -> Response:
        """Stream the state after every change, the state of now first.

        Every message is the whole state, so a listener that comes back with ``Last-Event-ID`` has missed
        nothing after the first one. The id is the position in the central log.
        """
        wanted = request.query_params.get("view", "")
        if wanted not in _VIEWS:
            error = {
                "code": "bad_view",
                "message": f"There is no view {wanted!r}.",
                "fix": "Use wall or head.",
            }
            return JSONResponse({"error": error}, status_code=422)
        return StreamingResponse(
            self.stream(_VIEWS[wanted], pages.language_of(request)),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    def stream(self, view: pages.View | None, lang: str) -> AsyncIterator[bytes]:
        """Yield the state, or a page's changing part, now and after every change."""
        return self._feed.stream(
            lambda: self._message(view, lang), pages.BEAT, key=(view, lang), beat_s=_BEAT_S, pause_s=_PAUSE_S
        )

    async def _message(self, view: pages.View | None, lang: str) -> bytes:
        """Make the message from the state of now, in a thread: a page of a great hall takes long."""
        return await asyncio.to_thread(_rendered, self._feed.state(), view, lang)


def _rendered(state: dict[str, Any], view: pages.View | None, lang: str) -> bytes:
    if view is None:
        data, event = msgspec.json.encode(state).decode(), "state"
    else:
        data, event = pages.render_fragment(view, state, lang), "fragment"
    return pages.sse(data, event=event, event_id=state["pos"], retry_ms=pages.RETRY_MS)
