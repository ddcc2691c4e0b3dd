"""A measurement that was broken off goes on where it stopped, and never mixes with another."""

import json

import pytest

from vision.training.measure.journal import Journal, fill


def test_a_broken_measurement_goes_on(tmp_path):
    done = []

    def work(n):
        done.append(n)
        if len(done) == 3:
            raise KeyboardInterrupt
        return {"square": n * n}

    with pytest.raises(KeyboardInterrupt):
        fill(Journal(tmp_path / "a.jsonl", {"seed": 1}), 5, work)
    records = fill(Journal(tmp_path / "a.jsonl", {"seed": 1}), 5, work)
    assert done == [0, 1, 2, 2, 3, 4]
    assert [r["square"] for r in records] == [0, 1, 4, 9, 16]


def test_a_line_cut_off_is_done_again(tmp_path):
    file = tmp_path / "a.jsonl"
    fill(Journal(file, {"seed": 1}), 3, lambda n: {})
    file.write_text(file.read_text()[:-4])
    assert [r["n"] for r in fill(Journal(file, {"seed": 1}), 3, lambda n: {})] == [0, 1, 2]
    assert len(file.read_text().splitlines()) == 4


def test_another_measurement_is_not_continued(tmp_path):
    Journal(tmp_path / "a.jsonl", {"seed": 1})
    with pytest.raises(SystemExit, match="another measurement"):
        Journal(tmp_path / "a.jsonl", {"seed": 2})


def test_it_stops_when_there_is_enough(tmp_path):
    records = fill(Journal(tmp_path / "a.jsonl", {}), 9, lambda n: {}, lambda found: len(found) >= 4)
    assert [r["n"] for r in records] == [0, 1, 2, 3]
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0]) == {}
