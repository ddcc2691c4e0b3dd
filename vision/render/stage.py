"""A scene that lies before the camera for a while: what stays as it is from frame to frame is drawn once."""

from __future__ import annotations

from vision.geometry import Calibration
from vision.readings import Image
from vision.render.renderer import disturb, lay, photograph
from vision.render.scene import Scene
from vision.render.upset import Stray, Upset

__all__ = ["Stage"]


class Stage:
    """Renders one scene with its film, frame by frame; each is what `render` gives for it."""

    def __init__(self, scene: Scene, calibration: Calibration | None = None) -> None:
        self.scene = scene
        self._calibration = calibration
        self._laid: tuple[tuple[Stray, ...], Image] | None = None
        self._drawn: tuple[Upset, Image] | None = None

    def frame(self, number: int) -> Image:
        """Render a frame, counted from 0: uint8 ``(H, W, 3)`` BGR. Raises SceneError as `render` does."""
        upset = self.scene.upset(number)
        if self._drawn is None or self._drawn[0] != upset:
            laid = self._tiles(upset.strays)
            self._drawn = upset, disturb(laid, self.scene, self._calibration, upset)
        return photograph(self._drawn[1], self.scene, number)

    def _tiles(self, strays: tuple[Stray, ...]) -> Image:
        if self._laid is None or self._laid[0] != strays:
            self._laid = strays, lay(self.scene, self._calibration, strays=strays)
        return self._laid[1]
