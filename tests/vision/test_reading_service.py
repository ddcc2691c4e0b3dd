import json
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.errors import CalibrationError, RegionError
from vision.geometry import Calibration, Zone
from vision.hand import HandShape
from vision.reading_service import (
    PhotoHint,
    hand_line,
    parse_region,
    parse_regions,
    read_photo,
    read_zone,
    strip_side,
    to_json,
)
from vision.readings import Box, Image, Reading, TileReading


def reading(*rows: list[str]) -> Reading:
    """Build a reading of rows of groups written as ids with spaces."""
    kinds: list[str] = []
    row_runs, group_runs = [], []
    for row in rows:
        start = len(kinds)
        for group in row:
            ids = group.split()
            group_runs.append(tuple(range(len(kinds), len(kinds) + len(ids))))
            kinds += ids
        row_runs.append(tuple(range(start, len(kinds))))
    tiles = tuple(
        TileReading(kind, 0.98765, (0.0, 0.0, 3.0, 4.0), ((kind, 0.98765), ("1m", 0.01)), 0) for kind in kinds
    )
    return Reading(tiles, tuple(row_runs), tuple(group_runs), True, (), 12.3456, (640, 480))


class Remembering:
    """Reads what it was told to, and remembers how it was asked."""

    def __init__(self, answer: Reading) -> None:
        self.answer, self.asked = answer, []  # type: ignore[var-annotated]

    def read(
        self,
        frame: Image,
        region: Box | None = None,
        expect: int | None = None,
        kinds: frozenset[str] | None = None,
        shape: HandShape | None = None,
        long_side: int | None = None,
    ) -> Reading:
        self.asked.append((frame.shape, region, expect, kinds))
        return self.answer


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([["1m 2m 3m 5z", "5z"]], "123m5z +5z"),
        ([["4m 5m 6m 1z 1z"]], "456m1z +1z"),
        ([["5p 5p 5p", "1z 1z 1z 1z", "7s 8s 9s"], ["2m", "2m"]], "2m P:555p K:1111z C:789s +2m"),
        ([["back 3s 3s back"], ["2m", "2m"]], "2m A:3333s +2m"),
        ([["1f"], ["2m", "2m"]], "2m +2m"),
        ([["1m"]], "+1m"),
        ([["5p 6s 5p"], ["1s", "1s"]], None),
        ([["1m 2m back 5z", "5z"]], None),
        ([["1m 2m", "back"]], None),
        ([["back 3s 4s back"], ["2m", "2m"]], None),
        ([], None),
    ],
)
def test_a_hand_is_written_in_one_line_or_not_at_all(rows: list[list[str]], line: str | None) -> None:
    assert hand_line(reading(*rows)) == line


def test_a_shao_is_written_where_the_rule_set_has_one() -> None:
    laid = reading(["9m back 9m", "5z 6z 7z"], ["2m", "2m"])
    assert hand_line(laid, HandShape(16, "CPKAH", spread=True)) == "2m H:999m +2m"
    assert hand_line(laid) is None


def test_the_json_has_the_published_keys() -> None:
    data = json.loads(json.dumps(to_json(reading(["1m 2m"]))))
    assert set(data) == {"tiles", "rows", "hand", "accept", "why", "ms"}
    assert data["rows"] == [[0, 1]]
    assert data["ms"] == 12.35
    tile = data["tiles"][0]
    assert {"kind", "score", "box", "alternatives"} <= set(tile)
    assert tile["alternatives"][0] == ["1m", 0.9877]
    assert tile["box"] == [0, 0, 3, 4]


class TestPhoto:
    def photo(self, folder: Path) -> Path:
        path = folder / "photo.png"
        cv2.imwrite(str(path), np.zeros((80, 100, 3), np.uint8))
        return path

    def test_a_photo_gives_its_name_and_the_reading(self, tmp_path: Path) -> None:
        reader = Remembering(reading(["1m 2m"]))
        path = self.photo(tmp_path)
        hint = PhotoHint((1.0, 2.0, 30.0, 40.0), 14)
        result = read_photo(path, reader, hint, frozenset({"1m"}))
        assert result["file"] == str(path)
        assert result["hand"] == "1m +2m"
        assert reader.asked == [((80, 100, 3), (1.0, 2.0, 30.0, 40.0), 14, frozenset({"1m"}))]

    def test_a_bad_file_gives_an_error_and_no_exception(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.jpg"
        path.write_bytes(b"no picture")
        result = read_photo(path, Remembering(reading()))
        assert set(result) == {"file", "error"}
        assert "not a picture" in result["error"]

    def test_a_region_outside_the_photo_is_an_error_of_that_photo(
        self, tmp_path: Path, paint: Callable
    ) -> None:
        result = read_photo(self.photo(tmp_path), paint().recognizer(), PhotoHint((500, 500, 600, 600)))
        assert "covers no pixel" in result["error"]

    def test_with_a_calibration_the_zone_is_read(self, tmp_path: Path) -> None:
        reader = Remembering(reading(["1m 2m"]))
        quad = ((10.0, 10.0), (90.0, 10.0), (90.0, 60.0), (10.0, 60.0))
        calibration = Calibration((100, 80), {"2": Zone(quad, (160, 100))})
        path = self.photo(tmp_path)
        result = read_photo(path, reader, PhotoHint(expect=2), calibration=calibration, zone=2)
        assert reader.asked == [((100, 160, 3), None, 2, None)]
        assert result["tiles"][0]["box"] == pytest.approx([10, 10, 11.5, 12], abs=0.02)
        assert "not taught" in read_photo(path, reader, calibration=calibration, zone=1)["error"]


def test_a_zone_that_was_not_taught_cannot_be_read() -> None:
    with pytest.raises(CalibrationError):
        read_zone(Remembering(reading()), np.zeros((80, 100, 3), np.uint8), Calibration((100, 80), {}), 0)


@pytest.mark.parametrize(
    ("size", "side"), [((1280, 388), 1280), ((768, 232), 1280), ((640, 480), None), ((128, 144), None)]
)
def test_only_the_strip_of_a_place_is_searched_larger(size: tuple[int, int], side: int | None) -> None:
    assert strip_side(np.zeros((size[1], size[0], 3), np.uint8)) == side


class TestRegions:
    @pytest.mark.parametrize(
        "text", ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "5,5,5,9", "9,9,1,1", "0,0,inf,5", "0,0,nan,5"]
    )
    def test_what_is_no_region_is_refused(self, text: str) -> None:
        with pytest.raises(RegionError, match="X0,Y0,X1,Y1"):
            parse_region(text)

    def test_a_region_is_four_numbers(self) -> None:
        assert parse_region("1, 2.5,30,40") == (1.0, 2.5, 30.0, 40.0)

    def test_all_forms_of_a_regions_file_are_understood(self, tmp_path: Path) -> None:
        box = [1, 2, 30, 40]
        path = tmp_path / "r.json"
        path.write_text(
            json.dumps(
                {
                    "a.jpg": [*box, 14],
                    "b.jpg": [*box, None],
                    "c.jpg": box,
                    "d.jpg": [box, 14],
                    "e.jpg": {"region": box, "expect": 14},
                    "f.jpg": {"region": None, "expected": 13},
                    "g.jpg": None,
                    "h.jpg": [None, 17],
                }
            )
        )
        full, bare = PhotoHint((1.0, 2.0, 30.0, 40.0), 14), PhotoHint((1.0, 2.0, 30.0, 40.0))
        expected = [full, bare, bare, full, full, PhotoHint(None, 13), PhotoHint(), PhotoHint(None, 17)]
        assert list(parse_regions(path).values()) == expected

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "[]",
            '{"a": "x"}',
            '{"a": [1,2,3]}',
            '{"a": [1,2,3,4,1.5]}',
            '{"a": [1,2,3,4,-1]}',
            '{"a": [[9,9,1,1],3]}',
        ],
    )
    def test_a_wrong_regions_file_is_refused(self, content: str, tmp_path: Path) -> None:
        path = tmp_path / "r.json"
        path.write_text(content)
        with pytest.raises(RegionError):
            parse_regions(path)

    def test_a_missing_regions_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(RegionError, match="cannot be read"):
            parse_regions(tmp_path / "none.json")
