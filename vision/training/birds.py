"""The birds of 1s: every maker draws another."""

from __future__ import annotations

import math

import numpy as np

from vision.training.pen import Pen
from vision.training.styles import Style


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


def _train(pen: Pen, style: Style) -> None:
    """Draw a peacock from the side: thin neck, crest, a long train with eyes hanging to the ground."""
    rng, g, r, b = style.rng, style.green, style.red, style.blue
    side = 1 if rng.random() < 0.5 else -1
    thin = bool(rng.random() < 0.5)

    def at(x: float, y: float) -> tuple[float, float]:
        return 30 + side * x, y

    tilt = float(rng.uniform(25, 65))
    colour = (r, g, b, style.ink)[int(rng.integers(4))]
    far = at(10 + float(rng.uniform(0, 4)), float(rng.uniform(56, 62)))
    pen.ellipse(*far, 9, 15, -side * (tilt - 45), colour)
    pen.ellipse(*far, 7.6, 13.4, -side * (tilt - 45), style.paper)
    for _ in range(int(rng.integers(7, 14))):
        spot = far[0] + float(rng.normal(0, 3.2)), far[1] + float(rng.normal(0, 5.5))
        pen.disc(*spot, 2.3, (r, g, b)[int(rng.integers(3))])
        pen.disc(*spot, 1.1, style.paper)
    for k in range(int(rng.integers(4, 8))):
        pen.line(np.array([at(0, 34 + k), at(10 + k, 44 + 3.2 * k)]), (g, b)[k % 2], 1.8)
    body = at(-4, 36)
    pen.ellipse(*body, 10, 7, side * 40, b)
    if thin:
        pen.ellipse(*body, 8.2, 5.2, side * 40, style.paper)
    pen.line(np.array([at(-8, 32), at(-11, 22), at(-9, 13)]), b, 3.0 if thin else 5.0)
    pen.disc(*at(-9, 11), 4.2, g if rng.random() < 0.5 else b)
    pen.disc(*at(-10, 10.5), 1.2, style.paper)
    pen.poly(np.array([at(-13, 9), at(-18, 11.5), at(-13, 13)]), r)
    for k in (-3, 0, 3):
        tip = at(-8 + k, 3)
        pen.line(np.array([at(-9, 8), tip]), r, 1.1)
        pen.disc(*tip, 1.2, r)
    for k in (0, 6):
        pen.line(np.array([at(-6 + k, 42), at(-4 + k, 60), at(-8 + k, 74)]), style.ink, 1.6)
    if rng.random() < 0.6:
        pen.line(np.array([[12, 75], [48, 75]]), g, 2.0)


def draw_bird(pen: Pen, style: Style) -> None:
    """Draw the bird of 1s in one of the style's ways."""
    rng = style.rng
    g, r, b, ink = style.green, style.red, style.blue, style.ink
    if style.bird >= 3:
        (_peacock, _fan, _fan, _train)[style.bird - 3](pen, style)
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
