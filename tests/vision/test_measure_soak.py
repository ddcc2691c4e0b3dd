"""The long measurements: silent errors, spoilt hands, tiles turned up. An hour or two, part of `make soak`.

QUEZHUO_SOAK_SAMPLE=0.01 reads a hundredth of the hands: it shows that everything runs, and proves nothing.
"""

import os

import pytest

from vision.model_card import DEFAULT_CARD
from vision.training.dataset import CROP_SOURCES, PHOTO_SOURCES, data_root
from vision.training.measure import indicator, robustness, silent
from vision.training.measure.corrupt import CORRUPTIONS
from vision.training.measure.hands import OWN

pytestmark = [pytest.mark.soak, pytest.mark.real, pytest.mark.timeout(4 * 3600)]

MODELS = DEFAULT_CARD.parent
SAMPLE = float(os.environ.get("QUEZHUO_SOAK_SAMPLE", "1"))
ACCEPTED_HANDS, ACCEPTED, SILENT, MARKED = 3000, 0.90, 1 / 1000, 0.95
WALL_ENDS, UNSURE = 500, 0.02
PER_CELL, SPOILT_SILENT, ENOUGH = 1000, 1 / 200, 600
"""Hands a cell are more than the accepted ones from which a cell is judged: some are always refused."""


def sample(count):
    return max(1, round(SAMPLE * count))


@pytest.fixture(autouse=True)
def photographs():
    missing = [name for name in (*PHOTO_SOURCES, *CROP_SOURCES) if not (data_root() / name).is_dir()]
    if missing:
        pytest.skip(f"of the real photographs there is no {missing[0]} in {data_root()}")


@pytest.fixture
def tell(capsys):
    """Print a report whether the test passes or not: what is counted without a bound has to be seen too."""

    def show(text):
        with capsys.disabled():
            print(f"\n{text}")

    return show


def test_accepted_hands_are_right(tmp_path, tell):
    wanted = sample(ACCEPTED_HANDS)
    records = silent.measure(MODELS, tmp_path, accepted=wanted, seed=1, threads=2, rendered=(OWN,))
    tell(silent.report(records))
    one = silent.count(records)["table"]["all"]
    assert one.accepted >= wanted
    assert one.accepted >= ACCEPTED * one.hands
    assert one.silent <= SILENT * one.accepted
    assert one.marked >= MARKED * one.wrong


def test_spoilt_hands_are_right_or_doubted(tmp_path, tell):
    hands = sample(PER_CELL)
    records = robustness.measure(MODELS, tmp_path, hands=hands, seed=1, threads=2, rendered=())
    tell(robustness.report(records))
    cells = robustness.count(records)
    assert {cell: one.hands for cell, one in cells.items()} == {one.cell: hands for one in CORRUPTIONS}
    judged = {cell: one for cell, one in cells.items() if one.accepted >= sample(ENOUGH)}
    assert judged, "no cell has enough accepted hands to be judged"
    wrong = {cell: one.silent for cell, one in judged.items() if one.silent > SPOILT_SILENT * one.accepted}
    assert not wrong


def test_tiles_turned_up_are_right_or_unsure(tmp_path, tell):
    wall_ends = sample(WALL_ENDS)
    records = indicator.measure(MODELS, tmp_path, scenes=wall_ends, seed=1, threads=2)
    tell(indicator.report(records))
    turned_up = [record["verdict"] for record in records if record["kind"]]
    assert len(turned_up) == wall_ends
    assert indicator.WRONG not in [record["verdict"] for record in records]
    assert turned_up.count(indicator.UNSURE) <= UNSURE * len(turned_up)
