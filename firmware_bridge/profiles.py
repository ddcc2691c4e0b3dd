"""Machine profiles: how many stacks stand where, how long a motion takes, what the lamps mean. Data, checked
at load.

A profile is a TOML file: `id`, `name`, `tiles`, `walls` (stacks of two tiles per place), and if wanted
`dealt` (tiles that a machine with direct deal lays before each place), `empty` (the side without a wall),
`[seconds]` (how long each motion takes), `[timeouts]` (seconds after which one counts as failed) and
`[[lamps]]` (see `LampRule`). Tiles = 2 x stacks + dealt.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from firmware_bridge.errors import ProfileError
from firmware_bridge.interlock import RULES, Fault
from firmware_bridge.messages import BoardConfig
from firmware_bridge.ops import PLACES, TIMEOUT_OPS, Op, Quad

MOST_STACKS: Final = 20
"""Stacks that fit on one side of a table."""
MOST_DEALT: Final = 20
"""Tiles that a machine lays before one place at most."""
ID_BYTES: Final = 12
"""Length of an id on the wire."""
TIMEOUT_STEP_S: Final = 0.01
"""Step of a timeout on the wire."""
LONGEST_S: Final = 655.0
"""Longest timeout: the wire counts 10 ms in 16 bits."""

MOTIONS: Final = frozenset(op for op, rule in RULES.items() if rule.motion) - {Op.RESUME}
"""Operations with a time of their own; a motion that is finished takes the time of the one that was cut."""

LAMPS: Final = ("ready", "fault")
"""Lamps of a maker's panel that may be wired to an input."""

SHOWN: Final = frozenset({"ready", "building"})
"""What a lamp may tell besides a fault."""

LAMP_FAULTS: Final[Mapping[str, Fault]] = {
    fault.name.lower(): fault
    for fault in Fault
    if fault not in (Fault.LEASE_EXPIRED, Fault.HELD, Fault.ESTOPPED)
}
"""Faults that a lamp may tell; the others are our own board's."""

_KEYS: Final = frozenset(
    {"id", "name", "tiles", "walls", "dealt", "empty", "seconds", "timeouts", "lamps", "blink_s"}
)


class Lit(StrEnum):
    """How a lamp burns."""

    ON = "on"
    OFF = "off"
    BLINK = "blink"


@dataclass(frozen=True, slots=True)
class LampRule:
    """What it means when the lamps burn so: `shows` is `ready`, `building` or the code of a fault.

    The first rule of a profile whose lamps all fit counts; one whose lamp is not wired never fits.
    """

    shows: str
    when: Mapping[str, Lit]

    @property
    def fault(self) -> Fault | None:
        """The fault it tells, or None."""
        return LAMP_FAULTS.get(self.shows)


USUAL_LAMPS: Final = (LampRule("ready", {"ready": Lit.ON}), LampRule("building", {"ready": Lit.OFF}))
"""Of a machine whose profile says nothing: the ready lamp burns while a built set waits."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One machine setting.

    `walls`: stacks of two tiles per place. `dealt`: tiles that the machine lays before each place. `empty`:
    the side without a wall, None where all have one. `seconds`: duration of each motion. `timeouts`: seconds
    after which a motion counts as failed, where the board's own do not fit. `blink_s`: longest time for which
    a blinking lamp stays on or off.
    """

    id: str
    name: str
    tiles: int
    walls: Quad
    seconds: Mapping[Op, float]
    dealt: Quad = (0, 0, 0, 0)
    empty: int | None = None
    timeouts: Mapping[Op, float] = field(default_factory=dict)
    lamps: tuple[LampRule, ...] = USUAL_LAMPS
    blink_s: float = 1.0

    def config(self) -> BoardConfig:
        """What a board of ours keeps of it. A timeout that is not given is the board's own (0)."""
        steps = tuple(round(self.timeouts.get(op, 0.0) / TIMEOUT_STEP_S) for op in TIMEOUT_OPS)
        return BoardConfig(self.id, self.walls, steps, sum(self.dealt))

    @property
    def deals_directly(self) -> bool:
        """The machine lays the first tiles before the players."""
        return any(self.dealt)

    def without(self, empty: int) -> Profile:
        """The same setting with another side empty; its id says which, as in `102@1`.

        Raises:
            ProfileError: every side of it has a wall, or there is no such side.
        """
        if self.empty is None or empty not in range(PLACES):
            raise ProfileError(f"The machine profile {self.id} has no empty side {empty}.")
        if empty == self.empty:
            return self
        base = self.id.partition("@")[0]
        return replace(
            self,
            id=f"{base}@{empty}",
            walls=_moved(self.walls, self.empty, empty),
            dealt=_moved(self.dealt, self.empty, empty),
            empty=empty,
        )


def _moved(numbers: Quad, was: int, now: int) -> Quad:
    """The same numbers counter-clockwise, around another empty side."""
    a, b, c, d = (numbers[(place - now + was) % PLACES] for place in range(PLACES))
    return a, b, c, d


@cache
def ids() -> tuple[str, ...]:
    """Names of the profiles that come with the package."""
    folder = resources.files("firmware_bridge") / "profiles"
    return tuple(
        sorted(entry.name[: -len(".toml")] for entry in folder.iterdir() if entry.name.endswith(".toml"))
    )


def is_known(name: str) -> bool:
    """Whether the package has this profile, also with another side empty (`102@1`)."""
    base, mark, side = name.partition("@")
    if base not in ids():
        return False
    return not mark or (load(base).empty is not None and side in {str(place) for place in range(PLACES)})


def with_walls(walls: tuple[int, ...]) -> str | None:
    """The id of the setting that builds these walls and deals nothing; None: the package has none."""
    for name in ids():
        profile = load(name)
        sides = (None,) if profile.empty is None else range(PLACES)
        for side in sides:
            made = profile if side is None else profile.without(side)
            if made.walls == walls and not made.deals_directly:
                return made.id
    return None


def load(name: str) -> Profile:
    """The profile of this id, or in the TOML file of this path.

    An id may name the empty side of a three-sided setting: `102@0` to `102@3`.

    Raises:
        ProfileError: there is none, or its figures do not add up.
    """
    if is_known(name):
        base, _, side = name.partition("@")
        return _packaged(base).without(int(side)) if side else _packaged(base)
    if _is_file(name):
        return _parsed(name, _text(Path(name)))
    raise ProfileError(f"There is no machine profile {name!r}; use one of {', '.join(ids())} or a TOML file.")


def _is_file(name: str) -> bool:
    """Whether a file has this name; one that no file can have is none."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


@cache
def _packaged(name: str) -> Profile:
    """A profile of the package, which is asked for with every look at a machine's state."""
    file = resources.files("firmware_bridge") / "profiles" / f"{name}.toml"
    return _parsed(name, file.read_text("utf-8"))


def _parsed(name: str, text: str) -> Profile:
    try:
        return _profile(_toml(text))
    except ProfileError as error:
        raise ProfileError(f"The machine profile {name!r} can not be read: {error}") from None


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ProfileError("it is nested too deep.") from None
    except ValueError as error:  # no TOML, or a number with more digits than Python reads
        raise ProfileError(str(error)) from None


def _key(key: str) -> str:
    """A key as a message names it: on one line, whatever it is."""
    return key if key.isprintable() and key else repr(key)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"The machine profile {str(path)!r} can not be read: {error}.") from None


def _profile(data: dict[str, Any]) -> Profile:
    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise ProfileError(f"{_key(unknown[0])} is no key of a machine profile.")
    profile = Profile(
        id=_word(data, "id", ID_BYTES),
        name=_word(data, "name", 120),
        tiles=_whole(data, "tiles", 1, 2 * MOST_STACKS * PLACES + MOST_DEALT * PLACES),
        walls=_quad(data, "walls", MOST_STACKS),
        dealt=_quad(data, "dealt", MOST_DEALT) if "dealt" in data else (0, 0, 0, 0),
        empty=_whole(data, "empty", 0, PLACES - 1) if "empty" in data else None,
        seconds=_times(data, "seconds"),
        timeouts=_times(data, "timeouts") if "timeouts" in data else {},
        lamps=_lamps(data["lamps"]) if "lamps" in data else USUAL_LAMPS,
        blink_s=_number(data.get("blink_s", 1.0), "blink_s", 10.0),
    )
    _check(profile)
    return profile


def _check(profile: Profile) -> None:
    held = 2 * sum(profile.walls) + sum(profile.dealt)
    if held != profile.tiles:
        dealt = f" and {sum(profile.dealt)} dealt tiles" if profile.deals_directly else ""
        raise ProfileError(
            f"tiles: walls of {profile.walls} stacks{dealt} hold {held} tiles, not {profile.tiles}."
        )
    bare = [place for place in range(PLACES) if profile.walls[place] == 0]
    if bare != ([] if profile.empty is None else [profile.empty]):
        raise ProfileError("empty: names the one side without a wall, and is left out where all have one.")
    if profile.empty is not None and profile.dealt[profile.empty]:
        raise ProfileError("dealt: nobody sits at the empty side.")
    missing = sorted(op.name.lower() for op in MOTIONS - set(profile.seconds))
    if missing:
        raise ProfileError(f"seconds.{missing[0]} is missing: every motion needs its time.")
    for op, limit in profile.timeouts.items():
        if limit < profile.seconds[op]:
            raise ProfileError(f"timeouts.{op.name.lower()}: is shorter than the motion takes.")


def _word(data: Mapping[str, Any], key: str, longest: int) -> str:
    value = data.get(key)
    ok = (
        isinstance(value, str)
        and 0 < len(value) <= longest
        and len(value.splitlines()) == 1
        and "\0" not in value
    )
    if not ok or not isinstance(value, str) or (key == "id" and not value.isascii()):
        kind = "ASCII characters" if key == "id" else "characters"
        raise ProfileError(f"{key}: a text of 1 to {longest} {kind} is needed, on one line.")
    return value


def _whole(data: Mapping[str, Any], key: str, least: int, most: int) -> int:
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ProfileError(f"{key}: a whole number from {least} to {most} is needed.")
    return value


def _quad(data: Mapping[str, Any], key: str, most: int) -> Quad:
    value = data.get(key)
    ok = isinstance(value, list) and len(value) == PLACES
    if not ok or not all(type(n) is int and 0 <= n <= most for n in value or ()):
        raise ProfileError(f"{key}: the numbers of four places are needed, 0 to {most} each.")
    assert isinstance(value, list)
    a, b, c, d = value
    return a, b, c, d


def _number(value: Any, key: str, most: float) -> float:
    ok = isinstance(value, int | float) and not isinstance(value, bool)
    if not ok or not math.isfinite(value) or not 0 < value <= most:
        raise ProfileError(f"{key}: seconds above 0, at most {most:g}, are needed.")
    return float(value)


def _times(data: Mapping[str, Any], key: str) -> dict[Op, float]:
    table = data.get(key)
    if not isinstance(table, dict):
        raise ProfileError(f"{key}: a table with the times of the motions is needed.")
    times: dict[Op, float] = {}
    for name, value in table.items():
        op = Op.__members__.get(name.upper())
        if op is None or op not in MOTIONS or name != name.lower():
            raise ProfileError(f"{key}.{_key(name)} is no motion.")
        times[op] = _number(value, f"{key}.{name}", LONGEST_S)
    return times


def _lamps(rules: Any) -> tuple[LampRule, ...]:
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, dict) for rule in rules):
        raise ProfileError("lamps: at least one [[lamps]] table is needed.")
    return tuple(_lamp(rule, f"lamps[{number}]") for number, rule in enumerate(rules))


def _lamp(rule: dict[str, Any], where: str) -> LampRule:
    unknown = sorted(set(rule) - {"shows", "when"})
    if unknown:
        raise ProfileError(f"{where}.{_key(unknown[0])} is not known; use shows and when.")
    shows, when = rule.get("shows"), rule.get("when")
    known = sorted(SHOWN | set(LAMP_FAULTS))
    if shows not in known:
        raise ProfileError(f"{where}.shows: use one of {', '.join(known)}.")
    if not isinstance(when, dict) or not when:
        raise ProfileError(f"{where}.when: say how at least one lamp burns.")
    for lamp, lit in when.items():
        if lamp not in LAMPS:
            raise ProfileError(f"{where}.when.{_key(lamp)} is no lamp; use {' or '.join(LAMPS)}.")
        if lit not in list(Lit):
            raise ProfileError(f"{where}.when.{lamp}: use {', '.join(Lit)}.")
    return LampRule(str(shows), {lamp: Lit(lit) for lamp, lit in when.items()})
