"""`restore`: a backup into a home, or a table's log from the central station's copy of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from station.cli.failures import plain_failures
from station.cli.output import OK, counted, emit, note, say
from station.errors import ConfigError
from station.ops.manifest import Manifest
from station.ops.restore import rebuild_from_central, restore

EXAMPLE = " " * len("example: ") + "quezhuo restore --from-central central/central.db --table T1 --home T1"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = f"{parser.epilog}\n{EXAMPLE}"
    parser.add_argument("backup", nargs="?", metavar="BACKUP", help="folder that `quezhuo backup` made")
    parser.add_argument("--force", action="store_true", help="move what is in the home aside first")
    parser.add_argument("--from-central", metavar="LOG", help="the central station's log, or a copy of it")
    parser.add_argument("--table", metavar="ID", help="with --from-central: whose log")
    parser.add_argument("--log-id", metavar="HEX", help="with --from-central: which, if it had several")


def run(arguments: argparse.Namespace) -> int:
    """Restore; nothing is touched before everything was checked."""
    if arguments.home is None:
        raise ConfigError("It is not said where to restore to.", fix="Add --home DIR.", code="usage")
    if bool(arguments.backup) == bool(arguments.from_central):
        raise ConfigError(
            "One source is needed.", fix="Name a backup, or --from-central LOG --table ID.", code="usage"
        )
    home = Path(arguments.home)
    with plain_failures():
        if arguments.from_central:
            return _from_central(arguments, home)
        manifest, aside = restore(Path(arguments.backup), home, force=arguments.force, progress=note)
    if arguments.json:
        emit(
            {
                "home": str(home.absolute()),
                "process": manifest.process,
                "table": manifest.table,
                "entries": manifest.pos,
                "head": manifest.head,
                "aside": None if aside is None else str(aside),
                "with_keys": manifest.with_keys,
            }
        )
    else:
        _tell(manifest, home, aside)
    return OK


def _tell(manifest: Manifest, home: Path, aside: Path | None) -> None:
    say(f"{home}: restored as of {manifest.made_at}, {manifest.pos} entries, head {manifest.head}.")
    if aside is not None:
        say(f"What was there is now {aside}.")
    say(f"The configuration{' and the keys' if manifest.with_keys else ''} of then: {home / 'restored'}.")
    if manifest.process == "table":
        say("The central station may have more of this table. Before it is started, complete its log:")
        say(f"  quezhuo restore --from-central CENTRAL.db --table {manifest.table} --home {home}")
    else:
        say("What the tables have booked since then they send again by themselves.")


def _many(entries: int) -> str:
    return counted(entries, "entry", "entries")


def _from_central(arguments: argparse.Namespace, home: Path) -> int:
    if not arguments.table:
        raise ConfigError("It is not said whose log.", fix="Add --table ID.", code="usage")
    try:
        log_id = None if arguments.log_id is None else bytes.fromhex(arguments.log_id)
    except ValueError:
        raise ConfigError(f"{arguments.log_id!r} is no log id.", fix="It has 32 hex digits.") from None
    rebuilt = rebuild_from_central(Path(arguments.from_central), arguments.table, home, log_id=log_id)
    changed = rebuilt.now != rebuilt.before
    entries = rebuilt.now + 1 if changed else rebuilt.now  # with `log.rebuilt`, as `verify` counts
    if arguments.json:
        emit(
            {
                "home": str(home.absolute()),
                "table": arguments.table,
                "log_id": rebuilt.log_id.hex(),
                "before": rebuilt.before,
                "entries": entries,
                "aside": None if rebuilt.aside is None else str(rebuilt.aside),
            }
        )
    elif not changed:
        say(f"{home}: the table's log has {_many(entries)}, the central station no more. Nothing to do.")
    else:
        say(
            f"{home}: the table's log had {_many(rebuilt.before)} and has {_many(entries)} now; "
            "the last one says that it was rebuilt."
        )
        if rebuilt.aside is not None:
            say(f"The earlier file is now {rebuilt.aside}.")
    return OK
