"""Whose configuration a file is, when the process that reads it does not take it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from station.errors import ConfigError

__all__ = ["OWN_KEYS", "refuse_other"]

OWN_KEYS: Final = {
    "table": frozenset(
        {"ruleset", "players", "driver", "serial", "camera", "central", "empty_side", "native"}
    ),
    "central": frozenset({"allow_list", "link", "evidence", "announce", "pair_port", "event", "standby"}),
}
"""By process: keys that stand in its file alone."""
_NAMES: Final = {"table": "a table", "central": "the central station"}


def refuse_other(path: Path, process: str) -> None:
    """Refuse a file that is clearly another process's.

    Args:
        path: the file.
        process: who reads it: ``table`` or ``central``.

    Raises:
        ConfigError: it is the other one's; the fix names the command for it.
    """
    try:
        keys = tomllib.loads(path.read_text(encoding="utf-8")).keys()
    except (OSError, ValueError, RecursionError):
        return
    (other,) = OWN_KEYS.keys() - {process}
    if _any(keys, OWN_KEYS[other]) and not _any(keys, OWN_KEYS[process]):
        raise ConfigError(
            f"{path} is the configuration of {_NAMES[other]}, not of {_NAMES[process]}.",
            fix=f"Name the file of {_NAMES[process]} (`quezhuo config {process}` prints one), "
            f"or run `quezhuo {other} --config {path}`.",
            code="config.other_process",
        )


def _any(keys: Iterable[str], known: frozenset[str]) -> bool:
    return any(key in known for key in keys)
