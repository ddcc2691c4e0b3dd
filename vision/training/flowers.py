"""Flower tiles: a plant, and beside it a numeral, a character or both. Every maker draws other plants."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vision.training.lettering import LATIN, write
from vision.training.pen import Colour, Pen, glyph
from vision.training.styles import Style

FLOWERS = "春夏秋冬梅蘭菊竹"
NUMERALS = "一二三四"
SEASONS = 4


def blossom(pen: Pen, x: float, y: float, r: float, n: int, colour: Colour) -> None:
    """Draw a blossom of ``n`` petals."""
    for i in range(n):
        a = 2 * math.pi * i / n - math.pi / 2
        pen.ellipse(
            x + math.cos(a) * r * 0.6, y + math.sin(a) * r * 0.6, r * 0.5, r * 0.36, math.degrees(a), colour
        )
    pen.disc(x, y, r * 0.3, (50, 190, 235))


def draw_flower(pen: Pen, style: Style, n: int) -> None:
    """Draw flower ``n``: 1 to 4 the seasons, 5 to 8 plum, orchid, chrysanthemum, bamboo."""
    _label(pen, style, n)
    base = 76.0
    if style.plants == 1 or (style.plants == 2 and n > SEASONS):
        base = _pot(pen, style)
    draw = {6: _orchid, 8: _bamboo}.get(n, _branch if n == 5 else _bush)
    draw(pen, style, base)


def _label(pen: Pen, style: Style, n: int) -> None:
    """Write what tells the flowers apart: numeral and character, or only one of them."""
    season = n <= SEASONS
    text = FLOWERS[n - 1]
    if text == "蘭" and style.font[2] and (style.dots + style.sticks) % 3 == 0:
        text = "兰"
    first = (style.red, style.blue, style.green, style.ink)[(style.dots + (0 if season else 1)) % 4]
    second = (style.blue, style.red, style.ink, style.red)[(style.sticks + (1 if season else 0)) % 4]
    left = (style.bird + (0 if season else style.frame)) % 2 == 0
    kind = style.labels[0] if season else style.labels[1]
    number = (n - 1) % SEASONS
    small = 18 + 8 * (kind == 0)
    if kind != 1:  # the character
        write(pen, style, text, (4 if left else 56 - small, 4, small, small + 2), first)
    # Where numerals alone tell, the seasons have Chinese ones and the others Latin ones
    alone = season if style.labels == (1, 1) else style.wheel % 2 == 1
    if kind == 3 or (kind == 1 and alone):
        write(pen, style, NUMERALS[number], (34 if left else 4, 4, 22, (6, 12, 18, 18)[number]), second)
    elif kind != 2:
        pen.stamp(glyph(LATIN, 0, str(number + 1), 2), 42 if left else 6, 6, 12, 17, second)


def _pot(pen: Pen, style: Style) -> float:
    """Draw a pot on legs; returns the height at which the plant leaves it."""
    rng = style.rng
    wide, top = float(rng.uniform(9, 16)), float(rng.uniform(57, 62))
    colour = (style.red, style.blue, style.ink)[int(rng.integers(3))]
    shape = np.array([[30 - wide, top], [30 + wide, top], [30 + 0.7 * wide, 73], [30 - 0.7 * wide, 73]])
    pen.poly(shape, colour)
    if rng.random() < 0.7:
        pen.poly((shape - [30, 66]) * 0.78 + [30, 66], style.paper)
    for side in (-1, 1):
        foot = np.array([[30 + side * 0.6 * wide, 73], [30 + side * 0.9 * wide, 77]])
        pen.line(foot, style.red if rng.random() < 0.5 else colour, 2.0)
    return top


def _leaf(pen: Pen, style: Style, x: float, y: float, angle: float, long: float) -> None:
    filled = style.sticks % 2 == 0
    a = math.radians(angle)
    middle = x + math.cos(a) * long / 2, y + math.sin(a) * long / 2
    pen.ellipse(*middle, long / 2, long / 4.5, angle, style.green)
    if not filled:
        pen.ellipse(*middle, long / 2 - 1.2, max(0.5, long / 4.5 - 1.1), angle, style.paper)


def _curve(rng: np.random.Generator, x: float, base: float, top: float) -> NDArray[np.float64]:
    """Points of a stem from (x, base) up to height ``top``."""
    sway, lean = float(rng.uniform(-6, 6)), float(rng.uniform(-10, 10))
    t = np.linspace(0, 1, 9)
    return np.stack([x + lean * t + sway * np.sin(t * math.pi * 1.4), base + (top - base) * t], 1)


def _petals(pen: Pen, style: Style, x: float, y: float, r: float) -> None:
    """Draw a flower head: a rosette, a filled disc of scales or outlines."""
    rng = style.rng
    colour = (style.red, style.red, style.blue, (150, 60, 170))[int(rng.integers(4))]
    way = (style.petals + style.frame) % 3
    if way == 0:
        blossom(pen, x, y, r, style.petals, colour)
        return
    pen.disc(x, y, r, colour)
    if way == 1:
        for ring in (0.72, 0.42):
            for k in range(7):
                a = 2 * math.pi * k / 7 + ring * 5
                pen.disc(x + math.cos(a) * r * ring, y + math.sin(a) * r * ring, r * 0.17, style.paper)
        return
    pen.disc(x, y, r - 1.4, style.paper)
    for k in range(5):
        a = 2 * math.pi * k / 5 + 0.4
        pen.line(np.array([[x, y], [x + math.cos(a) * r, y + math.sin(a) * r]]), colour, 1.2)
    pen.disc(x, y, r * 0.3, colour)


def _bush(pen: Pen, style: Style, base: float) -> None:
    """Stems with leaves, one to three heads: the seasons and the chrysanthemum."""
    rng = style.rng
    heads = int(rng.integers(1, 4))
    for k in range(int(rng.integers(2, 5))):
        stem = _curve(rng, 30 + float(rng.uniform(-5, 5)), base, float(rng.uniform(30, 48)))
        pen.line(stem, style.green, float(rng.uniform(1.3, 2.4)))
        for i in (2, 4, 6):
            for side in (0, 180):
                angle = side + float(rng.uniform(-50, 20)) * (1 if side == 0 else -1)
                _leaf(pen, style, float(stem[i, 0]), float(stem[i, 1]), angle, float(rng.uniform(6, 12)))
        if k < heads:
            x, y = stem[int(rng.integers(3, 9))]
            _petals(pen, style, float(x), float(y), float(rng.uniform(5, 10)))


def _orchid(pen: Pen, style: Style, base: float) -> None:
    """Long arching leaves and a few small flowers."""
    rng = style.rng
    for _ in range(int(rng.integers(4, 9))):
        reach, height = float(rng.uniform(-24, 24)), float(rng.uniform(26, 46))
        t = np.linspace(0, 1, 9)
        arch = np.stack([30 + reach * t**1.5, base - height * np.sin(t * math.pi * rng.uniform(0.5, 0.8))], 1)
        pen.line(arch, style.green, float(rng.uniform(1.4, 3.2)))
    for _ in range(int(rng.integers(1, 4))):
        _petals(
            pen, style, float(rng.uniform(16, 44)), float(rng.uniform(38, 62)), float(rng.uniform(3, 5.5))
        )


def _branch(pen: Pen, style: Style, base: float) -> None:
    """A knotty branch with plum blossoms along it."""
    rng = style.rng
    for _ in range(int(rng.integers(1, 3))):
        branch = _curve(rng, float(rng.uniform(18, 42)), base, float(rng.uniform(26, 40)))
        branch[:, 0] += rng.normal(0, 1.6, len(branch))
        pen.line(branch, style.ink if rng.random() < 0.5 else style.green, float(rng.uniform(1.8, 3.6)))
        for point in branch[2::2]:
            x, y = (float(v) for v in point)
            dx, dy = (float(v) for v in rng.uniform(-8, 8, 2))
            _petals(pen, style, x + dx, y + dy, float(rng.uniform(3.5, 7.5)))
            _leaf(pen, style, x, y, float(rng.uniform(0, 360)), float(rng.uniform(4, 9)))


def _bamboo(pen: Pen, style: Style, base: float) -> None:
    """Canes of joints and sprays of pointed leaves."""
    rng = style.rng
    colour = style.blue if rng.random() < 0.3 else style.green
    for _ in range(int(rng.integers(1, 4))):
        x, slant = float(rng.uniform(20, 40)), float(rng.uniform(-8, 8))
        thick, joints = float(rng.uniform(2, 5.5)), int(rng.integers(3, 6))
        for k in range(joints):
            low, high = k / joints, (k + 0.88) / joints
            ends = np.array([[x + slant * t, base - 46 * t] for t in (low, high)])
            pen.line(ends, colour, thick)
            if thick > 3 and style.sticks % 2:
                pen.line(ends, style.paper, thick - 2)
    for _ in range(int(rng.integers(2, 6))):
        x, y = float(rng.uniform(12, 48)), float(rng.uniform(32, 66))
        for angle in rng.uniform(20, 160, int(rng.integers(2, 5))):
            _leaf(pen, style, x, y, float(angle), float(rng.uniform(6, 12)))
    if rng.random() < 0.3:
        for _ in range(2):
            pen.disc(float(rng.uniform(12, 48)), float(rng.uniform(34, 60)), 2.4, style.red)
