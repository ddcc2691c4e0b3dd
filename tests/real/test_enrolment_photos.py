"""Enrolment from photographs of one physical set, as a venue does it: half to learn, half to read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from station.cli.main import main
from vision.enroll.files import load_capture
from vision.enroll.guard import enrol, judged, stacked
from vision.enroll.shots import Shot, shots_of
from vision.enroll.tileset import Provenance, TileSet, missing_kinds
from vision.enroll.which import Rivals
from vision.model_card import LABELS
from vision.recognizer import Recognizer
from vision.training.dataset import Photo, load_photos, photo_meta
from vision.training.evaluate import region_of
from vision.training.split import session_of

pytestmark = [pytest.mark.real, pytest.mark.slow]


@pytest.fixture(scope="module")
def rail(photo_root: Path) -> list[Photo]:
    photos = [p for p in load_photos("rf_table", photo_root) if (s := session_of(p)) and s.name == "rail"]
    return [p for p in photos if photo_meta(p).get("sequence")]


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.load()


def shots(recognizer: Recognizer, photos: list[Photo]) -> list[Shot]:
    found: list[Shot] = []
    for photo in photos:
        kinds = [LABELS[kind] for kind in photo.kinds]
        boxes = [(b[0], b[1], b[2], b[3]) for b in photo.boxes.tolist()]
        found += shots_of(recognizer.classify, photo.read(), boxes, kinds, photo.name, keep=False)
    return found


@pytest.fixture(scope="module")
def enrolled(rail: list[Photo], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Photo]]:
    """Enrol by the command from every second photograph; returns the file and the other photographs."""
    folder = tmp_path_factory.mktemp("rail")
    taken, plan, regions = rail[::2], {}, {}
    for photo in taken:
        (folder / photo.name).symlink_to(photo.path)
        plan[photo.name] = " ".join(photo_meta(photo)["sequence"])
        regions[photo.name] = [float(v) for v in region_of(photo, photo.read())]
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "regions.json").write_text(json.dumps(regions))
    kinds = sorted({kind for photo in taken for kind in photo_meta(photo)["sequence"]})
    words = [
        "enroll",
        "--photos",
        str(folder),
        "--plan",
        str(folder / "plan.json"),
        "--kinds",
        " ".join(kinds),
    ]
    words += ["--regions", str(folder / "regions.json")]
    words += ["--name", "rail", "--out", str(folder / "rail.json")]
    assert main([*words, "--json"]) == 1, "tiles face down were never photographed: they are still to capture"
    return folder / "rail.json.capture", rail[1::2]


def test_photographed_rows_are_taken_and_what_was_never_shown_is_named(
    enrolled: tuple[Path, list[Photo]], rail: list[Photo]
) -> None:
    capture = load_capture(enrolled[0])
    assert missing_kinds(capture.shots, capture.kinds) == {"back": 1}
    pictures = {shot.picture for shot in capture.shots}
    assert len(pictures) >= 0.9 * len(rail[::2])
    for photo in rail[::2]:
        mine = sorted(shot.kind for shot in capture.shots if shot.picture == photo.name)
        assert mine in ([], sorted(photo_meta(photo)["sequence"]))


def test_never_worse_by_its_guard_and_not_worse_on_photographs_left_out(
    recognizer: Recognizer, rail: list[Photo]
) -> None:
    learned, asked = shots(recognizer, rail[::2]), shots(recognizer, rail[1::2])
    blend, guard = enrol(learned, recognizer.temperature)
    assert guard.right >= guard.plain_right
    assert guard.nll <= guard.plain_nll
    labels = np.asarray([LABELS.index(shot.kind) for shot in asked], np.intp)
    plain, own = (judged(stacked(asked), b, recognizer.temperature, labels) for b in (None, blend))
    assert own[0] >= plain[0]


def test_sets_of_two_designs_are_told_apart_by_every_hand(
    recognizer: Recognizer, rail: list[Photo], photo_root: Path
) -> None:
    tray = load_photos("rf_tray", photo_root)[::10]
    sets, hands = [], []
    for name, photos in (("rail", rail), ("tray", tray)):
        learned = shots(recognizer, photos[::2])
        origin = Provenance(name, "", "", "", "0" * 64, recognizer.temperature)
        sets.append(TileSet.build(learned, {shot.kind for shot in learned}, origin))
        hands.append([shots(recognizer, [photo])[:14] for photo in photos[1::2]])
    rivals = Rivals(sets[0], sets[1])
    told = [(side, rivals.tell(hand)) for side in (0, 1) for hand in hands[side]]
    assert [answer.index for side, answer in told if answer.index not in (None, side)] == []
    assert sum(answer.index == side for side, answer in told) >= 0.9 * len(told)
    assert sum(len(answer.strangers) for _, answer in told) <= 1
