"""Fine-tuning: what is left out, what counts as help, and that nothing is trained on no pictures."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed; make test-train has it")

import torch

from vision.enroll.shots import LOOK, Shot, patch_of
from vision.errors import TileSetError
from vision.readings import EMBEDDING
from vision.training import finetune
from vision.training.classifier import Classifier
from vision.training.classifier_samples import Sampler
from vision.training.finetune import Frozen, Score, halves, patches, start, tune


def shot(kind: str, picture: str, *, stored: bool = True) -> Shot:
    image = np.full((120, 100, 3), 200, np.uint8)
    cv2.circle(image, (50, 60), 14, (40, 40, 190), -1)
    patch = patch_of(image, (20, 15, 80, 95)) if stored else None
    views = np.zeros((2, EMBEDDING), np.float32)
    return Shot(kind, picture, np.zeros((2, 44), np.float32), views, np.zeros(LOOK, np.float32), patch)


def test_each_kind_is_learned_from_one_half_and_asked_in_the_other() -> None:
    shots = [
        shot(kind, f"{row}{take}") for row in ("1m 2m", "1p 2p") for take in (1, 2) for kind in row.split()
    ]
    for learned, asked in halves(shots):
        assert {s.kind for s in learned} == {s.kind for s in asked} == {"1m", "2m", "1p", "2p"}
        assert not {s.picture for s in learned} & {s.picture for s in asked}


def test_help_means_no_tile_fewer_and_surer() -> None:
    assert Score(10, 9, 0.3, 10, 0.2).helps
    assert not Score(10, 9, 0.3, 8, 0.1).helps
    assert not Score(10, 9, 0.3, 9, 0.3).helps
    assert Score(10, 9, 0.3, 8, 0.1).harms
    assert Score(10, 9, 0.3, 9, 0.34).harms
    assert not Score(10, 9, 0.3, 9, 0.32).harms


def test_a_tile_set_without_pictures_cannot_be_learned_from() -> None:
    with pytest.raises(TileSetError, match="no pictures"):
        patches([shot("1m", "a", stored=False)])


def test_another_checkpoint_is_refused_and_one_without_red_fives_is_not(tmp_path: Path) -> None:
    state = Classifier().state_dict()
    older = {name: value for name, value in state.items() if not name.startswith("red.")}
    torch.save({"average": older}, tmp_path / "older.pt")
    assert isinstance(start(tmp_path / "older.pt"), Frozen)
    torch.save({"average": {"head.0.weight": torch.zeros(1)}}, tmp_path / "other.pt")
    with pytest.raises(TileSetError, match="no checkpoint of the classifier"):
        start(tmp_path / "other.pt")


def test_tuning_moves_the_weights_and_leaves_batch_norm_and_the_first_network_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetune, "STEPS", 2)
    monkeypatch.setattr(finetune, "BATCH", 4)
    torch.manual_seed(0)
    net = Frozen().eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    pool = patches([shot("1m", "a"), shot("2m", "a")])
    faces = np.full((1, 47, 128, 96, 3), 220, np.uint8)
    tuned = tune(net, pool, Sampler(pool, faces, (1.0, 0.0, 0.0)), tmp_path, seed=1)
    after = tuned.state_dict()
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert not torch.equal(after["kinds"], before["kinds"])
    statistics = [name for name in before if "running" in name]
    assert statistics
    assert all(torch.equal(after[name], before[name]) for name in statistics)
