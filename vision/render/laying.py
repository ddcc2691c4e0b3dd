"""Where the tiles of a scene lie, in world millimetres, with the small disorder of human hands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.errors import SceneError
from vision.render.scene import LaidHand, Scene
from vision.table import (
    INDICATOR_ZONE,
    PLACE_ZONE,
    PLACES,
    TILE_DEPTH,
    TILE_WIDTH,
    from_place,
    stack_middle,
)

__all__ = ["PlacedTile", "place_tiles"]

LAST_ROW = PLACE_ZONE[1] + 36.0
ROW_PITCH = 50.5
ROWS = 3
GAP = 0.7 * TILE_WIDTH
"""Gap between groups; a hand lays it a little wider or narrower, never below 0.6 of a tile."""
WIDEST = PLACE_ZONE[2] - PLACE_ZONE[0] - 22.0


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile on the table: middle and height of its underside, turn in degrees counter-clockwise."""

    kind: str
    x: float
    y: float
    turn: float
    z: float = 0.0


def _width(groups: Sequence[Sequence[str]]) -> float:
    return sum(len(group) for group in groups) * TILE_WIDTH + GAP * (len(groups) - 1)


def _upper_rows(groups: Sequence[Sequence[str]]) -> list[list[Sequence[str]]]:
    """Break melds, spread tiles and flowers into rows that fit the zone."""
    rows: list[list[Sequence[str]]] = []
    for group in groups:
        if rows and _width([*rows[-1], group]) <= WIDEST:
            rows[-1].append(group)
        else:
            rows.append([group])
    return rows


def _rows(hand: LaidHand) -> list[list[Sequence[str]]]:
    """Rows of a hand, far to near, each a list of groups; the nearest one is for concealed tiles.

    Raises SceneError when they do not fit.
    """
    last: list[Sequence[str]] = [hand.concealed] if hand.concealed else []
    if hand.win is not None:
        last.append((hand.win,))
    rows = [*_upper_rows(hand.upper), last]
    if len(rows) > ROWS or any(_width(row) > WIDEST for row in rows):
        raise SceneError("The hand is too long for the zone of its place: lay fewer tiles.")
    return rows


def _lay_row(
    groups: Sequence[Sequence[str]], y: float, rng: np.random.Generator
) -> list[tuple[str, float, float, float]]:
    """Kind, x, y and turn of every tile of a row as the player sees it."""
    tilt, shift = rng.uniform(-0.8, 0.8), rng.uniform(-3, 3)
    x = -_width(groups) / 2 + shift
    laid = []
    for group in groups:
        askew, lift = rng.uniform(-1.0, 1.0), rng.uniform(-1.2, 1.2)
        for kind in group:
            middle = x + TILE_WIDTH / 2
            turn = float(np.clip(rng.normal(tilt + askew, 0.6), -3, 3))
            across = float(np.clip(rng.normal(0, 0.5), -1.2, 1.2))
            laid.append((kind, middle, y + lift + across + middle * np.sin(np.radians(tilt)), turn))
            x += TILE_WIDTH + rng.uniform(0.05, 0.45)
        x += GAP * rng.uniform(0.9, 1.1)
    return laid


def _lay_hand(place: int, hand: LaidHand, rng: np.random.Generator) -> list[PlacedTile]:
    rows = _rows(hand)
    tiles = []
    for k, groups in enumerate(rows):
        y = LAST_ROW + ROW_PITCH * (len(rows) - 1 - k)
        for kind, px, py, turn in _lay_row(groups, y, rng):
            wx, wy = from_place(place, np.asarray([px, py])).tolist()
            tiles.append(PlacedTile(kind, wx, wy, turn + 90.0 * place))
    return tiles


def _lay_wall(
    place: int, heights: Sequence[int], turned: tuple[int, str] | None, rng: np.random.Generator
) -> list[PlacedTile]:
    """Tiles of a wall from its right end; ``turned``: stack and kind of the top tile that lies open."""
    tiles = []
    for stack, height in enumerate(heights, 1):
        wx, wy = (stack_middle(place, stack) + rng.normal(0, 0.3, 2)).tolist()
        top = turned[1] if turned is not None and turned[0] == stack else "back"
        for level in range(height):
            kind = top if level == height - 1 else "back"
            turn = 90.0 * place + float(rng.normal(0, 0.3))
            tiles.append(PlacedTile(kind, wx, wy, turn, level * TILE_DEPTH))
    return tiles


def _turned_on(scene: Scene, place: int) -> tuple[int, str] | None:
    """Stack and kind of the indicator, if it lies turned up on the wall of a place."""
    if scene.turned is None or scene.indicator is None or scene.turned[0] != place:
        return None
    return scene.turned[1], scene.indicator


def place_tiles(scene: Scene) -> list[PlacedTile]:
    """Lay out a scene; the same scene always lies the same. Raises SceneError when a hand does not fit."""
    rng = np.random.default_rng([scene.light_seed & 0xFFFFFFFF, 1])
    tiles: list[PlacedTile] = []
    for place in PLACES:
        tiles += _lay_wall(place, scene.heights(place), _turned_on(scene, place), rng)
    for place, hand in sorted(scene.hands.items()):
        tiles += _lay_hand(place, hand, rng)
    if scene.indicator is not None and scene.turned is None:
        left, near, right, far = INDICATOR_ZONE
        x, y = (left + right) / 2 + rng.uniform(-6, 6), (near + far) / 2 + rng.uniform(-6, 6)
        tiles.append(PlacedTile(scene.indicator, x, y, float(rng.uniform(-4, 4))))
    return tiles
