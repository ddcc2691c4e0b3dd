"""A sample of the long measurements with the shipped networks; needs neither photographs nor fonts."""

import json
from pathlib import Path

import numpy as np
import pytest

from vision.geometry import default_calibration
from vision.model_card import DEFAULT_CARD
from vision.recognizer import Recognizer
from vision.training.measure import indicator, models, photographs, robustness, silent
from vision.training.measure.corrupt import CORRUPTIONS
from vision.training.measure.hands import OWN, Table, own_pool
from vision.training.measure.outcome import read_hand

HANDS = 24


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer.load()


@pytest.fixture(scope="module")
def table():
    return Table([own_pool()], [], 5, rendered=(OWN,))


def test_hands_of_our_own_design_are_accepted_and_right(recognizer, table):
    reader = models.remembering(recognizer)
    records = []
    for n in range(HANDS):
        source, dealt, picture = table.hand(n)
        ways = {way: o.to_json() for way, o in read_hand(reader, picture, dealt).items()}
        records.append({"n": n, "source": source, "unfit": [], "ways": ways})
    counts = silent.count(records)["table"]["all"]
    text = silent.report(records)
    assert counts.silent == 0, text
    assert counts.accepted >= 0.75 * HANDS, text


def test_spoilt_hands_are_right_or_doubted(recognizer, table):
    reader, spoils = models.remembering(recognizer), Table(table.pools, [], 5, rendered=())
    outcomes = [robustness.outcome_of(reader, spoils, 0, corruption) for corruption in CORRUPTIONS]
    text = robustness.report(outcomes)
    assert sum(one.silent for one in robustness.count(outcomes).values()) <= 1, text


def test_tiles_turned_up_are_right_or_unsure(recognizer):
    calibration, pools = default_calibration(), [own_pool()]
    verdicts = []
    for n in range(16):
        turned = indicator.wall_end(np.random.default_rng(n), pools, calibration, nothing=n >= 12)
        verdicts.append(indicator.verdict(indicator.look(recognizer, calibration, turned), turned))
    assert indicator.WRONG not in verdicts
    assert verdicts.count(indicator.UNSURE) <= 2


def test_a_folder_without_a_card_is_read_under_the_shipped_one(tmp_path):
    described = json.loads(DEFAULT_CARD.read_text("utf-8"))
    for part in ("detector", "classifier"):
        name = described[part]["file"]
        (tmp_path / name).symlink_to(DEFAULT_CARD.with_name(name))
    assert models.load(tmp_path).temperature == described["temperature"]


def test_a_missing_network_is_named(tmp_path):
    with pytest.raises(FileNotFoundError):
        models.load(Path(tmp_path))


def test_a_single_tile_lies_on_cloth():
    laid, box = photographs.crop_on_cloth(np.full((120, 90, 3), 255, np.uint8))
    x0, y0, x1, y1 = (int(v) for v in box[0])
    assert (laid[y0:y1, x0:x1] == 255).all()
    assert y1 - y0 == photographs.LAID_LONG_SIDE
    assert (laid[0, 0] == photographs.CLOTH).all()
