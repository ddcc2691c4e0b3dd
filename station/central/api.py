"""The HTTP surface of the central station. It only reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from station.central.feed import Feed
from station.web import pages

__all__ = ["routes"]

_BEAT_S = 5.0
_PAUSE_S = 0.1
"""Between two messages to one listener: what happens meanwhile goes into the next."""

_VIEWS: Final[dict[str, pages.View | None]] = {"": None, "wall": "wall", "head": "head"}


def routes(feed: Feed) -> list[BaseRoute]:
    """Give all routes of the central station."""
    surface = _Surface(feed)
    return [
        Route("/", surface.page("head")),
        Route("/wall", surface.page("wall")),
        Route("/healthz", surface.healthz),
        Route("/api/state", surface.state),
        Route("/events", surface.events),
        pages.static_mount(),
    ]


class _Surface:
    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    async def healthz(self, _: Request) -> Response:
        return JSONResponse({"ok": True})

    async def state(self, _: Request) -> Response:
        return JSONResponse(self._feed.state(), headers={"Cache-Control": "no-store"})

    def page(self, view: pages.View) -> Callable[[Request], Awaitable[Response]]:
        async def show(request: Request) -> Response:
            return pages.page_response(request, view, self._feed.state())

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

    def _message(self, view: pages.View | None, lang: str) -> bytes:
        state = self._feed.state()
        if view is None:
            return pages.sse(msgspec.json.encode(state).decode(), event="state", event_id=state["pos"])
        return pages.sse(pages.render_fragment(view, state, lang), event="fragment", event_id=state["pos"])
