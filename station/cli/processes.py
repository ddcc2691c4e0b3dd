"""`table` and `central`: the two long-running processes."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firmware_bridge.errors import PortError
from station.cli.output import OK, emit
from station.ops import logs
from station.stopping import Stop


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="TOML file; `quezhuo config` prints one"
    )
    parser.add_argument(
        "--log-level",
        choices=logs.LEVELS,
        default="info",
        help="the least that is written to stderr (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the process named by the command until SIGTERM or SIGINT."""
    path = Path(arguments.config)
    if arguments.command == "central":
        from station.central.process import load_config, run_central

        logs.set_up("central", level=arguments.log_level)
        stop = Stop()
        try:
            asyncio.run(run_central(load_config(path), emit, stop=stop))
        finally:
            stop.ended()
        return OK
    from station.cli.failures import plain_failures
    from station.table import process
    from station.table.config import load_config as load_table

    with plain_failures(), _sent_to_doctor(path):
        config = load_table(path)
        logs.set_up("table", table=config.table, level=arguments.log_level)
        stop = Stop()
        try:
            asyncio.run(process.run(config, emit, stop))
        finally:
            stop.ended()
    return OK


@contextmanager
def _sent_to_doctor(config: Path) -> Iterator[None]:
    """Name the command that looks further when the machine's port does not open."""
    try:
        yield
    except PortError as error:
        error.args = (f"{error} `quezhuo doctor --config {config}` looks for what is in the way.",)
        raise
