"""`doctor`: look for what keeps a table or the central station from its work, and say what to do about it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from firmware_bridge import discovery
from firmware_bridge.discovery import Finding
from firmware_bridge.discovery_linux import collect
from station.cli.failures import plain_failures
from station.cli.output import NO, OK, counted, emit, say
from station.doctor import checks
from station.errors import ConfigError

if TYPE_CHECKING:
    from station.central.config import CentralConfig
    from station.table.config import TableConfig

Answer = discovery.Answer | checks.Answer
HERE = "/"
POWER = discovery.CHECKS[0]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--port", metavar="PATH", help="the machine's port; left out: every adapter")
    which.add_argument("--config", metavar="FILE", help="of a table or of the central station: everything")
    parser.add_argument(
        "--root", metavar="DIR", default=HERE, help="look for the port in a copied system below this folder"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print one line for each check and finding; status 1 when something was found."""
    root = Path(arguments.root)
    if not root.is_dir():
        raise ConfigError(f"There is no folder {root}.", fix="Name the folder that holds dev, proc and run.")
    with plain_failures():
        if arguments.config is None:
            answers: Sequence[Answer] = discovery.examine(collect(arguments.port, root))
            done = f"Nothing is in the way of {arguments.port or 'any adapter'}."
        else:
            try:
                answers, done = _of_process(Path(arguments.config), root)
            except ImportError as error:  # without OpenCV not even a configuration can be read
                found = checks.no_cv2(" ".join(str(error).split()))
                answers, done = (checks.Answer(_check("recognizer"), (found,)),), ""
    return _told(answers, done, as_json=arguments.json)


def _of_process(path: Path, root: Path) -> tuple[Sequence[Answer], str]:
    """Answers about everything a configuration names; of a copied system about its port alone."""
    from station.cli.which import config_of
    from station.doctor.look import look

    config = config_of(path)
    here = root == Path(HERE)
    answers: list[Answer] = list(checks.examine(look(config))) if here else []
    port = _port(config)
    if port is not None:
        answers += discovery.examine(collect(port, root))
        answers += _extra(config)
    elif here:
        power = tuple(POWER.look(collect(None, root)))
        answers.append(discovery.Answer(POWER, power))
    if not answers:
        return (), "No machine is wired here: there is nothing to look at."
    process = "table" if hasattr(config, "ruleset") else "central"
    start = f"Next: `quezhuo {process} --config {path}`, then its page."
    return answers, f"Nothing is in the way of {port}. {start}" if port else f"Nothing is in the way. {start}"


def _port(config: TableConfig | CentralConfig) -> str | None:
    """The port of the table's machine, if one is wired."""
    from station.table.config import TableConfig, machine_settings

    settings = machine_settings(config) if isinstance(config, TableConfig) else None
    return settings.port or None if settings is not None else None


def _extra(config: TableConfig | CentralConfig) -> Iterator[Answer]:
    """Whether the library of the relay board is there, where one drives the machine."""
    if getattr(config, "driver", "native") == "native":
        return
    missing = Finding(
        "no_extra", "The relay board needs the extra `modbus`.", "Run `pip install -e '.[modbus]'`."
    )
    check = discovery.Check("extra", "the relay board's library is there", lambda _: iter(()))
    yield discovery.Answer(check, () if find_spec("pymodbus") else (missing,))


def _check(name: str) -> checks.Check:
    return next(check for check in checks.CHECKS if check.name == name)


def _told(answers: Sequence[Answer], done: str, *, as_json: bool) -> int:
    """Print everything; a person who reads only the last line knows what to do next."""
    problems = sum(len(answer.findings) for answer in answers)
    if as_json:
        emit({"ok": not problems, "checks": [_as_json(answer) for answer in answers]})
        return NO if problems else OK
    for answer in answers:
        _tell(answer)
    if problems:
        which = "it" if problems == 1 else "the first"
        say(f"{counted(problems, 'problem')}: mend {which}, then run this again.")
    else:
        say(done)
    return NO if problems else OK


def _as_json(answer: Answer) -> dict[str, object]:
    return {"check": answer.check.name, "ok": not answer.findings, "findings": answer.findings}


def _tell(answer: Answer) -> None:
    name = answer.check.name
    if not answer.findings:
        say(f"ok       {name}: {answer.check.well}")
    for finding in answer.findings:
        say(f"PROBLEM  {name}: {finding.sentence} {finding.fix}")
