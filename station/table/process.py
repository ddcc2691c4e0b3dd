"""The table process: wires log, machine, camera and HTTP together and runs until it is told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec
import structlog
from starlette.applications import Starlette

from engine import rulesets
from engine.rulesets import RuleSet
from firmware_bridge.abstract import Machine
from firmware_bridge.machine import MachineEvent
from firmware_bridge.machines import Settings, open_machine, probe, with_lasting_port
from station.clock import Clock
from station.errors import ConfigError
from station.link.keys import load_pair, load_public
from station.link.sockets import LinkSettings
from station.serving import HttpServer
from station.table.acting import Actor
from station.table.api import routes
from station.table.camera_worker import Eyes, Seen, SeenHand, Unfit
from station.table.config import CameraWishes, TableConfig, machine_settings
from station.table.interpret import shape_of
from station.table.photos import PhotoStore
from station.table.runtime import Table
from station.table.tilesets import SetsInUse, renew_stale, tileset_files
from station.table.writer import LogWriter
from vision.camera import Camera, DeviceCamera, Wishes, open_camera
from vision.enroll.reader import with_tilesets
from vision.geometry import Calibration, default_calibration
from vision.reading_service import Reader
from vision.readings import Image
from vision.recognizer import Recognizer

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


def rules_of(config: TableConfig) -> RuleSet:
    """Return the configured rule set, ready to judge."""
    rules = rulesets.load(config.ruleset, config.options)
    rules.load_libraries()
    return rules


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


def link_of(config: TableConfig) -> LinkSettings | None:
    """Return how to reach the central station; None for a table on its own."""
    if config.central is None or config.secret_key is None:
        return None
    return LinkSettings(
        table_id=config.table,
        endpoint=config.central.endpoint,
        server_key=load_public(Path(config.central.public_key)),
        keys=load_pair(Path(config.secret_key)),
    )


def _made(home: Path) -> Path:
    """Make the table's folder.

    Raises:
        ConfigError: it can't be made.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The folder {home} can't be made: {error.strerror}.", fix="Set another home."
        ) from None
    return home


async def run(config: TableConfig, ready: Callable[[dict[str, object]], None]) -> None:
    """Run a table until SIGTERM or SIGINT.

    Args:
        config: as loaded, with absolute paths.
        ready: called once with the ready line.

    Raises:
        StationError, VisionError, BridgeError: something can't be opened.
    """
    home = _made(Path(config.home))
    clock = Clock()
    rules = rules_of(config)
    eyes = eyes_of(config, rules, home)
    tables: list[Table] = []

    def changed() -> None:
        for table in tables:
            table.changed()

    writer = LogWriter(home / "table.db", link_of(config), clock, changed)
    settings, port_to_use = _machine_of(config)

    def told(event: MachineEvent) -> None:
        for table in tables:
            table.machine_told(event)

    def unrecorded(why: str) -> None:
        log.warning("record", lost=why)
        for table in tables:
            table.record_lost()

    machine = open_machine(
        settings,
        home / "commands.db",
        on_change=lambda _: changed(),
        on_event=told,
        dumps=home / "frames",
        record=Path(config.record) if config.record else None,
        on_record_lost=unrecorded,
    )
    table = Table(config, rules, writer, PhotoStore(home / "photos"), machine, eyes, clock)
    table.port_to_use = port_to_use
    tables.append(table)
    server = HttpServer.bind(Starlette(routes=routes(table)), config.http_host, config.http_port)
    await writer.start()
    try:
        if settings is not None and not writer.stored():
            # At set-up a wrong port is a mistake to be told at once. A session that has begun is not held
            # hostage by a cable: then the screen shows the port's state, and hands can still be ruled.
            await probe(settings)
        await table.load()
        if eyes is not None:
            await eyes.warm_up()
        endpoint = config.central.endpoint if config.central else None
        ready({"ready": True, "http": server.address, "link": endpoint, "pid": os.getpid()})
        await _serve(table, server, machine, writer)
    finally:
        if machine is not None:
            await machine.close()
        if eyes is not None:
            eyes.close()
        await writer.stop()


def _machine_of(config: TableConfig) -> tuple[Settings | None, str | None]:
    """Return the machine's settings with a port that lasts, and its name if the file has another one."""
    settings = machine_settings(config)
    if settings is None:
        return None, None
    lasting, to_mend = with_lasting_port(settings)
    if to_mend is not None:
        log.warning("port", found=to_mend.sentence, fix=to_mend.fix)
    return lasting, None if lasting.port == settings.port else lasting.port


async def _serve(table: Table, server: HttpServer, machine: Machine | None, writer: LogWriter) -> None:
    """Run everything until a signal, or until one part fails for good."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    works: list[Awaitable[None]] = [Actor(table).run(), writer.finished(), server.serve()]
    if machine is not None:
        works.append(machine.run())
    tasks = [asyncio.ensure_future(work) for work in works]
    waiting = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait([*tasks, waiting], return_when=asyncio.FIRST_COMPLETED)
    table.stop()
    server.stop()
    for task in (*tasks, waiting):
        if task not in done:
            task.cancel()
    await asyncio.gather(*tasks, waiting, return_exceptions=True)
    for task in done:
        if task is not waiting:
            task.result()
