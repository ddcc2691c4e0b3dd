"""A camera device of this computer: the only importer of cv2's video input.

A frame is taken when it is asked for, and it is the newest one: what the driver kept in its buffers
meanwhile is passed over. Nothing runs, and nothing is kept, between two requests.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import cv2
import numpy as np

from vision.errors import CameraError
from vision.readings import Image

__all__ = ["AS_IT_IS", "Capture", "DeviceCamera", "Frame", "Wishes"]

Clock = Callable[[], float]

MOST_KEPT: Final = 10
"""Frames a driver keeps at most (the limit of OpenCV's V4L2 input)."""
WAITED_S: Final = 0.006
"""A frame that let us wait this long was not lying in a buffer: it is new. Others come within 2 ms."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
"""Pause between two tries to open a device that went away; it doubles from the first to the longest."""
MANUAL: Final = 1.0
"""Value of V4L2's exposure_auto control for manual; 3, aperture priority, is what webcams call automatic."""
NEAR: Final = 0.02
"""Share by which a value read back may differ from the wish: drivers round to their own steps."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture of a camera.

    ``image``: uint8 ``(H, W, 3)`` BGR, upright; ``taken_at``: seconds of the clock given to the
    camera; ``source``: where it comes from, for people.
    """

    image: Image
    taken_at: float
    source: str

    def age(self, now: float) -> float:
        """Seconds since it was taken, never below 0."""
        return max(0.0, now - self.taken_at)


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a device should take its pictures; None: as it likes.

    ``size``: width and height in pixels; ``exposure``: in the driver's unit (V4L2: 0.1 ms);
    ``white_balance``: kelvin; ``focus``: in the driver's unit. A wish switches the automatic control of that
    value off.
    """

    size: tuple[int, int] | None = None
    exposure: float | None = None
    white_balance: float | None = None
    focus: float | None = None


AS_IT_IS: Final = Wishes()


class Capture(Protocol):
    """The part of cv2.VideoCapture used here."""

    def isOpened(self) -> bool: ...  # noqa: N802, D102
    def grab(self) -> bool: ...  # noqa: D102
    def retrieve(self) -> tuple[bool, Image | None]: ...  # noqa: D102
    def set(self, prop: int, value: float) -> bool: ...  # noqa: D102
    def get(self, prop: int) -> float: ...  # noqa: D102
    def release(self) -> None: ...  # noqa: D102


def _opened(device: int | str) -> Capture:
    api = cv2.CAP_V4L2 if sys.platform == "linux" else cv2.CAP_ANY
    # A device that is away is told in one sentence of our own, not by the library's lines on stderr as well.
    before = cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_FATAL)
    try:
        return cv2.VideoCapture(device, api)  # type: ignore[return-value]
    finally:
        cv2.utils.logging.setLogLevel(before)


def _arrange(capture: Capture, wishes: Wishes) -> tuple[str, ...]:
    """Tell the driver the wishes; return the names of those it did not follow."""
    refused = []
    if wishes.size is not None:
        # Without compression no camera gives large pictures over USB 2; the format has to be told first.
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        width, height = wishes.size
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, width)
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, height)
        got = capture.get(cv2.CAP_PROP_FRAME_WIDTH), capture.get(cv2.CAP_PROP_FRAME_HEIGHT)
        if got != (width, height):
            refused.append("size")
    capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
    for name, value, automatic, by_hand, prop in (
        ("exposure", wishes.exposure, cv2.CAP_PROP_AUTO_EXPOSURE, MANUAL, cv2.CAP_PROP_EXPOSURE),
        ("white_balance", wishes.white_balance, cv2.CAP_PROP_AUTO_WB, 0.0, cv2.CAP_PROP_WB_TEMPERATURE),
        ("focus", wishes.focus, cv2.CAP_PROP_AUTOFOCUS, 0.0, cv2.CAP_PROP_FOCUS),
    ):
        if value is None:
            continue
        capture.set(automatic, by_hand)
        capture.set(prop, value)
        if capture.get(automatic) != by_hand or abs(capture.get(prop) - value) > max(1.0, NEAR * abs(value)):
            refused.append(name)
    return tuple(refused)


class DeviceCamera:
    """A camera device, by number or path. Not thread-safe: one worker owns it.

    Unplugged, it is opened again by later requests, after pauses that grow. ``refused``: names of the
    wishes its driver did not follow. Raises CameraError when it cannot be opened at first.
    """

    def __init__(
        self,
        device: int | str,
        wishes: Wishes = AS_IT_IS,
        clock: Clock = time.time,
        capture: Callable[[int | str], Capture] = _opened,
        ticks: Clock = time.monotonic,
    ) -> None:
        self.refused: tuple[str, ...] = ()
        self._device = device
        self._wishes = wishes
        self._clock = clock
        self._ticks = ticks
        self._new = capture
        self._capture: Capture | None = None
        self._pause = FIRST_PAUSE_S
        self._next_try = 0.0
        if not self._open():
            raise CameraError(f"There is no camera {device}: plug it in, or choose another one.")

    def _open(self) -> bool:
        capture = self._new(self._device)
        if not capture.isOpened():
            capture.release()
            return False
        self.refused = _arrange(capture, self._wishes)
        self._capture = capture
        return True

    def grab(self) -> Frame:
        """Take a frame newer than this request's begin; raises CameraError when the device gives none."""
        capture = self._capture or self._again()
        image = self._newest(capture)
        if image is None:
            self._lost()
            raise CameraError(f"Camera {self._device} gives no picture: check its cable.")
        self._pause = FIRST_PAUSE_S
        return Frame(np.asarray(image, np.uint8), self._clock(), f"camera {self._device}")

    def _newest(self, capture: Capture) -> Image | None:
        """Pass over what the driver kept, until a frame had to be waited for."""
        for _ in range(MOST_KEPT + 1):
            before = self._ticks()
            if not capture.grab():
                return None
            if self._ticks() - before >= WAITED_S:
                break
        good, image = capture.retrieve()
        return image if good else None

    def _again(self) -> Capture:
        """Open the device anew, unless that was tried just now."""
        now = self._ticks()
        if now >= self._next_try and self._open():
            assert self._capture is not None
            return self._capture
        if now >= self._next_try:
            self._lost()
        raise CameraError(f"Camera {self._device} is away: plug it in again.")

    def _lost(self) -> None:
        self.close()
        self._next_try = self._ticks() + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)

    def close(self) -> None:
        """Release the device."""
        if self._capture is not None:
            self._capture.release()
            self._capture = None
