"""Files of a demo: keys, configurations and ports, made anew for each run below one folder."""

from __future__ import annotations

import shutil
import socket
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import SystemRandom
from typing import Any, Final

import msgspec

from engine import rulesets
from engine.claim import OptionValue
from engine.rulesets import RuleSet
from firmware_bridge import profiles
from station.errors import ConfigError
from station.link.keys import generate, write_allow_list
from station.places import by_side, sides_of
from vision.calibration.drift import make_reference
from vision.geometry import Calibration, default_calibration
from vision.render import Scene, render

SURNAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨"
GIVEN = ("立芳悦明", "凯静强敏", "磊婷勇丽", "刚娟涛燕")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is played. ``hands``: per table, None = on and on. ``speed``: how fast the machine runs."""

    tables: int
    hands: int | None
    ruleset: str
    seed: int
    mend: bool
    referee: bool
    speed: float
    model: str | None
    think_s: float = 3.0
    """Seconds the players take before a claim where a person is the referee: time to look at the page."""


@dataclass(frozen=True, slots=True)
class TableFiles:
    """Paths and addresses of one table of the demo."""

    name: str
    home: Path
    config: Path
    pty: Path
    pulses: Path
    http: str

    @property
    def log(self) -> Path:
        """The table's log."""
        return self.home / "table.db"

    @property
    def scene(self) -> Path:
        """What the camera double shows."""
        return self.home / "scene.json"


@dataclass(frozen=True, slots=True)
class Layout:
    """All files of one run. ``folder`` is the demo's own and is emptied by the next run."""

    folder: Path
    tables: tuple[TableFiles, ...]
    central_config: Path
    central_http: str

    @property
    def central_log(self) -> Path:
        """The central station's log."""
        return self.folder / "central" / "central.db"


_PORTS: Final = range(20_000, 32_768)
_given: set[int] = set()


def free_port() -> int:
    """Return a TCP port of the loopback address that is free now.

    It is none of those that the system hands out by itself (Linux: from 32768 on): until it is bound, no
    connection and no other program's "any port" takes it.

    Raises:
        ConfigError: none of a hundred was free.
    """
    for port in SystemRandom().sample(_PORTS, 100):
        with socket.socket() as probe, suppress(OSError):  # somebody has it
            probe.bind(("127.0.0.1", port))
            if port not in _given:
                _given.add(port)
                return port
    raise ConfigError("No free port was found on this computer.", fix="Close other programs.")


def prepare(home: Path, settings: Settings) -> Layout:
    """Write keys and configurations of a fresh run below ``home``/demo; the last run's data goes."""
    folder = home / "demo"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    names = [f"T{number}" for number in range(1, settings.tables + 1)]
    keys = folder / "keys"
    generate(keys, "central")
    write_allow_list(keys / "tables.toml", {name: generate(keys, name).public for name in names})
    link, http = free_port(), free_port()
    endpoint = f"tcp://127.0.0.1:{link}"
    central_config = folder / "central.toml"
    _write(
        central_config,
        {
            "home": str(folder / "central"),
            "http_port": http,
            "link": endpoint,
            "event": "演示 Demo",
            "secret_key": "keys/central.key",
            "allow_list": "keys/tables.toml",
        },
    )
    _taught().save(folder / "calibration.json")
    tables = tuple(_table(home, folder, name, endpoint, settings) for name in names)
    return Layout(folder, tables, central_config, f"http://127.0.0.1:{http}/")


def _taught() -> Calibration:
    """The rendered table as a technician would have taught it: with a look at it empty."""
    exact = default_calibration()
    return replace(exact, reference=make_reference(render(Scene()), exact))


def players(table: int, number: int = 4) -> list[str]:
    """Return the names of the players of a table; no two of sixteen tables share one."""
    return [
        SURNAMES[(4 * table + place) % len(SURNAMES)] + GIVEN[table // 4][place] for place in range(number)
    ]


def machine_profile(rules: RuleSet) -> str:
    """Return the id of the machine's setting that builds the walls of a rule set.

    Raises:
        ConfigError: no machine builds such walls.
    """
    stacks = rules.deal_pattern.stacks
    wanted = by_side(stacks, sides_of(len(stacks)))
    name = profiles.with_walls(wanted)
    if name is not None:
        return name
    raise ConfigError(f"No machine builds walls of {wanted} stacks.", fix="Choose another rule set.")


def asked(rules: RuleSet) -> dict[str, OptionValue]:
    """Return the options without a silent default, which an organiser is asked for; they take our values."""
    specs = rulesets.option_specs(rules.id)
    return {name: rules.options[name] for name, spec in specs.items() if spec.ask == "must"}


def _table(home: Path, folder: Path, name: str, endpoint: str, settings: Settings) -> TableFiles:
    rules = rulesets.load(settings.ruleset)
    port = free_port()
    table_home = folder / name
    table_home.mkdir()
    pty = folder / f"{name}.pty"
    config: dict[str, Any] = {
        "table": name,
        "home": str(table_home),
        "http_port": port,
        "ruleset": settings.ruleset,
        "options": asked(rules),
        "players": players(int(name[1:]) - 1, rules.players),
        "serial": f"pty:{pty}",
        "camera": "render",
        "calibration": "calibration.json",
        "secret_key": f"keys/{name}.key",
        "central": {"endpoint": endpoint, "public_key": "keys/central.pub"},
    }
    if settings.model is not None:
        config["model"] = str(Path(settings.model).resolve())
    path = folder / f"{name}.toml"
    _write(path, config)
    pulses = home / f"pulses-{name}.json"
    pulses.unlink(missing_ok=True)
    return TableFiles(name, table_home, path, pty, pulses, f"http://127.0.0.1:{port}/")


def _write(path: Path, config: dict[str, Any]) -> None:
    path.write_bytes(msgspec.toml.encode(config))
