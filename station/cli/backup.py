"""`backup`: log, photographs and configuration of a process into a folder, also while it runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from station.cli.failures import plain_failures
from station.cli.output import OK, counted, emit, note, say
from station.cli.which import source_of
from station.ops.backup import back_up


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--config", required=True, metavar="FILE", help="of the table or the central station")
    parser.add_argument("target", metavar="DEST", help="a new folder, best on another disk")
    parser.add_argument("--with-keys", action="store_true", help="secret keys too: keep the backup locked up")


def run(arguments: argparse.Namespace) -> int:
    """Make the backup and say what is in it."""
    with plain_failures():
        source = source_of(Path(arguments.config))
        target = Path(arguments.target)
        manifest = back_up(source, target, with_keys=arguments.with_keys, progress=note)
    size = sum(file.size for file in manifest.files)
    if arguments.json:
        emit(
            {
                "backup": str(target.absolute()),
                "process": manifest.process,
                "table": manifest.table,
                "log_id": manifest.log_id,
                "entries": manifest.pos,
                "head": manifest.head,
                "files": len(manifest.files),
                "bytes": size,
                "with_keys": manifest.with_keys,
            }
        )
    else:
        say(f"{target}: {counted(len(manifest.files), 'file')}, {size} bytes.")
        say(f"The log ends at entry {manifest.pos}, head {manifest.head}.")
        if not manifest.with_keys and source.keys:
            say("Secret keys are not in it; with --with-keys they are.")
    return OK
