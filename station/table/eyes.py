"""Camera and recognizer of a table: opened as configured, on one worker thread of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec
import structlog

from engine.rulesets import RuleSet
from station.table.camera_worker import Eyes, Seen, SeenHand, Unfit
from station.table.config import CameraWishes, TableConfig
from station.table.interpret import shape_of
from station.table.tilesets import SetsInUse, renew_stale, tileset_files
from vision.camera import Camera, DeviceCamera, Wishes, open_camera
from vision.enroll.reader import with_tilesets
from vision.geometry import Calibration, default_calibration
from vision.reading_service import Reader
from vision.readings import Image
from vision.recognizer import Recognizer

__all__ = ["EyesThread", "eyes_of"]

Work = TypeVar("Work")
log = structlog.get_logger()


class EyesThread:
    """Camera and recognizer on their one worker thread."""

    def __init__(
        self, eyes: Eyes, sees_indicator: bool, load: Callable[[Sequence[Path]], Reader] | None = None
    ) -> None:
        self._eyes = eyes
        self._load_with = load
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="camera")
        self.sees_indicator = sees_indicator

    @property
    def refused(self) -> tuple[str, ...]:
        """Names of the wishes that the camera's driver did not follow."""
        return self._eyes.refused

    @property
    def tilesets(self) -> SetsInUse | None:
        """The tile sets it reads with, and which is in play."""
        return self._eyes.tilesets

    async def warm_up(self) -> None:
        """Load the networks and open the camera before they are needed."""
        await self._run(self._eyes.warm_up)

    async def indicator(self, stacks: Sequence[tuple[int, int]] = ()) -> Seen:
        """Read the flipped tile, in its zone or on one of the stacks."""
        return await self._run(lambda: self._eyes.indicator(stacks))

    async def hand(self, side: int, *, win: bool, anyway: bool = False) -> SeenHand | Unfit:
        """Read the hand laid open at a side."""
        return await self._run(lambda: self._eyes.hand(side, win=win, anyway=anyway))

    async def shown(self, side: int, *, anyway: bool = False) -> SeenHand | Unfit:
        """Read what lies open at a side of a player who claims nothing."""
        return await self._run(lambda: self._eyes.shown(side, anyway=anyway))

    async def frame(self) -> Image:
        """Take a frame as it is, for teaching."""
        return await self._run(self._eyes.frame)

    async def zones(self, sides: Sequence[int]) -> bytes | None:
        """Photograph the zones of some sides as one JPEG; None: they were not taught."""
        return await self._run(lambda: self._eyes.zones(sides))

    async def view(self, side: int) -> Image:
        """Look straight at the zone of a side, for capturing tiles."""
        return await self._run(lambda: self._eyes.view(side))

    async def use(self, calibration: Calibration) -> None:
        """Look through another calibration from now on."""
        await self._run(lambda: self._eyes.use(calibration))
        self.sees_indicator = "indicator" in calibration.zones

    async def enrolled(self, files: Sequence[Path]) -> None:
        """Read with these files of tile sets from now on."""
        load = self._load_with
        assert load is not None
        await self._run(lambda: self._eyes.read_with(lambda: load(files)))

    async def _run(self, work: Callable[[], Work]) -> Work:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Release camera and thread."""
        self._pool.submit(self._eyes.close)
        self._pool.shutdown(wait=False, cancel_futures=True)


def eyes_of(config: TableConfig, rules: RuleSet, home: Path) -> EyesThread | None:
    """Return camera and recognizer as configured; None for a table whose hands are typed in."""
    if config.camera == "none":
        return None
    calibration = _calibration(config, home)
    card = Path(config.model) if config.model else None
    camera = f"render:{home / 'scene.json'}" if config.camera == "render" else config.camera
    kinds = frozenset(tile.id for tile in rules.tile_set.kinds)
    tilesets = tileset_files(config)

    def load(files: Sequence[Path]) -> Reader:
        recognizer = Recognizer.load(card, threads=config.threads)
        for file in renew_stale(files, recognizer):
            log.warning("tileset", learned_anew=str(file), why="another recognizer")
        return with_tilesets(recognizer, files, kinds)

    eyes = Eyes(
        lambda: _opened(camera, config.camera_wishes),
        lambda: load(tilesets),
        calibration,
        kinds,
        shape_of(rules),
        config.camera_ignores,
    )
    return EyesThread(eyes, calibration is not None and "indicator" in calibration.zones, load)


def _opened(source: str | int, wishes: CameraWishes) -> Camera:
    """Open the camera; what its driver does not do as wished is logged."""
    camera = open_camera(source, wishes=Wishes(**msgspec.structs.asdict(wishes)))
    if isinstance(camera, DeviceCamera) and camera.refused:
        log.warning("camera", refused=camera.refused)
    return camera


def _calibration(config: TableConfig, home: Path) -> Calibration | None:
    """Return the taught geometry: the file configured, else what the page `/calibrate` left in the home."""
    taught = home / "calibration.json"
    if config.calibration or taught.is_file():
        return Calibration.load(Path(config.calibration) if config.calibration else taught)
    return default_calibration() if config.camera == "render" else None
