"""The fault menu: one table of everything a simulated machine can be told to do wrong.

`--faults`, the control line of a running machine, the training page and the help are all made from `MENU`.
An item is written `NAME[=VALUE][@MOTION]`; `faults.parse_faults` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from firmware_bridge.ops import Op

NOW: Final = "now"
"""What stands for a motion when something shall happen at once."""

MOTIONS: Final[Mapping[str, Op]] = {
    "open": Op.OPEN_LID,
    "close": Op.CLOSE_LID,
    "build": Op.START_BUILD,
    "raise": Op.RAISE_WALLS,
    "deal": Op.DEAL,
    "lower": Op.LOWER,
    "dice": Op.ROLL_DICE,
    "flip": Op.FLIP_INDICATOR,
}


class Takes(Enum):
    """The value of an item: its form in help and errors, and an example (None: it takes none)."""

    NOTHING = ("", None)
    CHANCE = ("CHANCE", "0.1")
    SECONDS = ("SECONDS", "3s")
    PLACE = ("PLACE", "2")
    PLACE_OR_NOTHING = ("[PLACE]", "2")
    TILES = ("TILES", "1")
    TILES_AT_PLACE = ("TILES[:PLACE]", "1:2")

    def __init__(self, form: str, example: str | None) -> None:
        self.form = form
        self.example = example


class When(Enum):
    """When an item takes effect."""

    ALWAYS = auto()
    """A quality of the line, from now on."""
    MOTION = auto()
    """Once: the next motion of the named kind fails."""
    HALFWAY = auto()
    """Once, by itself: in the middle of the next motion (of the named kind, if one is), or `@now`."""


class Group(Enum):
    """Where the trouble sits: the order in which help and page list it."""

    MACHINE = auto()
    BOARD = auto()
    PEOPLE = auto()
    LINE = auto()


_BUILD: Final = ("build",)
_LIFTS: Final = ("raise", "deal", "lower")
_LIDS: Final = ("open", "close")
_TILES_MOVE: Final = (*_BUILD, *_LIFTS, *_LIDS)
_LITTLE: Final = ("dice", "flip")
_ANY: Final = tuple(MOTIONS)


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the menu.

    `motions`: those that may be named; the first is meant when none is (of `When.MOTION`). `odd`: more that
    may be named, though hardly any real machine fails so there: for tests of every way out.
    """

    name: str
    group: Group
    takes: Takes
    when: When
    help: str
    motions: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """How it is written: `jam=PLACE[@MOTION]`."""
        value, where = self.takes.form, "[@MOTION]" if self.motions else ""
        if self.takes is Takes.PLACE_OR_NOTHING:
            return f"{self.name}[=PLACE]{where}"
        return f"{self.name}={value}{where}" if value else f"{self.name}{where}"

    @property
    def example(self) -> str:
        """One that is right."""
        value = "" if self.takes.example is None else f"={self.takes.example}"
        return f"{self.name}{value}" + (f"@{self.motions[0]}" if self.motions else "")


MENU: Final[Mapping[str, Item]] = {
    item.name: item
    for item in (
        Item("jam", Group.MACHINE, Takes.PLACE, When.MOTION, "tiles jam at that place", _TILES_MOVE, _LITTLE),
        Item(
            "missing",
            Group.MACHINE,
            Takes.TILES_AT_PLACE,
            When.MOTION,
            "so many tiles are missing from the set, and that place comes short",
            _BUILD,
        ),
        Item(
            "extra", Group.MACHINE, Takes.TILES, When.MOTION, "so many tiles too many lie in the set", _BUILD
        ),
        Item(
            "stuck",
            Group.MACHINE,
            Takes.NOTHING,
            When.MOTION,
            "the lift or the lid does not reach its switch",
            (*_LIFTS, *_LIDS),
            (*_BUILD, *_LITTLE),
        ),
        Item(
            "sensor",
            Group.MACHINE,
            Takes.PLACE_OR_NOTHING,
            When.MOTION,
            "a sensor (of that place) does not change any more",
            _TILES_MOVE,
            _LITTLE,
        ),
        Item("reboot", Group.BOARD, Takes.NOTHING, When.HALFWAY, "the board's watchdog resets it", _ANY),
        Item("brownout", Group.BOARD, Takes.NOTHING, When.HALFWAY, "the voltage drops: it resets", _ANY),
        Item("power", Group.BOARD, Takes.SECONDS, When.HALFWAY, "it is without power for so long", _ANY),
        Item("estop", Group.PEOPLE, Takes.NOTHING, When.HALFWAY, "the emergency stop is pressed", _ANY),
        Item("button", Group.PEOPLE, Takes.NOTHING, When.HALFWAY, "a player presses the open button", _ANY),
        Item(
            "taken",
            Group.PEOPLE,
            Takes.NOTHING,
            When.HALFWAY,
            "a player takes a tile of the raised walls, as soon as they stand",
        ),
        Item("mute", Group.LINE, Takes.SECONDS, When.HALFWAY, "the line is dead for so long", _ANY),
        Item("stall", Group.LINE, Takes.SECONDS, When.HALFWAY, "nothing arrives for so long, then all", _ANY),
        Item("drop", Group.LINE, Takes.CHANCE, When.ALWAYS, "a frame is lost"),
        Item("flip", Group.LINE, Takes.CHANCE, When.ALWAYS, "a bit of a frame is wrong"),
        Item("dup", Group.LINE, Takes.CHANCE, When.ALWAYS, "a frame arrives twice"),
        Item("garbage", Group.LINE, Takes.CHANCE, When.ALWAYS, "noise stands before a frame"),
        Item("reorder", Group.LINE, Takes.CHANCE, When.ALWAYS, "a frame is overtaken by the next one"),
        Item("echo", Group.LINE, Takes.CHANCE, When.ALWAYS, "a frame also comes back to its sender"),
        Item("cmd-lost", Group.LINE, Takes.CHANCE, When.ALWAYS, "a command is lost"),
        Item("ack-lost", Group.LINE, Takes.CHANCE, When.ALWAYS, "an acknowledgement is lost"),
        Item("done-lost", Group.LINE, Takes.CHANCE, When.ALWAYS, "the report of an end is lost"),
        Item("delay", Group.LINE, Takes.SECONDS, When.ALWAYS, "everything arrives so much later"),
        Item(
            "coalesce", Group.LINE, Takes.SECONDS, When.ALWAYS, "what is sent within so long arrives together"
        ),
    )
}


def help_text() -> str:
    """The menu as plain text."""
    lines = ["The fault menu: comma-separated items NAME[=VALUE][@MOTION], each once per motion.", ""]
    for group, title in _TITLES.items():
        lines.append(f"{title}:")
        for item in (item for item in MENU.values() if item.group is group):
            lines.append(f"    {item.form:32} {item.help}")
            if item.motions and len(item.motions) < len(MOTIONS):
                lines.append(f"    {'':32} MOTION: {', '.join(item.motions)}")
        lines.append("")
    lines += [
        "PLACE is 0 to 3, CHANCE 0 to 1 per frame, SECONDS such as 3s or 20ms,",
        f"MOTION one of {', '.join(MOTIONS)}.",
        "Without a motion: jam, missing, extra and sensor hit the next build, stuck the next raise; what",
        "happens by itself (board, people, mute, stall) comes halfway through the next motion of any kind.",
        "@now: at once. On the control line, none takes all faults back.",
    ]
    return "\n".join(lines)


_TITLES: Final[Mapping[Group, str]] = {
    Group.MACHINE: "The mechanism, once",
    Group.BOARD: "The board, once",
    Group.PEOPLE: "People, once",
    Group.LINE: "The line (mute and stall once, the rest from then on)",
}
