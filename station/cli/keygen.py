"""`keygen`: the CURVE keys of a table or of the central station, readable by their owner alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from station.cli.home import home_of
from station.cli.output import OK, emit, say
from station.link.keys import generate


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", metavar="NAME", help="whose keys: a table's id, or central")
    parser.add_argument("--out", metavar="DIR", help="where to put them (default: HOME/keys)")


def run(arguments: argparse.Namespace) -> int:
    """Make the two files and say what goes where."""
    folder = Path(arguments.out) if arguments.out else home_of(arguments.home) / "keys"
    pair = generate(folder, arguments.name)
    secret, public = folder / f"{arguments.name}.key", folder / f"{arguments.name}.pub"
    if arguments.json:
        emit({"name": arguments.name, "public": pair.public, "key": str(secret), "pub": str(public)})
    else:
        say(f"{secret}: keep it on this machine")
        say(f"{public}: give it to the other side")
        say(f'for the allow-list of the central station: {arguments.name} = "{pair.public}"')
    return OK
