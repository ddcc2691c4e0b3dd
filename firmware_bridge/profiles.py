"""Machine profiles: how many stacks stand where, and how long each motion takes. Data, checked at load."""

from __future__ import annotations

import binascii
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from firmware_bridge.errors import ProfileError
from firmware_bridge.interlock import RULES
from firmware_bridge.ops import PLACES, Op, Quad


@dataclass(frozen=True, slots=True)
class Profile:
    """One machine setting. `walls`: stacks of two tiles per place; `seconds`: duration of each motion."""

    id: str
    name: str
    tiles: int
    walls: Quad
    seconds: Mapping[Op, float]
    crc: int
    """CRC-16 of the file: host and device compare it at connect."""


@cache
def ids() -> tuple[str, ...]:
    """Names of the profiles that come with the package."""
    folder = resources.files("firmware_bridge") / "profiles"
    return tuple(
        sorted(entry.name[: -len(".toml")] for entry in folder.iterdir() if entry.name.endswith(".toml"))
    )


def load(name: str) -> Profile:
    """The profile of this id, or in the TOML file of this path.

    Raises:
        ProfileError: there is none, or its figures do not add up.
    """
    if name in ids():
        return _packaged(name)
    if Path(name).is_file():
        return _parsed(name, _text(Path(name)))
    raise ProfileError(f"There is no machine profile {name!r}; use one of {', '.join(ids())} or a TOML file.")


@cache
def _packaged(name: str) -> Profile:
    """A profile of the package, which is asked for with every look at a machine's state."""
    file = resources.files("firmware_bridge") / "profiles" / f"{name}.toml"
    return _parsed(name, file.read_text("utf-8"))


def _parsed(name: str, text: str) -> Profile:
    try:
        return _profile(tomllib.loads(text), text)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ProfileError(f"The machine profile {name!r} can not be read: {error}.") from None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"The machine profile {str(path)!r} can not be read: {error}.") from None


def _profile(data: dict[str, Any], text: str) -> Profile:
    walls = tuple(int(n) for n in data["walls"])
    if len(walls) != PLACES or not all(0 <= n <= 20 for n in walls):
        raise ProfileError("A machine profile needs the stacks of four places, 0 to 20 each.")
    tiles = int(data["tiles"])
    if 2 * sum(walls) != tiles:
        raise ProfileError(f"Walls of {walls} stacks hold {2 * sum(walls)} tiles, not {tiles}.")
    seconds = {Op[key.upper()]: float(value) for key, value in data["seconds"].items()}
    missing = {op for op, rule in RULES.items() if rule.motion} - {Op.RESUME} - set(seconds)
    if missing or not all(value > 0 for value in seconds.values()):
        raise ProfileError("A machine profile needs a time above 0 for every motion.")
    crc = binascii.crc_hqx(text.encode(), 0xFFFF)
    return Profile(str(data["id"]), str(data["name"]), tiles, walls, seconds, crc)
