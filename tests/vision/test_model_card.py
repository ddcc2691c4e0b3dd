"""The shipped models are the ones that the card describes."""

import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

MODELS = Path(__file__).parents[2] / "vision" / "models"


@pytest.fixture(scope="module")
def card():
    return json.loads((MODELS / "recognizer.json").read_text())


@pytest.mark.parametrize("name", ["detector", "classifier"])
def test_files_are_the_named_ones(card, name):
    data = (MODELS / card[name]["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == card[name]["sha256"]
    assert len(data) == card[name]["bytes"]


def test_models_are_small(card):
    assert sum(card[name]["bytes"] for name in ("detector", "classifier")) < 4_000_000


def test_labels_are_the_engines_kinds(card):
    from engine.tiles import TILE_IDS

    assert card["labels"] == [*TILE_IDS[:43], "other"]


def test_inputs_and_outputs_are_as_the_card_says(card):
    eye = ort.InferenceSession(str(MODELS / card["detector"]["file"]), providers=["CPUExecutionProvider"])
    (maps,) = eye.run(["maps"], {"image": np.zeros((1, 64, 96, 3), np.uint8)})
    assert maps.shape == (1, 5, 8, 12)
    judge = ort.InferenceSession(str(MODELS / card["classifier"]["file"]), providers=["CPUExecutionProvider"])
    logits, embedding = judge.run(["logits", "embedding"], {"crops": np.zeros((3, 64, 48, 3), np.uint8)})
    assert logits.shape == (3, 44)
    assert embedding.shape == (3, 128)
    np.testing.assert_allclose(np.linalg.norm(embedding, axis=1), 1, rtol=1e-3)


def test_card_tells_data_licences_and_figures(card):
    assert all({"name", "author", "licence"} <= set(entry) for entry in card["data"])
    assert 0.1 < card["temperature"] < 2
    measured = card["holdout"]["int8"]["all"]
    assert measured["tiles_right"] >= 0.95 * measured["tiles"]
    assert measured["photos_exact"] >= 0.7 * measured["photos"]
    assert all(abs(card[n]["parity"]["torch_to_float32_max"]) < 0.05 for n in ("detector", "classifier"))
