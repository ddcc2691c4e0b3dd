"""`pair`: bring a table and the central station together; one command, run at both."""

from __future__ import annotations

import argparse
import asyncio
import tomllib
from pathlib import Path

from station.cli import pair_station, pair_table
from station.errors import ConfigError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="configuration of the station, or of the table"
    )
    parser.add_argument(
        "what",
        nargs="?",
        metavar="TABLE or TICKET",
        help="at the station: the one table that may come (default: any); at the table: the ticket",
    )
    station = parser.add_argument_group("at the station")
    station.add_argument("--port", type=int, metavar="N", help="where to listen (default: pair_port)")
    station.add_argument("--replace", action="store_true", help="the table may come with another key")
    table = parser.add_argument_group("at the table; without ticket by a code of six digits")
    table.add_argument("--photo", metavar="FILE", help="photograph of the ticket's QR code")
    table.add_argument("--camera", action="store_true", help="hold the ticket before the table's camera")
    table.add_argument("--station", metavar="HOST:PORT", help="where the station is, if it is not found")
    table.add_argument(
        "--standby", action="store_true", help="the station is the second one: [central.standby]"
    )
    parser.epilog = "\n".join(
        [
            "example: quezhuo pair --config central.toml T1",
            "         quezhuo pair --config table.toml QZP1:AB…",
            "         quezhuo pair --config table.toml --photo ticket.jpg",
            "         quezhuo pair --config table.toml",
            "         quezhuo pair --config table.toml --standby QZP1:AB…",
        ]
    )


def run(arguments: argparse.Namespace) -> int:
    """Pair; the configuration says which side this is."""
    path = Path(arguments.config)
    if _is_station(path):
        _only(arguments, ("photo", "camera", "station", "standby"), "at a table")
        return asyncio.run(pair_station.run(arguments, path))
    _only(arguments, ("port", "replace"), "at the station")
    return pair_table.run(arguments, path)


def _is_station(path: Path) -> bool:
    try:
        return "allow_list" in tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"The configuration {path} cannot be read: {error.strerror}.", fix="Check the path."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}.", fix="`quezhuo config` prints valid files.") from None


def _only(arguments: argparse.Namespace, names: tuple[str, ...], where: str) -> None:
    given = [name for name in names if getattr(arguments, name) not in (None, False)]
    if given:
        raise ConfigError(f"--{given[0]} is used {where}.", fix="See `quezhuo pair --help`.")
