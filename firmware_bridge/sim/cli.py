"""Command line of the simulated machine: `python -m firmware_bridge.sim`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from firmware_bridge import profiles
from firmware_bridge.errors import BridgeError
from firmware_bridge.sim.faults import parse_faults
from firmware_bridge.sim.menu import help_text
from firmware_bridge.sim.plant import FRESH
from firmware_bridge.sim.process import SimOptions, run


def board_number(text: str) -> int:
    """A board's number as it is written.

    Raises:
        ArgumentTypeError: these are no hex digits.
    """
    try:
        return int(text, 16)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} has other than hex digits") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a simulated machine."""
    parser.add_argument("--profile", default="136", help=f"{', '.join(profiles.ids())}, or a TOML file")
    parser.add_argument("--faults", default="", metavar="SPEC", help="what goes wrong; the menu is below")
    parser.add_argument("--speed", type=float, default=1.0, help="divides all motion times (default 1)")
    parser.add_argument("--seed", type=int, help="of dice and faults (default: by chance)")
    parser.add_argument("--pulses", type=Path, metavar="FILE", help="count every executed motion here (JSON)")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep the tiles here between two runs")
    parser.add_argument("--fresh", default="loaded", choices=sorted(FRESH), help="tiles of a new machine")
    parser.add_argument(
        "--pty-link", "--link", dest="link", type=Path, metavar="PATH", help="stable name for the port"
    )
    parser.add_argument("--uid", type=board_number, metavar="HEX", help="board number, 16 hex digits")
    parser.add_argument("--record", type=Path, metavar="FILE", help="take down all bytes, both ways (JSONL)")
    parser.add_argument(
        "--control", action="store_true", help="obey items of the menu on standard input, one line each"
    )
    parser.add_argument("--service-key", action="store_true", help="the service key is held")


def options_of(args: argparse.Namespace) -> SimOptions:
    """Settings from parsed arguments.

    Raises:
        UsageError: a fault that is not on the menu.
    """
    return SimOptions(
        profile=args.profile,
        fresh=args.fresh,
        speed=args.speed,
        seed=args.seed,
        pulses=args.pulses,
        state=args.state,
        link=args.link,
        uid=args.uid,
        service_key=args.service_key,
        record=args.record,
        control=args.control,
        faults=parse_faults(args.faults),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a simulated machine; 0 after SIGTERM or SIGINT, 2 for options that can not be met."""
    parser = argparse.ArgumentParser(
        prog="python -m firmware_bridge.sim",
        description="A simulated table machine behind a pseudo-terminal.",
        epilog=help_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    args = parser.parse_args(argv)
    try:
        return run(options_of(args), sys.stdout)
    except BridgeError as error:
        sys.stdout.write(json.dumps({"error": {"code": "usage", "message": str(error), "fix": ""}}) + "\n")
        return 2
    except OSError as error:
        sys.stdout.write(json.dumps({"error": {"code": "os", "message": str(error), "fix": ""}}) + "\n")
        return 3
