"""`table` and `central`: the two long-running processes."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from firmware_bridge.errors import PortError
from station.cli.output import OK, emit


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="TOML file; `quezhuo config` prints one"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the process named by the command until SIGTERM or SIGINT."""
    log_to_stderr()
    path = Path(arguments.config)
    if arguments.command == "central":
        from station.central.process import load_config, run_central

        asyncio.run(run_central(load_config(path), emit))
        return OK
    from station.cli.failures import plain_failures
    from station.table import process
    from station.table.config import load_config as load_table

    with plain_failures(), _sent_to_doctor(path):
        asyncio.run(process.run(load_table(path), emit))
    return OK


@contextmanager
def _sent_to_doctor(config: Path) -> Iterator[None]:
    """Name the command that looks further when the machine's port does not open."""
    try:
        yield
    except PortError as error:
        error.args = (f"{error} `quezhuo doctor --config {config}` looks for what is in the way.",)
        raise


def log_to_stderr(*, warnings_only: bool = False) -> None:
    """Send the process's own log to stderr, one line an entry."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.WARNING if warnings_only else logging.INFO
        ),
        # Asked at each line, since stderr may be another one by then (a test's, say).
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
