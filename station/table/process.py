"""The table process: wires log, machine, camera and HTTP together and runs until it is told to stop."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import structlog
from starlette.applications import Starlette

from engine import rulesets
from engine.rulesets import RuleSet
from firmware_bridge.machine import MachineEvent
from firmware_bridge.machines import Settings, open_machine, probe, with_lasting_port
from station.clock import Clock
from station.errors import ConfigError
from station.evidence.policy import Removal
from station.files import sweep
from station.link.keys import load_pair, load_public
from station.link.sockets import LinkSettings
from station.running import run_until, stop_in_the_end
from station.serving import HttpServer
from station.stopping import Stop
from station.table.acting import Actor
from station.table.api import routes
from station.table.commands import Commands, applied
from station.table.config import TableConfig, machine_settings
from station.table.evidence import Removals, listen_to, sender_of
from station.table.eyes import eyes_of
from station.table.health import tell_health
from station.table.locate import with_endpoint
from station.table.operation import of_table
from station.table.photos import PhotoStore
from station.table.runtime import Table
from station.table.times import TableTimes
from station.table.writer import LogWriter

log = structlog.get_logger()


def rules_of(config: TableConfig) -> RuleSet:
    """Return the configured rule set, ready to judge."""
    rules = rulesets.load(config.ruleset, config.options)
    rules.load_libraries()
    return rules


def link_of(config: TableConfig) -> LinkSettings | None:
    """Return how to reach the central station; None for a table on its own."""
    if config.central is None or config.secret_key is None:
        return None
    other = config.central.standby
    return LinkSettings(
        table_id=config.table,
        endpoint=config.central.endpoint,
        server_key=load_public(Path(config.central.public_key)),
        keys=load_pair(Path(config.secret_key)),
        standby=None if other is None else (other.endpoint, load_public(Path(other.public_key))),
    )


def _signer(config: TableConfig) -> bytes | None:
    """Return the secret of the key that signs the log; None for a table without one."""
    return None if config.secret_key is None else load_pair(Path(config.secret_key)).signer


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


async def run(
    config: TableConfig, ready: Callable[[dict[str, object]], None], stop: Stop | None = None
) -> None:
    """Run a table until SIGTERM or SIGINT.

    Args:
        config: as loaded, with absolute paths.
        ready: called once with the ready line.
        stop: ends it besides; signals reach it once the process is ready.

    Raises:
        StationError, VisionError, BridgeError: something can't be opened.
    """
    home = _made(Path(config.home))
    config = await with_endpoint(config, home)
    clock = Clock()
    rules = rules_of(config)
    link, photos = link_of(config), PhotoStore(home / "photos")
    settings, port_to_use = _machine_of(config)
    times = TableTimes(clock, home / "session-clock.json")
    commands = Commands({})
    news = _News()
    async with AsyncExitStack() as stack:
        writer = LogWriter(
            home / "table.db",
            link,
            clock,
            news.changed,
            signer=_signer(config),
            times=times,
            on_command=commands.take,
            on_value=lambda key, body: listen_to(evidence, config, link, key, body),
        )
        stop_in_the_end(stack, writer)
        evidence = sender_of(config, home, photos, clock, news.photos_due, news.photos_wait)
        stop_in_the_end(stack, evidence)
        eyes = eyes_of(config, rules, home)
        if eyes is not None:
            stack.callback(eyes.close)
        machine = open_machine(
            settings,
            home / "commands.db",
            on_change=lambda _: news.changed(),
            on_event=news.machine_told,
            dumps=home / "frames",
            record=Path(config.record) if config.record else None,
            on_record_lost=news.record_lost,
        )
        if machine is not None:
            stack.push_async_callback(machine.close)
        table = news.table = Table(config, rules, writer, photos, machine, eyes, clock, times)
        table.port_to_use = port_to_use
        server = HttpServer.bind(
            Starlette(routes=[*of_table(table, writer), *routes(table)]),
            config.http_host,
            config.http_port,
            names=config.http_names,
            traffic=table.traffic,
        )
        stack.callback(server.close)
        await writer.start()
        sweep(photos.folder)
        await evidence.start()
        if settings is not None and not writer.stored(limit=1):
            # At set-up a wrong port is a mistake to be told at once. A session that has begun is not held
            # hostage by a cable: then the screen shows the port's state, and hands can still be ruled.
            await probe(settings)
        await table.load()
        writer.follow_commands(applied(table.session))
        if eyes is not None:
            await eyes.warm_up()
        endpoint = config.central.endpoint if config.central else None
        stop = stop or Stop()
        stop.listen()
        ready({"ready": True, "http": server.address, "link": endpoint, "pid": os.getpid()})
        works = [
            writer.finished(),
            evidence.finished(),
            tell_health(table, writer),
            commands.run(table),
            Actor(table).run(),
        ]
        if machine is not None:
            works.append(machine.run())
        await run_until(stop, server, works, end_streams=table.stop)


class _News:
    """Hands what log, machine and photos tell to the table, which is made after them."""

    def __init__(self) -> None:
        self.table: Table | None = None
        self._removals = Removals()

    def changed(self) -> None:
        """Something that the screens show has changed."""
        if self.table is not None:
            self.table.changed()

    def machine_told(self, event: MachineEvent) -> None:
        """The machine reports something by itself."""
        if self.table is not None:
            self.table.machine_told(event)

    def record_lost(self, why: str) -> None:
        """The disk refused the recording of the machine's line."""
        log.warning("record", lost=why)
        if self.table is not None:
            self.table.record_lost()

    def photos_wait(self, photos: int) -> None:
        """So many photos are still to be sent."""
        if self.table is not None:
            self.table.photos_wait(photos)

    def photos_due(self, removals: list[Removal]) -> None:
        """Photos are to be removed by rule."""
        if self.table is not None:
            self._removals.due(self.table, removals)


def _machine_of(config: TableConfig) -> tuple[Settings | None, str | None]:
    """Return the machine's settings with a port that lasts, and its name if the file has another one."""
    settings = machine_settings(config)
    if settings is None:
        return None, None
    lasting, to_mend = with_lasting_port(settings)
    if to_mend is not None:
        log.warning("port", found=to_mend.sentence, fix=to_mend.fix)
    return lasting, None if lasting.port == settings.port else lasting.port
