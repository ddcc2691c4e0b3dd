"""Where frames come from: a camera device, a folder of photographs, or the scene renderer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vision.device import AS_IT_IS, DeviceCamera, Frame, Wishes
from vision.errors import CameraError
from vision.geometry import Calibration
from vision.pictures import SUFFIXES, load_image
from vision.render import Scene
from vision.render.stage import Stage

__all__ = ["Camera", "DeviceCamera", "FolderCamera", "Frame", "RenderCamera", "Wishes", "open_camera"]

Clock = Callable[[], float]


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
    often another one was looked at before. What stays as it was since the last frame is not drawn anew.
    """

    scene: Path
    calibration: Calibration | None = None
    clock: Clock = time.time
    taken: int = field(default=0, init=False)
    stage: Stage | None = field(default=None, init=False)

    def grab(self) -> Frame:
        """Render the scene as the file has it now; raises SceneError when it cannot be read."""
        scene = Scene.load(self.scene)
        if self.stage is not None and self.stage.scene == scene:
            self.taken += 1
        else:
            self.taken, self.stage = 0, Stage(scene, self.calibration)
        return Frame(self.stage.frame(self.taken), self.clock(), str(self.scene))

    def close(self) -> None:
        """Nothing to let go of."""


def open_camera(
    source: str | int,
    calibration: Calibration | None = None,
    clock: Clock = time.time,
    wishes: Wishes = AS_IT_IS,
) -> Camera:
    """Open the camera a setting names.

    ``source``: ``folder:DIR``, ``render:SCENE.json``, a device number, or a device's path, best one below
    ``/dev/v4l/by-id``, which stays the same when others are plugged in. ``calibration`` says where the
    rendered table lies in the picture; ``wishes`` how a device should take its pictures. Raises CameraError
    for another text, a folder that is not there, or a device that cannot be opened.
    """
    text = str(source)
    kind, _, rest = text.partition(":")
    if kind == "folder" and rest:
        if not Path(rest).is_dir():
            raise CameraError(f"There is no folder {rest}: check the camera setting.")
        return FolderCamera(Path(rest), clock)
    if kind == "render" and rest:
        return RenderCamera(Path(rest), calibration, clock)
    if text.isdigit() or text.startswith("/dev/"):
        return DeviceCamera(int(text) if text.isdigit() else text, wishes, clock)
    raise CameraError(
        f"{text!r} names no camera: write folder:DIR, render:SCENE.json, a device number or /dev/v4l/by-id/…"
    )
