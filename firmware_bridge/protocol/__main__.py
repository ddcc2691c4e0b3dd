"""Write everything that follows from the definition of the protocol, or check that it was written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from firmware_bridge.protocol.definition import SOURCE, DefinitionError, load
from firmware_bridge.protocol.files import ROOT, drifted, write


def main(argv: Sequence[str] | None = None) -> int:
    """0: all is as the definition says. 1: something is not (with --check). 2: the definition is wrong."""
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
    parser.add_argument("--root", type=Path, default=ROOT, help="of the checkout (default: of this one)")
    options = parser.parse_args(argv)
    try:
        definition = load()
        paths = drifted(definition, options.root) if options.check else write(definition, options.root)
    except (DefinitionError, OSError) as error:
        print(f"{SOURCE.name}: {error}", file=sys.stderr)  # noqa: T201 - a command line
        return 2
    said = "{} is not what {} says: run python -m firmware_bridge.protocol" if options.check else "wrote {}"
    for path in paths:
        print(said.format(path, SOURCE.name))  # noqa: T201
    return 1 if options.check and paths else 0


if __name__ == "__main__":
    raise SystemExit(main())
