"""`machine-sim`: a simulated machine behind a pseudo-terminal, as a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from firmware_bridge.sim.cli import add_arguments, options_of
from firmware_bridge.sim.menu import help_text
from firmware_bridge.sim.process import run as run_machine
from station.cli.failures import plain_failures
from station.cli.output import OK
from station.errors import ConfigError

FIX = "`quezhuo config machine-sim` prints a valid file."
_PATHS = frozenset({"link", "pulses", "record", "state"})
_TYPES: dict[str, type | tuple[type, ...]] = {
    "profile": str,
    "faults": str,
    "speed": (int, float),
    "seed": int,
    "pulses": str,
    "state": str,
    "fresh": str,
    "link": str,
    "uid": int,
    "service_key": bool,
    "record": str,
    "control": bool,
    "page": int,
}
"""Options that a file may set, with their types there."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--config", metavar="FILE", help="TOML file; `quezhuo config machine-sim` prints one")
    _add(parser)
    parser.epilog = f"{parser.epilog}\n\n{help_text()}"


def _add(parser: argparse.ArgumentParser) -> None:
    add_arguments(parser)
    parser.add_argument(
        "--page", type=int, metavar="PORT", help="serve a training page on this computer (0: any free port)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT."""
    if arguments.config:
        _fill_in(arguments, Path(arguments.config))
    with plain_failures():
        options = options_of(arguments)
        if arguments.page is None:
            return run_machine(options, sys.stdout)
        from station.training.process import run as run_page

        asyncio.run(run_page(options, arguments.page, _say))
    return OK


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _fill_in(arguments: argparse.Namespace, path: Path) -> None:
    """Take from the file what the command line left at its default."""
    parser = argparse.ArgumentParser()
    _add(parser)
    defaults = vars(parser.parse_args([]))
    for key, value in _load(path).items():
        name = "link" if key == "pty_link" else key
        if name not in defaults:
            raise ConfigError(f"{path}: unknown key {key}.", fix=FIX)
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool) is not (_TYPES[name] is bool):
            raise ConfigError(f"{path}: {key} = {value!r} is of the wrong type.", fix=FIX)
        if getattr(arguments, name) == defaults[name]:
            setattr(arguments, name, path.absolute().parent / str(value) if name in _PATHS else value)


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}.", fix="Name a file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}.", fix=FIX) from None
