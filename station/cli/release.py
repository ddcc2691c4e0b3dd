"""`release`: a person ends the quarantine of a table's log."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from station.central.config import CentralConfig, load_config
from station.cli.failures import plain_failures
from station.cli.output import OK, emit, say
from station.errors import ConfigError, LogInUse, NotALog
from station.log import Log
from station.log.reception import ROLLED_BACK

LONGEST = 200
"""Characters of a reason."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("table", metavar="TABLE", help="whose log: T1")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why, for whoever asks later")
    parser.add_argument(
        "--log-id", metavar="HEX", help="which log, if several of the table are in quarantine"
    )
    parser.add_argument(
        "--config",
        default="central.toml",
        metavar="FILE",
        help="configuration of the central station (default: central.toml)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Book the release in the log of the station, which must not run."""
    reason = " ".join(arguments.reason.split())
    if not 1 <= len(reason) <= LONGEST or not reason.isprintable():
        raise ConfigError(f"--reason has to have 1 to {LONGEST} characters.", fix="Say why: --reason ...")
    with plain_failures(), _opened(load_config(Path(arguments.config))) as log:
        log_id = _chosen(log, arguments.table, arguments.log_id)
        log.release(log_id, "person", reason, int(1000 * time.time()))
        stored = log.head_of(log_id)
    if arguments.json:
        emit(
            {
                "table": arguments.table,
                "log_id": log_id.hex(),
                "reason": reason,
                "entries": stored.seq,
                "head": stored.hash.hex(),
            }
        )
    else:
        say(
            f"The log {log_id.hex()} of {arguments.table} is taken again behind its {stored.seq} entries. "
            "If the table holds another history, it is put into quarantine again."
        )
    return OK


def _opened(config: CentralConfig) -> Log:
    path = Path(config.home) / "central.db"
    if not path.is_file():
        raise NotALog(f"There is no log at {path}.", fix="Check --config.")
    try:
        return Log.open(path)
    except LogInUse:
        raise LogInUse(
            f"The central station runs and holds the log {path}.",
            fix="Stop it, and start it again afterwards.",
        ) from None


def _chosen(log: Log, table: str, wanted: str | None) -> bytes:
    """Give the one log of a table that is in quarantine for a fork."""
    held = {log_id.hex(): log_id for log_id in log.chains_of(table) if log.in_quarantine(log_id)}
    if wanted is not None:
        held = {name: log_id for name, log_id in held.items() if name == wanted.lower()}
    if not held:
        raise ConfigError(
            f"No such log of table {table} is in quarantine.",
            fix="Check the name of the table, and --log-id.",
        )
    if len(held) > 1:
        raise ConfigError(
            f"Several logs of table {table} are in quarantine: {', '.join(sorted(held))}.",
            fix="Say which: --log-id HEX.",
        )
    (log_id,) = held.values()
    if log.quarantined(log_id) == ROLLED_BACK:
        raise ConfigError(
            f"The log of table {table} is older than the station's copy, and is taken again once completed.",
            fix="At the table: `quezhuo restore --from-central`.",
        )
    return log_id
