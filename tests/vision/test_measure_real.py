"""A sample of the measurements on photographs that the shipped networks were never trained on."""

import json

import pytest

from vision.model_card import DEFAULT_CARD
from vision.recognizer import Recognizer
from vision.training.dataset import data_root, load_holdout
from vision.training.measure import models, silent
from vision.training.measure.hands import Table, fingerprint
from vision.training.measure.outcome import read_hand
from vision.training.measure.unseen import find_unseen, left_out

pytestmark = [pytest.mark.real, pytest.mark.slow]
HANDS = 30


@pytest.fixture(scope="module")
def unseen():
    if not (data_root() / "rf_table" / "meta.json").exists():
        pytest.skip(f"the real photographs are not in {data_root()}")
    return find_unseen()


def test_nothing_trained_on_is_measured_with(unseen):
    split = load_holdout()
    assert {photo.key for photo in unseen.photos} <= split.held | split.validation
    assert not any(split.allows(photo.key) for photo in unseen.photos)


def test_a_source_left_out_of_training_is_wholly_unseen(unseen):
    more = find_unseen(frozenset({"crops_justinchan"}))
    assert len(more.crops["crops_justinchan"]) > len(unseen.crops.get("crops_justinchan", ()))
    assert {p.key for p in more.photos} == {p.key for p in unseen.photos}


def test_composite_hands_are_accepted_and_right(unseen):
    table = Table.of(unseen, 3, rendered=())
    assert {pool.source for pool in table.pools} >= {"rf_table", "rf_tray", "rf_train_aug"}
    assert fingerprint(table.pools) == fingerprint(Table.of(unseen, 4, rendered=()).pools)
    reader = models.remembering(Recognizer.load())
    records = []
    for n in range(HANDS):
        source, dealt, picture = table.hand(n)
        outcome = read_hand(reader, picture, dealt, ("table",))["table"]
        records.append({"n": n, "source": source, "unfit": [], "ways": {"table": outcome.to_json()}})
    one, text = silent.count(records)["table"]["all"], silent.report(records)
    assert one.silent <= 1, text
    assert one.accepted >= 0.5 * HANDS, text


def test_a_card_names_what_was_left_out(tmp_path):
    assert left_out(tmp_path) == frozenset()
    card = json.loads(DEFAULT_CARD.read_text("utf-8")) | {"without": ["rf_tray"]}
    (tmp_path / "recognizer.json").write_text(json.dumps(card), "utf-8")
    assert left_out(tmp_path) == {"rf_tray"}
