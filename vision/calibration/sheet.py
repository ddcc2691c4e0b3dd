"""The sheet of cards: two A4 pages with markers to cut out, a ruler, and what to do, in three languages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from vision.calibration.edge import marker_cells
from vision.calibration.layout import CARD, CORNERS, MARKER, MARKERS
from vision.calibration.pdf import A4, Page, pdf_bytes

__all__ = ["RULER", "TEXTS", "marker_sheet", "place_of_card"]

RULER: Final = 100.0
"""Length of the printed ruler in millimetres."""
GLYPHS: Final = Path(__file__).with_name("glyphs.json")
"""Outlines of the Chinese characters below, so that the sheet prints the same everywhere; see ART.md."""
TYPE, LINE = 3.1, 4.7
TITLE = 4.6
TEXTS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "zh-Hans": (
        (
            "雀桌：相机标定卡",
            "1. 按 100 %（实际大小）打印，不要选“适合页面”。量一量：最下面的尺子必须正好 100 毫米。",
            "2. 沿灰线剪下四张卡片。",
            "3. 平放在台布上，推进四个角：0 号在触摸屏一侧的左手角，然后逆时针放 1、2、3 号。",
            "4. 在牌桌的页面 /calibrate 上按“标定卡已放好”。",
        ),
        (
            "雀桌：备用卡，只在相机看不到某个角时使用",
            "4 至 7 号：放在触摸屏一侧、右侧、对面、左侧的正中，靠紧桌边。",
        ),
    ),
    "zh-Hant": (
        (
            "雀桌：相機標定卡",
            "1. 以 100 %（實際大小）列印，不要選「符合頁面」。量一量：最下面的尺必須正好 100 公釐。",
            "2. 沿灰線剪下四張卡片。",
            "3. 平放在檯布上，推進四個角：0 號在觸控螢幕一側的左手角，然後逆時針放 1、2、3 號。",
            "4. 在牌桌的頁面 /calibrate 上按「標定卡已放好」。",
        ),
        (
            "雀桌：備用卡，只在相機看不到某個角時使用",
            "4 至 7 號：放在觸控螢幕一側、右側、對面、左側的正中，靠緊桌邊。",
        ),
    ),
    "en": (
        (
            "Quezhuo: cards for teaching the camera",
            "1. Print at 100 % (actual size), not fitted to the page. The ruler below must be 100 mm long.",
            "2. Cut the four cards out along the grey lines.",
            "3. Lay them flat into the corners of the cloth: 0 at the left hand of the touchscreen's side,",
            "    then 1, 2, 3 counter-clockwise.",
            '4. On the table\'s page /calibrate press "The cards are laid".',
        ),
        (
            "Quezhuo: spare cards, only where the camera does not see a corner",
            "4 to 7: against the rail, in the middle of the near (touchscreen), right, far and left side.",
        ),
    ),
}
"""By language: lines of the first page and of the second, the heading first."""


@cache
def _glyphs() -> dict[str, dict[str, tuple[int, str]]]:
    """By language and character: advance and path in thousandths of the type's height."""
    return {
        lang: {sign: (int(advance), path) for sign, (advance, path) in signs.items()}
        for lang, signs in json.loads(GLYPHS.read_text("utf-8")).items()
    }


def place_of_card(nth: int) -> tuple[float, float]:
    """Bottom left corner in millimetres on the page of the nth card (0 to 3), two by two."""
    return 20.0 + (nth % 2) * (CARD + 10.0), 112.0 - (nth // 2) * (CARD + 8.0)


def marker_sheet() -> bytes:
    """Return the PDF file; always the same bytes."""
    pages = [_page(0, CORNERS), _page(1, [marker for marker in MARKERS if marker not in CORNERS])]
    return pdf_bytes(pages, "Quezhuo calibration cards")


def _page(number: int, markers: Sequence[int]) -> Page:
    page = Page()
    y = A4[1] - 14.0
    for lang, texts in TEXTS.items():
        for nth, line in enumerate(texts[number]):
            size = TITLE if nth == 0 else TYPE
            _write(page, 15.0, y, size, line, lang)
            y -= LINE + (1.6 if nth == 0 else 0.0)
        y -= 1.5
    for nth, marker in enumerate(markers):
        _card(page, marker, *place_of_card(nth))
    _ruler(page, (A4[0] - RULER) / 2, 9.0)
    return page


def _card(page: Page, marker: int, x: float, y: float) -> None:
    page.frame(x, y, CARD, CARD)
    rim = (CARD - MARKER) / 2
    page.latin(x + 2.5, y + 2.5, 6.0, str(marker))
    cells = marker_cells(marker)
    cell = MARKER / len(cells)
    # One black square with white cells upon it: no hairlines between black cells.
    page.box(x + rim, y + rim, MARKER, MARKER)
    for row, line in enumerate(cells):
        for column, black in enumerate(line):
            if not black:
                page.box(x + rim + column * cell, y + CARD - rim - (row + 1) * cell, cell, cell, white=True)


def _ruler(page: Page, x: float, y: float) -> None:
    page.box(x, y, RULER, 0.3)
    for mm in range(0, round(RULER) + 1, 5):
        long = 5.0 if mm % 50 == 0 else 3.0 if mm % 10 == 0 else 1.8
        left = x + mm - (0.0 if mm == 0 else 0.3 if mm == RULER else 0.15)
        page.box(left, y, 0.3, long)
    page.latin(x + RULER + 3.0, y, TYPE, "100 mm")


def _write(page: Page, x: float, y: float, size: float, text: str, lang: str) -> None:
    """Write a line: runs of ASCII in Helvetica where the language is English, else sign by sign."""
    if lang == "en":
        page.latin(x, y, size, text)
        return
    signs = _glyphs()[lang]
    for sign in text:
        advance, path = signs[sign]
        if path:
            page.outline(x, y, size / 1000, path)
        x += size * advance / 1000
