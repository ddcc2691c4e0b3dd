"""The page `/enroll`: a technician captures the table's own tiles, row by row, at the touchscreen.

A frame is taken only when asked and never while a hand is between deal and claim. What was captured is kept
beside the tile set's file, so that a capture broken off goes on.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from station.table.cropping import encode_jpeg
from station.table.enrol_said import check_said, guard_said, row_said, unfit_said
from station.table.runtime import Table
from station.table.teaching import may_look
from station.table.tilesets import file_for, room_for, tileset_files
from station.web import pages
from station.web.words import Words
from vision.enroll.capture import photograph
from vision.enroll.files import load_capture, save_capture
from vision.enroll.plan import SHOTS
from vision.enroll.session import Enrolment
from vision.enroll.tileset import Provenance
from vision.errors import TileSetError, VisionError
from vision.readings import Image
from vision.recognizer import Recognizer

__all__ = ["enrolling_routes"]

MAX_BODY = 4096
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


class _Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page asks for: the set's name and the side the rows lie at; whether a row was looked at."""

    name: str = ""
    side: int = 0
    confirmed: bool = False
    fresh: bool = False


class _Refusal(Exception):
    """An answer that is not yes: status and code."""

    def __init__(self, status: int, code: str, params: dict[str, str] | None = None) -> None:
        super().__init__(code)
        self.status, self.code, self.params = status, code, params or {}


def enrolling_routes(table: Table) -> list[BaseRoute]:
    """Return the routes of the page."""
    desk = _Captures(table)
    return [
        Route("/enroll", desk.page),
        Route("/enroll/row.jpg", desk.picture),
        *(
            Route(f"/enroll/{name}", desk.doing(work), methods=["POST"])
            for name, work in (
                ("begin", desk.begin),
                ("look", desk.look),
                ("skip", desk.skip),
                ("back", desk.back),
                ("save", desk.save),
            )
        ),
    ]


class _Captures:
    """One capture at a time: the set's name, the row that is asked for, the picture taken last."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._name = ""
        self._side = 0
        self._going: Enrolment | None = None
        self._at = 0
        self._seen: Image | None = None
        self._recognizer: Recognizer | None = None
        self._busy = asyncio.Lock()

    async def page(self, request: Request) -> Response:
        values = {
            "table": self._table.config.table,
            "camera": self._table.eyes is not None,
            "free": may_look(self._table.session),
            "sides": sorted(self._table.sides),
        }
        return pages.plain_page(request, "enroll", values)

    async def picture(self, _: Request) -> Response:
        if not may_look(self._table.session):
            self._seen = None
        if self._seen is None:
            return Response(status_code=404)
        headers = {"Cache-Control": "no-store"}
        return Response(encode_jpeg(self._seen), media_type="image/jpeg", headers=headers)

    async def begin(self, wish: _Wish, words: Words) -> dict[str, Any]:
        """Begin a set, or go on where its capture was broken off."""
        self._free()
        if not _NAME.fullmatch(wish.name):
            raise _Refusal(422, "enroll.name")
        if wish.side not in self._table.sides:
            raise _Refusal(422, "bad_request")
        recognizer = await self._reader()
        assert recognizer.card is not None
        kinds = [kind.id for kind in self._table.rules.tile_set.kinds]
        begun = Enrolment.begin(kinds, recognizer.card.sha256["classifier"], SHOTS)
        if others := room_for(self._table.config, wish.name):
            raise _Refusal(409, "enroll.sets_full", {"names": ", ".join(others)})
        self._name, self._side, self._seen = wish.name, wish.side, None
        if self._half().exists() and not wish.fresh:
            try:
                begun = begun.resume(await asyncio.to_thread(load_capture, self._half()))
            except TileSetError:
                raise _Refusal(409, "enroll.other_capture") from None
        self._going, self._at = begun, begun.next if begun.next is not None else len(begun.plan)
        return self._told(words, [])

    async def look(self, wish: _Wish, words: Words) -> dict[str, Any]:
        """Photograph the row that was asked for, and compare it."""
        self._free()
        going, eyes = self._begun(), self._table.eyes
        if self._at >= len(going.plan) or eyes is None:
            raise _Refusal(422, "camera.none" if eyes is None else "enroll.all_taken")
        row, recognizer = going.plan[self._at], await self._reader()
        image = await eyes.view(self._side)
        self._free()  # a hand may have begun meanwhile: then this frame was never seen
        self._seen = image
        name = f"row {self._at + 1}"
        looked = await asyncio.to_thread(
            photograph, recognizer, image, row, name, confirmed=wish.confirmed, zone=True
        )
        said = [*unfit_said(words, looked.unfit), *check_said(words, looked.check)]
        if looked.shots:
            self._going = going.accept(self._at, looked.shots)
            await self._store()
            self._at = self._following()
        more = {
            "taken": bool(looked.shots),
            "confirm": looked.check.confirmable or bool(looked.unfit and looked.check.good),
        }
        return {**self._told(words, said), **more}

    async def skip(self, _: _Wish, words: Words) -> dict[str, Any]:
        """Leave a row out; it is asked for again when the set is begun again."""
        self._at = min(self._at + 1, len(self._begun().plan))
        return self._told(words, [])

    async def back(self, _: _Wish, words: Words) -> dict[str, Any]:
        """Ask for the row before once more."""
        self._begun()
        self._at = max(0, self._at - 1)
        return self._told(words, [])

    async def save(self, _: _Wish, words: Words) -> dict[str, Any]:
        """Build the tile set, write its file, and read with it from now on."""
        going, recognizer = self._begun(), await self._reader()
        if going.missing():
            raise _Refusal(422, "enroll.missing")
        assert recognizer.card is not None
        origin = Provenance(
            name=self._name,
            table=self._table.config.table,
            when=datetime.now(UTC).isoformat(timespec="seconds"),
            version=version("quezhuo"),
            model=recognizer.card.sha256["classifier"],
            temperature=recognizer.temperature,
            sources=tuple(dict.fromkeys(shot.picture for shot in going.capture.shots)),
        )
        try:
            tiles = await asyncio.to_thread(going.finish, origin)
            await asyncio.to_thread(tiles.save, self._file())
        except TileSetError:
            raise _Refusal(503, "calibrate.not_saved") from None
        self._half().unlink(missing_ok=True)
        self._going = None
        if self._table.eyes is not None:
            await self._table.eyes.enrolled(tileset_files(self._table.config))
            self._table.changed()
        return {"saved": str(self._file()), "said": [guard_said(words, tiles.guard)]}

    def doing(
        self, work: Callable[[_Wish, Words], Awaitable[dict[str, Any]]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Wrap a step as a route: one at a time, errors as sentences in the reader's language."""

        async def answer(request: Request) -> Response:
            words = Words.of(pages.language_of(request))
            try:
                wish = await _wish(request)
                async with self._busy:
                    return JSONResponse(await work(wish, words))
            except _Refusal as refusal:
                return _error(refusal.status, refusal.code, words, refusal.params)
            except VisionError as error:
                return _error(503, error.code, words)

        return answer

    def _begun(self) -> Enrolment:
        if self._going is None:
            raise _Refusal(409, "enroll.not_begun")
        return self._going

    def _free(self) -> None:
        if not may_look(self._table.session):
            self._seen = None
            raise _Refusal(409, "calibrate.hand_running")

    async def _reader(self) -> Recognizer:
        """The plain recognizer, loaded when it is first needed: the table's own may be enrolled already."""
        if self._recognizer is None:
            config = self._table.config
            card = Path(config.model) if config.model else None
            self._recognizer = await asyncio.to_thread(Recognizer.load, card, config.threads)
        return self._recognizer

    def _file(self) -> Path:
        return file_for(self._table.config, self._name)

    def _half(self) -> Path:
        return self._file().with_name(f"{self._name}.json.capture")

    async def _store(self) -> None:
        try:
            self._half().parent.mkdir(mode=0o700, exist_ok=True)
            await asyncio.to_thread(save_capture, self._begun().capture, self._half())
        except (OSError, TileSetError):
            raise _Refusal(503, "calibrate.not_saved") from None

    def _following(self) -> int:
        """The next row that was not taken: after this one first, then from the top; the end when all were."""
        going = self._begun()
        left = [i for i in range(len(going.plan)) if i not in going.capture.done]
        return next((i for i in left if i > self._at), left[0] if left else len(going.plan))

    def _told(self, words: Words, said: list[str]) -> dict[str, Any]:
        going = self._begun()
        row = going.plan[self._at] if self._at < len(going.plan) else None
        return {
            "row": None if row is None else row_said(words, row),
            "number": self._at + 1,
            "of": len(going.plan),
            "done": len(going.capture.done),
            "missing": list(going.missing()),
            "said": said,
        }


async def _wish(request: Request) -> _Wish:
    raw = await request.body()
    if len(raw) > MAX_BODY:
        raise _Refusal(422, "bad_request")
    try:
        return msgspec.json.decode(raw or b"{}", type=_Wish)
    except (msgspec.DecodeError, RecursionError):
        raise _Refusal(422, "bad_request") from None


def _error(status: int, code: str, words: Words, params: dict[str, str] | None = None) -> JSONResponse:
    told = {"code": code, "message": words.sentence(code, params), "fix": ""}
    return JSONResponse({"error": told}, status_code=status)
