"""A table's reader with enrolled sets, at the rendered table: own tiles, and the same in other colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.enroll.capture import photograph
from vision.enroll.plan import capture_plan
from vision.enroll.reader import TableReader, with_tilesets
from vision.enroll.tileset import Provenance, TileSet
from vision.errors import TileSetError
from vision.geometry import default_calibration
from vision.readings import Image, Reading
from vision.recognizer import Recognizer
from vision.render import LaidHand, Scene, render

KINDS = ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "2z", "5z"]
HAND = ["1m", "2m", "3m", "4p", "5p", "6p", "7s", "8s", "9s", "1z", "1z", "2z", "2z"]


def zone(kinds: Sequence[str], seed: int) -> Image:
    calibration = default_calibration()
    scene = Scene(hands={0: LaidHand((), tuple(kinds))}, light_seed=seed)
    return calibration.rectify(render(scene, calibration, seed=seed), "0").image


def other_colours(image: Image) -> Image:
    return np.ascontiguousarray(image[..., ::-1])


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.load()


@pytest.fixture(scope="module")
def sets(recognizer: Recognizer) -> list[TileSet]:
    assert recognizer.card is not None
    model = recognizer.card.sha256["classifier"]
    built = []
    for name, colours in (("green", lambda image: image), ("red", other_colours)):
        shots = []
        for number, row in enumerate(capture_plan(KINDS, shots=2)):
            image = colours(zone(row.kinds, number + 1))
            shots += photograph(recognizer, image, row, f"{number}", confirmed=True).shots
        origin = Provenance(name, "T1", "", "", model, recognizer.temperature)
        built.append(TileSet.build(shots, KINDS, origin))
    return built


def read(reader: TableReader | Recognizer, image: Image) -> Reading:
    return reader.read(image, long_side=1280)


def test_the_set_in_play_is_found_from_an_open_hand_and_kept(
    recognizer: Recognizer, sets: list[TileSet]
) -> None:
    reader = TableReader(recognizer, sets)
    assert reader.in_play is None
    assert list(read(reader, zone(HAND, 20)).kinds) == HAND
    assert reader.in_play == 0
    read(reader, zone(HAND[:1], 21))
    assert reader.in_play == 0
    read(reader, other_colours(zone(HAND, 22)))
    assert reader.in_play == 1


def test_a_tile_of_the_other_set_is_in_doubt(recognizer: Recognizer, sets: list[TileSet]) -> None:
    reader = TableReader(recognizer, sets)
    image = zone(HAND, 23)
    clean = read(reader, image)
    assert not {"other_set", "foreign_tile"} & set(clean.why)
    x0, y0, x1, y1 = (int(v) for v in clean.tiles[4].box)
    image[y0:y1, x0:x1] = other_colours(image[y0:y1, x0:x1])
    mixed = read(reader, image)
    assert not mixed.accept
    assert "other_set" in mixed.why
    assert [i for i, tile in enumerate(mixed.tiles) if "other_set" in tile.doubts] == [4]
    assert "other_set" in mixed.only([4]).why


def test_one_enrolled_set_is_always_in_play(recognizer: Recognizer, sets: list[TileSet]) -> None:
    reader = TableReader(recognizer, sets[:1])
    assert reader.in_play == 0
    assert list(read(reader, zone(HAND, 24)).kinds) == HAND


def test_an_empty_zone_is_read_as_empty(recognizer: Recognizer, sets: list[TileSet]) -> None:
    assert read(TableReader(recognizer, sets), zone((), 25)).why == ("no_tiles",)


def test_files_of_the_sets_make_a_reader(recognizer: Recognizer, sets: list[TileSet], tmp_path: Path) -> None:
    assert with_tilesets(recognizer, []) is recognizer
    sets[0].save(tmp_path / "a.json")
    assert isinstance(with_tilesets(recognizer, [tmp_path / "a.json"], KINDS), TableReader)
    with pytest.raises(TileSetError, match="lacks 9m"):
        with_tilesets(recognizer, [tmp_path / "a.json"], [*KINDS, "9m"])


def test_three_sets_or_those_of_another_recognizer_are_refused(
    recognizer: Recognizer, sets: list[TileSet], maker: Callable
) -> None:
    with pytest.raises(TileSetError, match="one or two"):
        TableReader(recognizer, sets * 2)
    with pytest.raises(TileSetError, match="another recognizer"):
        TableReader(recognizer, [maker().set()])


def test_enrolment_leaves_the_plain_recognizer_alone(recognizer: Recognizer, sets: list[TileSet]) -> None:
    tuned = replace(recognizer, adapt=sets[0].adapt)
    row = capture_plan(KINDS, shots=1)[0]
    plain, adapted = (photograph(r, zone(row.kinds, 1), row, "x") for r in (recognizer, tuned))
    assert np.array_equal(plain.shots[0].logits, adapted.shots[0].logits)


def test_a_blurred_or_dark_zone_is_not_taken_unless_somebody_has_looked(recognizer: Recognizer) -> None:
    row = capture_plan(KINDS, shots=1)[0]
    sharp = zone(row.kinds, 1)
    assert photograph(recognizer, sharp, row, "x", zone=True).unfit == ()
    blurred = np.asarray(cv2.GaussianBlur(sharp, (0, 0), 6), np.uint8)
    for image, code in ((blurred, "blurred"), ((sharp * 0.15).astype(np.uint8), "too_dark")):
        looked = photograph(recognizer, image, row, "x", zone=True)
        assert code in looked.unfit
        assert looked.shots == ()
        assert photograph(recognizer, image, row, "x").unfit == ()
        if looked.check.good:
            assert photograph(recognizer, image, row, "x", zone=True, confirmed=True).shots
