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
    assert sum(p.numel() for p in classifier.parameters()) == 1_670_433
    assert detector(torch.zeros(1, 3, 64, 96)).shape == (1, 5, 8, 12)
    logits, embedding, red = classifier(torch.rand(2, 3, 64, 48))
    assert logits.shape == (2, 44)
    assert red.shape == (2,)
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


def test_only_fives_of_known_colour_cost_something_for_it():
    from vision.training import classifier

    logits, kinds = torch.zeros(3, 44), torch.tensor([4, 4, 4])
    wrong = torch.tensor([9.0, -9.0, 9.0])
    unknown = classifier.loss(logits, wrong, kinds, torch.tensor([-1, -1, -1]))
    assert float(classifier.loss(logits, wrong, kinds, torch.tensor([0, 1, -1]))) > float(unknown) + 0.5
    assert float(classifier.loss(logits, wrong, kinds, torch.tensor([1, 0, -1]))) < float(unknown) + 0.01


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the older exporter: its graphs quantise well
@pytest.mark.parametrize("which", ["detector", "classifier"])
def test_onnx_answers_as_torch_does_and_int8_nearly_so(tmp_path, which):
    from vision.training import classifier, detector, export

    torch.manual_seed(2)
    rng = np.random.default_rng(2)
    net = (detector.Detector() if which == "detector" else classifier.Classifier()).eval()
    shape, name = ((1, 96, 128, 3), "image") if which == "detector" else ((8, 64, 48, 3), "crops")
    arrays = [rng.integers(0, 256, shape).astype(np.uint8) for _ in range(4)]
    write = export.export_detector if which == "detector" else export.export_classifier
    write(net, tmp_path / "float.onnx")
    keep = export.FLOAT_NODES[which]
    export.quantise(tmp_path / "float.onnx", tmp_path / "int8.onnx", name, arrays, keep)
    for output in ("maps",) if which == "detector" else ("logits", "embedding", "red"):
        worst = export._torch_parity(net, tmp_path / "float.onnx", name, output, arrays[0])
        assert worst < 1e-3
        near = export._parity(tmp_path / "float.onnx", tmp_path / "int8.onnx", name, output, arrays)
        assert near["correlation"] > 0.98, output


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
