"""Networks and loop: sizes as designed, a broken-off run ends where an unbroken one ends."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch (extra `train`)")


def test_networks_have_their_sizes_and_shapes():
    from vision.training.classifier import Classifier
    from vision.training.detector import Detector

    detector, classifier = Detector().eval(), Classifier().eval()
    assert sum(p.numel() for p in detector.parameters()) == 902_101
    assert sum(p.numel() for p in classifier.parameters()) == 1_668_128
    assert detector(torch.zeros(1, 3, 64, 96)).shape == (1, 5, 8, 12)
    logits, embedding = classifier(torch.rand(2, 3, 64, 48))
    assert logits.shape == (2, 44)
    assert torch.allclose(embedding.norm(dim=1), torch.ones(2))


def test_loss_is_small_at_the_truth():
    from vision.training import detector

    heat = torch.zeros(1, 8, 8)
    heat[0, 4, 4] = 1
    mask, sides = heat.clone(), torch.full((1, 4, 8, 8), 2.0)
    right = torch.cat([(heat * 20 - 10)[:, None], torch.log(sides)], 1)
    wrong = torch.cat([(-heat * 20 + 10)[:, None], torch.log(sides) + 1], 1)
    weight = torch.ones(1, 8, 8)
    assert float(detector.loss(right, heat, sides, mask, weight)) < 0.01
    assert float(detector.loss(wrong, heat, sides, mask, weight)) > 1


def run(out, steps, save_every_s=1e9, stop=None):
    from vision.training.train import Plan, train

    drawn = []

    def draw(rng, size):
        if stop is not None and len(drawn) > stop:
            raise KeyboardInterrupt
        drawn.append(1)
        x = rng.normal(size=(size, 4)).astype(np.float32)
        return x, x.sum(1, keepdims=True)

    def loss(model, batch):
        return ((model(batch[0]) - batch[1]) ** 2).mean()

    torch.manual_seed(1)
    plan = Plan(steps=steps, batch=8, rate=0.01, ema=0.9, seed=3, log_every=5, save_every_s=save_every_s)
    return train(torch.nn.Linear(4, 1), draw, loss, plan, out)


def test_resumed_run_equals_an_unbroken_one(tmp_path):
    whole = run(tmp_path / "whole", 30)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "broken", 30, save_every_s=-1, stop=12)
    resumed = run(tmp_path / "broken", 30)
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(a, b)
    lines = (tmp_path / "broken" / "log.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["step"] == 30
