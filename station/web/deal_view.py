"""The deal as the pages show it: walls from above, dice, where the wall is broken, the time for flowers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from station.web.place_view import PlaceView, State
from station.web.words import Words

STACKS_PER_WALL: Final = 17
"""Where a state does not say how long its walls are."""


def clock_text(seconds: int | float | None) -> str:
    """``31:42``, or ``1:01:05`` from an hour on; a dash when unknown."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def top_view(state: State, words: Words, places: Sequence[PlaceView]) -> dict[str, Any]:
    """Walls seen from above: built stacks per place, and where the wall is broken.

    Walls are drawn for place 0 at the bottom and turned counter-clockwise; stack 1 is at the owner's right.
    """
    progress = list((state.get("machine") or {}).get("progress") or [])
    stacks = state.get("walls") or [STACKS_PER_WALL]
    total = max(stacks)
    broken = state.get("break")
    walls = []
    for view in places:
        done = progress[view.side] if view.side < len(progress) else 0
        mark = broken["stack"] if broken and broken["wall"] == view.place else None
        if state["phase"] not in ("build", "raise"):
            done = total
        walls.append(
            {
                "place": view.place,
                "side": view.side,
                "turn": -90 * view.side,
                "done": done,
                "mark": mark,
                "name": view.name,
            }
        )
    built = sum(min(total, w["done"]) for w in walls)
    return {
        "walls": walls,
        "total": total,
        "built": built,
        "of": total * len(walls),
        "words": _break(state, words),
    }


def _break(state: State, words: Words) -> list[str]:
    """The deal in sentences: what was thrown, who threw second, where the wall is broken, who takes what."""
    dice, broken = list(state.get("dice") or []), state.get("break") or {}
    names = {int(p["place"]): p["name"] for p in state["places"]}
    lines = []
    if dice:
        total = sum(dice)
        lines.append(words.say("Dice %(dice)s = %(total)s", dice=" + ".join(map(str, dice)), total=total))
    if len(dice) > 2:
        lines.append(
            words.say("The second throw was %(name)s's", name=names.get(broken.get("thrower", -1), ""))
        )
    if broken.get("wall") is not None:
        lines.append(
            words.say(
                "Break the wall of %(name)s at stack %(n)s from the right",
                name=names.get(broken["wall"], broken["wall"] + 1),
                n=broken["stack"],
            )
        )
        lines.append(_takes(state, broken, names, words))
    return lines


def _takes(state: State, broken: Mapping[str, Any], names: Mapping[int, str], words: Words) -> str:
    dealer = names.get(state["dealer"], "")
    if not broken.get("tiles"):
        return words.say("%(name)s takes first", name=dealer)
    told = words.say("%(name)s takes first, %(n)s tiles", name=dealer, n=broken["tiles"][state["dealer"]])
    jump = words.say("the last two with the jump") if broken.get("jump") else ""
    return words.say(", ").join(filter(None, (told, jump)))


def throw(state: State, words: Words, names: Mapping[int, str]) -> dict[str, Any] | None:
    """Who throws now, and what was thrown before."""
    waiting = state.get("throw")
    if waiting is None:
        return None
    who = names.get(waiting.get("place"), "")
    dice = list(state.get("dice") or [])
    second = waiting["nth"] > 1
    return {
        "gold": bool(waiting.get("gold")),
        "who": who,
        "before": dice if second else [],
        "told": words.say("First throw %(total)s: %(name)s throws second", total=sum(dice[:2]), name=who)
        if second
        else "",
    }


def flower_clock(state: State) -> dict[str, Any] | None:
    """The time for replacing flowers: seconds left (None: no limit), whether it is nearly over or over."""
    times = state.get("flowers")
    if not times:
        return None
    limit, elapsed = times.get("limit_s"), int(times.get("elapsed_s") or 0)
    if limit is None:
        return {"left": None, "text": "", "warn": False, "over": False, "warn_at": 0}
    left = max(0, limit - elapsed)
    return {
        "left": left,
        "text": clock_text(left),
        "warn": elapsed >= times["warn_s"],
        "over": elapsed >= limit,
        "warn_at": limit - times["warn_s"],
    }
