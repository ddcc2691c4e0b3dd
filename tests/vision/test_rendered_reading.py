"""From the renderer to the reading: what a camera above the table gives, read with the shipped networks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from vision.geometry import Calibration, calibration_seen_by, default_calibration, look_at
from vision.reading_service import layout_of, read_zone
from vision.readings import Reading
from vision.recognizer import Recognizer
from vision.render import LaidHand, Scene, render
from vision.render.atlas import KINDS

SUITED = KINDS[:34]
WALLS = (17, 12, 9, 4)


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.load()


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return default_calibration()


def random_hand(rng: np.random.Generator) -> LaidHand:
    """A hand of 14 (18 with four kongs) with some melds, drawn without a fifth copy."""
    melded = [str(k) for k in rng.choice(SUITED, int(rng.integers(0, 4)), replace=False)]
    shapes = [[(k, k, k), (k,) * 4, ("back", k, k, "back")][int(rng.integers(3))] for k in melded]
    deck = [kind for kind in SUITED if kind not in melded for _ in range(4)]
    rng.shuffle(deck)
    n = 13 - 3 * len(melded)
    return LaidHand(tuple(shapes), tuple(sorted(deck[:n], key=KINDS.index)), deck[n])


@dataclass
class Count:
    tiles: int = 0
    right: int = 0
    hands: int = 0
    exact: int = 0
    wrongly_accepted: int = 0
    confusions: Counter[str] = field(default_factory=Counter)

    def add(self, hand: LaidHand, reading: Reading) -> None:
        pairs = list(zip(hand.kinds, reading.kinds, strict=False))
        exact = reading.kinds == hand.kinds
        self.tiles += len(hand.kinds)
        self.right += sum(a == b for a, b in pairs)
        self.hands += 1
        self.exact += exact
        self.wrongly_accepted += reading.accept and not exact
        self.confusions.update(f"{a} read as {b}" for a, b in pairs if a != b)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
def test_all_kinds_are_read_from_every_place(
    place: int, recognizer: Recognizer, calibration: Calibration
) -> None:
    count = Count()
    for start in (0, 12, 24):
        kinds = SUITED[start : start + 12]
        hand = LaidHand(concealed=kinds, win="1m")
        frame = render(Scene(None, {place: hand}, WALLS, 40 + start + place), calibration)
        count.add(hand, read_zone(recognizer, frame, calibration, place, expect=len(hand.kinds)))
    assert count.right >= count.tiles - 1, count.confusions


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
def test_a_concealed_kong_and_the_winning_tile_are_understood(
    place: int, recognizer: Recognizer, calibration: Calibration
) -> None:
    hand = LaidHand((("5p",) * 3, ("back", "3s", "3s", "back")), ("1z", "2z", "4m", "5m", "6m", "7z"), "7z")
    frame = render(Scene(None, {place: hand}, WALLS, 60 + place), calibration)
    reading = read_zone(recognizer, frame, calibration, place, expect=14)
    assert reading.kinds == hand.kinds
    layout = layout_of(reading)
    assert [len(meld) for meld in layout.melds] == [3, 4]
    assert layout.win == 13
    quad = np.asarray(calibration.zone(place).quad)
    x0, y0, x1, y1 = reading.tiles[0].box
    assert quad[:, 0].min() <= x0 < x1 <= quad[:, 0].max(), "boxes are pixels of the frame"
    assert quad[:, 1].min() <= y0 < y1 <= quad[:, 1].max()


@pytest.mark.slow
def test_forty_rendered_hands_are_read_to_ninety_nine_percent(
    recognizer: Recognizer, calibration: Calibration
) -> None:
    rng = np.random.default_rng(5)
    count = Count()
    for n in range(40):
        hand = random_hand(rng)
        scene = Scene(str(rng.choice(SUITED)), {n % 4: hand}, WALLS, int(rng.integers(2**30)))
        frame = render(scene, calibration, seed=n)
        count.add(hand, read_zone(recognizer, frame, calibration, n % 4, expect=len(hand.kinds)))
    assert count.right >= 0.99 * count.tiles, count
    assert count.exact >= 0.9 * count.hands, count
    assert count.wrongly_accepted <= 1, count


@pytest.mark.slow
@pytest.mark.parametrize("position", [(-200.0, -250.0, 1250.0), (150.0, 40.0, 1300.0), (0.0, -450.0, 1250.0)])
def test_a_camera_screwed_elsewhere_reads_as_well(
    position: tuple[float, float, float], recognizer: Recognizer
) -> None:
    size = (1600, 1200)
    camera = look_at(np.asarray(position), np.asarray([0.0, -20.0, 0.0]), 1380.0, size)
    calibration = calibration_seen_by(camera, size)
    rng = np.random.default_rng(int(abs(position[0])))
    count = Count()
    for place in range(4):
        hand = random_hand(rng)
        frame = render(Scene(None, {place: hand}, WALLS, place), calibration)
        count.add(hand, read_zone(recognizer, frame, calibration, place, expect=len(hand.kinds)))
    assert count.right >= count.tiles - 1, count


@pytest.mark.slow
def test_the_indicator_is_read(recognizer: Recognizer, calibration: Calibration) -> None:
    wrong = []
    for n, kind in enumerate((*SUITED, "back")):
        frame = render(Scene(kind, {}, WALLS, 100 + n), calibration)
        reading = read_zone(recognizer, frame, calibration, "indicator", expect=1)
        if reading.kinds != (kind,):
            wrong.append((kind, reading.kinds))
    assert len(wrong) <= 1, wrong


def test_an_empty_zone_holds_no_tiles(recognizer: Recognizer, calibration: Calibration) -> None:
    frame = render(Scene(None, {}, (0, 0, 0, 0), 9), calibration)
    assert read_zone(recognizer, frame, calibration, 0).why == ("no_tiles",)
