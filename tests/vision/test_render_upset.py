"""Disturbed frames: data in the scene file, drawn where they say, and calm frames as before."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from vision.camera import open_camera
from vision.errors import SceneError
from vision.geometry import default_calibration
from vision.render import Arm, Bump, Glare, LaidHand, Scene, Stray, Upset, render
from vision.render.upset import CALM, GLOVE, SKIN

SIZE = (800, 600)
TABLE = default_calibration(SIZE)
HAND = LaidHand(concealed=("1m", "2m", "3m", "4p", "5p"))
SCENE = Scene(hands={0: HAND}, light_seed=3)
ALL = Upset(
    arms=(Arm(2, -40.0, 150.0, 10.0, GLOVE, (30, 40, 50)), Arm(0, 0.0, 90.0)),
    glares=(Glare(10.0, -430.0, 9.0, 0.8),),
    strays=(Stray("9p", 310.0, -440.0, 20.0),),
    bump=Bump(0.5, 3.0, -2.0),
    gain=0.7,
    blur=1.5,
    smear=(4.0, 1.0),
)


def view(scene: Scene, upset: Upset = CALM, zone: str = "0") -> Any:
    return TABLE.rectify(render(scene, TABLE, upset=upset), zone).image.astype(np.float32)


def changed(upset: Upset, zone: str = "0") -> float:
    return float(np.abs(view(SCENE, upset, zone) - view(SCENE, zone=zone)).mean())


def test_a_calm_frame_is_the_same_to_the_last_bit_whatever_the_film_holds() -> None:
    filmed = Scene(hands={0: HAND}, light_seed=3, film=(ALL,))
    assert np.array_equal(render(SCENE, TABLE), render(filmed, TABLE))
    assert np.array_equal(render(SCENE, TABLE), render(SCENE, TABLE, upset=Upset()))


@pytest.mark.parametrize(
    "upset",
    [
        Upset(arms=(Arm(0, 0.0, 120.0),)),
        Upset(glares=(Glare(0.0, -430.0),)),
        Upset(bump=Bump(1.0, 10.0, 5.0)),
        Upset(gain=0.4),
        Upset(blur=3.0),
        Upset(smear=(12.0, 0.0)),
    ],
    ids=["arm", "glare", "bump", "dark", "blur", "smear"],
)
def test_each_disturbance_changes_the_zone(upset: Upset) -> None:
    assert changed(upset) > 0.3


def test_an_arm_reaches_in_over_the_edge_of_its_own_place_only() -> None:
    arm = Upset(arms=(Arm(1, 0.0, 120.0),))
    assert changed(arm, "1") > 5
    assert changed(arm, "3") < 0.5


def test_a_hand_has_the_colour_it_was_given() -> None:
    middles = [
        view(SCENE, Upset(arms=(Arm(0, 200.0, 150.0, 0.0, colour),)))[250, 1090] for colour in (SKIN, GLOVE)
    ]
    assert middles[0][2] > 1.2 * middles[0][0]
    assert abs(middles[1][2] / middles[1][0] - 1) < 0.2


def test_a_stray_tile_lies_where_no_zone_is() -> None:
    stray = Upset(strays=(Stray("back", 310.0, -440.0),))
    assert changed(stray) < 0.5
    difference = cv2.absdiff(render(SCENE, TABLE, upset=stray), render(SCENE, TABLE))
    assert difference.max() > 60


def test_a_film_travels_with_the_scene_file(tmp_path: Path) -> None:
    scene = Scene(hands={0: HAND}, film=(Upset(), ALL))
    scene.save(tmp_path / "scene.json")
    assert Scene.load(tmp_path / "scene.json") == scene
    assert (scene.upset(0), scene.upset(1), scene.upset(2)) == (Upset(), ALL, Upset())


def test_a_scene_without_film_is_written_as_ever() -> None:
    assert "film" not in SCENE.to_json()


def test_the_camera_shows_the_film_frame_by_frame_and_then_the_calm_table(tmp_path: Path) -> None:
    file = tmp_path / "scene.json"
    Scene(hands={0: HAND}, film=(Upset(gain=0.2), Upset(gain=0.5))).save(file)
    camera = open_camera(f"render:{file}", TABLE)
    levels = [float(camera.grab().image.mean()) for _ in range(4)]
    assert levels[0] < levels[1] < levels[2] == pytest.approx(levels[3], rel=0.02)


@pytest.mark.parametrize(
    "frame",
    [
        {"arms": [{"place": 4, "x": 0, "reach": 1}]},
        {"arms": [{"x": 0}]},
        {"arms": [{"place": 0, "x": 0, "reach": 1, "colour": [1, 2]}]},
        {"strays": [{"kind": "0m", "x": 0, "y": 0}]},
        {"glares": [{"x": 0}]},
        {"bump": {"spin": 3}},
        {"gain": -1},
        {"blur": "much"},
        {"smear": [1]},
    ],
)
def test_a_film_that_cannot_be_is_refused(frame: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "scene.json").write_text(json.dumps({"film": [frame]}))
    with pytest.raises(SceneError):
        Scene.load(tmp_path / "scene.json")


def test_a_film_without_end_is_refused() -> None:
    with pytest.raises(SceneError, match="at most"):
        Scene.from_json({"film": [{}] * 1001})
