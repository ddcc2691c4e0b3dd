"""`verify`: walk a log's hash chains and say up to which anchor it is bound."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from station.cli.output import NO, OK, counted, emit, say
from station.errors import ConfigError
from station.link.keys import load_verify
from station.log.verify import verify_file
from station.plain import one_line


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("log", metavar="LOG", help="a table's or the central station's log file")
    parser.add_argument(
        "--expect",
        metavar="HASH",
        help="a hash known from elsewhere, or the text of a result sheet's QR code",
    )
    parser.add_argument("--key", metavar="FILE.pub", help="the key that has to have signed the log")


def run(arguments: argparse.Namespace) -> int:
    """Print the finding; status 1 when something does not fit, or the log is not bound as was asked."""
    key = None if arguments.key is None else _key(Path(arguments.key))
    result = verify_file(Path(arguments.log), arguments.expect, key)
    if arguments.json:
        emit(result)
    else:
        for line in _lines(arguments, result, None if key is None else key.hex()):
            say(one_line(line))
    return OK if result["ok"] else NO


def _key(path: Path) -> bytes:
    key = load_verify(path)
    if key is None:
        raise ConfigError(
            f"The file {path} holds no key that signs.",
            fix="Complete older keys: quezhuo keygen NAME --add-signing",
        )
    return bytes.fromhex(key)


def _lines(arguments: argparse.Namespace, result: dict[str, Any], key: str | None) -> list[str]:
    held = counted(result["entries"], "entry", "entries")
    if not result["misfits"]:
        lines = [f"{arguments.log}: {held}, all of them whole, head {result['head']}"]
    else:
        lines = [f"{arguments.log}: NOT WHOLE", *(f"  {_misfit(found)}" for found in result["misfits"])]
        lines.append(f"whole from the first on: {held}, head {result['head']}")
    lines += [f"  {_chain(chain)}" for chain in result["chains"]]
    if result["expected"] is False:
        lines.append("The expected hash is NOT in the log: it was cut, or made anew.")
    if key is not None and not any(anchor["key"] == key for anchor in result["anchors"]):
        lines.append(
            f"The key {_short(key)} has signed NOTHING in the log: it is not this log's key, "
            "or the log was cut or made anew."
        )
    lines += [_anchor(anchor, key) for anchor in result["anchors"]]
    if not result["anchors"]:
        lines.append("bound to nothing outside: a cut tail would not show; compare with --expect or --key")
    return lines


def _misfit(found: dict[str, Any]) -> str:
    if found["pos"] is None:
        return str(found["text"])
    place = f"position {found['pos']}"
    if found["log"] is not None:
        whose = found["source"] or "own"
        place += f", number {found['seq']} of the {whose} log {_short(found['log'])}, {found['kind']}"
    return f"bad entry at {place}: {found['text']}"


def _chain(chain: dict[str, Any]) -> str:
    whose = f"log of {chain['source']}" if chain["source"] else "own log"
    to = f" for {chain['name']}" if chain["name"] else ""
    return f"{whose}{to} {chain['log']}: {counted(chain['seq'], 'entry', 'entries')}, head {chain['head']}"


def _anchor(anchor: dict[str, Any], key: str | None) -> str:
    what = f"the log of {anchor['source']} " if anchor["source"] else ""
    place = f"{what}up to its entry {anchor['seq']} (position {anchor['pos']})"
    if anchor["by"] == "expected":
        return f"bound to the expected hash: {place}"
    if not anchor["source"] and anchor["by"] == "checkpoint":
        place = f"the whole file up to position {anchor['pos']}"
    proof = (
        "the key given"
        if anchor["key"] == key
        else f"the key {_short(anchor['key'])}, not compared (--key FILE.pub does)"
    )
    return f"signed with {proof}: {place}, {anchor['why']}"


def _short(text: str) -> str:
    return f"{text[:16]}…"
