"""The one thread that owns the camera and the recognizer; asked, never polling.

Between deal and claim nothing is grabbed: a frame is taken only inside `Eyes.indicator` and
`Eyes.hand`, which the process calls when a tile was flipped or a hand was laid open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2

from vision.camera import Camera
from vision.geometry import Calibration
from vision.reading_service import Reader
from vision.readings import Image, Reading

JPEG_QUALITY = 88


@dataclass(frozen=True, slots=True)
class Seen:
    """A reading with the evidence frame it was made from (JPEG bytes, size in pixels)."""

    reading: Reading
    jpeg: bytes
    size: tuple[int, int]


class Eyes:
    """Camera, geometry and recognizer of one table. Not thread-safe: call from one worker thread."""

    def __init__(
        self,
        open_camera: Callable[[], Camera],
        load_recognizer: Callable[[], Reader],
        calibration: Calibration | None,
        kinds: frozenset[str],
    ) -> None:
        self._open = open_camera
        self._load = load_recognizer
        self._calibration = calibration
        self._kinds = kinds
        self._camera: Camera | None = None
        self._recognizer: Reader | None = None

    def warm_up(self) -> None:
        """Open the camera and load the networks, so that the first claim is not the slow one."""
        self._recognizer = self._recognizer or self._load()
        self._camera = self._camera or self._open()

    def indicator(self) -> Seen:
        """Read the flipped tile (at most one is expected)."""
        return self._look("indicator", 1, self._kinds | {"back"})

    def hand(self, place: int, expect: int | None) -> Seen:
        """Read the hand laid open in a place's zone."""
        return self._look(str(place), expect, self._kinds | {"back"})

    def _look(self, zone: str, expect: int | None, kinds: frozenset[str]) -> Seen:
        self.warm_up()
        assert self._camera is not None
        assert self._recognizer is not None
        image = self._camera.grab().image
        if self._calibration is not None:
            image = self._calibration.rectify(image, zone).image
        reading = self._recognizer.read(image, None, expect, kinds)
        return Seen(reading, encode_jpeg(image), (image.shape[1], image.shape[0]))

    def close(self) -> None:
        """Release the camera."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None


def encode_jpeg(image: Image) -> bytes:
    """Return the image as JPEG bytes."""
    ok, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not ok:
        raise ValueError("the frame can't be stored as JPEG")
    return data.tobytes()
