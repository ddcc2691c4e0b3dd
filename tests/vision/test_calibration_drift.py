"""The drift alarm: silent under tiles, arms and other light; sure of bumps from a few pixels on."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import cv2
import numpy as np
import pytest

from vision.calibration.drift import LIMIT, Drift, DriftWatch, make_reference
from vision.errors import CalibrationError
from vision.geometry import Calibration, default_calibration
from vision.readings import Image
from vision.render import Scene, render
from vision.render.scene import LaidHand
from vision.taught import Reference

SIZE = (1200, 900)
HAND = LaidHand(concealed=tuple("123m456p789s1122z"[k] + "m" for k in range(3)) + ("5p",) * 4, win="9s")


@lru_cache(maxsize=1)
def watched() -> tuple[Calibration, DriftWatch, Image, Image]:
    """A calibration, its watch, the frame it was taught with, and a frame of play with other light."""
    calibration = default_calibration(SIZE)
    empty = render(Scene(light_seed=1), calibration)
    full = render(
        Scene(indicator="1p", hands=dict.fromkeys(range(4), HAND), walls=(9, 12, 4, 17), light_seed=8),
        calibration,
        seed=3,
    )
    calibration = replace(calibration, reference=make_reference(empty, calibration))
    return calibration, DriftWatch(calibration), empty, full


def moved(frame: Image, matrix: list[list[float]]) -> Image:
    shift = np.asarray(matrix, np.float64)
    return np.asarray(cv2.warpAffine(frame, shift, SIZE, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def shifted(frame: Image, x: float, y: float) -> Drift:
    return watched()[1].check(moved(frame, [[1, 0, x], [0, 1, y]]))


def with_arms(frame: Image) -> Image:
    image = frame.copy()
    for start, end in (((300, 899), (500, 500)), ((1199, 350), (800, 420)), ((0, 600), (380, 520))):
        cv2.line(image, start, end, (90, 120, 170), 90, cv2.LINE_AA)
    return image


def test_tiles_arms_and_other_light_raise_no_alarm() -> None:
    _, watch, _, full = watched()
    dark = np.asarray(np.clip((with_arms(full) / 255.0) ** 1.3 * 140, 0, 255), np.uint8)
    for frame in (full, with_arms(full), dark, np.asarray(cv2.GaussianBlur(full, (0, 0), 2), np.uint8)):
        drift = watch.check(frame)
        assert (drift.moved, drift.sure) == (False, True)
        assert drift.pixels < 1.5


@pytest.mark.parametrize("pixels", [2.0, 6.0, 15.0, 30.0])
def test_a_bump_is_measured(pixels: float) -> None:
    drift = shifted(with_arms(watched()[3]), -0.6 * pixels, 0.8 * pixels)
    assert drift.sure
    assert drift.pixels == pytest.approx(pixels, abs=1.2)
    assert drift.moved == (pixels > LIMIT * SIZE[0])


@pytest.mark.parametrize("degrees", [-2.0, 0.6, 3.0])
def test_a_turn_is_measured(degrees: float) -> None:
    calibration, watch, _, full = watched()
    turn = cv2.getRotationMatrix2D((SIZE[0] / 2, SIZE[1] / 2), degrees, 1.0)
    corners = np.concatenate([np.asarray(zone.quad) for zone in calibration.zones.values()])
    gone = np.linalg.norm(corners @ turn[:, :2].T + turn[:, 2] - corners, axis=1).max()
    drift = watch.check(moved(full, turn.tolist()))
    assert drift.moved
    assert drift.sure
    assert drift.pixels == pytest.approx(gone, rel=0.05, abs=1.0)


def test_another_focus_shows_as_growth() -> None:
    zoom = 1.012
    shift = [(1 - zoom) * SIZE[0] / 2, (1 - zoom) * SIZE[1] / 2]
    drift = watched()[1].check(moved(watched()[3], [[zoom, 0, shift[0]], [0, zoom, shift[1]]]))
    assert drift.moved
    assert drift.sure


def test_a_view_that_cannot_be_recognized_is_unsure() -> None:
    watch = watched()[1]
    noise = np.random.default_rng(2).integers(0, 255, (SIZE[1], SIZE[0], 3), np.uint8)
    for frame in (np.zeros_like(noise), noise, np.ascontiguousarray(watched()[3][::-1])):
        drift = watch.check(frame)
        assert not drift.sure or drift.moved
    assert watch.check(np.zeros_like(noise)) == Drift(True, 0.0, False)


def test_a_frame_of_another_resolution_is_compared_all_the_same() -> None:
    double = np.asarray(cv2.resize(watched()[3], (2400, 1800)), np.uint8)
    assert not watched()[1].check(double).moved
    with pytest.raises(CalibrationError, match="1200 x 1200"):
        watched()[1].check(np.zeros((1200, 1200, 3), np.uint8))


def test_the_reference_travels_in_the_calibration_file() -> None:
    calibration, _, _, full = watched()
    again = Calibration.from_json(calibration.to_json())
    assert again == calibration
    assert DriftWatch(again).check(full) == watched()[1].check(full)


def test_an_empty_view_gives_no_reference() -> None:
    with pytest.raises(CalibrationError, match="can hardly be seen"):
        make_reference(np.full((SIZE[1], SIZE[0], 3), 90, np.uint8), default_calibration(SIZE))


@pytest.mark.parametrize(
    "reference", [None, Reference(b"", ()), Reference(b"no picture", ((0, 0, 1, 0),) * 60)]
)
def test_a_calibration_without_a_usable_reference_is_told(reference: Reference | None) -> None:
    with pytest.raises(CalibrationError, match="quezhuo calibrate"):
        DriftWatch(replace(default_calibration(SIZE), reference=reference))


@pytest.mark.parametrize(
    "change",
    [
        {"reference": {"image": "%%%", "points": []}},
        {"reference": {"image": "", "points": [[1, 2]]}},
        {"reference": {"image": "", "points": [[1, 2, 3, float("nan")]]}},
        {"reference": 7},
        {"taught": {}},
        {"taught": {"how": "taps", "at": "", "version": "", "cloth_mm": -1}},
        {"camera": {"matrix": [[1, 0, 0]], "k": []}},
        {"camera": {"matrix": [[-1, 0, 0], [0, 1, 0], [0, 0, 1]], "k": [0, 0, 0, 0, 0]}},
    ],
)
def test_broken_extras_of_a_file_are_refused(change: dict[str, object]) -> None:
    data = default_calibration(SIZE).to_json()
    with pytest.raises(CalibrationError, match="lacks a usable value"):
        Calibration.from_json({**data, **change})


def test_a_file_without_the_extras_is_complete() -> None:
    calibration = Calibration.from_json(default_calibration(SIZE).to_json())
    assert (calibration.lens, calibration.reference, calibration.taught) == (None, None, None)
    assert calibration.scale["0"] > calibration.scale["2"]
