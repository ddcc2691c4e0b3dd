"""`enroll` with a rendered table: somebody lays the rows that are asked for, in front of side 0."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import pytest

from station.cli.main import main
from station.errors import ConfigError
from station.table.config import load_config
from station.table.tilesets import renew_stale
from vision.enroll.files import load_capture
from vision.enroll.plan import capture_plan
from vision.enroll.tileset import TileSet
from vision.geometry import default_calibration
from vision.pictures import load_image
from vision.recognizer import Recognizer
from vision.render import LaidHand, Scene, render

KINDS = "1m 2m 3m 1p 2p 3p 7z"
PLAN = capture_plan(KINDS.split(), shots=1)

Laid = Sequence[str]


def scene_of(kinds: Laid) -> Scene:
    return Scene(hands={0: LaidHand((), tuple(kinds))} if kinds else {}, light_seed=3)


def photograph(kinds: Laid, path: Path, seed: int = 1) -> None:
    """Write the zone of side 0 as a photograph."""
    calibration = default_calibration()
    frame = render(scene_of(kinds), calibration, seed=seed)
    cv2.imwrite(str(path), calibration.rectify(frame, "0").image)


class Hands:
    """Stands in for stdin: before each answer the next row is laid."""

    def __init__(self, scene: Path, steps: Sequence[tuple[Laid, str]]) -> None:
        self._scene = scene
        self._steps: Iterator[tuple[Laid, str]] = iter(steps)

    def readline(self) -> str:
        laid, answer = next(self._steps, ((), ""))
        scene_of(laid).save(self._scene)
        return answer


@pytest.fixture
def enroll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[dict[str, Any]]]]:
    scene, calibration = tmp_path / "scene.json", tmp_path / "calibration.json"
    scene_of(()).save(scene)
    default_calibration().save(calibration)

    def run(steps: Sequence[tuple[Laid, str]], *more: str) -> tuple[int, list[dict[str, Any]]]:
        monkeypatch.setattr(sys, "stdin", Hands(scene, steps))
        words = ["enroll", "--camera", f"render:{scene}", "--calibration", str(calibration), "--kinds", KINDS]
        status = main([*words, "--shots", "1", "--out", str(tmp_path / "green.json"), "--json", *more])
        return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def test_row_by_row_to_a_tile_set(enroll: Callable, tmp_path: Path) -> None:
    status, said = enroll([(row.kinds, "\n") for row in PLAN], "--name", "green", "--table", "T1")
    assert status == 0
    asked = [line["ask"]["kinds"] for line in said if "ask" in line]
    assert asked == [list(row.kinds) for row in PLAN]
    assert said[-1]["missing"] == []
    tiles = TileSet.load(tmp_path / "green.json")
    assert tiles.kinds == (*KINDS.split(), "back")
    assert (tiles.provenance.name, tiles.provenance.table) == ("green", "T1")
    assert not (tmp_path / "green.json.capture").exists()


def test_a_wrong_row_is_told_and_asked_for_again(enroll: Callable) -> None:
    first = PLAN[0].kinds
    steps = [(first[:2], "\n"), ((first[1], first[0], *first[2:]), "\n"), ((), "\n"), (first, "\n")]
    _, said = enroll([*steps, ((), "q\n")])
    told = [line for line in said if "findings" in line]
    assert [line["taken"] for line in told] == [False, False, False, True]
    assert [f["code"] for f in told[0]["findings"]] == ["missing"]
    assert "out_of_order" in [f["code"] for f in told[1]["findings"]]
    assert told[2]["findings"][0]["code"] == "no_tiles"


def test_a_tile_that_looks_like_another_is_taken_when_confirmed(enroll: Callable) -> None:
    lying = ("1m", "7m", "3m")
    status, said = enroll([(lying, "\n"), (lying, "c\n"), ((), "q\n")])
    told = [line for line in said if "findings" in line]
    assert [f["code"] for f in told[0]["findings"]] == ["looks_like"]
    assert told[0]["confirmable"]
    assert told[1]["taken"]
    assert told[1]["labels"] == ["1m", "2m", "3m"]
    assert status == 1


def test_an_interrupted_capture_goes_on_and_says_what_is_missing(enroll: Callable, tmp_path: Path) -> None:
    status, said = enroll([(PLAN[0].kinds, "\n"), ((), "q\n")])
    assert status == 1
    assert said[-1]["missing"] == ["1p", "2p", "3p", "7z", "back"]
    assert load_capture(tmp_path / "green.json.capture").done == (0,)
    status, said = enroll([(row.kinds, "\n") for row in PLAN[1:]])
    assert status == 0
    assert said[0]["ask"]["row"] == 2


def test_a_skipped_row_leaves_its_kinds_missing_and_no_file(enroll: Callable, tmp_path: Path) -> None:
    steps = [((), "s\n"), *((row.kinds, "\n") for row in PLAN[1:])]
    status, said = enroll(steps)
    assert status == 1
    assert said[-1]["missing"] == ["1m", "2m", "3m"]
    assert not (tmp_path / "green.json").exists()


def test_a_capture_of_other_kinds_is_begun_anew_only_when_told(
    enroll: Callable, capsys: pytest.CaptureFixture[str]
) -> None:
    enroll([(PLAN[0].kinds, "\n")])
    status, said = enroll([], "--kinds", "1s 2s 3s")
    assert status == 2
    assert "--fresh" in said[-1]["error"]["message"]
    status, _ = enroll([], "--kinds", "1s 2s 3s", "--fresh")
    assert status == 1


@pytest.fixture(scope="module")
def enrolled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of photographs of the rows, twice, and the tile set learned from them."""
    folder = tmp_path_factory.mktemp("rows")
    plan = {}
    for take in (1, 2):
        for i, row in enumerate(PLAN):
            lying = row.kinds[::-1] if take == 2 and "back" not in row.kinds else row.kinds
            photograph(lying, folder / f"{take}-{i}.png", seed=take)
            plan[f"{take}-{i}.png"] = " ".join(row.kinds)
    (folder / "plan.json").write_text(json.dumps(plan))
    words = ["enroll", "--photos", str(folder), "--plan", str(folder / "plan.json"), "--kinds", KINDS]
    assert main([*words, "--out", str(folder / "green.json"), "--json"]) == 0
    return folder


def test_photographs_with_a_plan_make_a_tile_set(enrolled: Path) -> None:
    tiles = TileSet.load(enrolled / "green.json")
    assert tiles.counts["1m"] == 2
    assert tiles.counts["back"] == 8
    assert tiles.guard.pictures == 6
    assert tiles.guard.nll <= tiles.guard.plain_nll


def test_photographs_in_the_order_of_the_plan_need_no_plan_file(
    enrolled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i in range(len(PLAN)):
        (tmp_path / f"{i}.png").write_bytes((enrolled / f"1-{i}.png").read_bytes())
    words = ["enroll", "--photos", str(tmp_path), "--kinds", KINDS, "--shots", "1"]
    assert main([*words, "--out", str(tmp_path / "x.json")]) == 0
    told = capsys.readouterr().out
    assert "1m to 3m: taken." in told
    assert "Too few kinds are on two pictures" in told


def test_missing_photographs_leave_their_kinds_to_be_captured(
    enrolled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "0.png").write_bytes((enrolled / "1-0.png").read_bytes())
    (tmp_path / "1.png").write_bytes(b"no picture")
    words = ["enroll", "--photos", str(tmp_path), "--kinds", KINDS, "--shots", "1"]
    assert main([*words, "--out", str(tmp_path / "x.json")]) == 1
    told = capsys.readouterr().out
    assert "1.png: 1.png is not a picture" in told
    assert "still to capture: 1p 2p 3p 7z back." in told


@pytest.mark.parametrize(
    "plan", ["[]", "{", '{"1-0.png": 3}', '{"1-0.png": ["1x"]}', '{"absent.png": ["1m"]}']
)
def test_a_plan_that_is_none_is_refused(enrolled: Path, tmp_path: Path, plan: str) -> None:
    (tmp_path / "plan.json").write_text(plan)
    words = ["enroll", "--photos", str(enrolled), "--plan", str(tmp_path / "plan.json"), "--kinds", KINDS]
    assert main([*words, "--out", str(tmp_path / "x.json")]) == 2


def test_a_tile_set_is_learned_anew_from_its_own_pictures(enrolled: Path, tmp_path: Path) -> None:
    words = ["enroll", "--renew", str(enrolled / "green.json"), "--out", str(tmp_path / "again.json")]
    assert main(words) == 0
    old, new = TileSet.load(enrolled / "green.json"), TileSet.load(tmp_path / "again.json")
    assert (new.kinds, len(new.shots)) == (old.kinds, len(old.shots))
    assert min(float(a.embedding @ b.embedding) for a, b in zip(old.shots, new.shots, strict=True)) > 0.9


def test_a_table_learns_a_set_of_an_older_recognizer_anew_once(enrolled: Path, tmp_path: Path) -> None:
    recognizer = Recognizer.load()
    set_now = TileSet.load(enrolled / "green.json")
    file = tmp_path / "green.json"
    replace(set_now, provenance=replace(set_now.provenance, model="0" * 64)).save(file)
    assert renew_stale([file], recognizer) == [file]
    again = TileSet.load(file, recognizer.card)
    assert (again.kinds, len(again.shots)) == (set_now.kinds, len(set_now.shots))
    assert again.provenance.name == set_now.provenance.name
    assert renew_stale([file], recognizer) == []


def test_an_inventory_says_what_is_missing_and_too_many(
    enrolled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photograph(("1m", "1m", "1m", "2m", "2m", "2m", "2m"), tmp_path / "a.png")
    photograph(("3m", "3m", "3m", "3m", "3m", "9s"), tmp_path / "b.png")
    words = ["enroll", "--inventory", "--kinds", "1m 2m 3m", str(tmp_path / "a.png"), str(tmp_path / "b.png")]
    assert main([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["missing"] == {"1m": 1}
    assert found["surplus"] == {"3m": 1, "9s": 1}
    assert (found["seen"], found["expected"]) == (13, 12)
    assert main(words) == 1
    assert "Missing: 1 x 1m." in capsys.readouterr().out


def test_which_of_two_alike_sets_stays_open(enrolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(enrolled / "green.json")
    assert main(["enroll", "--which", name, name, str(enrolled / "1-0.png")]) == 1
    assert "Unsure" in capsys.readouterr().out


def test_a_set_of_other_colours_is_told_from_the_first(
    enrolled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in enrolled.glob("*.png"):
        recoloured = load_image(file)[..., ::-1]
        cv2.imwrite(str(tmp_path / file.name), recoloured)
    words = ["enroll", "--photos", str(tmp_path), "--plan", str(enrolled / "plan.json"), "--kinds", KINDS]
    assert main([*words, "--confirm", "--name", "red", "--out", str(tmp_path / "red.json")]) == 0
    photograph(KINDS.split(), tmp_path / "hand.png", seed=9)
    capsys.readouterr()
    files = [str(enrolled / "green.json"), str(tmp_path / "red.json")]
    status = main(["enroll", "--which", *files, str(tmp_path / "hand.png"), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (status, told["set"], told["strangers"]) == (0, "green", [])


def test_photographs_are_read_with_the_enrolled_set(
    enrolled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photograph(KINDS.split(), tmp_path / "hand.png", seed=9)
    words = ["read", str(tmp_path / "hand.png"), "--tileset", str(enrolled / "green.json"), "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert [tile["kind"] for tile in told["tiles"]] == KINDS.split()
    assert not {"other_set", "foreign_tile"} & set(told["why"])
    assert main([*words, "--ruleset", "zhenjiang"]) == 2
    assert "lacks 4m" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_a_table_names_one_or_two_sets_beside_its_file(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    text = 'home = "T1"\ndriver = "none"\n'
    file.write_text(text + 'tilesets = ["green.json", "blue.json"]\n')
    assert load_config(file).tilesets == (str(tmp_path / "green.json"), str(tmp_path / "blue.json"))
    file.write_text(text + 'tilesets = ["a.json", "b.json", "c.json"]\n')
    with pytest.raises(ConfigError, match="one or two"):
        load_config(file)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--camera", "0"],
        ["--camera", "0", "--out", "x.json"],
        ["--camera", "0", "--out", "x.json", "--kinds", "1x"],
        ["--camera", "0", "--out", "x.json", "--kinds", "1m", "--shots", "0"],
        ["--photos", "/nowhere", "--out", "x.json", "--kinds", "1m"],
        ["--photos", "a", "b.jpg", "--out", "x.json", "--kinds", "1m"],
        ["--inventory", "--kinds", "1m"],
        ["--inventory", "--kinds", "1m", "/nowhere.jpg"],
        ["--which", "/nowhere.json", "/nowhere.json", "a.jpg"],
        ["--renew", "/nowhere.json"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_told_in_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["enroll", *words]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len([line for line in told if line.startswith("quezhuo: ")]) == 1
