"""What a process would not take of its own configuration: loaded and checked as the process does it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from engine.errors import EngineError, MissingExtraError
from engine.options import OptionError
from engine.rulesets import RuleSet
from station import messages as m
from station.central.config import CentralConfig
from station.doctor.facts import SettingFacts
from station.errors import ConfigError, StationError
from station.link.keys import load_public
from station.log.log import Log
from station.table.config import TableConfig
from station.table.opening import check_unchanged, opened_by
from station.table.process import rules_of
from station.table.tilesets import tileset_files
from vision.enroll.tileset import TileSet
from vision.errors import VisionError
from vision.geometry import Calibration

__all__ = ["refused_settings"]

_ENDPOINT: Final = re.compile(r"tcp://(?:[^\s:/\[\]]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")
_MAX_PORT: Final = 65535


def refused_settings(config: TableConfig | CentralConfig) -> tuple[SettingFacts, ...]:
    """Name each setting that the process would refuse, with why and what to do."""
    return tuple(_of_central(config) if isinstance(config, CentralConfig) else _of_table(config))


def _of_central(config: CentralConfig) -> Iterator[SettingFacts]:
    yield from _http_port(config.http_port)
    for key, endpoint in (("link", config.link), ("evidence", config.evidence)):
        yield from _endpoint(key, endpoint, "tcp://0.0.0.0:7700", least=0)
    if not 0 <= config.pair_port <= _MAX_PORT:
        yield SettingFacts("pair_port", f"there is no port {config.pair_port}.", "Use 0 to 65535.")


def _of_table(config: TableConfig) -> Iterator[SettingFacts]:
    yield from _http_port(config.http_port)
    try:
        rules = rules_of(config)
    except EngineError as error:
        # The engine's sentences say what there is instead.
        key = "options" if isinstance(error, OptionError) else "ruleset"
        fix = "" if isinstance(error, MissingExtraError) else f"Correct {key} in the table's file."
        yield SettingFacts(key, str(error), fix)
    else:
        yield from _session(config, rules)
    yield from _taught(config)
    yield from _stations(config)


def _session(config: TableConfig, rules: RuleSet) -> Iterator[SettingFacts]:
    """Whether a session could be opened so, or goes on so."""
    try:
        opened = _opened(Path(config.home) / "table.db")
        if opened is None:
            opened_by(config, rules)
        else:
            check_unchanged(opened, config, rules)
    except ConfigError as error:
        key = "options" if error.code == "config.unanswered" else "session"
        yield SettingFacts(key, error.message, error.fix)


def _opened(log: Path) -> m.SessionOpened | None:
    """Return the opening of the session in the log; what is wrong with the log itself others tell."""
    if not log.exists():
        return None
    try:
        with Log.open(log, read_only=True) as reader:
            first = reader.entries_of(reader.log_id, 0, 1)
        body = m.decode(first[0].kind, first[0].body) if first else None
    except (StationError, msgspec.DecodeError):
        return None
    return body if isinstance(body, m.SessionOpened) else None


def _taught(config: TableConfig) -> Iterator[SettingFacts]:
    """The files that were taught: calibration and tile sets."""
    if config.camera == "none":
        return
    taught = Path(config.calibration) if config.calibration else Path(config.home) / "calibration.json"
    try:
        if config.calibration or taught.is_file():
            Calibration.load(taught)
    except VisionError as error:
        yield SettingFacts("calibration", str(error), "Teach the zones on /calibrate, or correct the path.")
    try:
        for file in tileset_files(config):
            TileSet.load(file)
    except VisionError as error:
        yield SettingFacts("tilesets", str(error), "Enrol the tiles on /enroll, or correct the path.")


def _stations(config: TableConfig) -> Iterator[SettingFacts]:
    central = config.central
    if central is None:
        return
    second = central.standby
    named = {"central.endpoint": central.endpoint, "central.evidence_endpoint": central.evidence_endpoint}
    if second is not None:
        yield from _endpoint("central.standby.endpoint", second.endpoint, "tcp://192.168.1.3:7700")
    for key, endpoint in named.items():
        if endpoint:
            yield from _endpoint(key, endpoint, "tcp://192.168.1.2:7700")
    if second is not None and _same_key(Path(central.public_key), Path(second.public_key)):
        yield SettingFacts(
            "central.standby.public_key",
            "it is the key of the main station.",
            "Run `quezhuo pair --standby` with the second station, or delete [central.standby].",
        )


def _same_key(one: Path, other: Path) -> bool:
    try:
        return load_public(one) == load_public(other)
    except StationError:  # told by the keys themselves
        return False


def _http_port(port: int) -> Iterator[SettingFacts]:
    if not 0 <= port <= _MAX_PORT:
        yield SettingFacts("http_port", f"there is no port {port}.", "Use 0 to 65535.")


def _endpoint(key: str, text: str, example: str, *, least: int = 1) -> Iterator[SettingFacts]:
    fits = _ENDPOINT.fullmatch(text)
    if fits is None or not least <= int(fits[1]) <= _MAX_PORT:
        yield SettingFacts(key, f"{text!r} is no address.", f'Write it like "{example}".')
