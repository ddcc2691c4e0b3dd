"""Write everything that follows from the definition of the protocol, or check that it was written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from firmware_bridge.protocol.definition import SOURCE, DefinitionError, load
from firmware_bridge.protocol.files import drifted, write


def main(argv: Sequence[str] | None = None) -> int:
    """0: all is as the definition says. 1: something is not (with --check), or the definition is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m firmware_bridge.protocol",
        description=(
            "Write the Python modules, the C files and the tables of docs/protocol.md "
            f"that follow from {SOURCE.name}."
        ),
        epilog=(
            "Example: change protocol.toml, then\n"
            "  python -m firmware_bridge.protocol          write what follows from it\n"
            "  python -m firmware_bridge.protocol --check  exit 1 and name what is not up to date"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="write nothing; name the files that differ")
    options = parser.parse_args(argv)
    try:
        definition = load()
    except DefinitionError as error:
        print(f"{SOURCE.name}: {error}", file=sys.stderr)  # noqa: T201 - a command line
        return 1
    if options.check:
        for path in drifted(definition):
            print(f"{path} is not what {SOURCE.name} says: run python -m firmware_bridge.protocol")  # noqa: T201
        return 1 if drifted(definition) else 0
    for path in write(definition):
        print(f"wrote {path}")  # noqa: T201
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
