"""Whether the camera still sees the table as it did at teaching. Pure but for the picture's reduction.

Looked at are edges of what never moves: the border between cloth and rail, the rail, and the console in
the middle. Tiles, hands and walls lie elsewhere or cover a part of it. Each edge point is looked for along
its own normal by the correlation of a grey profile, which does not care how bright the light is; how far all
of them have gone is fitted robustly, since those under an arm or a shadow go anywhere.

Sources: edge points as the mark of a scene (Lin et al., ICME 2013), search along normals (Harris and
Stennett, RAPID, BMVC 1990), agreement of random samples (Fischler and Bolles 1981).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from vision.calibration.edge import Grey, png, read_colours, read_grey, small_colours, small_grey
from vision.errors import CalibrationError
from vision.planes import Matrix, homography, map_points
from vision.readings import Floats, Image, check_image
from vision.table import TABLE_HALF, zone_corners
from vision.taught import EdgePoint, Reference
from vision.zones import Calibration

__all__ = ["LIMIT", "Drift", "DriftWatch", "empty_zone", "make_reference"]

WIDTH = 480
"""Width of the reference picture: one of its pixels is 3.3 of a frame 1600 wide."""
LIMIT = 0.0025
"""Share of the frame's width by which a zone's corner may have gone: 4 pixels of 1600, some 3 mm."""
BORDER = (-8.0, 48.0)
"""Millimetres from the edge of the cloth outward between which edges count as fixed."""
CONSOLE = 95.0
"""Radius in millimetres around the middle in which edges count as fixed."""
CELL, MOST, LEAST = 7, 240, 40
"""One edge point a cell of the reference; how many are kept, and how few are too few."""
STEEP = 5.0
"""Grey levels a pixel from which an edge counts."""
REACH = 7
BESIDE = (-3.0, -1.5, 0.0, 1.5, 3.0)
"""Half length of a profile along the normal, and where beside it, along the edge, it is averaged."""
SEARCH = 14
"""Pixels of the reference to either side in which an edge is looked for (twice as far in a second try)."""
ALIKE = 0.75
"""Correlation from which a profile counts as found."""
NEAR = 1.0
"""Pixels of the reference within which an edge point agrees with the movement of all."""
AGREED = 0.3
"""Share of the edge points that has to agree; an arm or two leave more."""
TRIALS = 200


@dataclass(frozen=True, slots=True)
class Drift:
    """What the drift alarm says of a frame.

    ``moved``: the calibration no longer fits (or, where not ``sure``, cannot be shown to fit); ``pixels``:
    how far the zone corner that went farthest has gone in the frame, 0 where not ``sure``; ``sure``: enough
    of the table's fixed edges were found to tell.
    """

    moved: bool
    pixels: float
    sure: bool


def make_reference(frame: Image, calibration: Calibration) -> Reference:
    """Take the view of a frame (uint8 ``(H, W, 3)`` BGR) as the reference of a calibration.

    Raises CalibrationError when too little of the table's border and console can be seen.
    """
    check_image(frame, "frame")
    picture = small_grey(frame, WIDTH)
    scaled = calibration.scaled(picture.shape[1], picture.shape[0])
    points = _edge_points(picture, _fixed(scaled, picture.shape[1], picture.shape[0]))
    if len(points) < LEAST:
        raise CalibrationError(
            "The border of the table's cloth can hardly be seen: take hands and things off it, switch the"
            " light on, and teach again."
        )
    return Reference(png(small_colours(frame, WIDTH)), points)


def empty_zone(calibration: Calibration, zone: str) -> Image | None:
    """What a zone showed at teaching, uint8 ``(h, w, 3)`` BGR seen straight on; it is only as sharp as
    the reference.

    None without a reference that can be read. References of older calibrations are grey.
    """
    reference = calibration.reference
    picture = None if reference is None else read_colours(reference.png)
    if picture is None or picture.shape[1] != WIDTH:
        return None
    try:
        return calibration.scaled(picture.shape[1], picture.shape[0]).rectify(picture, zone).image
    except CalibrationError:
        return None  # a picture of another shape than the frames


def _fixed(calibration: Calibration, width: int, height: int) -> NDArray[np.bool_]:
    """Where in the picture the fixed parts of the table are: mask ``(height, width)``."""
    names = [name for name in calibration.zones if name.isdigit()]
    cloth = 1.0 if calibration.taught is None else calibration.taught.cloth_mm / (2 * TABLE_HALF)
    world = np.concatenate([zone_corners(name) * cloth for name in names])
    pixels = np.concatenate([np.asarray(calibration.zones[name].quad) for name in names])
    x, y = np.meshgrid(np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64))
    spots = np.stack([x.ravel(), y.ravel()], axis=1)
    if calibration.lens is not None:
        pixels, spots = calibration.lens.straight(pixels), _straight_enough(calibration, spots)
    on_table = map_points(homography(pixels, world), spots)
    out = np.abs(on_table).max(axis=1) - cloth * TABLE_HALF
    fixed = ((out > BORDER[0]) & (out < BORDER[1])) | (np.linalg.norm(on_table, axis=1) < CONSOLE)
    mask = np.asarray(fixed.reshape(height, width), np.bool_)
    margin = REACH + 1
    mask[:margin], mask[-margin:], mask[:, :margin], mask[:, -margin:] = False, False, False, False
    return mask


def _straight_enough(calibration: Calibration, spots: Matrix) -> Matrix:
    """Straight points; the picture's very corners, where a lens may have no inverse, lie off the table."""
    assert calibration.lens is not None
    try:
        return calibration.lens.straight(spots)
    except CalibrationError:
        middle = np.asarray(calibration.size) / 2
        inside = np.linalg.norm((spots - middle) / middle, axis=1) < 1.1
        out = np.full_like(spots, -1e6)
        out[inside] = calibration.lens.straight(spots[inside])
        return out


def _edge_points(picture: Grey, fixed: NDArray[np.bool_]) -> tuple[EdgePoint, ...]:
    """The steepest point of each cell of the fixed parts, with its normal; strongest first, then thinned."""
    grey = _smooth(picture.astype(np.float32))
    down, across = (np.asarray(slope) for slope in np.gradient(grey))
    steep = np.where(fixed, np.hypot(across, down), 0)
    rows, columns = steep.shape[0] // CELL, steep.shape[1] // CELL
    cells = steep[: rows * CELL, : columns * CELL].reshape(rows, CELL, columns, CELL).swapaxes(1, 2)
    flat = cells.reshape(rows, columns, CELL * CELL)
    best, spot = flat.max(axis=2), flat.argmax(axis=2)
    chosen = np.argwhere(best > STEEP)
    chosen = chosen[np.argsort(-best[tuple(chosen.T)], kind="stable")][:MOST]
    points = []
    for row, column in chosen.tolist():
        y, x = divmod(int(spot[row, column]), CELL)
        y, x = y + row * CELL, x + column * CELL
        length = float(steep[y, x])
        normal = float(across[y, x]) / length, float(down[y, x]) / length
        points.append((float(x), float(y), round(normal[0], 4), round(normal[1], 4)))
    return tuple(points)


def _smooth(grey: Floats) -> Floats:
    """Blur with 1 2 1 in both directions: takes most of the sensor's noise."""
    padded = np.pad(grey, 1, mode="edge")
    rows = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    return np.asarray((rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 16, np.float32)


class DriftWatch:
    """Compares frames with the reference of a calibration. Fast enough to ask before every reading.

    Raises CalibrationError when the calibration has no reference, or one that cannot be used.
    """

    def __init__(self, calibration: Calibration) -> None:
        reference = calibration.reference
        if reference is None:
            raise CalibrationError(
                "The calibration holds no reference picture: teach the table again (quezhuo calibrate, or the"
                " page /calibrate)."
            )
        picture = read_grey(reference.png)
        if picture is None or picture.shape[1] != WIDTH or len(reference.points) < LEAST:
            raise CalibrationError(
                "The reference picture of the calibration cannot be used: teach the table again"
                " (quezhuo calibrate, or the page /calibrate)."
            )
        self._calibration = calibration
        self._shape = picture.shape
        table = np.asarray(reference.points, np.float64)
        self._spots, self._normals = table[:, :2], table[:, 2:]
        zones = [np.asarray(zone.quad, np.float64) for zone in calibration.zones.values()]
        self._corners = np.concatenate(zones) * (WIDTH / calibration.size[0])
        self._levels = [self._level(picture, 1), self._level(picture, 2)]

    def _level(self, picture: Grey, step: int) -> Floats:
        """Profiles ``(N, 2 REACH + 1)`` of the reference at a resolution, each with mean 0 and length 1."""
        grey = _smooth(picture.astype(np.float32))[::step, ::step]
        profiles, _ = _profiles(grey, self._spots / step, self._normals, REACH)
        return _normed(profiles)

    def check(self, frame: Image) -> Drift:
        """Compare a frame (uint8 ``(H, W, 3)`` BGR) with the reference.

        Raises CalibrationError when the frame has another shape than the one the table was taught with.
        """
        check_image(frame, "frame")
        self._calibration.scaled(frame.shape[1], frame.shape[0])
        picture = small_grey(frame, WIDTH)
        if picture.shape != self._shape:
            picture = picture[: self._shape[0]]
        grey = _smooth(picture.astype(np.float32))
        for step, wanted in zip((1, 2), self._levels, strict=True):
            gone = self._movement(grey[::step, ::step], wanted, step)
            if gone is not None:
                pixels = float(np.linalg.norm(gone, axis=1).max()) * frame.shape[1] / WIDTH
                return Drift(pixels > LIMIT * frame.shape[1], round(pixels, 1), True)
        return Drift(True, 0.0, False)

    def _movement(self, grey: Floats, wanted: Floats, step: int) -> Matrix | None:
        """How far the zone corners have gone, ``(M, 2)`` pixels of the reference; None: not to be told."""
        spots = self._spots / step
        strips, inside = _profiles(grey, spots, self._normals, REACH + SEARCH)
        windows = sliding_window_view(strips, 2 * REACH + 1, axis=1)
        likeness = np.einsum("nsk,nk->ns", _normed(windows), wanted)
        shift, best = _peak(likeness)
        middle, unit = np.asarray(grey.shape[::-1], np.float64) / 2, float(grey.shape[1]) / 2
        basis = _basis((spots - middle) / unit)
        slopes = np.einsum("nkm,nk->nm", basis, self._normals)
        found = inside & (best > ALIKE)
        fit = _fit(slopes[found], shift[found])
        if fit is None or fit[1] < max(AGREED * len(spots), LEAST / 2):
            return None
        return np.asarray(_basis((self._corners / step - middle) / unit) @ fit[0] * step, np.float64)


def _profiles(grey: Floats, spots: Matrix, normals: Matrix, reach: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Grey values ``(N, 2 reach + 1)`` along each normal, averaged along the edge; and which are in view."""
    along = np.arange(-reach, reach + 1, dtype=np.float32)[None, :, None]
    beside = np.asarray(BESIDE, np.float32)[None, None, :]
    (px, py), (nx, ny) = (v.T.astype(np.float32)[:, :, None, None] for v in (spots, normals))
    height, width = grey.shape
    x = np.clip(px + along * nx - beside * ny, 0, width - 1.001)
    y = np.clip(py + along * ny + beside * nx, 0, height - 1.001)
    left, top = x.astype(np.int32), y.astype(np.int32)
    dx, dy = x - left, y - top
    at = top * width + left
    flat = np.ascontiguousarray(grey).ravel()
    upper = flat[at] * (1 - dx) + flat[at + 1] * dx
    lower = flat[at + width] * (1 - dx) + flat[at + width + 1] * dx
    values = (upper * (1 - dy) + lower * dy).mean(axis=2)
    inside = (spots >= 0).all(axis=1) & (spots < [width, height]).all(axis=1)
    return np.asarray(values, np.float32), np.asarray(inside, np.bool_)


def _normed(profiles: Floats) -> Floats:
    """Take the mean off and scale to length 1; a profile without contrast becomes 0."""
    centred = profiles - profiles.mean(axis=-1, keepdims=True)
    length = np.linalg.norm(centred, axis=-1, keepdims=True)
    return np.asarray(np.where(length > 4.0, centred / np.maximum(length, 1e-6), 0), np.float32)


def _peak(likeness: Floats) -> tuple[Matrix, Floats]:
    """Where each row is largest, counted from its middle and between pixels by a parabola; and how large."""
    rows = np.arange(len(likeness))
    at = likeness.argmax(axis=1)
    best = likeness[rows, at]
    inner = np.clip(at, 1, likeness.shape[1] - 2)
    before, here, after = (likeness[rows, inner + k] for k in (-1, 0, 1))
    curve = before - 2 * here + after
    part = np.where((inner == at) & (curve < -1e-6), 0.5 * (before - after) / np.minimum(curve, -1e-6), 0)
    return np.asarray(at + np.clip(part, -0.5, 0.5) - likeness.shape[1] // 2, np.float64), best


def _basis(points: Matrix) -> Matrix:
    """Displacements ``(N, 2, 6)`` of points by a unit of each movement.

    Shift in x and y, growth, turn, and the two perspective terms of a camera that is panned or tilted.
    """
    x, y = points[:, 0], points[:, 1]
    one, zero = np.ones_like(x), np.zeros_like(x)
    right = np.stack([one, zero, x, -y, x * x, x * y], axis=1)
    down = np.stack([zero, one, y, x, x * y, y * y], axis=1)
    return np.stack([right, down], axis=1)


def _fit(slopes: Matrix, shift: Matrix) -> tuple[Matrix, int] | None:
    """Movement ``(6,)`` that most edge points agree with, and how many do; None: undetermined.

    ``slopes``: ``(N, 6)`` shift along the normal by a unit of each movement; ``shift``: ``(N,)`` as seen.
    """
    if len(shift) < LEAST / 2:
        return None
    rng = np.random.default_rng(0)
    few = rng.integers(0, len(shift), (TRIALS, 4))
    left, right = slopes[few][:, :, :4], shift[few]
    square = left.swapaxes(1, 2) @ left + 1e-6 * np.eye(4)
    guesses = np.linalg.solve(square, left.swapaxes(1, 2) @ right[..., None])[..., 0]
    guesses = np.concatenate([np.zeros((1, 4)), guesses])
    agree = (np.abs(guesses @ slopes[:, :4].T - shift) < 2 * NEAR).sum(axis=1)
    move = np.append(guesses[int(np.argmax(agree))], [0.0, 0.0])
    for near in (3 * NEAR, 2 * NEAR, NEAR, NEAR):
        good = np.abs(slopes @ move - shift) < near
        system = slopes[good]
        square = system.T @ system
        if good.sum() < LEAST / 2 or np.linalg.eigvalsh(square[:2, :2])[0] < 0.1 * good.sum():
            return None
        move = np.linalg.solve(square + 1e-3 * np.diag([0, 0, 1, 1, 20, 20]), system.T @ shift[good])
    return move, int((np.abs(slopes @ move - shift) < NEAR).sum())
