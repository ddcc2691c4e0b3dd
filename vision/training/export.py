"""Exports checkpoints to ONNX with the normalisation inside, quantises to int8, writes the card."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import nn

from vision.training import classifier, classifier_samples, detector, detector_samples, evaluate
from vision.training.art import FACES, make_faces
from vision.training.card import FIXED
from vision.training.crops import plain_crop
from vision.training.dataset import LABELS, OTHER, Photo, holdout_photos, validation_crops, validation_photos
from vision.training.runs import fitting_crops, fitting_photos

OPSET = 17
FLOAT_NODES = {
    "detector": ("/head/head.1",),
    "classifier": ("/net/MatMul", "Normalize", "/net/Mul", "/red/"),
}
"""Parts of node names that stay float in the int8 files: the last layers, where a step of int8 shows."""
OUTPUTS = ("logits", "embedding", "red")


class _Wrapped(nn.Module):  # type: ignore[misc]
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def forward(self, images: torch.Tensor) -> Any:
        return self.net(detector.normalise(images))


def load_average(net: nn.Module, checkpoint: Path) -> tuple[nn.Module, int]:
    """Load the averaged weights of a checkpoint for inference; return the net and its steps so far."""
    state = torch.load(checkpoint, weights_only=True)
    net.load_state_dict(state["average"])
    return net.eval(), int(state["step"]) + int(state.get("before", 0))


def export_detector(net: nn.Module, path: Path) -> None:
    """Write the float detector: ``image`` uint8 (1, H, W, 3) -> ``maps`` (1, 5, H/8, W/8)."""
    dynamic = {"image": {1: "height", 2: "width"}, "maps": {2: "rows", 3: "columns"}}
    example = torch.zeros(1, 96, 160, 3, dtype=torch.uint8)
    torch.onnx.export(_Wrapped(net), (example,), str(path), input_names=["image"], output_names=["maps"],
                      dynamic_axes=dynamic, opset_version=OPSET, dynamo=False)  # fmt: skip


def export_classifier(net: nn.Module, path: Path) -> None:
    """Write the float classifier: ``crops`` uint8 (N, 64, 48, 3) -> ``logits``, ``embedding``, ``red``."""
    dynamic = {name: {0: "n"} for name in ("crops", "logits", "embedding", "red")}
    example = torch.zeros(2, 64, 48, 3, dtype=torch.uint8)
    torch.onnx.export(_Wrapped(net), (example,), str(path), input_names=["crops"],
                      output_names=list(OUTPUTS), dynamic_axes=dynamic, opset_version=OPSET,
                      dynamo=False)  # fmt: skip


class _Reader(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, name: str, arrays: list[NDArray[np.uint8]]):
        self.feed: Iterator[dict[str, Any]] = iter([{name: a} for a in arrays])

    def get_next(self) -> dict[str, Any] | None:
        return next(self.feed, None)


def quantise(
    source: Path, target: Path, name: str, arrays: list[NDArray[np.uint8]], keep: tuple[str, ...]
) -> None:
    """Quantise statically (QDQ, int8 weights per channel); node names with ``keep`` in them stay float."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.onnx"
        quant_pre_process(str(source), str(ready), skip_symbolic_shape=True)
        nodes = [n.name for n in onnx.load(str(ready)).graph.node if any(k in n.name for k in keep)]
        quantize_static(
            str(ready), str(target), _Reader(name, arrays), quant_format=QuantFormat.QDQ, per_channel=True,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, nodes_to_exclude=nodes,
            op_types_to_quantize=["Conv", "Gemm", "MatMul", "Add", "Relu", "Resize"],
            extra_options={"ActivationSymmetric": False, "WeightSymmetric": True},
        )  # fmt: skip


def _calibration(seed: int) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]]:
    photos, faces = fitting_photos()[::4], make_faces(seed, 16)
    rng = np.random.default_rng([seed, 99])
    scenes = detector_samples.Sampler(photos, faces).batch(rng, 96)[0]
    pool = classifier_samples.collect(photos, fitting_crops())
    crops, _, _ = classifier_samples.Sampler(pool, faces, (0.6, 0.1, 0.3)).batch(rng, 768)
    return [s[None] for s in scenes], [crops[i : i + 64] for i in range(0, 768, 64)]


def _validation_crops() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Crops (n, 64, 48, 3) of every validation photograph and single tile, and their label numbers (n,)."""
    crops, kinds = [], []
    for photo in validation_photos():
        image = photo.read()
        crops += [plain_crop(image, box) for box in photo.boxes]
        kinds += photo.kinds.tolist()
    for patch in classifier_samples.collect([], validation_crops()):
        crops.append(plain_crop(patch.image, patch.box))
        kinds.append(patch.kind)
    return np.stack(crops), np.array(kinds, np.int64)


def fit_temperature(model: Path) -> float:
    """Choose the temperature with the least negative log-likelihood on the validation crops.

    A soft floor keeps it from growing sure on few errors: the log-likelihood is that of probabilities mixed
    with 0.1 % of an even share.
    """
    crops, truth = _validation_crops()
    net = evaluate.session(model)
    scores = np.concatenate(
        [net.run(["logits"], {"crops": crops[i : i + 256]})[0] for i in range(0, len(crops), 256)]
    )

    def cost(t: float) -> float:
        p = evaluate.softmax(scores, t)[np.arange(len(truth)), truth]
        return float(-np.log(0.999 * p + 0.001 / len(LABELS)).mean())

    return float(min(np.arange(0.3, 1.5, 0.02), key=cost))


def _parity(
    float_file: Path, int8_file: Path, name: str, output: str, arrays: list[NDArray[np.uint8]]
) -> dict[str, float]:
    a, b = evaluate.session(float_file), evaluate.session(int8_file)
    pairs = [(a.run([output], {name: x})[0], b.run([output], {name: x})[0]) for x in arrays]
    left, right = (np.concatenate([np.ravel(p[k]) for p in pairs]) for k in (0, 1))
    return {
        "correlation": round(float(np.corrcoef(left, right)[0, 1]), 5),
        "mean_difference": round(float(np.abs(left - right).mean()), 5),
    }


def _torch_parity(net: nn.Module, file: Path, name: str, output: str, array: NDArray[np.uint8]) -> float:
    with torch.no_grad():
        wanted = _Wrapped(net).eval()(torch.from_numpy(array))
    wanted = wanted[OUTPUTS.index(output)] if isinstance(wanted, tuple) else wanted
    got = evaluate.session(file).run([output], {name: array})[0]
    return round(float(np.abs(wanted.numpy() - got).max()), 6)


def _entry(path: Path, facts: dict[str, Any], steps: int, parity: dict[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "file": path.name,
        "sha256": digest,
        "bytes": path.stat().st_size,
        **facts,
        "steps": steps,
        "parity": parity,
    }


def export(
    detector_checkpoint: Path,
    classifier_checkpoint: Path,
    out: Path,
    seed: int,
    rounds: str,
    without: Sequence[str] = (),
) -> None:
    """Write detector.onnx, classifier.onnx and recognizer.json into ``out``; float files beside the runs.

    ``rounds`` tells how the checkpoints came to be, ``without`` which sources they never saw: the card
    has both.
    """
    eye, eye_steps = load_average(detector.Detector(), detector_checkpoint)
    judge, judge_steps = load_average(classifier.Classifier(), classifier_checkpoint)
    floats = detector_checkpoint.parents[1] / "float32"
    floats.mkdir(exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    export_detector(eye, floats / "detector.onnx")
    export_classifier(judge, floats / "classifier.onnx")
    scenes, crops = _calibration(seed)
    quantise(floats / "detector.onnx", out / "detector.onnx", "image", scenes, FLOAT_NODES["detector"])
    quantise(
        floats / "classifier.onnx",
        out / "classifier.onnx",
        "crops",
        crops,
        FLOAT_NODES["classifier"],
    )
    parity: list[dict[str, Any]] = []
    for net, file, name, output, arrays in (
        (eye, "detector.onnx", "image", "maps", scenes[:12]),
        (judge, "classifier.onnx", "crops", "logits", crops[:4]),
    ):
        against = _parity(floats / file, out / file, name, output, arrays)
        worst = _torch_parity(net, floats / file, name, output, arrays[0])
        parity.append({"torch_to_float32_max": worst, "float32_to_int8": against})
    card = {**FIXED, "seed": seed, "rounds": rounds, "labels": list(LABELS)}
    if without:
        card["without"] = list(without)
    card["detector"] = _entry(out / "detector.onnx", FIXED["detector"], eye_steps, parity[0])
    card["classifier"] = _entry(out / "classifier.onnx", FIXED["classifier"], judge_steps, parity[1])
    card["temperature"] = round(fit_temperature(out / "classifier.onnx"), 3)
    card["holdout"] = _accuracy(holdout_photos(), floats, out, card["temperature"])
    card["holdout"]["list"] = "tests/real/holdout.txt"
    card["validation"] = _accuracy(validation_photos(), floats, out, card["temperature"])
    card["stress"] = stress(out / "classifier.onnx", seed)
    (out / "recognizer.json").write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n")


def _accuracy(photos: list[Photo], floats: Path, out: Path, temperature: float) -> dict[str, Any]:
    figures: dict[str, Any] = {"region": "labels' bounding box + half a tile"}
    for name, folder in (("float32", floats), ("int8", out)):
        reader = evaluate.model_reader(folder / "detector.onnx", folder / "classifier.onnx", temperature)
        tallies = evaluate.tally(photos, reader)
        figures[name] = {group: t.summary() for group, t in tallies.items()}
        figures[name]["confusions"] = dict(tallies["all"].confusions.most_common(12))
    return figures


def stress(model: Path, seed: int, count: int = 6000) -> dict[str, Any]:
    """Classify spoiled validation crops (turned, blurred, shaded, single view): where it errs first."""
    pool = classifier_samples.collect(validation_photos(), validation_crops())
    faces = np.zeros((1, FACES, 128, 96, 3), np.uint8)
    sampler = classifier_samples.Sampler(pool, faces, (1.0, 0.0, 0.0))
    net, rng = evaluate.session(model), np.random.default_rng([seed, 5])
    confusions: Counter[str] = Counter()
    right = asked = 0
    for _ in range(count // 500):
        crops, kinds, _ = sampler.batch(rng, 500)
        best = net.run(["logits"], {"crops": crops})[0].argmax(1)
        tiles = kinds != OTHER
        asked, right = asked + int(tiles.sum()), right + int((best == kinds)[tiles].sum())
        wrong = tiles & (best != kinds)
        confusions.update(
            f"{LABELS[a]} read as {LABELS[b]}" for a, b in zip(kinds[wrong], best[wrong], strict=True)
        )
    return {"crops": asked, "right": right, "confusions": dict(confusions.most_common(16))}
