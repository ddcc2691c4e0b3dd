"""`verify`: walk a log's hash chain and say up to which anchor it is bound."""

from __future__ import annotations

import argparse
from pathlib import Path

from station.cli.output import NO, OK, emit, say
from station.log.verify import verify_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("log", metavar="LOG", help="a table's or the central station's log file")
    parser.add_argument("--expect", metavar="HASH", help="a head hash known from elsewhere, e.g. printed")


def run(arguments: argparse.Namespace) -> int:
    """Print the finding; status 1 when the chain is broken or not bound to the hash expected."""
    result = verify_file(Path(arguments.log), arguments.expect)
    if arguments.json:
        emit(result)
    else:
        state = "whole" if result["ok"] else f"BROKEN at entry {result['first_bad']}"
        say(f"{arguments.log}: {result['entries']} entries, chain {state}, head {result['head']}")
        if result["anchored_to"]:
            say(f"bound to {result['anchored_to']}")
        elif result["ok"]:
            say("bound to nothing outside: a cut tail would not show; compare with --expect HASH")
    return OK if result["ok"] else NO
