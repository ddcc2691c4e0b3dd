"""Builds synthetic scenes: rows, blocks and heaps of rendered tiles on a table, with exact boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.art import FIVES, red_face
from vision.training.augment import noise_patch
from vision.training.dataset import BACK, LABELS, Boxes, Image
from vision.training.pen import FACE_H, FACE_W, Colour, Rng
from vision.training.realfaces import FaceSet

VISIBLE = 0.6
WHITE = LABELS.index("5z")


@dataclass(frozen=True)
class Scene:
    """A composed picture.

    ``boxes`` (n, 4) of whole faces, ``kinds`` (n,), ``ignore`` (n,) hardly visible, ``red`` (n,) 1: red five.
    """

    image: Image
    boxes: Boxes
    kinds: NDArray[np.int64]
    ignore: NDArray[np.bool_]
    red: NDArray[np.int64]


@dataclass(frozen=True)
class Place:
    """A tile in a layout, in tile widths: centre and angle in radians."""

    x: float
    y: float
    angle: float


def background(rng: Rng, patches: Sequence[Image], size: int) -> Image:
    """Return a table surface or clutter, uint8 (size, size, 3)."""
    roll = rng.random()
    if patches and roll < 0.45:
        patch = patches[int(rng.integers(len(patches)))]
        image = np.asarray(cv2.resize(patch, (size, size), interpolation=cv2.INTER_LINEAR), np.uint8)
        image = np.ascontiguousarray(np.rot90(image, int(rng.integers(4))))
    else:
        felt = [(60, 120, 40), (90, 160, 60), (110, 80, 40), (60, 60, 60), (40, 40, 120), (150, 180, 200)]
        felt += [(205, 220, 228), (225, 230, 232), (120, 160, 190)]
        colour = np.array(felt[int(rng.integers(len(felt)))]) if roll < 0.8 else rng.integers(0, 256, 3)
        colour = np.clip(colour + rng.integers(-25, 26, 3), 0, 255)
        n = int(rng.choice([4, 16, 64]))
        coarse = rng.normal(0, 1, (n, n, 1)) * rng.uniform(0, 22) + colour
        coarse = np.clip(coarse + rng.normal(0, 3, (n, n, 3)), 0, 255).astype(np.uint8)
        image = np.asarray(cv2.resize(coarse, (size, size), interpolation=cv2.INTER_CUBIC), np.uint8)
        fine = noise_patch(rng, size, size) * rng.uniform(0, 9)
        image = np.clip(image + fine, 0, 255).astype(np.uint8)
    if rng.random() < 0.5:
        _clutter(rng, image)
    return image


def _random_colour(rng: Rng) -> Colour:
    if rng.random() < 0.4:
        v = int(rng.integers(170, 256))
        return v, v, v
    b, g, r = (int(v) for v in rng.integers(0, 256, 3))
    return b, g, r


def _keyboard(rng: Rng, image: Image) -> None:
    size = image.shape[0]
    x0, y0 = rng.integers(-size // 3, size, 2)
    w, h = int(rng.integers(10, 50)), int(rng.integers(10, 50))
    colour, ink = _random_colour(rng), _random_colour(rng)
    gap = int(rng.integers(1, 8))
    for i in range(int(rng.integers(1, 5))):
        for j in range(int(rng.integers(1, 9))):
            x, y = int(x0 + j * (w + gap)), int(y0 + i * (h + gap))
            cv2.rectangle(image, (x, y), (x + w, y + h), colour, -1)
            if rng.random() < 0.4:
                cv2.putText(
                    image, chr(65 + int(rng.integers(26))), (x + w // 4, y + 3 * h // 4), 0, h / 50, ink, 1
                )


def _clutter(rng: Rng, image: Image) -> None:
    size = image.shape[0]
    for _ in range(int(rng.integers(1, 7))):
        what = int(rng.integers(5))
        a, b = (tuple(int(v) for v in rng.integers(-20, size + 20, 2)) for _ in range(2))
        if what == 0:
            cv2.line(image, a, b, _random_colour(rng), int(rng.integers(1, 30)), cv2.LINE_AA)
        elif what == 1:
            cv2.circle(image, a, int(rng.integers(4, 50)), _random_colour(rng), -1, cv2.LINE_AA)
        elif what == 2:
            cv2.rectangle(image, a, b, _random_colour(rng), -1)
        elif what == 3:
            box = ((a[0], a[1]), (int(rng.integers(10, 200)), int(rng.integers(10, 60))), rng.uniform(0, 180))
            cv2.fillPoly(image, [cv2.boxPoints(box).astype(np.int32)], _random_colour(rng), cv2.LINE_AA)
        else:
            _keyboard(rng, image)


def row_layout(rng: Rng, count: int, aspect: float) -> list[Place]:
    """Lay tiles in a row with small gaps, wider ones between groups, a few lying sideways."""
    gap = rng.uniform(0, 0.04)
    groups = rng.random() < 0.35
    sideways = rng.random() < 0.12
    jitter = rng.uniform(0, 0.02)
    places, x = [], 0.0
    for _ in range(count):
        turned = sideways and rng.random() < 0.25
        w = 1 / aspect if turned else 1.0
        y = (1 / aspect - 1) / 2 if turned else 0.0
        angle = (math.pi / 2 if turned else 0.0) + rng.normal(0, jitter)
        places.append(Place(x + w / 2, y + rng.normal(0, jitter), angle))
        x += w + gap + (rng.uniform(0.4, 1.2) if groups and rng.random() < 0.25 else 0)
    return places


def block_layout(rng: Rng, aspect: float) -> list[Place]:
    """Lay two to five rows below each other."""
    places = []
    pitch = 1 / aspect * rng.uniform(1.0, 1.06) if rng.random() < 0.6 else 1 / aspect * rng.uniform(1.1, 1.9)
    for r in range(int(rng.integers(2, 6))):
        shift = rng.normal(0, 0.4)
        row = row_layout(rng, int(rng.integers(1, 10)), aspect)
        places += [Place(p.x + shift, p.y + r * pitch, p.angle) for p in row]
    return places


def heap_layout(rng: Rng) -> list[Place]:
    """Scatter tiles at any angle without overlap."""
    places: list[Place] = []
    count = int(rng.integers(3, 27))
    reach = math.sqrt(count) * rng.uniform(0.8, 1.5)
    near = rng.uniform(1.15, 1.5)
    for _ in range(count * 6):
        x, y = rng.uniform(-reach, reach, 2)
        if all(math.hypot(x - p.x, y - p.y) > near for p in places):
            places.append(Place(x, y, rng.uniform(-math.pi, math.pi)))
        if len(places) == count:
            break
    return places


def _corners(places: Sequence[Place], aspect: float) -> NDArray[np.float64]:
    base = np.array([[-0.5, -0.5 / aspect], [0.5, -0.5 / aspect], [0.5, 0.5 / aspect], [-0.5, 0.5 / aspect]])
    quads = np.empty((len(places), 4, 2))
    for i, p in enumerate(places):
        c, s = math.cos(p.angle), math.sin(p.angle)
        quads[i] = base @ np.array([[c, s], [-s, c]]) + (p.x, p.y)
    return quads


def _view(
    rng: Rng, quads: NDArray[np.float64], size: int, long_side: float, aspect: float
) -> tuple[NDArray[np.float64], float]:
    """Project layout quads into the picture; return them and the squash of the vertical axis."""
    flat = quads.reshape(-1, 2)
    flat = flat - (flat.min(0) + flat.max(0)) / 2
    turn = rng.normal(0, 0.09) if rng.random() < 0.6 else rng.uniform(-math.pi, math.pi)
    if rng.random() < 0.15:
        turn += math.pi
    c, s = math.cos(turn), math.sin(turn)
    squash = 1.0 if rng.random() < 0.25 else rng.uniform(0.55, 1.0)
    q = (flat @ np.array([[c, s], [-s, c]])) * (1, squash) * long_side * aspect
    tilt = rng.uniform(-0.35, 0.35) if rng.random() < 0.5 else 0.0
    lean = rng.uniform(-0.2, 0.2) if rng.random() < 0.3 else 0.0
    w = np.clip(1 + (q[:, 1] * tilt + q[:, 0] * lean) / size, 0.4, 2.5)
    q = q / w[:, None]
    span = q.max(0) - q.min(0)
    room = np.maximum(size - span, span * 0.6) / 2
    centre = size / 2 + rng.uniform(-1, 1, 2) * np.minimum(room, size * 0.6)
    return (q + centre).reshape(-1, 4, 2), squash


def _draw_sides(rng: Rng, image: Image, quads: NDArray[np.float64], depth: NDArray[np.float64]) -> None:
    back = _random_colour(rng)
    paper = np.array([220, 235, 240]) * rng.uniform(0.5, 0.95)
    tones = (
        (tuple(int(v) for v in np.array(back) * 0.8), 1.0),
        (tuple(int(v) for v in paper), rng.uniform(0.4, 0.75)),
    )
    for colour, part in tones:
        for quad in quads:
            hull = cv2.convexHull(np.concatenate([quad, quad + depth * part]).astype(np.float32))
            cv2.fillConvexPoly(image, np.round(hull * 16).astype(np.int32), colour, cv2.LINE_AA, 4)


def paste_face(image: Image, face: Image, quad: NDArray[np.float64], round_mask: Image) -> None:
    """Warp a face into a quad of the image, blending its rounded corners."""
    h, w = image.shape[:2]
    lo = np.maximum(np.floor(quad.min(0)).astype(int), 0)
    hi = np.minimum(np.ceil(quad.max(0)).astype(int) + 1, (w, h))
    if (hi - lo < 2).any():
        return
    wide, high = (float(np.linalg.norm(quad[k] - quad[0])) for k in (1, 3))
    side = max(wide / FACE_W, high / FACE_H)
    f = min(1.0, max(0.12, side * 1.15))
    fw, fh = round(FACE_W * f), round(FACE_H * f)
    small = cv2.resize(face, (fw, fh), interpolation=cv2.INTER_AREA) if f < 1 else face
    mask = cv2.resize(round_mask, (fw, fh), interpolation=cv2.INTER_AREA) if f < 1 else round_mask
    source = np.array([[0, 0], [fw, 0], [fw, fh], [0, fh]], np.float32) - 0.5
    m = cv2.getPerspectiveTransform(source, (quad - lo - 0.5).astype(np.float32))
    dw, dh = int(hi[0] - lo[0]), int(hi[1] - lo[1])
    warped = cv2.warpPerspective(small, m, (dw, dh), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    alpha = cv2.warpPerspective(mask, m, (dw, dh), flags=cv2.INTER_LINEAR).astype(np.float32)[..., None] / 255
    spot = image[lo[1] : hi[1], lo[0] : hi[0]]
    spot[:] = (spot + (warped.astype(np.float32) - spot) * alpha).astype(np.uint8)


def rounded_mask(radius: float) -> Image:
    """Return the coverage of a face with rounded corners, (128, 96)."""
    mask = np.zeros((FACE_H, FACE_W), np.uint8)
    r = max(1, int(radius))
    cv2.rectangle(mask, (r, 1), (FACE_W - 1 - r, FACE_H - 2), 255, -1)
    cv2.rectangle(mask, (1, r), (FACE_W - 2, FACE_H - 1 - r), 255, -1)
    for x in (r, FACE_W - 1 - r):
        for y in (r, FACE_H - 1 - r):
            cv2.circle(mask, (x, y), r - 1, 255, -1, cv2.LINE_AA)
    return mask


def _layout(rng: Rng, aspect: float) -> list[Place]:
    roll = rng.random()
    if roll < 0.5:
        return row_layout(rng, int(rng.integers(2, 18)), aspect)
    return block_layout(rng, aspect) if roll < 0.75 else heap_layout(rng)


def _choose_kinds(rng: Rng, count: int) -> NDArray[np.int64]:
    kinds = rng.integers(0, 42, count)
    if rng.random() < 0.3:
        kinds = np.sort(kinds)
    if rng.random() < 0.1:
        kinds = np.where(rng.random(count) < 0.25, WHITE, kinds)
    if rng.random() < 0.2:
        share = 0.9 if rng.random() < 0.15 else 0.15
        kinds = np.where(rng.random(count) < share, BACK, kinds)
    if count >= 4 and rng.random() < 0.2:  # a concealed kong: its outer two face down
        at = int(rng.integers(count - 3))
        kinds[[at, at + 3]] = BACK
    return kinds.astype(np.int64)


def _visible(boxes: Boxes, size: int) -> NDArray[np.float32]:
    inside = np.clip(boxes, 0, size)
    area = (inside[:, 2] - inside[:, 0]) * (inside[:, 3] - inside[:, 1])
    whole = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return np.asarray(area / np.maximum(whole, 1e-6), np.float32)


def _rendered_faces(
    rng: Rng, faces: NDArray[np.uint8], kinds: NDArray[np.int64]
) -> tuple[list[Image], NDArray[np.int64]]:
    """Take the faces of one style; a quarter of the styles has red fives beside the usual ones."""
    style = faces[int(rng.integers(len(faces)))]
    red = np.isin(kinds, FIVES) & (rng.random(len(kinds)) < (0.6 if rng.random() < 0.25 else 0.0))
    picked = [style[red_face(int(k)) if r else k] for k, r in zip(kinds, red, strict=True)]
    return picked, red.astype(np.int64)


def _real_faces(
    rng: Rng, faces: NDArray[np.uint8], real: FaceSet, kinds: NDArray[np.int64]
) -> tuple[list[Image], NDArray[np.int64], NDArray[np.int64]]:
    """Take photographed faces of one source; kinds it lacks are drawn anew, backs come from a style."""
    have = real.kinds
    lacking = (kinds != BACK) & ~np.isin(kinds, have)
    kinds = np.where(lacking, have[rng.integers(0, len(have), len(kinds))], kinds)
    style = faces[int(rng.integers(len(faces)))]
    picked = [style[BACK] if k == BACK else real.pick(rng, int(k)) for k in kinds]
    return picked, kinds, np.zeros(len(kinds), np.int64)


def compose(
    rng: Rng,
    faces: NDArray[np.uint8],
    patches: Sequence[Image],
    size: int = 416,
    least: float = 26.0,
    real: Sequence[FaceSet] = (),
    real_share: float = 0.45,
) -> Scene:
    """Compose one scene, of one style of face sets (styles, 46, 128, 96, 3) or of photographed faces.

    ``least`` is the smallest long side of a tile in pixels; ``real_share`` the share of scenes laid with
    photographed faces where ``real`` holds any.
    """
    image = background(rng, patches, size)
    aspect = rng.uniform(0.68, 0.8)
    places = _layout(rng, aspect)
    low, high = (90.0, 200.0) if rng.random() < 0.12 else (least, 96.0)
    long_side = math.exp(rng.uniform(math.log(low), math.log(high)))
    quads, squash = _view(rng, _corners(places, aspect), size, long_side, aspect)
    kinds = _choose_kinds(rng, len(places))
    thick = long_side * aspect * rng.uniform(0.5, 0.8)
    down = (
        thick * math.sqrt(max(0.0, 1 - squash**2)) * (1 if rng.random() < 0.8 else -1)
        + rng.uniform(0, 0.06) * thick
    )
    depth = np.array([rng.normal(0, 0.12) * thick, down])
    if rng.random() < 0.7:
        _drop_shadow(rng, image, quads, depth)
    _draw_sides(rng, image, quads, depth)
    if real and rng.random() < real_share:
        picked, kinds, red = _real_faces(rng, faces, real[int(rng.integers(len(real)))], kinds)
    else:
        picked, red = _rendered_faces(rng, faces, kinds)
    mask = rounded_mask(rng.uniform(2, 14))
    tint = rng.uniform(0.85, 1.05, 3)
    for quad, own in zip(quads, picked, strict=True):
        face = np.clip(own * tint, 0, 255).astype(np.uint8)
        paste_face(image, face, quad, mask)
    boxes = np.concatenate([quads.min(1), quads.max(1)], 1).astype(np.float32)
    shown = _visible(boxes, size)
    keep = shown > 0.02
    return Scene(image, boxes[keep], kinds[keep], (shown < VISIBLE)[keep], red[keep])


def _drop_shadow(rng: Rng, image: Image, quads: NDArray[np.float64], depth: NDArray[np.float64]) -> None:
    h, w = image.shape[:2]
    mask = np.zeros((h // 4, w // 4), np.uint8)
    offset = depth + rng.normal(0, 0.12, 2) * np.linalg.norm(quads[0, 3] - quads[0, 0])
    for quad in quads:
        hull = cv2.convexHull(np.concatenate([quad, quad + offset]).astype(np.float32) / 4)
        cv2.fillConvexPoly(mask, np.round(hull).astype(np.int32), 255)
    soft = cv2.resize(
        cv2.GaussianBlur(mask, (0, 0), rng.uniform(0.5, 3)), (w, h), interpolation=cv2.INTER_LINEAR
    )
    image[:] = (image * (1 - soft[..., None].astype(np.float32) / 255 * rng.uniform(0.2, 0.7))).astype(
        np.uint8
    )
