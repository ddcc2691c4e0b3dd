"""`quezhuo read` on a folder of whatever people have: one line each, and the rest goes on."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from station.cli import read
from station.cli.enroll_words import inventory_words, missing_words
from station.cli.main import main
from station.cli.output import counted
from station.cli.read_words import reading_words
from vision.readings import DOUBT_CODES, Image, Reading, TileReading

DOUBTED = TileReading("5p", 0.5, (0, 0, 9, 9), (("5p", 0.5),), 0, ("low_score", "cut_at_border"))
SURE = TileReading("1z", 0.99, (20, 0, 29, 9), (("1z", 0.99),), 0)
SIDEWAYS = replace(DOUBTED, kind="7s", doubts=("low_score",))
WHY = ("wrong_count", "low_score", "cut_at_border")
HALF_READ = Reading((DOUBTED, SURE, SIDEWAYS), ((0, 1, 2),), ((0, 1, 2),), False, WHY, 1.0, (40, 30))


class Nothing:
    """A recognizer that finds no tile in any picture."""

    card = None
    answer = Reading((), (), (), False, ("no_tiles",), 1.0, (40, 30))

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []
        self.expected: list[int | None] = []

    def read(self, frame: Image, _: Any = None, expect: int | None = None, *__: Any, **___: Any) -> Reading:
        self.expected.append(expect)
        self.shapes.append(frame.shape)
        return self.answer


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Nothing:
    nothing = Nothing()
    monkeypatch.setattr(read.Recognizer, "load", lambda *_, **__: nothing)
    monkeypatch.setattr(read, "with_tilesets", lambda recognizer, *_: recognizer)
    return nothing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    grey = np.full((30, 40), 90, np.uint8)
    whole = cv2.imencode(".jpg", np.dstack([grey] * 3))[1].tobytes()
    pictures = tmp_path / "pictures"
    for number in range(8):
        path = pictures / f"session{number % 2}" / f"photo{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(whole)
    (pictures / "cut.jpg").write_bytes(whole[:-30])
    (pictures / "deep.png").write_bytes(cv2.imencode(".png", grey.astype(np.uint16) * 257)[1].tobytes())
    (pictures / "empty.jpg").write_bytes(b"")
    (pictures / "grey.png").write_bytes(cv2.imencode(".png", grey)[1].tobytes())
    (pictures / "text.jpg").write_text("not a picture")
    (pictures / "notes.txt").write_text("no picture by name")
    return pictures


BAD = ["cut.jpg", "empty.jpg", "text.jpg"]


def test_every_file_of_a_folder_gets_one_line_and_bad_ones_stop_nothing(
    folder: Path, reader: Nothing, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(folder), "--json"]) == 2
    told = capsys.readouterr()
    answers = [json.loads(line) for line in told.out.splitlines()]
    assert [Path(answer["file"]).name for answer in answers if "error" in answer] == BAD
    assert len(answers) == 13
    assert len(reader.shapes) == 10
    assert told.err == ""


def test_without_json_errors_are_one_plain_line_each_on_stderr(
    folder: Path, reader: Nothing, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(folder)]) == 2
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == 3
    assert len(told.out.splitlines()) == 10
    assert "Traceback" not in told.err


def test_doubts_are_said_in_words_with_their_tiles_and_as_codes_in_json(
    folder: Path, reader: Nothing, capsys: pytest.CaptureFixture[str]
) -> None:
    photo = str(folder / "grey.png")
    assert main(["read", photo]) == 0
    assert capsys.readouterr().out == f"{photo}: no tiles found\n"
    reader.answer = HALF_READ
    assert main(["read", photo]) == 0
    words = (
        "not the expected number of tiles; tiles 1 (5p), 3 (7s) not certain; tile 1 (5p) cut off at the edge"
    )
    assert capsys.readouterr().out == f"{photo}: 5p 1z 7s  (look again: {words})\n"
    assert main(["read", photo, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["why"] == list(WHY)
    assert told["tiles"][0]["doubts"] == ["low_score", "cut_at_border"]
    reader.answer = replace(HALF_READ, accept=True, why=())
    assert main(["read", photo]) == 0
    assert capsys.readouterr().out == f"{photo}: 5p 1z 7s\n"


@pytest.mark.parametrize("code", DOUBT_CODES)
def test_every_doubt_has_its_words_and_its_line_in_the_guide(code: str) -> None:
    doubted = {"file": "a.jpg", "tiles": [], "accept": False, "why": [code]}
    assert "_" not in reading_words(doubted).removeprefix("a.jpg")
    guide = Path(__file__).parents[3] / "docs" / "reading.md"
    assert f"| `{code}` |" in guide.read_text("utf-8")


def test_a_single_thing_is_counted_as_one() -> None:
    found = {"seen": 1, "expected": 136, "pictures": ["a.jpg"], "complete": False}
    lists = {"missing": {}, "surplus": {}, "foreign": [], "doubtful": [], "face_down": []}
    assert inventory_words({**found, **lists}) == ["1 of 136 tiles seen on 1 picture."]
    assert inventory_words({**found, **lists, "pictures": ["a.jpg", "b.jpg"]})[0].endswith("on 2 pictures.")
    assert missing_words(["1m"]) == "1 kind still to capture: 1m."
    assert (counted(1, "entry", "entries"), counted(0, "entry", "entries")) == ("1 entry", "0 entries")


def test_good_files_give_status_0(folder: Path, reader: Nothing) -> None:
    assert main(["read", str(folder / "session0"), str(folder / "grey.png"), "--json"]) == 0
    assert len(reader.shapes) == 5


def test_on_a_terminal_progress_follows_on_stderr_alone(
    folder: Path, reader: Nothing, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["read", str(folder), "--json"])
    told = capsys.readouterr()
    assert "13/13 text.jpg" in told.err
    assert "\n" not in told.err
    assert told.err.endswith("\r")
    assert all(json.loads(line) for line in told.out.splitlines())


def test_one_photo_needs_no_progress(
    folder: Path, reader: Nothing, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["read", str(folder / "grey.png"), "--json"]) == 0
    assert capsys.readouterr().err == ""


def test_a_folder_without_pictures_is_named(
    tmp_path: Path, reader: Nothing, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["read", str(tmp_path), "--json"]) == 2
    assert "folder without pictures" in json.loads(capsys.readouterr().out)["error"]


def test_regions_are_found_by_name_in_a_folder(folder: Path, reader: Nothing, tmp_path: Path) -> None:
    regions = tmp_path / "regions.json"
    regions.write_text(json.dumps({"photo3.jpg": [0, 0, 9999, 9999, 14]}))
    assert main(["read", str(folder / "session1"), "--regions", str(regions), "--json"]) == 0


def test_the_expected_number_counts_where_the_regions_name_none(
    folder: Path, reader: Nothing, tmp_path: Path
) -> None:
    regions = tmp_path / "regions.json"
    regions.write_text(json.dumps({"photo1.jpg": None, "photo3.jpg": [0, 0, 9999, 9999, 14]}))
    words = ["read", str(folder / "session1"), "--regions", str(regions), "--expect", "3"]
    assert main(words) == 0
    assert reader.expected == [3, 14, 3, 3]
