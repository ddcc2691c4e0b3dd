"""Tiles as solids: their corners on the table and in the picture, of all tiles of a scene at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.geometry import Matrix, Pinhole
from vision.render.laying import PlacedTile
from vision.table import TILE_DEPTH, TILE_HEIGHT, TILE_WIDTH

__all__ = ["Solid", "solids_of"]

BACK_SHARE = 0.4
"""Share of a tile's depth that has the colour of its back."""
BEVEL = 1.0
"""Millimetres by which the top is smaller than the body."""


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A placed tile; corners as it is read: top left, top right, bottom right, bottom left.

    ``ground``: world x, y ``(4, 2)``; ``outward``: which way the sides look, unit vectors ``(4, 2)``, that
    from a corner to the next each; ``shadow``: pixels ``(8, 2)`` of its foot on the cloth and of where the
    light throws its top; ``levels``: pixels ``(3, 4, 2)`` of its underside, of where the colour of its sides
    changes, and of its top; ``face``: pixels ``(4, 2)`` of what shows a picture.
    """

    kind: str
    ground: Matrix
    outward: Matrix
    shadow: Matrix
    levels: Matrix
    face: Matrix


def solids_of(tiles: Sequence[PlacedTile], camera: Pinhole, slant: Matrix) -> list[Solid]:
    """Return the solids of tiles, in their order; ``slant``: mm of shadow per mm of height, x and y."""
    if not tiles:
        return []
    z = np.asarray([tile.z for tile in tiles])[:, None]
    ground = _corners(tiles, TILE_WIDTH / 2, TILE_HEIGHT / 2)
    inner = _corners(tiles, TILE_WIDTH / 2 - BEVEL, TILE_HEIGHT / 2 - BEVEL)
    thrown = ground + slant * (z + TILE_DEPTH)[..., None]
    split = np.asarray([TILE_DEPTH * (1 - BACK_SHARE if t.kind == "back" else BACK_SHARE) for t in tiles])
    parts = (
        (ground, np.zeros_like(z)),
        (thrown, np.zeros_like(z)),
        (ground, z),
        (ground, z + split[:, None]),
        (ground, z + TILE_DEPTH),
        (inner, z + TILE_DEPTH),
    )
    points = np.stack([_at(corners, heights) for corners, heights in parts], axis=1)
    pixels = camera.project(points.reshape(-1, 3)).reshape(len(tiles), len(parts), 4, 2)
    return [
        Solid(tile.kind, corners, sides, seen[:2].reshape(8, 2), seen[2:5], seen[5])
        for tile, corners, sides, seen in zip(tiles, ground, _outward(ground), pixels, strict=True)
    ]


def _at(corners: Matrix, heights: Matrix) -> Matrix:
    """World points ``(N, 4, 3)`` of corners ``(N, 4, 2)`` at heights ``(N, 1)``."""
    return np.concatenate([corners, np.broadcast_to(heights[..., None], (*corners.shape[:2], 1))], axis=2)


def _outward(ground: Matrix) -> Matrix:
    edges = np.roll(ground, -1, axis=1) - ground
    across = np.stack([-edges[..., 1], edges[..., 0]], axis=2)
    return np.asarray(across / np.linalg.norm(edges, axis=2)[..., None], np.float64)


def _corners(tiles: Sequence[PlacedTile], half_width: float, half_height: float) -> Matrix:
    """World x, y of the corners ``(N, 4, 2)`` of tiles."""
    turn = np.radians([tile.turn for tile in tiles])[:, None]
    x, y = np.asarray(
        [[-half_width, half_width, half_width, -half_width], [half_height] * 2 + [-half_height] * 2]
    )
    turned = np.stack([x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)], axis=2)
    return np.asarray(turned + np.asarray([[tile.x, tile.y] for tile in tiles])[:, None], np.float64)
