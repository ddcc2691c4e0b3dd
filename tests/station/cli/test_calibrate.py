"""The command `calibrate`: sheet, teaching, lens and check, as a technician's script uses it."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from station.cli.main import main
from station.web.calibrate_words import CALIBRATION
from vision.calibration.refusals import REFUSALS
from vision.geometry import Calibration, default_calibration, pinhole_of
from vision.readings import Image
from vision.render import Scene, render
from vision.render.markers import lay_markers

SIZE = (1280, 960)


@lru_cache(maxsize=1)
def empty() -> Image:
    return render(Scene(light_seed=5), default_calibration(SIZE))


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    marked = lay_markers(empty(), pinhole_of(default_calibration(SIZE)))
    later = np.roll(empty(), (7, 9), axis=(0, 1))
    for name, image in (("marked", marked), ("empty", empty()), ("bumped", later)):
        cv2.imwrite(str(tmp_path / f"{name}.png"), image)
    return tmp_path


def run(photos: Path, *words: str) -> int:
    return main(["calibrate", *[w.replace("@", f"{photos}/") for w in words], "--home", str(photos)])


def test_the_sheet_is_a_pdf(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(photos, "--cards-pdf", "@m.pdf", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"file": f"{photos}/m.pdf", "pages": 2}
    assert (photos / "m.pdf").read_bytes().startswith(b"%PDF-1.4")


def test_people_read_of_cards_and_never_of_markers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["calibrate", "--help"])
    told = [capsys.readouterr().out, *REFUSALS.values(), *CALIBRATION.values()]
    guide = Path(__file__).parents[3] / "docs" / "calibration.md"
    told.append(guide.read_text("utf-8").replace("each with an ArUco marker", ""))
    for text in told:
        # %(marker)s is the number upon the card.
        assert "marker" not in text.lower().replace("%(marker)s", ""), text


def test_cards_teach_and_the_file_is_watched(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--photo", "@marked.png", "--out", "@c.json", "--preview", "@zones.jpg", "--json")
    assert run(photos, *words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["error_mm"] < 2
    assert set(told["markers"]) == {"0", "1", "2", "3"}
    assert told["drift_alarm"]
    taught = Calibration.load(photos / "c.json")
    wanted = default_calibration(SIZE)
    for name, zone in wanted.zones.items():
        assert np.asarray(taught.zones[name].quad) == pytest.approx(np.asarray(zone.quad), abs=1.5)
    assert cv2.imread(str(photos / "zones.jpg")).shape == (960, 1280, 3)
    assert run(photos, "--photo", "@empty.png", "--check", "@c.json") == 0
    assert run(photos, "--photo", "@bumped.png", "--check", "@c.json", "--json") == 1
    answer = capsys.readouterr().out.splitlines()
    assert "where it was" in answer[0]
    assert json.loads(answer[1])["moved"]


def test_a_folder_is_a_camera_and_taps_do_without_cards(
    photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("marked.png", "bumped.png"):
        (photos / name).unlink()
    camera = pinhole_of(default_calibration(SIZE))
    corners = camera.project(np.asarray([[-470, -470, 0], [470, -470, 0], [470, 470, 0], [-470, 470, 0]]))
    taps = [f"{x:.0f},{y:.0f}" for x, y in corners]
    assert run(photos, "--camera", f"folder:{photos}", "--taps", *taps, "--out", "@c.json") == 0
    told = capsys.readouterr()
    assert "pixels a millimetre" in told.out
    assert "Looking through camera" in told.err
    assert Calibration.load(photos / "c.json").taught.how == "taps"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "nothing to look at"),
        (("--photo", "@marked.png"), 2, "not said where to write"),
        (("--photo", "@none.png", "--out", "@c.json"), 2, "no file"),
        (("--photo", "@empty.png", "--out", "@c.json"), 2, "Only 0 cards"),
        (
            ("--photo", "@empty.png", "--out", "@c.json", "--taps", "1,2", "3", "4,4", "5,5"),
            2,
            "no four points",
        ),
        (
            ("--photo", "@empty.png", "--out", "@c.json", "--taps", "1,1", "9,1", "9,9", "1,9"),
            2,
            "around the table",
        ),
        (("--photo", "@marked.png", "--out", "@c.json", "--cloth", "20"), 2, "20 mm is not possible"),
        (("--photo", "@marked.png", "--out", "@c.json", "--height", "7"), 2, "is no height"),
        (("--photo", "@marked.png", "--out", "@c.json", "--checkerboard", "@boards"), 2, "seen in 0 of 2"),
        (
            ("--photo", "@marked.png", "--out", "@c.json", "--checkerboard", "@", "--squares", "9"),
            2,
            "no board",
        ),
        (("--photo", "@marked.png", "--out", "@c.json", "--checkerboard", "@none"), 2, "There is no folder"),
        (("--photo", "@marked.png", "--out", "@c.json", "--checkerboard", "@hollow"), 2, "no picture in"),
        (("--photo", "@marked.png", "--out", "@c.json", "--check", "@plain.json"), 2, "only compares"),
        (
            ("--photo", "@marked.png", "--out", "@c.json", "--preview", "@no/p.jpg"),
            3,
            "make its folder first",
        ),
        (("--cards-pdf", "@boards"), 3, "not a folder"),
        (("--photo", "@marked.png", "--out", "@c.json", "--lens", "@plain.json"), 2, "holds no lens"),
        (("--photo", "@empty.png", "--check", "@plain.json"), 2, "no reference picture"),
        (("--camera", "folder:@gone", "--out", "@c.json"), 3, "no folder"),
        (("--photo", "@marked.png", "--out", "@no/c.json"), 3, "can't be used"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_every_mistake_is_one_line(
    words: tuple[str, ...], status: int, said: str, photos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    default_calibration(SIZE).save(photos / "plain.json")
    (photos / "boards").mkdir()
    (photos / "hollow").mkdir()
    cv2.imwrite(str(photos / "boards" / "a.png"), empty())
    (photos / "boards" / "b.png").write_text("rubbish")
    assert run(photos, *words) == status
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("quezhuo: ")]
    assert len(lines) == 1
    assert said in lines[0]
    assert not (photos / "c.json").exists()


BOARDS = (640, 480)
MATRIX = np.asarray([[575.0, 0, 320], [0, 575.0, 240], [0, 0, 1]])
BEND = np.asarray([-0.18, 0.05, 0, 0, 0])


def test_a_checkerboard_gives_the_lens(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (photos / "boards").mkdir()
    for k, board in enumerate(_boards()):
        cv2.imwrite(str(photos / "boards" / f"{k}.png"), board)
    (photos / "boards" / "notes.txt").write_text("not a picture")
    cv2.imwrite(str(photos / "small.png"), cv2.resize(empty(), BOARDS))
    words = ("--photo", "@small.png", "--out", "@c.json", "--taps", "110,450", "530,450", "500,45", "140,45")
    assert run(photos, *words, "--checkerboard", "@boards", "--squares", "8x5") == 0
    err = capsys.readouterr().err
    assert "7/7 6.png: board found" in err
    assert "boards miss by 0." in err
    lens = Calibration.load(photos / "c.json").lens
    assert lens is not None
    assert lens.focal[0] == pytest.approx(575, rel=0.02)
    assert lens.bend[0] == pytest.approx(-0.18, abs=0.04)
    assert run(photos, *words, "--lens", "@c.json") == 0
    assert Calibration.load(photos / "c.json").lens == lens


def _boards() -> list[Image]:
    """Pictures of a board of 9 by 6 squares of 30 mm through a bending lens."""
    side, rim = 20, 20
    flat = np.full((6 * side + 2 * rim, 9 * side + 2 * rim), 235, np.uint8)
    for row, column in np.ndindex(6, 9):
        if (row + column) % 2 == 0:
            y, x = rim + row * side, rim + column * side
            flat[y : y + side, x : x + side] = 25
    # Where each pixel of the frame looks: straightened first, then onto the board.
    x, y = np.meshgrid(np.arange(BOARDS[0], dtype=np.float32), np.arange(BOARDS[1], dtype=np.float32))
    rays = cv2.undistortPoints(np.stack([x.ravel(), y.ravel()], axis=1)[:, None], MATRIX, BEND)[:, 0]
    wide = np.concatenate([rays, np.ones((len(rays), 1))], axis=1)
    pictures = []
    for k in range(7):
        turn, _ = cv2.Rodrigues(np.asarray([0.3 * np.cos(k), 0.3 * np.sin(k), 0.05 * k]))
        shift = np.asarray([60.0 * np.cos(2.4 * k), 50.0 * np.sin(2.4 * k), 430.0])
        plane = np.stack([turn[:, 0], turn[:, 1], shift], axis=1)
        spot = wide @ np.linalg.inv(plane).T
        spot = spot[:, :2] / spot[:, 2:]
        at = (spot * side / 30 + np.asarray(flat.shape[::-1]) / 2).astype(np.float32).reshape(*x.shape, 2)
        picture = cv2.remap(flat, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderValue=120)
        pictures.append(np.repeat(picture[..., None], 3, axis=2))
    return pictures


def test_tiles_too_small_to_be_read_are_told(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = cv2.imread(str(photos / "marked.png"))
    cv2.imwrite(str(photos / "small.png"), cv2.resize(frame, (640, 480)))
    assert run(photos, "--photo", "@small.png", "--out", "@c.json") == 0
    assert "pixels wide: mount the camera nearer" in capsys.readouterr().err
    assert run(photos, "--photo", "@marked.png", "--out", "@c.json") == 0
    assert "nearer" not in capsys.readouterr().err
