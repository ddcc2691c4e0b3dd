"""What disturbs the camera double when a hand is laid open: arms, mirrored lamps, a knocked camera.

By the seed alone, counted in frames and not in seconds: every run shows the same.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from vision.render import Arm, Bump, Glare, Scene, Upset
from vision.render.laying import place_tiles
from vision.render.upset import GLOVE, SKIN
from vision.table import PLACE_ZONE, from_place

CALM_SHARE = 0.5
"""Share of the claims that nothing disturbs."""
SKINS = (SKIN, (84, 112, 160), (58, 76, 112), GLOVE)
SLEEVES = (None, (48, 44, 40), (150, 150, 156), (60, 50, 130))


def with_film(scene: Scene, side: int, seed: str) -> Scene:
    """Return the scene with what disturbs the first frames of a hand laid open at a side."""
    rng = random.Random(f"{seed}/film")  # noqa: S311 (a reproducible game, no secret)
    if rng.random() < CALM_SHARE:
        return scene
    film = rng.choice((_arm, _lamp, _knock))(scene, side, rng)
    return replace(scene, film=film)


def _arm(_: Scene, side: int, rng: random.Random) -> tuple[Upset, ...]:
    """A hand comes in, rests on the tiles, and leaves."""
    rest = rng.uniform(90, 150)
    arm = Arm(
        side, rng.uniform(-150, 150), rest, rng.uniform(-12, 12), rng.choice(SKINS), rng.choice(SLEEVES)
    )
    way = (0.55 * rest, rest, rest, 0.5 * rest)
    return tuple(Upset(arms=(replace(arm, reach=reach),)) for reach in way)


def _lamp(scene: Scene, side: int, rng: random.Random) -> tuple[Upset, ...]:
    """A lamp is mirrored in one of the tiles until somebody turns it."""
    tiles = [tile for tile in place_tiles(scene) if tile.z == 0 and _lies_at(side, tile.x, tile.y)]
    if not tiles:
        return ()
    tile = rng.choice(tiles)
    spot = Glare(tile.x + rng.uniform(-4, 4), tile.y + rng.uniform(-4, 4), rng.uniform(7, 11))
    return (Upset(glares=(spot,)),) * 2


def _lies_at(side: int, x: float, y: float) -> bool:
    px, py = from_place((4 - side) % 4, np.asarray([x, y])).tolist()
    left, near, right, far = PLACE_ZONE
    return bool(left < px < right and near < py < far)


def _knock(_: Scene, __: int, rng: random.Random) -> tuple[Upset, ...]:
    """Somebody knocks the camera's arm, and puts it back."""
    bump = Bump(rng.choice((-1, 1)) * rng.uniform(0.5, 0.9), rng.uniform(-14, 14), rng.uniform(8, 14))
    return (Upset(bump=bump),) * 2
