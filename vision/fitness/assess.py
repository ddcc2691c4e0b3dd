"""Puts the single measures together: is this zone of this frame fit to be read?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from vision.fitness.backdrop import Backdrop
from vision.fitness.border import cut_tiles, tiles_beyond
from vision.fitness.focus import focus
from vision.fitness.hands import Cloth, hands
from vision.fitness.light import exposure, glares, tile_white
from vision.fitness.problems import CAMERA_MOVED, LIMITS, Fitness, Limits, Problem
from vision.readings import Floats, Image, check_image

__all__ = ["Drifted", "assess", "assess_tiles", "drifted"]


class Drifted(Protocol):
    """What a drift watch says of a frame (`vision.calibration.drift`)."""

    @property
    def moved(self) -> bool:
        """Whether the camera does not stand where it was taught."""

    @property
    def pixels(self) -> float:
        """By how much fixed parts of the table moved."""


def drifted(drift: Drifted | None, limits: Limits = LIMITS) -> list[Problem]:
    """Turn what a drift watch says into a problem of the frame."""
    if drift is None or not drift.moved:
        return []
    return [Problem(CAMERA_MOVED, None, round(float(drift.pixels), 1), limits.shift)]


def assess(
    view: Image,
    tile: float,
    *,
    moved: Sequence[Problem] = (),
    drift: Drifted | None = None,
    cloth: Cloth | None = None,
    empty: Backdrop | None = None,
    limits: Limits = LIMITS,
) -> Fitness:
    """Judge a zone before it is read, without a network.

    Args:
        view: the zone seen straight on, uint8 ``(H, W, 3)`` BGR, upright for its player.
        tile: width of a tile in pixels of the view.
        moved: what `StillWatch.look` said of this frame. drift: what the drift watch said.
        cloth: as taught; found in the view without it. empty: what the zone shows without tiles and hands.
        limits: from which values on it is not fit.

    Raises ShapeError for another array.
    """
    check_image(view, "view")
    problems = [*drifted(drift, limits), *moved, *hands(view, tile, None, cloth, limits, empty)]
    white = tile_white(view, None)
    return Fitness.of([*problems, *exposure(view, None, white, limits), *focus(view, tile, None, limits)])


def assess_tiles(
    view: Image,
    tile: float,
    boxes: Floats,
    *,
    covered: Floats | None = None,
    strips: Sequence[Image] = (),
    cloth: Cloth | None = None,
    empty: Backdrop | None = None,
    limits: Limits = LIMITS,
) -> Fitness:
    """Judge a zone in which tiles were found: ``boxes`` float32 ``(N, 4)``, pixels of the view.

    ``covered``: the same of tiles that lie face down and are not read, which are no hand either;
    ``strips``: the table beside the zone, see `tiles_beyond`; the rest as in `assess`. Raises ShapeError.
    """
    check_image(view, "view")
    size, white = (view.shape[1], view.shape[0]), tile_white(view, boxes)
    lying = boxes if covered is None else np.concatenate([boxes, covered])
    return Fitness.of(
        [
            *hands(view, tile, lying, cloth, limits, empty),
            *exposure(view, boxes, white, limits),
            *focus(view, tile, boxes, limits),
            *cut_tiles(boxes, size, tile, limits),
            *tiles_beyond(strips, tile, white, limits),
            *glares(view, boxes, white, limits),
        ]
    )
