"""Entry point of `quezhuo`: parses, finds the command, turns every known error into one plain line."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TextIO

from station.cli import output
from station.errors import ConfigError, StationError


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its module below `station.cli` is imported only when it is asked for."""

    module: str
    summary: str
    example: str


COMMANDS: dict[str, Command] = {
    "demo": Command("demo", "run the whole system on this machine", "quezhuo demo --tables 2 --auto"),
    "read": Command("read", "read the tiles of photographs", "quezhuo read hand.jpg --expect 14"),
    "enroll": Command(
        "enroll",
        "learn a table's own tiles, count a set, tell two sets apart",
        "quezhuo enroll --camera 0 --calibration table.json --ruleset zhenjiang --out green.json",
    ),
    "calibrate": Command(
        "calibrate",
        "teach a table where the zones lie in its camera's picture",
        "quezhuo calibrate --camera 0 --out calibration.json",
    ),
    "check": Command(
        "check",
        "check claims and settle them",
        "quezhuo check --ruleset zhenjiang '123m456m789m11z34s +5s flip=1p how=self seat=1'",
    ),
    "call": Command(
        "call",
        "say who gets a tile that several players call for",
        "quezhuo call --ruleset zhenjiang --tile 5m --from 0 1:pung 2:win",
    ),
    "notation": Command(
        "notation",
        "convert a claim between line and JSON",
        "quezhuo notation '11z34s +5s flip=1p how=self seat=1'",
    ),
    "rules": Command("rules", "rule sets with every option", "quezhuo rules zhenjiang"),
    "table": Command("processes", "run a table process", "quezhuo table --config table.toml"),
    "central": Command("processes", "run the central station", "quezhuo central --config central.toml"),
    "machine-sim": Command(
        "machine_sim",
        "run a simulated machine",
        "quezhuo machine-sim --speed 20 --pty-link /tmp/machine --faults jam=2@build",
    ),
    "doctor": Command(
        "doctor",
        "look for what keeps a table or the station from its work",
        "quezhuo doctor --config table.toml",
    ),
    "config": Command("config", "print a commented configuration", "quezhuo config table > table.toml"),
    "keygen": Command(
        "keygen", "make keys of a table or of the central station", "quezhuo keygen T1 --out keys"
    ),
    "pair": Command(
        "pair",
        "bring a table and the central station together; run it at both",
        "quezhuo pair --config central.toml T1",
    ),
    "revoke": Command(
        "revoke",
        "refuse a table's key from now on",
        "quezhuo revoke T1 --reason stolen",
    ),
    "release": Command(
        "release",
        "take a table's log again that is in quarantine",
        "quezhuo release T1 --reason 'the spare card was in the wrong table'",
    ),
    "backup": Command(
        "backup",
        "copy log, photos and configuration of a process, also while it runs",
        "quezhuo backup --config table.toml /media/backup/T1",
    ),
    "restore": Command(
        "restore",
        "put a backup into a home, or complete a table's log from the central station's",
        "quezhuo restore /media/backup/T1 --home T1",
    ),
    "verify": Command("verify", "walk a log's hash chain", "quezhuo verify T1/table.db"),
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours: one line, status 2, JSON when asked for."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise ConfigError(
            f"{message[:1].upper()}{message[1:]}.", fix=f"See `{self.prog} --help`.", code="usage"
        )


def build_parser() -> tuple[Parser, argparse._SubParsersAction[Parser]]:
    """Return the parser of the whole command line and its list of commands."""
    parser = Parser(
        prog="quezhuo",
        description="Controller, scanner and tournament station for automatic mahjong tables.",
        epilog="example: quezhuo demo",
    )
    common(parser)
    parser.add_argument("--version", action="store_true", help="print version, model and rule sets")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    return parser, commands


def common(parser: argparse.ArgumentParser) -> None:
    """Add the options that every command takes, before or after its name."""
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="JSON alone on stdout")
    parser.add_argument(
        "--home",
        default=argparse.SUPPRESS,
        metavar="DIR",
        help="where all data lies (default: $QUEZHUO_HOME, else the platform's data folder)",
    )


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; only the module of the command named is imported.

    Raises:
        ConfigError: the usage is wrong.
    """
    parser, commands = build_parser()
    wanted = next((word for word in argv if word in COMMANDS), None)
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=command.summary,
            description=f"{command.summary[:1].upper()}{command.summary[1:]}.",
            epilog=f"example: {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        common(sub)
        if name == wanted:
            module = importlib.import_module(f"station.cli.{command.module}")
            module.configure(sub)
            sub.set_defaults(run=module.run)
    arguments, rest = parser.parse_known_args(argv)
    if rest:  # told by the command that does not know them, whose --help says what it does
        at_fault = parser if arguments.command is None else commands.choices[arguments.command]
        at_fault.error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.json = getattr(arguments, "json", False)
    arguments.home = getattr(arguments, "home", None)
    if arguments.command is None and not arguments.version:
        parser.print_help()
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status."""
    if argv is None:  # from the first moment on; the long-running commands set their own handlers
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
    words = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in words
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, _nowhere())
    try:
        return _run(words)
    except KeyboardInterrupt:
        return output.OK
    except BrokenPipeError:
        # The reader of our output has gone; point stdout elsewhere so that the exit is quiet.
        sys.stdout = _nowhere()
        return output.OK
    except Exception as error:
        failure = _plain(error)
        if not _stdout_takes_more():  # Python would flush it once more at the end, and fail again
            as_json, sys.stdout = False, _nowhere()
        output.report_error(failure.code, failure.message, failure.fix, as_json=as_json)
        return failure.exit_status


def _run(words: Sequence[str]) -> int:
    arguments = parse(words)
    if arguments.version:
        return int(importlib.import_module("station.cli.version").show(as_json=arguments.json))
    if arguments.command is None:
        return output.BAD_INPUT
    return int(arguments.run(arguments))


def _stdout_takes_more() -> bool:
    """Whether what was printed could be written, whichever error tells of it."""
    try:
        sys.stdout.flush()
    except OSError:
        return False
    return True


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 (stays open to the end)


def _plain(error: Exception) -> StationError:
    """Return the error as one plain line; what nobody foresaw is named as the program's own mistake."""
    if isinstance(error, StationError):
        return error
    from station.cli.failures import Failure, os_message

    if isinstance(error, OSError):
        return Failure(os_message(error), "os", output.REFUSED)
    if isinstance(error, RecursionError):
        return Failure("The input is nested too deep.", "input.too_deep", output.BAD_INPUT)
    if isinstance(error, UnicodeError):
        return Failure("The input is not UTF-8 text.", "input.not_text", output.BAD_INPUT)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return Failure(
        f"This is a mistake in the program: {type(error).__name__}: {error} "
        f"({Path(where.filename).name}, line {where.lineno}). Please report it.",
        "internal",
        output.REFUSED,
    )


if __name__ == "__main__":
    sys.exit(main())
