"""A look at the screens without a table: serves sample states, answers every tap, records what was sent.

    python -m station.web.preview --samples tests/station/web/samples --port 8090

``/referee?state=NAME``, ``/players?state=NAME``, ``/wall?state=NAME`` and ``/head?state=NAME`` show
``NAME.json`` of the folder of samples. Translators, designers and the browser tests use it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from station.guarding import Guard, names_of
from station.web.pages import View, language_of, page_response, render_fragment, sse, static_mount

_DEFAULTS: Final[Mapping[str, str]] = {
    "referee": "verdict_win",
    "players": "play",
    "wall": "wall_eight",
    "head": "wall_eight",
}
_BEAT_S: Final = 2.0
HERE: Final = "127.0.0.1"


class Preview:
    """Sample states behind the same addresses as the real processes.

    Attributes:
        state: state sent to the streams; ``None`` until :meth:`publish` or a page sets it.
        posts: every tap as ``(action, body, headers)``.
        answers: answers for the next taps as ``(status, object)``; a tap without one is accepted.
        gate: taps are answered once this event is set; ``None``: at once.
    """

    def __init__(self, samples: Path) -> None:
        self.samples = samples
        self.state: dict[str, Any] = {}
        self.posts: list[tuple[str, Any, dict[str, str]]] = []
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.gate: threading.Event | None = None
        self._streams: set[asyncio.Queue[dict[str, Any] | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def reset(self) -> None:
        """Forget state, taps and answers."""
        self.state, self.gate = {}, None
        self.posts.clear()
        self.answers.clear()

    def sample(self, name: str) -> dict[str, Any]:
        """Read one sample state.

        Raises:
            FileNotFoundError: there is no such sample.
        """
        known = {path.stem: path for path in self.samples.glob("*.json")}
        if name not in known:
            raise FileNotFoundError(f"no sample {name!r}; there are {', '.join(sorted(known))}")
        state: dict[str, Any] = json.loads(known[name].read_text("utf-8"))
        return state

    def publish(self, state: dict[str, Any]) -> None:
        """Make ``state`` the current one and send it to every open stream (from the loop's thread)."""
        self.state = state
        for queue in list(self._streams):
            queue.put_nowait(state)

    def publish_from_thread(self, state: dict[str, Any]) -> None:
        """As :meth:`publish`, from any thread."""
        self.state = state
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.publish, state)

    def hang_up(self) -> None:
        """End every stream, so that the server can stop (from any thread)."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end_streams)

    def _end_streams(self) -> None:
        for queue in list(self._streams):
            queue.put_nowait(None)

    async def page(self, request: Request) -> Response:
        """Any of the four pages."""
        view: View = request.path_params.get("view", "players")
        name = request.query_params.get("state")
        if name or not self.state:
            self.state = self.sample(name or _DEFAULTS[view])
        return page_response(request, view, self.state)

    async def events(self, request: Request) -> Response:
        """The stream: a snapshot, then every published state, with a beat in between."""
        view: View = request.query_params.get("view", "referee")  # type: ignore[assignment]
        return StreamingResponse(self._stream(view, language_of(request)), media_type="text/event-stream")

    async def _stream(self, view: View, lang: str) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._streams.add(queue)
        try:
            yield sse(render_fragment(view, self.state, lang), event="fragment", retry_ms=500)
            while True:
                try:
                    state = await asyncio.wait_for(queue.get(), _BEAT_S)
                    if state is None:
                        return
                    yield sse(render_fragment(view, state, lang), event="fragment")
                except TimeoutError:
                    yield sse("", event="beat")
        finally:
            self._streams.discard(queue)

    async def post(self, request: Request) -> Response:
        """Record a tap; accepted unless an answer was laid ready. An accepted tap makes a new revision."""
        self.posts.append((request.path_params["action"], await request.json(), dict(request.headers)))
        if self.gate is not None:
            await asyncio.to_thread(self.gate.wait, 10)
        if self.answers:
            status, told = self.answers.pop(0)
            return JSONResponse(told, status)
        state = {**self.state, "rev": self.state.get("rev", 0) + 1}
        self.publish(state)
        return JSONResponse({"ok": True, "rev": state["rev"]})

    async def photo(self, request: Request) -> Response:
        """A sample photo."""
        path = self.samples / Path(request.path_params["name"]).name
        return FileResponse(path) if path.exists() else PlainTextResponse("no such photo", 404)

    def app(self) -> Starlette:
        """The application that serves this preview."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/events", self.events),
                Route("/api/{action}", self.post, methods=["POST"]),
                Route("/photo/{name}", self.photo),
                static_mount(),
                Route("/{view:str}", self.page),
            ]
        )


def main() -> None:
    """Serve the preview until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=Path, default=Path("tests/station/web/samples"))
    parser.add_argument("--port", type=int, default=8090)
    wish = parser.parse_args()
    app = Guard(Preview(wish.samples).app(), names_of(HERE))
    uvicorn.run(app, host=HERE, port=wish.port, timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
