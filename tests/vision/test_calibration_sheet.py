"""The printed sheet: a PDF whose markers are where and as large as they should be."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

import pytest

from vision.calibration.edge import marker_cells
from vision.calibration.layout import CARD, MARKER, MARKERS
from vision.calibration.pdf import POINT
from vision.calibration.sheet import GLYPHS, RULER, TEXTS, marker_sheet, place_of_card

LOCALES = Path(__file__).parents[2] / "station" / "web" / "locale"


def pages() -> list[str]:
    streams = re.findall(rb"stream\n(.*?)\nendstream", marker_sheet(), re.DOTALL)
    return [zlib.decompress(stream).decode("ascii") for stream in streams]


def boxes(page: str) -> list[tuple[str, float, float, float, float]]:
    found = re.findall(r"^([01]) g ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re f", page, re.MULTILINE)
    return [(colour, *map(float, numbers)) for colour, *numbers in found]


def test_two_pages_in_millimetres() -> None:
    assert len(pages()) == 2
    for page in pages():
        scale = float(page.split()[0])
        assert scale == pytest.approx(72 / 25.4, abs=1e-6)
    assert b"/MediaBox [0 0 595.276 841.89]" in marker_sheet()
    assert pytest.approx(841.89, abs=0.01) == 297 * POINT


def test_the_cross_reference_table_points_at_the_objects() -> None:
    data = marker_sheet()
    start = int(data.rsplit(b"startxref\n", 1)[1].split()[0])
    lines = data[start:].splitlines()
    assert lines[0] == b"xref"
    offsets = [int(line.split()[0]) for line in lines[3 : 2 + int(lines[1].split()[1])]]
    for number, offset in enumerate(offsets, 1):
        assert data[offset:].startswith(b"%d 0 obj" % number)


def test_every_marker_is_drawn_cell_by_cell() -> None:
    for number, page in enumerate(pages()):
        drawn = boxes(page)
        for nth in range(4):
            marker = MARKERS[4 * number + nth]
            x, y = place_of_card(nth)
            rim, cell = (CARD - MARKER) / 2, MARKER / 6
            assert ("0", x + rim, y + rim, MARKER, MARKER) in drawn
            white = {
                (round((bx - x - rim) / cell), 5 - round((by - y - rim) / cell))
                for colour, bx, by, *_ in drawn
                if colour == "1" and x < bx < x + CARD and y < by < y + CARD
            }
            cells = marker_cells(marker)
            assert white == {(c, r) for r in range(6) for c in range(6) if not cells[r, c]}


def test_the_ruler_is_exactly_100_mm() -> None:
    lines = [box for box in boxes(pages()[0]) if box[3] == RULER]
    assert len(lines) == 1
    left = lines[0][1]
    ticks = [box[1] for box in boxes(pages()[0]) if box[3] == 0.3 and box[2] == lines[0][2]]
    assert min(ticks) == pytest.approx(left)
    assert max(ticks) + 0.3 == pytest.approx(left + 100)


def test_the_instructions_end_above_the_cards() -> None:
    for page in pages():
        outlines = [float(y) for y in re.findall(r"0 0 [\d.]+ [\d.]+ ([\d.]+) cm", page)[1:]]
        lines = [float(y) for y in re.findall(r"F1 (?:3\.1|4\.6)0 Tf 15\.00 ([\d.]+) Td", page)]
        assert lines
        assert min(outlines + lines) > place_of_card(0)[1] + CARD


def test_the_sheet_speaks_three_languages_and_is_always_the_same() -> None:
    assert set(TEXTS) == {"zh-Hans", "zh-Hant", "en"}
    assert marker_sheet() == marker_sheet()


@pytest.mark.parametrize(("lang", "camera"), [("zh-Hans", "相机"), ("zh-Hant", "相機")])
def test_the_sheet_calls_camera_and_button_as_the_pages_do(lang: str, camera: str) -> None:
    sheet = "".join(line for page in TEXTS[lang] for line in page)
    pages = (LOCALES / lang.replace("-", "_") / "LC_MESSAGES" / "messages.po").read_text("utf-8")
    for text in (sheet, pages):
        assert camera in text
        assert not re.search("摄像|攝像|摄影|攝影", text)
    button = re.search(r'msgid "The cards are laid"\nmsgstr "(.+)"', pages)
    assert button is not None
    assert button[1] in sheet


def test_the_outlines_are_those_of_the_sentences_as_they_stand() -> None:
    drawn = json.loads(GLYPHS.read_text("utf-8"))
    for lang, signs in drawn.items():
        assert set(signs) == set("".join(line for page in TEXTS[lang] for line in page))
