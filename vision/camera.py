"""Where frames come from: a camera device, a folder of photographs, or the scene renderer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np

from vision.errors import CameraError
from vision.geometry import Calibration
from vision.pictures import SUFFIXES, load_image
from vision.readings import Image
from vision.render import Scene, render

__all__ = ["Camera", "DeviceCamera", "FolderCamera", "Frame", "RenderCamera", "open_camera"]

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture of a camera.

    ``image``: uint8 ``(H, W, 3)`` BGR, upright; ``taken_at``: seconds of the clock given to the
    camera; ``source``: where it comes from, for people.
    """

    image: Image
    taken_at: float
    source: str


class Camera(Protocol):
    """Anything that gives frames."""

    def grab(self) -> Frame:
        """Return the next frame; raises CameraError or another VisionError when there is none now."""
        ...

    def close(self) -> None:
        """Let go of the device."""
        ...


@dataclass(slots=True)
class FolderCamera:
    """The newest picture of a folder is the next frame: for photographs of one's own tiles."""

    folder: Path
    clock: Clock = time.time

    def grab(self) -> Frame:
        """Read the newest picture.

        Raises CameraError without a folder or picture, ImageError for a bad one.
        """
        try:
            files = [f for f in self.folder.iterdir() if f.suffix.lower() in SUFFIXES and f.is_file()]
        except OSError as error:
            raise CameraError(
                f"The folder {self.folder} cannot be read: check the camera setting."
            ) from error
        if not files:
            raise CameraError(f"There is no picture in {self.folder}: put a JPEG or PNG there.")
        newest = max(files, key=lambda f: (f.stat().st_mtime_ns, f.name))
        return Frame(load_image(newest), self.clock(), str(newest))

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass(slots=True)
class RenderCamera:
    """Renders a scene file, read again for every frame, with fresh sensor noise each time.

    The noise counts from the scene's first frame, so that a scene looks the same in every run, however
    often another one was looked at before.
    """

    scene: Path
    calibration: Calibration | None = None
    clock: Clock = time.time
    taken: int = field(default=0, init=False)
    shown: Scene | None = field(default=None, init=False)

    def grab(self) -> Frame:
        """Render the scene as the file has it now; raises SceneError when it cannot be read."""
        scene = Scene.load(self.scene)
        self.taken = self.taken + 1 if scene == self.shown else 0
        self.shown = scene
        image = render(scene, self.calibration, self.taken, upset=scene.upset(self.taken))
        return Frame(image, self.clock(), str(self.scene))

    def close(self) -> None:
        """Nothing to let go of."""


class _Capture(Protocol):
    """The part of cv2.VideoCapture used here."""

    def isOpened(self) -> bool: ...  # noqa: N802
    def read(self) -> tuple[bool, Image | None]: ...
    def release(self) -> None: ...


def _device_capture(number: int) -> _Capture:
    capture = cv2.VideoCapture(number)
    capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
    return capture  # type: ignore[return-value]


class DeviceCamera:
    """A camera device of this computer. Not thread-safe: one worker owns it.

    Raises CameraError when the device cannot be opened.
    """

    def __init__(
        self, number: int, clock: Clock = time.time, capture: Callable[[int], _Capture] = _device_capture
    ) -> None:
        self._number = number
        self._clock = clock
        self._capture = capture(number)
        if not self._capture.isOpened():
            raise CameraError(f"There is no camera {number}: plug it in, or choose another number.")

    def grab(self) -> Frame:
        """Take the next frame; raises CameraError when the device gives none."""
        good, image = self._capture.read()
        if not good or image is None:
            raise CameraError(f"Camera {self._number} gives no picture: check its cable.")
        return Frame(np.asarray(image, np.uint8), self._clock(), f"camera {self._number}")

    def close(self) -> None:
        """Release the device."""
        self._capture.release()


def open_camera(
    source: str | int, calibration: Calibration | None = None, clock: Clock = time.time
) -> Camera:
    """Open the camera a setting names: ``folder:DIR``, ``render:SCENE.json`` or a device number.

    ``calibration`` says where the rendered table lies in the picture. Raises CameraError for
    another text, a folder that is not there, or a device that cannot be opened.
    """
    text = str(source)
    kind, _, rest = text.partition(":")
    if kind == "folder" and rest:
        if not Path(rest).is_dir():
            raise CameraError(f"There is no folder {rest}: check the camera setting.")
        return FolderCamera(Path(rest), clock)
    if kind == "render" and rest:
        return RenderCamera(Path(rest), calibration, clock)
    if text.isdigit():
        return DeviceCamera(int(text), clock)
    raise CameraError(f"{text!r} names no camera: write folder:DIR, render:SCENE.json or a device number.")
