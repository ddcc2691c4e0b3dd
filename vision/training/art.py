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

from vision.training.dataset import LABELS, Image, read_image
from vision.training.pen import FACE_H, FACE_W, Colour, Pen, Rng, glyph
from vision.training.styles import BLANK, Hand, Style, random_style

SPRITE = Path(__file__).with_name("sprite.png")
LATIN = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"
NUMERALS = "一二三四五六七八九"
HONOURS = ("東東东", "南南南", "西西西", "北北北", "", "發發发", "中中中")
FLOWERS = "春夏秋冬梅蘭菊竹"
INDICES = ("E", "S", "W", "N", "P", "F", "C")


def _write(pen: Pen, style: Style, text: str, box: tuple[float, float, float, float], colour: Colour) -> None:
    _cut(pen, glyph(style.font[0], style.font[1], text, style.bold), style.hand, box, colour)


def _cut(pen: Pen, mask: Image, hand: Hand, box: tuple[float, float, float, float], colour: Colour) -> None:
    pen.stamp(hollow(bent(mask, hand), hand.hollow), *box, colour)


def hollow(mask: Image, width: float) -> Image:
    """Leave the outlines of the strokes of a coverage mask (H, W), ``width`` times its height wide."""
    if not width:
        return mask
    side = max(3, round(width * mask.shape[0] * 2) | 1)
    room = cv2.copyMakeBorder(mask, side, side, side, side, cv2.BORDER_CONSTANT)
    core = cv2.erode(room, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
    return np.asarray((room - core)[side:-side, side:-side], np.uint8)


def bent(mask: Image, hand: Hand) -> Image:
    """Bend the coverage mask (H, W) of a glyph as a maker's hand does; cut to what is covered."""
    if replace(hand, hollow=0.0) == Hand():
        return mask
    h, w = mask.shape
    pad = round(0.25 * max(h, w))
    room = cv2.copyMakeBorder(mask, pad, pad, pad, pad, cv2.BORDER_CONSTANT)
    y, x = np.mgrid[0 : h + 2 * pad, 0 : w + 2 * pad].astype(np.float32)
    u, v = x - pad - w / 2, y - pad - h / 2
    a, b, c, d = hand.phase
    wave_x = hand.bend * h * (np.sin(3.1 * v / h + a) + np.sin(6.7 * u / h + b))
    wave_y = hand.bend * h * (np.sin(2.9 * u / h + c) + np.sin(7.3 * v / h + d))
    source_x = u / hand.squeeze + hand.shear * v + wave_x + pad + w / 2
    source_y = v + hand.rise * u + wave_y + pad + h / 2
    moved = cv2.remap(room, source_x.astype(np.float32), source_y.astype(np.float32), cv2.INTER_LINEAR)
    rows, cols = np.flatnonzero(moved.max(1)), np.flatnonzero(moved.max(0))
    return np.ascontiguousarray(moved[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1])


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
        _blossom(pen, 30, 40, radius * 0.36, 5, r)
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


def _peacock(pen: Pen, style: Style) -> None:
    """Draw a peacock seen from the front: the fan of its tail above a small body."""
    rng, g, r, b = style.rng, style.green, style.red, style.blue
    spread, rows = float(rng.uniform(15, 22)), int(rng.integers(2, 4))
    for i in range(int(rng.integers(9, 16))):
        a = math.pi * (0.08 + 0.84 * i / 14)
        tip = np.array([[30, 46], [30 - math.cos(a) * spread * 1.15, 44 - math.sin(a) * spread * 1.9]])
        pen.line(tip, g, float(rng.uniform(1.5, 3)))
    for k in range(rows):
        many = 4 + k
        for i in range(many):
            a = math.pi * (0.2 + 0.6 * i / (many - 1))
            far = spread * (0.62 + 0.42 * k)
            at = 30 - math.cos(a) * far * 0.9, 44 - math.sin(a) * far * 1.2
            pen.disc(*at, 3.4, b)
            pen.disc(*at, 1.8, style.paper)
    side = 1 if rng.random() < 0.5 else -1
    pen.ellipse(30 + 4 * side, 54, 15, 8, 12 * side, b)
    for k in (-6, 0, 6):
        pen.line(np.array([[30 + k, 50], [34 + k, 58]]), style.paper, 1.2)
    pen.ellipse(30 - 10 * side, 47, 5, 8, 20 * side, g)
    pen.disc(30 - 12 * side, 41, 4.5, g)
    pen.disc(30 - 13 * side, 40, 1.2, style.paper)
    for k in (26, 34):
        pen.line(np.array([[k, 60], [k, 72], [k + 5, 74]]), r, 2.0)


def _fan(pen: Pen, style: Style) -> None:
    """Draw a peacock as outlines: a disc of eyes with a fringe above a small bird with open wings."""
    rng, ink = style.rng, style.ink if style.bird == 4 else style.green
    x, y, r = 30 + float(rng.uniform(-3, 3)), float(rng.uniform(23, 29)), float(rng.uniform(13, 18))
    for a in np.linspace(0.85 * math.pi, 2.15 * math.pi, int(rng.integers(14, 30))):
        way = np.array([math.cos(a) * 1.2, math.sin(a)])
        pen.line(np.array([x, y]) + way * r * np.array([[0.9], [float(rng.uniform(1.15, 1.4))]]), ink, 1.3)
    eye = r / float(rng.uniform(3.2, 4.6))
    for j in range(-3, 4):
        for i in range(-4, 5):
            at = (i + 0.5 * (j % 2)) * 2 * eye, j * 1.75 * eye
            if math.hypot(*at) < r:
                pen.disc(x + at[0] * 1.1, y + at[1], eye, ink)
                pen.disc(x + at[0] * 1.1, y + at[1], eye * 0.68, style.paper)
                pen.disc(x + at[0] * 1.1, y + at[1], eye * float(rng.uniform(0.2, 0.45)), ink)
    side = 1 if rng.random() < 0.5 else -1
    low = y + r * 1.05
    for wing in (-1, 1):
        for k in range(int(rng.integers(3, 6))):
            far = np.array([x + wing * (23 - 2 * k), low + 2 + 4.5 * k])
            pen.line(
                np.array([[x + wing * 5, low + 10], far]), style.blue if rng.random() < 0.4 else ink, 1.6
            )
    pen.ellipse(x + 2 * side, low + 13, 13, 8, 12 * side, ink)
    pen.ellipse(x + 2 * side, low + 13, 10.5, 5.8, 12 * side, style.paper)
    pen.ellipse(x - 9 * side, low + 5, 4, 7, 20 * side, ink)
    pen.disc(x - 10 * side, low, 4, style.red if rng.random() < 0.4 else ink)
    pen.disc(x - 10 * side, low, 1.4, style.paper)
    for k in (-4, 4):
        foot = np.array([[x + k, low + 20], [x + k, 75], [x + k - 4 * side, 76]])
        pen.line(foot, style.red if rng.random() < 0.5 else ink, 1.8)


def _bird(pen: Pen, style: Style) -> None:
    rng = style.rng
    g, r, b, ink = style.green, style.red, style.blue, style.ink
    if style.bird >= 3:
        (_peacock, _fan, _fan)[style.bird - 3](pen, style)
        return
    lean = float(rng.uniform(-12, 12))
    plumes = int(rng.integers(3, 7))
    for i in range(plumes):
        x, y = 24 - i * 2.6 + lean * 0.2, 58 + i * (12 / plumes)
        pen.ellipse(x, y, 15 - i, 3.2, 115 + i * 11, (g, b, r)[i % 3])
        if style.bird != 1:
            pen.disc(x - 5, y + 9 - i, 2.4, (r, g, b)[i % 3])
    pen.ellipse(33, 40, 15, 9.5, 110 + lean, (g, b, g)[style.bird])
    pen.ellipse(31, 44, 10, 4.5, 115 + lean, (b, r, style.paper)[style.bird])
    pen.line(np.array([[36, 33], [39, 24], [38, 18]]), (g, g, b)[style.bird], 6.5)
    pen.disc(38, 15, 6, r if style.bird != 1 else g)
    pen.disc(40, 14, 1.6, style.paper)
    pen.poly(np.array([[43, 12], [52, 16], [43, 19]]), (40, 150, 220) if style.bird else r)
    if style.bird != 2:
        for k in (-4, 0, 4):
            pen.line(np.array([[37, 10], [36 + k, 2]]), r, 1.6)
    for k in (0, 7):
        pen.line(np.array([[36 + k * 0.6, 52], [38 + k, 68], [43 + k, 70]]), ink, 1.8)
    if style.bird == 2:
        pen.line(np.array([[10, 72], [50, 74]]), g, 2.4)


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
        _bird(pen, style)
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
    _cut(pen, glyph(font[0], font[1], text, bold), hand, (7, 12, 46, 56), colour)


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


def _blossom(pen: Pen, x: float, y: float, r: float, n: int, colour: Colour) -> None:
    for i in range(n):
        a = 2 * math.pi * i / n - math.pi / 2
        pen.ellipse(
            x + math.cos(a) * r * 0.6, y + math.sin(a) * r * 0.6, r * 0.5, r * 0.36, math.degrees(a), colour
        )
    pen.disc(x, y, r * 0.3, (50, 190, 235))


def _draw_flower(pen: Pen, style: Style, n: int) -> None:
    rng = style.rng
    season = n <= 4
    text = FLOWERS[n - 1]
    if text == "蘭" and rng.random() < 0.4:
        text = "兰"
    colour = (style.red, style.blue, style.green, style.ink)[(style.dots + (0 if season else 1)) % 4]
    second = (style.blue, style.red, style.ink, style.red)[(style.sticks + (1 if season else 0)) % 4]
    left = style.bird != 1
    _write(pen, style, text, (4 if left else 31, 5, 25, 27), colour)
    number = str((n - 1) % 4 + 1)
    latin = glyph(LATIN, 0, number, 2)
    pen.stamp(latin, 42 if left else 6, 6, 12, 17, second)
    for _ in range(int(rng.integers(2, 5))):
        x0, x1 = rng.uniform(24, 36), rng.uniform(6, 54)
        pen.line(
            np.array([[x0, 78], [(x0 + x1) / 2, 66], [x1, rng.uniform(40, 60)]]),
            style.green,
            rng.uniform(1.4, 3),
        )
    if n == 8:
        for x in (22.0, 40.0):
            _stick(pen, style, x, 57, 38, style.green, float(rng.uniform(-8, 8)), 6)
        return
    petal = (style.red, style.blue, (40, 160, 225), (150, 60, 170))[int(rng.integers(4))]
    for _ in range(int(rng.integers(1, 4))):
        _blossom(
            pen, rng.uniform(14, 46), rng.uniform(44, 64), rng.uniform(6, 13), int(rng.integers(4, 13)), petal
        )


def _draw_character(pen: Pen, style: Style, n: int) -> None:
    text = style.five if n == 5 else NUMERALS[n - 1]
    flat = {1: 7.0, 2: 18.0}.get(n, 25.0)
    top = 5 + (25 - flat) / 2
    _write(pen, style, text, (12, top, 36, flat), style.numeral)
    wan = "万" if style.simplified else "萬"
    _write(pen, style, wan, (10, 36, 40, 39), style.red if style.wheel else style.ink)


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
        _blossom(pen, 30, 40, 16, 8, light)
    return _shade(pen.face(), style.rng)


def draw_face(label: str, style: Style) -> Image:
    """Draw the face of a tile kind ("1m" .. "8f", "back") in a style."""
    if label == "back":
        return draw_back(style)
    pen = Pen(style.paper, style.size)
    number, suit = int(label[0]), label[1]
    draw = {"m": _draw_character, "p": _draw_circles, "s": _draw_bamboo, "z": _draw_honour, "f": _draw_flower}
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
