"""Draws a scene as the camera above the table would see it (numpy and OpenCV only).

Not a picture to look at for its own sake: it has what makes real frames hard (perspective, sides of
tiles, uneven light, shadows, blur, noise, JPEG) and is the same for the same seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Calibration, Matrix, Pinhole, default_calibration, homography, pinhole_of
from vision.readings import Image
from vision.render.atlas import GREEN_BACK, IVORY, face
from vision.render.disturb import draw_arms, draw_glares, shake
from vision.render.laying import PlacedTile, place_tiles
from vision.render.scene import Scene
from vision.render.solids import Solid, solids_of
from vision.render.upset import CALM, Stray, Upset
from vision.table import TABLE_HALF

__all__ = ["Look", "disturb", "lay", "photograph", "render", "tile_quads"]

FLOOR, FRAME, CONSOLE, WINDOW = (72, 78, 88), (44, 52, 66), (48, 44, 42), (92, 84, 78)
FRAME_WIDTH = 42.0
CONSOLE_HALF = 92.0
SUBPIXEL = 4
JPEG_QUALITY = 90


@dataclass(frozen=True, slots=True)
class Look:
    """Colours of a venue (BGR 0..255): table cloth and tile backs."""

    cloth: tuple[int, int, int] = (104, 82, 46)
    back: tuple[int, int, int] = GREEN_BACK


def _polygon(image: NDArray[np.uint8], points: Matrix, colour: Iterable[float]) -> None:
    fixed = np.rint(points * (1 << SUBPIXEL)).astype(np.int32)
    cv2.fillConvexPoly(image, fixed, tuple(float(c) for c in colour), cv2.LINE_AA, SUBPIXEL)


def _square(half: float) -> Matrix:
    return np.asarray([[-half, -half], [half, -half], [half, half], [-half, half]], np.float64)


def _on_table(camera: Pinhole, points: Matrix, z: float = 0.0) -> Matrix:
    return camera.project(np.concatenate([points, np.full((len(points), 1), z)], axis=1))


@lru_cache(maxsize=4)
def _empty_table(view: bytes, size: tuple[int, int], cloth: tuple[int, int, int]) -> Image:
    """Cloth, frame, centre console and floor for a camera matrix (its bytes) and picture size."""
    camera = Pinhole(np.frombuffer(view, np.float64).reshape(3, 4), np.zeros(3))
    image = np.full((size[1], size[0], 3), FLOOR, np.uint8)
    _polygon(image, _on_table(camera, _square(TABLE_HALF + FRAME_WIDTH)), FRAME)
    _polygon(image, _on_table(camera, _square(TABLE_HALF + 4)), [c * 0.6 for c in FRAME])
    _polygon(image, _on_table(camera, _square(TABLE_HALF)), cloth)
    _polygon(image, _on_table(camera, _square(CONSOLE_HALF)), CONSOLE)
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    for radius, colour in ((58.0, [c * 1.6 for c in CONSOLE]), (50.0, WINDOW)):
        _polygon(image, _on_table(camera, radius * ring), colour)
    rng = np.random.default_rng(7)
    coarse = rng.normal(0, 2.2, (size[1] // 3, size[0] // 3)).astype(np.float32)
    weave = cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR)
    # Row by row, here and in the grain: floats of whole pictures cost more in fresh memory than in drawing.
    for row, threads in zip(image, weave, strict=True):
        threads += rng.normal(0, 2.0, size[0]).astype(np.float32)
        row[:] = np.clip(row + threads[:, None], 0, 255)
    return image


def _darken_shadows(image: Image, solids: list[Solid]) -> Image:
    """Soft shadows on the cloth, drawn at a quarter of the size."""
    shade = np.zeros((image.shape[0] // 4, image.shape[1] // 4), np.uint8)
    for solid in solids:
        outline = cv2.convexHull(solid.shadow.astype(np.float32))
        _polygon(shade, np.asarray(outline[:, 0], np.float64) / 4, (120,))
    shade = cv2.GaussianBlur(shade, (0, 0), 1.3)
    full = cv2.resize(shade, (image.shape[1], image.shape[0]), interpolation=cv2.INTER_LINEAR)
    bright = cv2.cvtColor(255 - full, cv2.COLOR_GRAY2BGR)
    return np.asarray(cv2.multiply(image, bright, scale=1 / 255), np.uint8)


def _draw_sides(image: Image, solid: Solid, camera: Pinhole, light: Matrix, look: Look) -> None:
    """Draw the sides that the camera sees; ``light``: how bright those are that look its way, x and y."""
    lower, upper = (IVORY, look.back) if solid.kind == "back" else (look.back, IVORY)
    seen = ((camera.position[:2] - solid.ground) * solid.outward).sum(axis=1) > 0
    for k in np.flatnonzero(seen).tolist():
        n = (k + 1) % 4
        bright = 0.74 + 0.16 * float(solid.outward[k] @ light)
        for low, high, colour in ((0, 1, lower), (1, 2, upper)):
            side = solid.levels[[low, low, high, high], [k, n, n, k]]
            _polygon(image, side, [c * bright for c in colour])


@lru_cache(maxsize=512)
def _top(kind: str, width: int, back: tuple[int, int, int]) -> tuple[Image, NDArray[np.uint8]]:
    """Top of a tile with shaded rim, and the mask of its rounded shape, both with a clear border of 1."""
    picture = face(kind, width, back)
    height = picture.shape[0]
    mask = np.zeros((height * 4, width * 4), np.uint8)
    radius = max(1, round(0.09 * width * 4))
    cv2.rectangle(mask, (radius, 0), (width * 4 - radius - 1, height * 4 - 1), 255, -1)
    cv2.rectangle(mask, (0, radius), (width * 4 - 1, height * 4 - radius - 1), 255, -1)
    for x in (radius, width * 4 - radius - 1):
        for y in (radius, height * 4 - radius - 1):
            cv2.circle(mask, (x, y), radius, 255, -1)
    mask = cv2.resize(mask, (width, height), interpolation=cv2.INTER_AREA)
    rim = np.ones((height, width), np.float32)
    edge = max(1, round(0.03 * width))
    rim[:edge], rim[-edge:], rim[:, :edge], rim[:, -edge:] = 1.02, 0.9, 0.95, 0.95
    shaded = np.clip(picture * rim[..., None], 0, 255).astype(np.uint8)
    padded = cv2.copyMakeBorder(shaded, 1, 1, 1, 1, cv2.BORDER_REPLICATE)
    return np.asarray(padded, np.uint8), np.asarray(np.pad(mask, 1), np.uint8)


def _draw_top(image: Image, solid: Solid, look: Look) -> None:
    _polygon(image, solid.levels[2], [c * 0.86 for c in (look.back if solid.kind == "back" else IVORY)])
    quad = solid.face
    left, top = np.maximum(np.floor(quad.min(axis=0)).astype(int) - 1, 0)
    right, bottom = np.minimum(np.ceil(quad.max(axis=0)).astype(int) + 2, [image.shape[1], image.shape[0]])
    if right <= left or bottom <= top:
        return
    width = -(-int(1.1 * np.linalg.norm(quad[1] - quad[0])) // 4) * 4
    picture, mask = _top(solid.kind, max(8, width), look.back)
    height, wide = picture.shape[0] - 2, picture.shape[1] - 2
    source = np.asarray([[1, 1], [wide + 1, 1], [wide + 1, height + 1], [1, height + 1]], np.float64)
    matrix = homography(source - 0.5, quad - [left, top])
    size = (int(right - left), int(bottom - top))
    drawn = cv2.warpPerspective(
        picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    share = (
        cv2.warpPerspective(mask, matrix, size, flags=cv2.INTER_LINEAR).astype(np.float32)[..., None] / 255
    )
    part = image[top:bottom, left:right]
    part[:] = np.rint(part * (1 - share) + drawn * share).astype(np.uint8)


def _lit(image: Image, rng: np.random.Generator) -> Image:
    """Uneven, slightly tinted light with one soft bright spot."""
    height, width = image.shape[:2]
    coarse = rng.uniform(0.84, 1.04, (3, 4)).astype(np.float32)
    field = cv2.resize(coarse, (width // 8, height // 8), interpolation=cv2.INTER_CUBIC)
    y, x = np.mgrid[0 : field.shape[0], 0 : field.shape[1]].astype(np.float32)
    spot_x, spot_y = rng.uniform(0.2, 0.8) * field.shape[1], rng.uniform(0.2, 0.8) * field.shape[0]
    spread = rng.uniform(12, 30)
    field += rng.uniform(0, 0.12) * np.exp(-((x - spot_x) ** 2 + (y - spot_y) ** 2) / (2 * spread**2))
    tint = rng.uniform(0.94, 1.04, 3).astype(np.float32) * rng.uniform(0.85, 1.05)
    gain = np.clip(field[..., None] * tint * 180, 0, 255).astype(np.uint8)
    gain = cv2.resize(gain, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.multiply(image, gain, scale=1 / 180), np.uint8)


@lru_cache(maxsize=2)
def _grain(size: tuple[int, int]) -> Image:
    """Sensor noise around 128, larger than the picture so that every frame cuts another part."""
    rng = np.random.default_rng(11)
    grain = np.empty((size[1] + 64, size[0] + 64, 3), np.uint8)
    for row in grain:
        row[:] = np.clip(rng.normal(128, 24, row.shape), 0, 255)
    return grain


def photograph(image: Image, scene: Scene, seed: int) -> Image:
    """Take a drawn picture (uint8 BGR) of a scene through the camera: lens blur, sensor noise and JPEG."""
    rng = np.random.default_rng([scene.light_seed & 0xFFFFFFFF, seed, 3])
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(0.5, 0.8)), np.uint8)
    height, width = image.shape[:2]
    x, y = rng.integers(0, 64, 2)
    grain = _grain((width, height))[y : y + height, x : x + width]
    strength = rng.uniform(0.06, 0.16)
    image = np.asarray(cv2.addWeighted(image, 1.0, grain, strength, -128 * strength), np.uint8)
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def tile_quads(scene: Scene, calibration: Calibration | None = None) -> list[tuple[str, Matrix]]:
    """Where the tops of a scene's tiles are in the frame: kind and corners ``(4, 2)`` in pixels.

    Corners as the tile is read: top left, top right, bottom right, bottom left. Walls come first,
    then each place's hand in reading order, then the indicator. Hidden tiles are not left out.
    """
    camera = pinhole_of(calibration or default_calibration())
    return [(solid.kind, solid.levels[2]) for solid in solids_of(place_tiles(scene), camera, np.zeros(2))]


def render(
    scene: Scene,
    calibration: Calibration | None = None,
    seed: int = 0,
    look: Look | None = None,
    upset: Upset = CALM,
) -> Image:
    """Render a frame: uint8 ``(H, W, 3)`` BGR of the calibration's size.

    The camera is the one whose zones lie as in ``calibration`` (the default table without it). How
    the tiles lie and the lamp follow ``scene.light_seed``; blur and noise follow ``seed``: the same
    arguments give the same bytes. ``upset``: what disturbs this frame (``scene.film`` is not looked at).
    Raises SceneError when a hand does not fit its zone.
    """
    laid = lay(scene, calibration, look, upset.strays)
    return photograph(disturb(laid, scene, calibration, upset), scene, seed)


def lay(
    scene: Scene,
    calibration: Calibration | None = None,
    look: Look | None = None,
    strays: Sequence[Stray] = (),
) -> Image:
    """Draw the tiles on the table, the dear part of `render`: what frames of one scene share."""
    calibration, look = calibration or default_calibration(), look or Look()
    camera = pinhole_of(calibration)
    tiles = place_tiles(scene) + [PlacedTile(s.kind, s.x, s.y, s.turn) for s in strays]
    slant, _ = _lamp(scene)
    light = -slant / max(float(np.linalg.norm(slant)), 0.05)
    image = _empty_table(camera.matrix.tobytes(), calibration.size, look.cloth)
    solids = solids_of(tiles, camera, slant)
    image = _darken_shadows(image, solids)
    far = [(tile.z, -float(np.linalg.norm(camera.position[:2] - [tile.x, tile.y]))) for tile in tiles]
    for solid in (solids[k] for k in sorted(range(len(tiles)), key=lambda k: far[k])):
        _draw_sides(image, solid, camera, light, look)
        _draw_top(image, solid, look)
    return image


def disturb(laid: Image, scene: Scene, calibration: Calibration | None = None, upset: Upset = CALM) -> Image:
    """Put light and what disturbs a frame over the tiles that `lay` drew; ``laid`` stays as it is."""
    camera = pinhole_of(calibration or default_calibration())
    slant, lamp = _lamp(scene)
    image = _lit(draw_arms(laid, upset.arms, camera, slant), lamp)
    return shake(draw_glares(image, upset.glares, camera), upset)


def _lamp(scene: Scene) -> tuple[Matrix, np.random.Generator]:
    """Where a scene's lamp makes shadows fall (mm per mm of height), and the chance its light goes on by."""
    rng = np.random.default_rng([scene.light_seed & 0xFFFFFFFF, 2])
    return rng.uniform(-0.45, 0.45, 2), rng
