"""What differs between makers' sets: hues, fonts, dots, sticks, frames, corner indices, backs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from vision.training.pen import Colour, Rng

BRUSHES = (
    "aoyagi-soseki/aoyagi-soseki.ttf",
    "kouzan-mouhitsu/kouzan-mouhitsu-gyosho.ttf",
    "kouzan-mouhitsu/kouzan-mouhitsu.ttf",
    "reggae/ReggaeOne-Regular.ttf",
)
FONTS: tuple[tuple[str, int, bool], ...] = (  # file, face in the collection, has simplified forms
    ("/usr/share/fonts/opentype/noto/NotoSerifCJK-Bold.ttc", 2, True),
    ("/usr/share/fonts/opentype/noto/NotoSerifCJK-Bold.ttc", 3, True),
    ("/usr/share/fonts/opentype/noto/NotoSerifCJK-Regular.ttc", 2, True),
    ("/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc", 2, True),
    ("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc", 3, True),
    ("/usr/share/fonts/truetype/arphic/ukai.ttc", 0, True),
    ("/usr/share/fonts/truetype/arphic/ukai.ttc", 2, True),
    ("/usr/share/fonts/truetype/arphic/uming.ttc", 0, True),
    ("/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc", 0, True),
    ("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc", 0, True),
    ("/usr/share/fonts/truetype/lxgw-wenkai/LXGWWenKai-Bold.ttf", 0, True),
    *(("/usr/share/fonts/truetype/" + file, 0, False) for file in BRUSHES for _ in range(2)),
)
"""Brushes twice: most makers cut brush forms, most fonts are printers' ones."""


BLANK = 5
"""Frame of a white dragon that has none."""


@dataclass(frozen=True)
class Hand:
    """How a maker's cutter bends the characters of a font: what no font shows.

    ``shear`` and ``rise`` slant strokes sideways and upwards, ``squeeze`` narrows, ``bend`` waves by so much
    of the height, ``phase`` where the waves begin. ``hollow``: only the outlines of strokes are cut, so wide
    in shares of the height; 0 fills them.
    """

    shear: float = 0.0
    rise: float = 0.0
    squeeze: float = 1.0
    bend: float = 0.0
    phase: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    hollow: float = 0.0


@dataclass
class Style:
    """One maker's set: colours, font, dot and stick drawing; every value drawn from one generator."""

    rng: Rng
    font: tuple[str, int, bool] = FONTS[0]
    bold: int = 0
    paper: Colour = (240, 250, 252)
    ink: Colour = (40, 30, 25)
    red: Colour = (38, 34, 194)
    green: Colour = (61, 122, 15)
    blue: Colour = (159, 79, 29)
    dots: int = 0
    sticks: int = 0
    bird: int = 0
    wheel: int = 0
    frame: int = 0
    size: float = 1.0
    index: int = 0
    numeral: Colour = (40, 30, 25)
    simplified: bool = False
    five: str = "五"
    petals: int = 5
    plants: int = 0
    """Which flowers stand in pots: 0 none, 1 all, 2 those after the seasons."""
    labels: tuple[int, int] = (0, 0)
    """Beside the plant of seasons and of others: 0 character and Latin numeral, 1 numeral, 2 character,
    3 character and Chinese numeral."""
    thick: float = 1.0
    hand: Hand = field(default_factory=lambda: Hand())
    honours: dict[int, tuple[tuple[str, int, bool], Hand]] = field(default_factory=dict)
    """Font and hand of single honours that are cut unlike the rest of the set."""
    back: Colour = (92, 122, 29)
    back_pattern: int = 0
    circle_colours: dict[int, list[Colour]] = field(default_factory=dict)


def _near(rng: Rng, colour: Colour, spread: int) -> Colour:
    b, g, r = (int(np.clip(c + rng.integers(-spread, spread + 1), 0, 255)) for c in colour)
    return b, g, r


def _random_hand(rng: Rng) -> Hand:
    if rng.random() < 0.4:
        return Hand()
    a, b, c, d = (float(v) for v in rng.uniform(0, 6.3, 4))
    return Hand(
        float(rng.normal(0, 0.1)),
        float(rng.normal(0, 0.08)),
        float(rng.uniform(0.75, 1.15)),
        float(rng.uniform(0, 0.035)),
        (a, b, c, d),
    )


def _choose_honours(style: Style) -> None:
    """Give single honours a hand of their own, 6z most often: many makers cut it slanted or hollow."""
    rng = style.rng
    for n in (1, 2, 3, 4, 6, 7):
        if rng.random() > (0.5 if n == 6 else 0.25):
            continue
        hand = _random_hand(rng)
        if rng.random() < 0.6:
            slant = {"shear": float(rng.normal(0, 0.2)), "rise": float(rng.normal(0, 0.2))}
            hand = replace(hand, **slant)  # type: ignore[arg-type]
        if rng.random() < (0.6 if n == 6 else 0.3):
            hand = replace(hand, hollow=float(rng.uniform(0.02, 0.045)))
        style.honours[n] = FONTS[int(rng.integers(len(FONTS)))], hand


def random_style(rng: Rng) -> Style:
    """Draw a style: real sets vary in hue, stroke, frame, corner index and simplified forms."""
    style = Style(rng)
    style.font = FONTS[int(rng.integers(len(FONTS)))]
    style.bold = int(rng.choice([0, 1, 2, 4]))
    paper = [(252, 254, 254), (240, 250, 252), (225, 240, 246), (205, 228, 240), (235, 240, 240)]
    style.paper = _near(rng, paper[int(rng.integers(len(paper)))], 5)
    style.ink = _near(rng, [(40, 30, 25), (70, 40, 25), (110, 50, 20)][int(rng.integers(3))], 15)
    style.red = _near(rng, [(38, 34, 194), (30, 30, 160), (60, 60, 225)][int(rng.integers(3))], 18)
    style.green = _near(
        rng, [(61, 122, 15), (60, 90, 20), (80, 150, 40), (45, 70, 20)][int(rng.integers(4))], 15
    )
    style.blue = _near(
        rng, [(159, 79, 29), (130, 40, 30), (190, 90, 40), (90, 50, 40)][int(rng.integers(4))], 18
    )
    if rng.random() < 0.2:
        style.green = style.blue = style.ink
    style.dots, style.sticks = int(rng.integers(7)), int(rng.integers(5))
    style.bird, style.wheel, style.frame = (int(rng.integers(n)) for n in (7, 5, 6))
    if rng.random() < 0.25:
        style.frame = BLANK
    style.thick = float(rng.uniform(0.85, 1.6))
    style.hand = _random_hand(rng)
    style.size = float(rng.uniform(0.8, 1.02))
    style.index = int(rng.integers(1, 5)) if rng.random() < 0.3 else 0
    style.numeral = (style.ink, style.blue, style.ink, style.red, style.green)[int(rng.integers(5))]
    style.simplified = bool(rng.random() < 0.2) and style.font[2]
    style.five = str(rng.choice(["五", "伍"]))
    style.petals = int(rng.integers(4, 13))
    style.plants = int(rng.choice([0, 0, 1, 2]))
    one, other = (int(v) for v in rng.choice([0, 0, 0, 1, 2, 3], 2))
    style.labels = one, one if rng.random() < 0.5 else other
    backs = [(92, 122, 29), (150, 90, 20), (60, 160, 60), (40, 150, 220), (30, 110, 200), (120, 60, 190)]
    backs += [(190, 70, 210), (235, 200, 150), (90, 190, 230)]
    backs += [(180, 140, 60), (60, 60, 60), (110, 170, 210), (40, 40, 150), (230, 160, 90), (80, 200, 120)]
    style.back = _near(rng, backs[int(rng.integers(len(backs)))], 25)
    style.back_pattern = int(rng.integers(6))
    _choose_circle_colours(style)
    _choose_honours(style)
    return style


def _choose_circle_colours(style: Style) -> None:
    g, r, b = style.green, style.red, style.blue
    if style.rng.random() < 0.4:
        g, b = b, g
    if style.rng.random() < 0.15:
        g = b = style.ink
    mixed = style.rng.random() < 0.6
    table = {
        2: [g, b] if mixed else [g, g],
        3: [b, r, g],
        4: [b, g, g, b] if mixed else [b] * 4,
        5: [b, g, r, g, b] if mixed else [b, b, r, b, b],
        6: [g, g, r, r, r, r],
        7: [g, g, g, r, r, r, r],
        8: [b] * 8,
        9: [g, g, g, r, r, r, b, b, b],
    }
    style.circle_colours = table
