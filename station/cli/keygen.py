"""`keygen`: the keys of a table or of the central station, the secret readable by its owner alone."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from station.cli.home import home_of
from station.cli.output import OK, emit, say
from station.errors import ConfigError
from station.link.keys import KeyPair, add_signing, generate

STATIONS = {
    "central": ("keys/central.pub", "[central]"),
    "standby": ("keys/standby.pub", "[central.standby]"),
}
"""Names by which the keys of the two stations go: where a table keeps them, and its section for them."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", metavar="NAME", help="whose keys: a table's id, central, or standby")
    parser.add_argument("--out", metavar="DIR", help="where to put them (default: HOME/keys)")
    parser.add_argument(
        "--add-signing",
        action="store_true",
        help="give keys of an older version the half that signs; they stay enrolled",
    )


def run(arguments: argparse.Namespace) -> int:
    """Make the two files and say what goes where."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", arguments.name):
        raise ConfigError(
            f"{arguments.name!r} can't name keys.",
            fix="Use letters, digits, - and _, as in the `table` key of the configuration: T1.",
        )
    folder = Path(arguments.out) if arguments.out else home_of(arguments.home) / "keys"
    make = add_signing if arguments.add_signing else generate
    pair = make(folder, arguments.name)
    secret, public = folder / f"{arguments.name}.key", folder / f"{arguments.name}.pub"
    if arguments.json:
        emit(
            {
                "name": arguments.name,
                "public": pair.public,
                "verify": pair.verify,
                "key": str(secret),
                "pub": str(public),
            }
        )
    else:
        _tell(arguments.name, pair, secret, public)
    return OK


def _tell(name: str, pair: KeyPair, secret: Path, public: Path) -> None:
    say(f"{secret}: the secret, for this machine alone (secret_key)")
    if name in STATIONS:
        there, section = STATIONS[name]
        say(f"{public}: for every table computer, as {there} (public_key below {section});")
        say("`quezhuo pair` brings it there.")
        return
    say(f"{public}: the public key; the central station's allow_list file needs these lines:")
    say(f"[tables.{name}]")
    say(f'key = "{pair.public}"')
    say(f'verify = "{pair.verify}"')
