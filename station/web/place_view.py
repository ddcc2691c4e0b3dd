"""Players as the pages show them: side, wind, accounts, and what is special about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from station.web.words import Words

State = Mapping[str, Any]
"""A state object of a table or of the central station."""


@dataclass(frozen=True)
class PlaceView:
    """One side of the table with its player."""

    place: int
    side: int
    name: str
    wind: str
    wind_name: str
    chips: int
    deferred: int
    dealer: bool
    barred: bool
    xianggong: bool
    note: str
    """What is special about the player, in words: dealer, dead hand, may not win, fine due."""


def place_views(state: State, words: Words) -> list[PlaceView]:
    """Players in the order of their places (fixed sides of the table)."""
    return [_place(entry, state, words) for entry in sorted(state["places"], key=lambda p: int(p["place"]))]


def _place(entry: Mapping[str, Any], state: State, words: Words) -> PlaceView:
    return PlaceView(
        place=int(entry["place"]),
        side=int(entry.get("side", entry["place"])),
        name=entry.get("name") or words.say("Player %(n)s", n=int(entry["place"]) + 1),
        wind=words.wind(entry["wind"]),
        wind_name=words.tile(entry["wind"]),
        chips=int(entry["chips"]),
        deferred=int(entry.get("deferred") or 0),
        dealer=entry["place"] == state["dealer"],
        barred=bool(entry.get("barred")),
        xianggong=bool(entry.get("xianggong")),
        note=" · ".join(_notes(entry, state, words)),
    )


def _notes(entry: Mapping[str, Any], state: State, words: Words) -> list[str]:
    notes = [words.say("dealer")] if entry["place"] == state["dealer"] else []
    if entry.get("xianggong"):
        notes.append(words.say("dead hand"))
    elif entry.get("barred"):
        notes.append(words.say("may not win"))
    if entry.get("deferred"):
        due = int(entry["deferred"])
        notes.append(words.say("fine due %(n)s", n=due) if due > 0 else words.say("due to get %(n)s", n=-due))
    gains = {name: f"{int(entry.get(name) or 0):+d}" for name in ("outside", "carried")}
    if entry.get("outside"):
        notes.append(words.say("outside %(n)s", n=gains["outside"]))
    if entry.get("loans"):
        notes.append(words.say("borrowed %(n)s", n=entry["loans"]))
    if entry.get("carried"):
        notes.append(words.say("before %(n)s", n=gains["carried"]))
    return notes


def names_of(places: list[PlaceView]) -> dict[int, str]:
    """Place → name of its player."""
    return {p.place: p.name for p in places}
