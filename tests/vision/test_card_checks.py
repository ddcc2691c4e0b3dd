"""What the program refuses before a network runs. (The shipped card has its own tests.)"""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vision.errors import ModelError
from vision.model_card import DEFAULT_CARD, LABELS, ModelCard
from vision.recognizer import Recognizer


@pytest.fixture
def card(tmp_path: Path) -> Callable[..., Path]:
    """Write a card beside two files that are no networks; keyword arguments replace entries."""

    def write(**changes: Any) -> Path:
        files = {}
        for name in ("detector", "classifier"):
            (tmp_path / f"{name}.onnx").write_bytes(name.encode())
            files[name] = {
                "file": f"{name}.onnx",
                "sha256": hashlib.sha256(name.encode()).hexdigest(),
            }
        data = {"format": 1, "labels": list(LABELS), "temperature": 0.6, "decode": {"doubt": 0.65}, **files}
        path = tmp_path / "recognizer.json"
        path.write_text(json.dumps({**data, **changes}))
        return path

    return write


def test_a_card_that_agrees_with_its_files_is_read(card: Callable[..., Path]) -> None:
    model = ModelCard.load(card(decode={"doubt": 0.65, "threshold": 0.4, "peak": 3}))
    assert (model.temperature, model.limits.doubt, model.settings.threshold) == (0.6, 0.65, 0.4)
    assert set(model.sha256) == {"detector", "classifier"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format 2"),
        ({"labels": list(LABELS[::-1])}, "other tile kinds"),
        ({"labels": list(LABELS[:-1])}, "other tile kinds"),
        ({"temperature": 0}, "usable value"),
        ({"temperature": "warm"}, "usable value"),
        ({"detector": {"file": "detector.onnx"}}, "usable value"),
        ({"detector": {"file": "detector.onnx", "sha256": "0" * 64}}, "not the model its card describes"),
        ({"detector": {"file": "none.onnx", "sha256": "0" * 64}}, "cannot be read"),
    ],
)
def test_a_card_that_does_not_fit_is_refused(
    card: Callable[..., Path], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        ModelCard.load(card(**changes))


@pytest.mark.parametrize("text", ["", "[]", "no json"])
def test_another_file_is_no_card(text: str, tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text(text)
    with pytest.raises(ModelError, match="not a model card"):
        ModelCard.load(path)


def test_a_missing_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ModelCard.load(tmp_path / "none.json")


def test_files_that_are_no_networks_are_refused(card: Callable[..., Path]) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        Recognizer.load(card())


def test_networks_given_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    data = json.loads(DEFAULT_CARD.read_text())
    for name in ("detector", "classifier"):
        shutil.copy(DEFAULT_CARD.parent / data[name]["file"], tmp_path)
    data["detector"], data["classifier"] = data["classifier"], data["detector"]
    (tmp_path / "card.json").write_text(json.dumps(data))
    with pytest.raises(ModelError, match="other inputs or outputs"):
        Recognizer.load(tmp_path / "card.json")


def test_a_copy_of_the_models_elsewhere_loads_and_reads(tmp_path: Path) -> None:
    for file in DEFAULT_CARD.parent.glob("*.onnx"):
        shutil.copy(file, tmp_path)
    shutil.copy(DEFAULT_CARD, tmp_path / "other.json")
    recognizer = Recognizer.load(tmp_path / "other.json", threads=2)
    assert recognizer.card is not None
    assert recognizer.card.path == tmp_path / "other.json"
    assert recognizer.read(np.zeros((60, 80, 3), np.uint8)).tiles == ()


def test_thresholds_of_doubt_are_data_of_the_card(card: Callable[..., Path]) -> None:
    limits = ModelCard.load(card(gate={"floor": 0.5, "unseen": 0.9})).limits
    assert (limits.floor, limits.unseen) == (0.5, 0.9)


@pytest.mark.parametrize("gate", [{"flor": 0.5}, {"floor": 1.5}, {"floor": "low"}, {"doubt": -0.1}])
def test_a_gate_that_cannot_be_is_refused(card: Callable[..., Path], gate: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="usable value"):
        ModelCard.load(card(gate=gate))
