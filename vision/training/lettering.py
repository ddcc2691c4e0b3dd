"""Characters as a maker's cutter makes them: bent, slanted, hollow."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from vision.training.dataset import Image
from vision.training.pen import Colour, Pen, glyph
from vision.training.styles import Hand, Style

LATIN = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"


def write(pen: Pen, style: Style, text: str, box: tuple[float, float, float, float], colour: Colour) -> None:
    """Write a text in the font and the hand of a style into the box (x, y, w, h) of the grid."""
    cut(pen, glyph(style.font[0], style.font[1], text, style.bold), style.hand, box, colour)


def cut(pen: Pen, mask: Image, hand: Hand, box: tuple[float, float, float, float], colour: Colour) -> None:
    """Cut the coverage mask of a glyph in a hand into the box (x, y, w, h) of the grid."""
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
