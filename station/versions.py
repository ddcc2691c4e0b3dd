"""How the body of a logged event becomes one of the next version.

An older body is a JSON object; a step may trust nothing in it, and what it makes is checked afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Step = Callable[[dict[str, Any]], dict[str, Any]]


def _same(old: dict[str, Any]) -> dict[str, Any]:
    """What is new has a default that says what the older version meant."""
    return old


def _dealt_1(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "steps": ["indicator"]}


def _claimed_1(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 knew one fact: discarded wildcards by counter."""
    da = {name: number for name, number in dict(old.get("da") or {}).items() if number}
    return {**{key: value for key, value in old.items() if key != "da"}, "facts": {"da": da} if da else {}}


def _ruled_1(old: dict[str, Any]) -> dict[str, Any]:
    false_win = old.get("ruling") == "false_win"
    barred = [old.get("place")] if false_win else []
    return {**old, "over": not false_win, "barred": barred}


def _corrected_1(old: dict[str, Any]) -> dict[str, Any]:
    """Version 1 did not ask for a reason."""
    return {**old, "reason": old.get("reason") or "undone"}


STEPS: dict[tuple[str, int], Step] = {
    ("dice.rolled", 1): _same,
    ("wall.dealt", 1): _dealt_1,
    ("hand.claimed", 1): _claimed_1,
    ("hand.read", 1): _same,
    ("hand.retake_asked", 1): _same,
    ("hand.tile_mended", 1): _same,
    ("hand.confirmed", 1): _same,
    ("hand.ruled", 1): _ruled_1,
    ("event.corrected", 1): _corrected_1,
}
"""From one version of a body to the next."""
