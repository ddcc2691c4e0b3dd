"""Readings beside what was rendered: which of them were wrong although nobody doubted them.

The truth is the scene itself, so that neither a referee who overlooks something nor a verdict that comes out
alike hides a wrong tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from engine.tiles import Tile
from station import messages as m
from station.session import Event
from station.table.handtiles import CONCEALED, FLOWER, MELD, SPREAD, WIN
from vision.render import LaidHand, Scene

Key = tuple[int, int, int | None]
"""Hand, claim and place of a reading; place None: the claimant's own."""
Lie = Counter[tuple[str, str]]
"""How tiles lie open before a player: group and kind of each."""


def rendered(scene: Scene, state: Mapping[str, Any]) -> dict[Key, Lie]:
    """Return what a scene shows before each place, for the claim that a table's state tells of."""
    claim = state["claim"]
    return {
        (state["hand_no"], claim["claim_no"], None if place == claim["place"] else place): _lie_of(
            scene.hands.get(entry["side"], LaidHand())
        )
        for place, entry in enumerate(state["places"])
    }


def silently_wrong(events: Iterable[Event], truths: Mapping[Key, Lie]) -> int:
    """Return how many readings had no doubt, and tiles or groups otherwise than they were rendered.

    ``truths``: from `rendered`. A reading of which nobody knows the truth counts as wrong.
    """
    readings = [event.body for event in events if isinstance(event.body, m.HandRead)]
    sure = [body for body in readings if body.photo is not None and not _in_doubt(body)]
    wrong = {key for body in sure if truths.get(key := _key(body)) != _lie_read(body)}
    return len(wrong)


def _key(body: m.HandRead) -> Key:
    return body.hand, body.claim, body.place


def _in_doubt(body: m.HandRead) -> bool:
    return bool(body.why) or any(tile.why for tile in body.tiles)


def _lie_read(body: m.HandRead) -> Lie:
    return Counter((_part(tile.group), tile.kind) for tile in body.tiles)


def _lie_of(hand: LaidHand) -> Lie:
    """What is to be read of a hand: tiles that their player keeps face down are not."""
    kept = [(CONCEALED, kind) for kind in hand.concealed if kind != Tile.BACK.id]
    melds = [(f"{MELD}{number}", kind) for number, meld in enumerate(hand.melds) for kind in meld]
    spread = [(SPREAD, kind) for group in hand.spread for kind in group]
    flowers = [(FLOWER, kind) for kind in hand.flowers]
    return Counter([*kept, *melds, *spread, *flowers, *([] if hand.win is None else [(WIN, hand.win)])])


def _part(group: str) -> str:
    """Spread tiles count together, however they are grouped."""
    return SPREAD if group.startswith(SPREAD) else group
