"""The page `/calibrate`: a technician teaches the camera its table, by cards or by four taps.

A frame is taken only when asked, kept in memory alone, and never while a hand is between deal and claim.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from station.session import Session, Stage
from station.table.runtime import Table
from station.web import pages
from station.web.words import Words
from vision.calibration.edge import jpeg, preview
from vision.calibration.layout import CLOTH
from vision.calibration.refusals import TeachError
from vision.calibration.service import Lesson, teach
from vision.calibration.solve import Height
from vision.calibration.teach import View
from vision.errors import CalibrationError, VisionError
from vision.geometry import Calibration, Lens
from vision.readings import Image

__all__ = ["calibration_file", "may_look", "teaching_routes"]

BETWEEN_HANDS = frozenset({Stage.CLOSED, Stage.START, Stage.RULED})
"""Stages in which no player holds tiles."""
MAX_BODY = 4096


class _Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page asks for: four taps (pixels of the frame) or None for cards; lengths in millimetres."""

    taps: list[tuple[float, float]] | None = None
    cloth: float = CLOTH
    height: float | None = None


def may_look(session: Session) -> bool:
    """Whether a frame for teaching may be taken: never while a hand is in play."""
    return session.stage in BETWEEN_HANDS


def calibration_file(table: Table) -> Path:
    """Where this table's calibration lies: as configured, else in its home."""
    config = table.config
    return Path(config.calibration) if config.calibration else Path(config.home) / "calibration.json"


def teaching_routes(table: Table) -> list[BaseRoute]:
    """Return the routes of the page."""
    lessons = _Lessons(table)
    return [
        Route("/calibrate", lessons.page),
        Route("/calibrate/frame.jpg", lessons.frame),
        Route("/calibrate/zones.jpg", lessons.zones),
        Route("/calibrate/look", lessons.look, methods=["POST"]),
        Route("/calibrate/try", lessons.attempt, methods=["POST"]),
        Route("/calibrate/save", lessons.save, methods=["POST"]),
    ]


class _Refusal(Exception):
    """An answer that is not yes: status, code, and what its sentence names."""

    def __init__(self, status: int, code: str, params: dict[str, str] | None = None) -> None:
        super().__init__(code)
        self.status, self.code, self.params = status, code, params or {}


class _Lessons:
    """One lesson at a time: the frame looked at last, and what it taught."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._frame: Image | None = None
        self._lesson: Lesson | None = None

    async def page(self, request: Request) -> Response:
        state = {"table": self._table.config.table, "camera": self._table.eyes is not None, "cloth": CLOTH}
        return pages.plain_page(request, "calibrate", {**state, "free": may_look(self._table.session)})

    async def frame(self, _: Request) -> Response:
        return _picture(self._kept())

    async def zones(self, _: Request) -> Response:
        frame, lesson = self._kept(), self._lesson
        return _picture(None if frame is None or lesson is None else preview(frame, lesson.calibration))

    def _kept(self) -> Image | None:
        """The frame looked at; forgotten once a hand has begun."""
        if not may_look(self._table.session):
            self._frame = self._lesson = None
        return self._frame

    async def look(self, request: Request) -> Response:
        """Take a frame."""

        async def take() -> dict[str, Any]:
            self._free()
            eyes = self._table.eyes
            if eyes is None:
                raise _Refusal(422, "camera.none")
            frame = await eyes.frame()
            self._free()  # a hand may have begun meanwhile: then this frame was never seen
            self._frame, self._lesson = frame, None
            return {"width": frame.shape[1], "height": frame.shape[0]}

        return await self._answered(request, take)

    async def attempt(self, request: Request) -> Response:
        """Teach by the frame looked at, without saving."""

        async def learn() -> dict[str, Any]:
            wish = await _wish(request)
            self._free()
            frame = self._kept()
            if frame is None:
                raise _Refusal(422, "calibrate.no_frame")
            height = None if wish.height is None else Height.measured(wish.height)
            size = frame.shape[1], frame.shape[0]
            view = View(size, wish.cloth, _lens_in(calibration_file(self._table), size), height)
            taps = None if wish.taps is None else np.asarray(wish.taps, np.float64).reshape(-1, 2)
            at = datetime.now(UTC).isoformat(timespec="seconds")
            lesson = await asyncio.to_thread(teach, frame, view, taps, at=at, version=version("quezhuo"))
            if self._kept() is not frame:
                raise _Refusal(409, "calibrate.no_frame")
            self._lesson = lesson
            error = lesson.found.error_mm if lesson.found.errors else None
            return {"error_mm": error and round(error, 1), "height_cm": round(lesson.found.height_mm / 10)}

        return await self._answered(request, learn)

    async def save(self, request: Request) -> Response:
        """Write the calibration file and look through it from now on."""

        async def keep() -> dict[str, Any]:
            self._free()
            lesson, eyes = self._lesson, self._table.eyes
            if lesson is None or eyes is None:
                raise _Refusal(422, "calibrate.no_frame")
            try:
                await asyncio.to_thread(lesson.calibration.save, calibration_file(self._table))
            except OSError:
                raise _Refusal(503, "calibrate.not_saved") from None
            await eyes.use(lesson.calibration)
            self._table.camera_trouble(None)
            self._frame = self._lesson = None
            return {"file": calibration_file(self._table).name, "watched": lesson.watched}

        return await self._answered(request, keep)

    def _free(self) -> None:
        if not may_look(self._table.session):
            self._kept()
            raise _Refusal(409, "calibrate.hand_running")

    async def _answered(self, request: Request, work: Any) -> Response:
        """Answer a request with what the work gives, or with a sentence in the reader's language."""
        words = Words.of(pages.language_of(request))
        try:
            return JSONResponse(await work())
        except _Refusal as refusal:
            sentence = words.sentence(refusal.code, refusal.params)
            return _error(refusal.status, refusal.code, sentence)
        except TeachError as error:
            return _error(422, error.code, words.sentence(error.code, error.params))
        except VisionError as error:
            return _error(503, error.code, words.sentence(error.code))


async def _wish(request: Request) -> _Wish:
    raw = await request.body()
    if len(raw) > MAX_BODY:
        raise _Refusal(422, "bad_request")
    try:
        wish = msgspec.json.decode(raw or b"{}", type=_Wish)
    except (msgspec.DecodeError, RecursionError):
        raise _Refusal(422, "bad_request") from None
    if wish.height is not None and not 300 <= wish.height <= 3000:
        raise _Refusal(422, "calibrate.height")
    return wish


def _lens_in(file: Path, size: tuple[int, int]) -> Lens | None:
    """The lens in the file that is to be replaced, if one was measured for pictures of this shape."""
    try:
        return Calibration.load(file).scaled(*size).lens
    except CalibrationError:
        return None


def _picture(image: Image | None) -> Response:
    if image is None:
        return Response(status_code=404)
    return Response(jpeg(image), media_type="image/jpeg", headers={"Cache-Control": "no-store"})


def _error(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "fix": ""}}, status_code=status)
