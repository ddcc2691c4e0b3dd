"""Draws tile faces in many styles: circles, bamboo, birds, flowers by code, characters from CJK fonts.

A face is uint8 (128, 96, 3) BGR. Drawing happens on a 60 x 80 grid (the sprite's viewBox).
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.birds import draw_bird
from vision.training.dataset import LABELS, Image, read_image
from vision.training.flowers import blossom, draw_flower
from vision.training.lettering import LATIN, cut, write
from vision.training.pen import FACE_H, FACE_W, Colour, Pen, Rng, glyph
from vision.training.styles import BLANK, Style, random_style

SPRITE = Path(__file__).with_name("sprite.png")
NUMERALS = "一二三四五六七八九"
HONOURS = ("東東东", "南南南", "西西西", "北北北", "", "發發发", "中中中")
INDICES = ("E", "S", "W", "N", "P", "F", "C")


def _dot(pen: Pen, style: Style, x: float, y: float, r: float, c: Colour) -> None:
    paper = style.paper
    kind = style.dots
    pen.disc(x, y, r, c)
    if kind == 0:
        pen.disc(x, y, r * 0.8, paper)
        pen.disc(x, y, r * 0.62, c)
        pen.disc(x, y, r * 0.25, paper)
    elif kind == 1:
        for f, k in ((0.82, paper), (0.66, c), (0.5, paper), (0.34, c)):
            pen.disc(x, y, r * f, k)
    elif kind == 2:
        for i in range(8):
            a = i * math.pi / 4
            pen.disc(x + math.cos(a) * r * 0.52, y + math.sin(a) * r * 0.52, r * 0.15, paper)
        pen.disc(x, y, r * 0.28, paper)
        pen.disc(x, y, r * 0.14, c)
    elif kind == 3:
        pen.disc(x, y, r * 0.8, paper)
        for a in (math.pi / 4, -math.pi / 4):
            dx, dy = math.cos(a) * r * 0.8, math.sin(a) * r * 0.8
            pen.line(np.array([[x - dx, y - dy], [x + dx, y + dy]]), c, r * 0.3)
        pen.disc(x, y, r * 0.3, c)
    elif kind == 4:
        pen.disc(x, y, r * 0.3, paper)
    elif kind == 6:
        _rosette(pen, x, y, r, 11, c, paper)
        pen.disc(x, y, r * 0.3, c)
        pen.disc(x, y, r * 0.14, paper)
    else:
        pen.disc(x, y, r * 0.85, paper)
        for i in range(6):
            a = i * math.pi / 3
            pen.disc(x + math.cos(a) * r * 0.42, y + math.sin(a) * r * 0.42, r * 0.22, c)


def _rosette(pen: Pen, x: float, y: float, r: float, petals: int, c: Colour, paper: Colour) -> None:
    """Draw outlined petals around a middle."""
    for scale, colour in ((1.0, c), (0.62, paper)):
        for i in range(petals):
            a = 2 * math.pi * i / petals
            at = x + math.cos(a) * r * 0.68, y + math.sin(a) * r * 0.68
            pen.ellipse(*at, r * 0.32 * scale, r * 0.2 * scale, math.degrees(a), colour)


def _wheel(pen: Pen, style: Style) -> None:
    paper, g, r, b = style.paper, style.green, style.red, style.blue
    radius = float(style.rng.uniform(19, 26))
    outer = (g, b, style.ink, g, b)[style.wheel]
    if style.wheel == 4:
        pen.disc(30, 40, radius * 0.5, outer)
        _rosette(pen, 30, 40, radius * 1.05, 14, outer, paper)
        pen.disc(30, 40, radius * 0.42, paper)
        blossom(pen, 30, 40, radius * 0.36, 5, r)
        return
    pen.disc(30, 40, radius, outer)
    if style.wheel == 1:
        pen.disc(30, 40, radius * 0.55, paper)
        pen.disc(30, 40, radius * 0.35, (40, 170, 220) if style.rng.random() < 0.5 else r)
        return
    pen.disc(30, 40, radius * 0.86, paper)
    n = int(style.rng.integers(8, 17))
    for i in range(n):
        a = 2 * math.pi * i / n
        at = 30 + math.cos(a) * radius * 0.66, 40 + math.sin(a) * radius * 0.66
        if style.wheel == 3:
            pen.ellipse(*at, radius * 0.2, radius * 0.09, math.degrees(a), (r, g)[i % 2])
        else:
            pen.disc(*at, radius * 0.15, (r, g)[i % 2] if style.wheel == 0 else outer)
    pen.disc(30, 40, radius * 0.45, r if style.wheel == 2 else b)
    pen.disc(30, 40, radius * 0.35, paper)
    pen.disc(30, 40, radius * 0.2, r)


def _circles(n: int) -> list[tuple[float, float, float]]:
    seven = [(13, 12, 8), (30, 20, 8), (47, 28, 8), *((x, y, 9) for y in (48, 68) for x in (19, 41))]
    layouts: dict[int, list[tuple[float, float, float]]] = {
        2: [(30, 21, 14), (30, 59, 14)],
        3: [(15, 17, 11), (30, 40, 11), (45, 63, 11)],
        4: [(x, y, 12) for y in (21, 59) for x in (17, 43)],
        5: [(15, 17, 11), (45, 17, 11), (30, 40, 11), (15, 63, 11), (45, 63, 11)],
        6: [(x, y, 10) for y in (14, 42, 65) for x in (18, 42)],
        7: [(float(x), float(y), float(r)) for x, y, r in seven],
        8: [(x, y, 8.8) for y in (12, 31, 50, 69) for x in (19, 41)],
        9: [(x, y, 8.4) for y in (14, 40, 66) for x in (12, 30, 48)],
    }
    return layouts[n]


def _draw_circles(pen: Pen, style: Style, n: int) -> None:
    if n == 1:
        _wheel(pen, style)
        return
    for (x, y, r), colour in zip(_circles(n), style.circle_colours[n], strict=True):
        _dot(pen, style, x, y, r, colour)


def _xy(point: NDArray[np.float64]) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _stick(
    pen: Pen, style: Style, x: float, y: float, h: float, c: Colour, angle: float = 0, w: float = 8.0
) -> None:
    a = math.radians(angle)
    along, across = np.array([-math.sin(a), math.cos(a)]), np.array([math.cos(a), math.sin(a)])
    mid = np.array([x, y])
    ends = np.array([mid - along * (h / 2 - w * 0.3), mid + along * (h / 2 - w * 0.3)])
    paper = style.paper
    if style.sticks == 0:
        for k in (-0.25, 0.25):
            pen.ellipse(*_xy(mid + along * h * k), w * 0.5, h * 0.25, angle, c)
            pen.line(np.array([mid + along * h * (k - 0.14), mid + along * h * (k + 0.14)]), paper, w * 0.16)
        for k in (-0.47, 0, 0.47):
            pen.line(
                np.array([mid + along * h * k - across * w * 0.5, mid + along * h * k + across * w * 0.5]),
                c,
                w * 0.28,
            )
    elif style.sticks == 1:
        pen.line(ends, c, w * 0.8)
        pen.line(ends * 0.7 + mid * 0.3, paper, w * 0.14)
        pen.line(np.array([mid - across * w * 0.4, mid + across * w * 0.4]), paper, w * 0.18)
    elif style.sticks == 2:
        pen.line(ends, c, w * 0.45)
        for k in (-0.36, 0, 0.36):
            pen.disc(*_xy(mid + along * h * k), w * 0.52, c)
            pen.disc(*_xy(mid + along * h * k), w * 0.16, paper)
    elif style.sticks == 4:
        pale: Colour = tuple(int(0.55 * a + 0.45 * b) for a, b in zip(c, paper, strict=True))  # type: ignore[assignment]
        pen.line(ends, c, w * 0.95)
        pen.line(ends * 0.94 + mid * 0.06, pale, w * 0.5)
        for k in (-0.46, 0.0, 0.46):
            across_here = np.array([-across, across]) * w * 0.56 + mid + along * h * k
            pen.line(across_here, c, w * 0.34)
    else:
        pen.line(ends, c, w * 0.6)
        for k in (-0.42, -0.14, 0.14, 0.42):
            pen.line(
                np.array([mid + along * h * k - across * w * 0.5, mid + along * h * k + across * w * 0.5]),
                c,
                w * 0.22,
            )


def _bamboo_layout(n: int) -> list[tuple[float, float, float, int]]:
    """Return x, y, height, colour slot (0 green, 1 blue, 2 red) of every stick."""
    tall = 32.0
    layouts: dict[int, list[tuple[float, float, float, int]]] = {
        2: [(30, 21, tall, 0), (30, 59, tall, 1)],
        3: [(30, 21, tall, 1), (17, 59, tall, 0), (43, 59, tall, 0)],
        4: [(17, 21, tall, 1), (43, 21, tall, 0), (17, 59, tall, 0), (43, 59, tall, 1)],
        5: [(13, 21, tall, 0), (47, 21, tall, 1), (30, 40, tall, 2), (13, 59, tall, 1), (47, 59, tall, 0)],
        6: [(x, y, tall, s) for y, s in ((21, 0), (59, 1)) for x in (13, 30, 47)],
        7: [(30, 14, 22, 2), *((x, y, 23, s) for y in (40, 66) for x, s in ((13, 0), (30, 1), (47, 0)))],
        9: [(x, y, 23, s) for y in (14, 40, 66) for x, s in ((13, 0), (30, 2), (47, 1))],
    }
    return layouts[n]


def _draw_bamboo(pen: Pen, style: Style, n: int) -> None:
    if n == 1:
        draw_bird(pen, style)
        return
    g, r = style.green, style.red
    b = style.blue if style.index % 2 == 0 and style.dots % 2 == 0 else g
    w = min(11.5, (7.0 + style.dots * 0.4) * style.thick)  # columns lie 17 apart
    if n == 8:
        for flip, colour in ((1, g), (-1, b)):
            y = 40 - flip * 19
            for x, a in ((9, 0), (51, 0), (21, 42 * flip), (39, -42 * flip)):
                _stick(
                    pen, style, x, y + (0 if a == 0 else -flip * 2), 33 if a == 0 else 27, colour, a, w * 0.85
                )
        return
    for at_x, at_y, h, slot in _bamboo_layout(n):
        _stick(pen, style, at_x, at_y, h, (g, b, r)[slot], 0, w)


def _draw_honour(pen: Pen, style: Style, n: int) -> None:
    if n == 5:
        _draw_white(pen, style)
        return
    colour = (style.red, style.green)[n == 6] if n > 4 else (style.ink, style.blue)[style.bird % 2]
    font, hand = style.honours.get(n, (style.font, style.hand))
    text = HONOURS[n - 1][2 if style.simplified and font[2] else 0]
    bold = 2 if hand.hollow else style.bold  # bolder strokes grow together and leave one outline
    cut(pen, glyph(font[0], font[1], text, bold), hand, (7, 12, 46, 56), colour)


def _frame(k: float) -> NDArray[np.float64]:
    return np.array([[k, k + 1], [60 - k, k + 1], [60 - k, 79 - k], [k, 79 - k]], np.float64)


def _draw_white(pen: Pen, style: Style) -> None:
    if style.frame == BLANK:
        return
    colour = (style.blue, style.blue, style.ink, style.green, style.red)[style.frame % 5]
    m = 9 + style.dots * 0.7
    pen.line(_frame(m), colour, (4.0, 2.0, 1.5, 3.0, 5.0)[style.frame % 5], closed=True)
    if style.frame % 2 == 0:
        pen.line(_frame(m + 6), colour, 1.4, closed=True)
    if style.wheel == 0:
        for i in range(6):
            pen.line(np.array([[m, 18 + i * 9], [m + 6, 18 + i * 9]]), colour, 1.2)
            pen.line(np.array([[60 - m, 18 + i * 9], [54 - m, 18 + i * 9]]), colour, 1.2)


def _draw_character(pen: Pen, style: Style, n: int) -> None:
    text = style.five if n == 5 else NUMERALS[n - 1]
    flat = {1: 7.0, 2: 18.0}.get(n, 25.0)
    top = 5 + (25 - flat) / 2
    write(pen, style, text, (12, top, 36, flat), style.numeral)
    wan = "万" if style.simplified else "萬"
    write(pen, style, wan, (10, 36, 40, 39), style.red if style.wheel else style.ink)


def _corner(pen: Pen, style: Style, label: str) -> None:
    number, suit = int(label[0]), label[1]
    text = INDICES[number - 1] if suit == "z" else str(number)
    colour = (style.red, style.ink, style.blue, style.red)[style.index % 4]
    right = style.index > 2
    pen.zoom = 1.0
    pen.stamp(glyph(LATIN, 0, text, 0), 47 if right else 3, 3, 10, 12, colour)


def _shade(face: Image, rng: Rng) -> Image:
    ramp = np.linspace(-1, 1, FACE_H, dtype=np.float32)[:, None] * rng.uniform(-7, 7)
    ramp = ramp + np.linspace(-1, 1, FACE_W, dtype=np.float32)[None] * rng.uniform(-7, 7)
    return np.clip(face + ramp[..., None], 0, 255).astype(np.uint8)


def draw_back(style: Style) -> Image:
    """Draw a tile's back: plain plastic, hatched, framed or ornamented."""
    pen = Pen(style.back)
    light: Colour = tuple(min(255, c + 60) for c in style.back)  # type: ignore[assignment]
    if style.back_pattern == 0:
        for y in range(4, 76, 12):
            for x in range(6, 60, 12):
                diamond = np.array([[x, y], [x + 6, y + 6], [x, y + 12], [x - 6, y + 6]])
                pen.line(diamond, light, 1.0, closed=True)
    elif style.back_pattern == 1:
        for k in range(-80, 60, 8):
            pen.line(np.array([[k, 0], [k + 80, 80]]), light, 1.2)
    if style.back_pattern in (0, 2):
        pen.line(np.array([[4, 4], [56, 4], [56, 76], [4, 76]]), light, 1.4, closed=True)
    if style.back_pattern == 3:
        blossom(pen, 30, 40, 16, 8, light)
    return _shade(pen.face(), style.rng)


def draw_face(label: str, style: Style) -> Image:
    """Draw the face of a tile kind ("1m" .. "8f", "back") in a style."""
    if label == "back":
        return draw_back(style)
    pen = Pen(style.paper, style.size)
    number, suit = int(label[0]), label[1]
    draw = {"m": _draw_character, "p": _draw_circles, "s": _draw_bamboo, "z": _draw_honour, "f": draw_flower}
    draw[suit](pen, style, number)
    if style.index and suit != "f":
        _corner(pen, style, label)
    return _shade(pen.face(), style.rng)


def sprite_faces(path: Path = SPRITE) -> dict[str, Image]:
    """Cut the product's own tile sprite sheet (72 x 96 tiles, pitch 81 x 119) into faces by label."""
    sheet = read_image(path)
    order = [*LABELS[:34], "5f", "6f", "7f", "8f", "1f", "2f", "3f", "4f", "back"]
    order[31:34] = ["7z", "6z", "5z"]
    faces = {}
    for i, label in enumerate(order):
        x, y = 20 + 81 * (i % 13), 20 + 119 * (i // 13)
        inner = sheet[y + 3 : y + 93, x + 3 : x + 69]
        faces[label] = np.asarray(
            cv2.resize(inner, (FACE_W, FACE_H), interpolation=cv2.INTER_CUBIC), np.uint8
        )
    return faces


FIVES = tuple(LABELS.index(f"5{suit}") for suit in "mps")
"""Label numbers of the kinds that may be red."""
FACES = 46
"""Faces of a style: 42 kinds, the back, then the red fives of characters, circles, bamboo."""


def red_face(kind: int) -> int:
    """Return where the red face of a five lies among the faces of a style."""
    return 43 + FIVES.index(kind)


def red_style(style: Style) -> Style:
    """Return a style with one red for every ink, as makers print the red five of a set."""
    red = style.red
    circles = {n: [red] * len(colours) for n, colours in style.circle_colours.items()}
    return replace(style, ink=red, green=red, blue=red, numeral=red, circle_colours=circles)


def redden(face: Image) -> Image:
    """Turn every coloured or dark stroke of a finished face red."""
    grey = face.max(2).astype(np.float32) / 255
    stroke = np.clip((float(np.median(face)) - 25 - face.min(2).astype(np.float32)) / 60, 0, 1)[..., None]
    red = np.stack([grey * 40, grey * 40, 120 + grey * 90], 2)
    return np.asarray(face * (1 - stroke) + red * stroke, np.uint8)


def make_faces(seed: int, styles: int) -> NDArray[np.uint8]:
    """Return faces (styles, 46, 128, 96, 3); every eighth style is the product's own sprite, tinted."""
    rng = np.random.default_rng(seed)
    own = sprite_faces()
    sets = np.empty((styles, FACES, FACE_H, FACE_W, 3), np.uint8)
    for s in range(styles):
        style = random_style(rng)
        tint = rng.uniform(0.9, 1.06, 3)
        for k, label in enumerate(LABELS[:43]):
            if s % 8 == 0:
                sets[s, k] = np.clip(own[label] * tint, 0, 255).astype(np.uint8)
            else:
                sets[s, k] = draw_face(label, style)
        for five in FIVES:
            drawn = redden(sets[s, five]) if s % 8 == 0 else draw_face(LABELS[five], red_style(style))
            sets[s, red_face(five)] = drawn
    return sets
