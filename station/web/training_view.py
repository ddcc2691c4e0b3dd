"""What the training page shows: the machine as it is, what a referee reads, and what staff does about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from station.web.catalogue import N_
from station.web.sentences import SENTENCES
from station.web.training_words import (
    ACTIONS,
    GROUPS,
    ITEMS,
    LIDS,
    MAGAZINES,
    MOTIONS,
    STARTS,
    STEPS,
    SURFACES,
)
from station.web.words import Words

QUIET: Final = frozenset({"machine.ok", "machine.moving"})
"""Codes after which nobody has to do anything."""

VALUES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "PLACE": tuple((str(side), N_("side %(n)s")) for side in range(4)),
    "PLACE_OR_NOTHING": (("", N_("no side")), *((str(side), N_("side %(n)s")) for side in range(4))),
    "SECONDS": tuple((f"{n}s", N_("%(n)s s")) for n in (1, 3, 10)),
    "CHANCE": tuple((share, N_("%(n)s in 100")) for share in ("0.05", "0.2", "0.5")),
}
"""What can be chosen as the value of an item, by what it takes: value and word."""

SHORT_DELAYS: Final = (("20ms", N_("%(n)s ms")), ("300ms", N_("%(n)s ms")))


def menu(items: Sequence[Mapping[str, Any]], words: Words) -> list[dict[str, Any]]:
    """The fault menu by groups: `name`, `takes`, `motions` and `group` of each item → words and choices."""
    groups: list[dict[str, Any]] = []
    for key, title in GROUPS.items():
        rows = [_row(item, words) for item in items if item["group"] == key]
        groups.append({"title": words.say(title), "rows": rows, "open": key == "MACHINE"})
    return groups


def _row(item: Mapping[str, Any], words: Words) -> dict[str, Any]:
    takes = item["takes"]
    choices = SHORT_DELAYS if item["name"] in ("delay", "coalesce") else VALUES.get(takes, ())
    if takes == "TILES":
        values = [(str(n), _tiles(n, words)) for n in (1, 2, 4, 8)]
    elif takes == "TILES_AT_PLACE":
        values = [
            (f"{n}:{side}", words.say("%(n)s of side %(side)s", n=n, side=side + 1))
            for side in range(4)
            for n in (1, 2)
        ]
    else:
        values = [(value, words.say(text, n=_number(value, takes))) for value, text in choices]
    return {
        "name": item["name"],
        "word": words.code(ITEMS, item["name"]),
        "values": values,
        "motions": [(motion, words.code(MOTIONS, motion)) for motion in item["motions"]],
    }


def _number(value: str, takes: str) -> str:
    if takes in ("PLACE", "PLACE_OR_NOTHING"):
        return str(int(value) + 1) if value else ""
    if takes == "CHANCE":
        return str(round(100 * float(value)))
    return value.removesuffix("ms").removesuffix("s")


def _tiles(n: int, words: Words) -> str:
    return words.many("%(n)s tile", "%(n)s tiles", n)


def training(state: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """The changing part of the page. `state`: see `station.training.desk.Desk.state`."""
    codes = [code for code in state["codes"] if code not in QUIET]
    coming = [] if codes else state["coming"]
    return {
        "said": words.code(SENTENCES, state["codes"][0]),
        "well": not codes,
        "named": [text for fault in state["faults"] if (text := _fault(fault, state["codes"][0], words))],
        "steps": _steps(codes, words),
        "coming": [words.code(SENTENCES, code) for code in coming],
        "coming_steps": _steps(coming, words),
        "coming_quiet": state["ordered"] and not coming and not codes,
        "ordered": _ordered(state["ordered"], words),
        "waiting": [_ordered(item, words) for item in state["waiting"]] if _more(state, codes) else [],
        "actions": [
            {"op": op, "word": word, "go": op in ("CLEAR", "START")} for op, word in _actions(state, words)
        ],
        "ended": _ended(state["last"], words),
        "driven": state["driven"],
        "facts": [
            (words.say("Lid"), words.code(LIDS, state["lid"])),
            (words.say("Lift"), f"{state['lift']} %"),
            (words.say("Table top"), words.code(SURFACES, state["surface"])),
            (words.say("Beneath"), words.code(MAGAZINES, state["magazine"])),
            (words.say("Intake"), words.say("locked") if state["locked"] else words.say("free")),
            (words.say("Hand"), "–" if state["hand_no"] is None else str(state["hand_no"])),
            (words.say("Last start"), words.code(STARTS, state["started"])),
            (words.say("Tiles of the sets"), " · ".join(str(n) for n in state["tiles"])),
        ],
        "motions": [
            {"word": words.code(ACTIONS, motion["op"]), "percent": motion["percent"]}
            for motion in state["motions"]
        ],
        "sides": [
            {
                "n": side + 1,
                "built": state["stacks"][side],
                "walls": state["walls"][side],
                "dealt": state["dealt"][side],
                "of": state["plan"][side],
                "lamp": str(side) in state["lamps"],
            }
            for side in range(4)
        ],
    }


def _actions(state: Mapping[str, Any], words: Words) -> list[tuple[str, str]]:
    return [(op, words.say(text)) for op, text in ACTIONS.items() if op in state["may"]]


def _more(state: Mapping[str, Any], codes: Sequence[str]) -> bool:
    """Whether more waits than what is shown as ordered."""
    return bool(codes) or not state["ordered"] or len(state["waiting"]) > 1


def _steps(codes: Sequence[str], words: Words) -> list[str]:
    """Steps of all codes, a fault's before the choice that follows it; none twice."""
    ranked = sorted(codes, key=lambda code: not code.startswith("machine.fault."))
    return list(dict.fromkeys(words.say(step) for code in ranked for step in STEPS.get(code, ())))


def _fault(fault: Mapping[str, Any], said: str, words: Words) -> str:
    """What the screen names beside its sentence: the fault, if it says another, its side and its count."""
    code = f"machine.fault.{fault['code']}"
    told = [] if code == said else [words.code(SENTENCES, code)]
    if fault["place"] is not None:
        told.append(words.say("side %(n)s", n=fault["place"] + 1))
    if fault["count"]:
        told.append(_tiles(fault["count"], words))
    return " · ".join(told)


def _ordered(item: str, words: Words) -> str:
    """An item of the menu in words: `jam=2@build` → tiles jam, side 3, while it builds."""
    head, _, motion = item.partition("@")
    name, _, value = head.partition("=")
    told = [words.code(ITEMS, name)] if name else []
    if value:
        told.append(_spoken(name, value, words))
    if motion:
        told.append(words.code(MOTIONS, motion))
    return " · ".join(told)


def _spoken(name: str, value: str, words: Words) -> str:
    if name in ("jam", "sensor"):
        return words.say("side %(n)s", n=int(value) + 1)
    if name in ("missing", "extra"):
        tiles, colon, side = value.partition(":")
        if colon:
            return words.say("%(n)s of side %(side)s", n=tiles, side=int(side) + 1)
        return _tiles(int(tiles), words)
    return value


def _ended(last: Mapping[str, str] | None, words: Words) -> dict[str, Any] | None:
    """How the last thing that was asked for ended."""
    if last is None:
        return None
    if last["status"] == "done":
        how = words.say("done")
    else:
        code = f"machine.{last['code']}"
        how = words.code(SENTENCES, code if code in SENTENCES else last["code"])
    return {"word": words.code(ACTIONS, last["op"]), "how": how, "ok": last["status"] == "done"}
