"""`doctor`: look for what keeps the machine's port from working, and say what to do about it."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from firmware_bridge.discovery import Answer, Check, Finding, examine
from firmware_bridge.discovery_linux import collect
from firmware_bridge.machines import NativeSettings
from station.cli.failures import plain_failures
from station.cli.output import NO, OK, emit, say
from station.errors import ConfigError
from station.table.config import load_config, machine_settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--port", metavar="PATH", help="the machine's port; left out: every adapter")
    which.add_argument("--config", metavar="FILE", help="a table's configuration, which names the port")
    parser.add_argument(
        "--root", metavar="DIR", default="/", help="look at a copied system below this folder"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each check and finding; status 1 when something was found."""
    root = Path(arguments.root)
    if not root.is_dir():
        raise ConfigError(f"There is no folder {root}.", fix="Name the folder that holds dev, proc and run.")
    port = arguments.port
    extra: tuple[Answer, ...] = ()
    if arguments.config:
        config = load_config(Path(arguments.config))
        settings = machine_settings(config)
        if settings is None or not settings.port:
            return _no_machine(config.driver, as_json=arguments.json)
        port = settings.port
        extra = () if isinstance(settings, NativeSettings) else (_extra(),)
    with plain_failures():
        answers = (*examine(collect(port, root)), *extra)
    well = not any(answer.findings for answer in answers)
    if arguments.json:
        emit({"ok": well, "checks": [_as_json(answer) for answer in answers]})
    else:
        for answer in answers:
            _tell(answer)
        _sum_up(sum(len(answer.findings) for answer in answers), port, arguments.config)
    return OK if well else NO


def _sum_up(problems: int, port: str | None, config: str | None) -> None:
    """What to do next: a person who reads only the last line knows."""
    if problems:
        say(f"{problems} {'problem' if problems == 1 else 'problems'}: mend the first, then run this again.")
    elif config:
        say(f"Nothing is in the way of {port}. Next: `quezhuo table --config {config}`, then its page.")
    else:
        say(f"Nothing is in the way of {port or 'any adapter'}.")


def _no_machine(driver: str, *, as_json: bool) -> int:
    if as_json:
        emit({"ok": True, "checks": []})
    else:
        say(f'driver = "{driver}": nothing of a machine is wired here, there is nothing to look at')
    return OK


def _extra() -> Answer:
    """Whether the library of the relay board is there."""
    missing = Finding(
        "no_extra", "The relay board needs the extra `modbus`.", "Run `pip install -e '.[modbus]'`."
    )
    check = Check("extra", "the relay board's library is there", lambda _: iter(()))
    return Answer(check, () if find_spec("pymodbus") else (missing,))


def _as_json(answer: Answer) -> dict[str, object]:
    return {"check": answer.check.name, "ok": not answer.findings, "findings": answer.findings}


def _tell(answer: Answer) -> None:
    name = answer.check.name
    if not answer.findings:
        say(f"ok       {name}: {answer.check.well}")
    for finding in answer.findings:
        say(f"PROBLEM  {name}: {finding.sentence} {finding.fix}")
