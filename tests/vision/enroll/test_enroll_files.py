from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vision.enroll.files import Capture, load_capture, save_capture
from vision.enroll.shots import Patch
from vision.enroll.tileset import TileSet
from vision.errors import TileSetError
from vision.model_card import ModelCard
from vision.readings import Looks


@pytest.fixture
def saved(maker: Callable, tmp_path: Path) -> Path:
    path = tmp_path / "green.json"
    maker(bend=2.5).set().save(path)
    return path


def test_a_tile_set_comes_back_as_it_was_written(maker: Callable, tmp_path: Path) -> None:
    tiles = maker(bend=2.5, noise=0.12).set()
    shot = replace(tiles.shots[0], patch=Patch(b"\xff\xd8picture", (1.0, 2.0, 30.5, 40.0)))
    tiles = replace(tiles, shots=(shot, *tiles.shots[1:]))
    tiles.save(tmp_path / "a.json")
    back = TileSet.load(tmp_path / "a.json")
    assert (back.kinds, back.guard, back.provenance) == (tiles.kinds, tiles.guard, tiles.provenance)
    assert back.shots[0].patch == shot.patch
    assert np.allclose(back.blend.prototypes, tiles.blend.prototypes, atol=1e-7)
    looks = Looks(tiles.shots[3].logits, tiles.shots[3].embeddings)
    assert np.allclose(back.adapt(looks), tiles.adapt(looks), atol=1e-4)


def test_nothing_but_the_file_is_left_after_writing(saved: Path) -> None:
    assert [file.name for file in saved.parent.iterdir()] == ["green.json"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(maker: Callable, saved: Path) -> None:
    before = saved.read_bytes()
    (saved.parent / f".green.json.{os.getpid()}.new").mkdir()
    with pytest.raises(TileSetError, match="cannot be written"):
        maker().set().save(saved)
    assert saved.read_bytes() == before


def test_the_embeddings_of_another_recognizer_are_refused(saved: Path) -> None:
    with pytest.raises(TileSetError, match=r"captured with another recognizer.*--renew"):
        TileSet.load(saved, ModelCard.load())


def _change(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no kinds": lambda d: d.update(kinds=[]),
    "a kind without prototype": lambda d: d.update(kinds=[*d["kinds"], "8f"]),
    "an unknown kind": lambda d: d.update(kinds=["9z"]),
    "another format": lambda d: d.update(format=2),
    "another file": lambda d: d.update(what="calibration"),
    "a number that is none": lambda d: d["blend"].update(scale="wide"),
    "an infinite number": lambda d: d["blend"].update(offset=float("inf")),
    "a weight above one": lambda d: d["blend"].update(weight=1.5),
    "other prototypes": lambda d: d["prototypes"].update(base64="AAAA"),
    "no guard": lambda d: d.pop("guard"),
    "shots of nothing": lambda d: d["shots"][0].update(kind="?"),
    "prototypes of zeros": lambda d: d.update(prototypes={**d["prototypes"], "base64": "AAAA" * 5803}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_damaged_file_is_refused_in_one_sentence(saved: Path, name: str) -> None:
    _change(saved, CHANGES[name])  # type: ignore[arg-type]
    with pytest.raises(TileSetError) as told:
        TileSet.load(saved)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("text", [b"", b"\xff\xfe", b"[1]", b"{}", b"[" * 100_000])
def test_what_is_no_tile_set_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x.json").write_bytes(text)
    with pytest.raises(TileSetError, match="enroll has written"):
        TileSet.load(tmp_path / "x.json")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(TileSetError, match="cannot be read"):
            TileSet.load(path)


def test_a_capture_comes_back_and_is_no_tile_set(maker: Callable, tmp_path: Path) -> None:
    capture = Capture(("1m", "2m"), "0" * 64, (0, 3), tuple(maker().shots(["1m"], ["a"])))
    save_capture(capture, tmp_path / "c")
    back = load_capture(tmp_path / "c")
    assert (back.kinds, back.model, back.done) == (capture.kinds, capture.model, capture.done)
    assert [shot.kind for shot in back.shots] == ["1m"]
    with pytest.raises(TileSetError):
        TileSet.load(tmp_path / "c")
