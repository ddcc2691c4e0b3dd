"""`revoke`: a table's key counts no more, from this moment on."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from station.central.config import load_config
from station.cli.output import OK, emit, say
from station.errors import ConfigError
from station.link.register import load_register, write_register

LONGEST = 200
"""Characters of a reason."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("table", metavar="TABLE", help="whose key: T1")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why, for whoever asks later")
    parser.add_argument(
        "--config",
        default="central.toml",
        metavar="FILE",
        help="configuration of the central station (default: central.toml)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the revocation into the allow-list; a running station takes it over by itself."""
    reason = " ".join(arguments.reason.split())
    if not 1 <= len(reason) <= LONGEST or not reason.isprintable():
        raise ConfigError(f"--reason has to have 1 to {LONGEST} characters.", fix="Say why: --reason stolen")
    path = Path(load_config(Path(arguments.config)).allow_list)
    at = datetime.now().astimezone()
    register = load_register(path).revoking(arguments.table, at, reason)
    write_register(path, register)
    entry = register.tables[arguments.table]
    if arguments.json:
        emit({"table": arguments.table, "key": entry.key, "revoked": entry.revoked, "reason": reason})
    else:
        say(
            f"The key of {arguments.table} is refused from now on ({path}). "
            "To let the table in again: move its keys away, then `quezhuo pair`."
        )
    return OK
