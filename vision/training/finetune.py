"""Fine-tunes the classifier on the pictures of an enrolled tile set, and keeps it only where that helps.

A job for the head table's laptop: 120 steps from the shipped weights, half of every batch from the set's own
pictures. The guard is that of enrolment, with pictures left out in two halves, and the result may not be
worse on the validation photographs either.
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from vision.enroll.shots import Shot, both_ways, shots_of
from vision.enroll.tileset import TileSet
from vision.errors import TileSetError
from vision.model_card import ModelCard
from vision.readings import Looks
from vision.training import classifier, classifier_samples, detector
from vision.training.art import make_faces
from vision.training.classifier_samples import Patch, Sampler
from vision.training.crops import plain_crop
from vision.training.dataset import LABELS, Photo, data_root, validation_photos
from vision.training.export import FLOAT_NODES, export_classifier, quantise
from vision.training.pen import Rng
from vision.training.runs import fitting_photos
from vision.training.train import Plan, train

STEPS, BATCH, RATE, EMA = 120, 64, 4e-4, 0.95
OWN_SHARE, RENDERED_SHARE = 0.5, 0.3
"""Half of a batch is the set's own; of the other half this share is rendered: 50, 35 and 15 %."""
STYLES = 24
EVERY_PHOTO = 3
"""Every so many training photographs are read: enough not to forget them."""

Crops = NDArray[np.uint8]
Numbers = NDArray[np.int64]


class Frozen(classifier.Classifier):
    """The classifier with the statistics of its batch norm left as they are: few tiles would bend them."""

    def train(self, mode: bool = True) -> Frozen:
        """Set the mode of everything but batch norm."""
        super().train(mode)
        for part in self.modules():
            if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
                part.eval()
        return self


@dataclass(frozen=True)
class Score:
    """Tiles right of all, and mean negative log-likelihood (nats), before and after."""

    tiles: int
    plain_right: int
    plain_nll: float
    right: int
    nll: float

    @property
    def helps(self) -> bool:
        """Not one tile fewer, and surer."""
        return self.right >= self.plain_right and self.nll < self.plain_nll

    @property
    def harms(self) -> bool:
        """Tiles lost, or much less sure (a tenth)."""
        return self.right < self.plain_right or self.nll > 1.1 * self.plain_nll


def start(checkpoint: Path) -> classifier.Classifier:
    """Load the averaged weights of a checkpoint; one from before red fives lacks their output alone."""
    net = Frozen()
    state = torch.load(checkpoint, weights_only=True)["average"]
    lacking, strange = net.load_state_dict(state, strict=False)
    if strange or any(not name.startswith("red.") for name in lacking):
        raise TileSetError(f"{checkpoint} is no checkpoint of the classifier: give that of its training.")
    net.eval()
    return net


def patches(shots: Sequence[Shot]) -> list[Patch]:
    """Training patches of a tile set's stored pictures; raises TileSetError where it holds none."""
    pool = [
        Patch(shot.patch.image(), np.asarray(shot.patch.box, np.float32), LABELS.index(shot.kind), 1.0)
        for shot in shots
        if shot.patch is not None
    ]
    if not pool:
        raise TileSetError("The tile set holds no pictures to learn from: capture it again.")
    return pool


def halves(shots: Sequence[Shot]) -> list[tuple[list[Shot], list[Shot]]]:
    """Split by picture into two halves, so that each kind is in both where it was captured twice.

    Returns pairs of what is learned from and what is left out.
    """
    turn: dict[str, int] = {}
    last: dict[frozenset[str], int] = {}
    for name in dict.fromkeys(shot.picture for shot in shots):
        row = frozenset(shot.kind for shot in shots if shot.picture == name)
        last[row] = 1 - last[row] if row in last else len(turn) % 2
        turn[name] = last[row]
    sides = [[shot for shot in shots if turn[shot.picture] == side] for side in (0, 1)]
    return [(sides[0], sides[1]), (sides[1], sides[0])]


def tune(net: classifier.Classifier, own: Sequence[Patch], base: Sampler, out: Path, seed: int) -> nn.Module:
    """Fine-tune a copy of a network on a set's patches; returns its moving average."""
    mine = Sampler(own, base.faces, (1.0, 0.0, 0.0))

    def draw(rng: Rng, size: int) -> tuple[Crops, Numbers, Numbers]:
        share = round(OWN_SHARE * size)
        one, other = mine.batch(rng, share), base.batch(rng, size - share)
        reds = np.concatenate([np.full(share, -1, np.int64), other[2]])
        return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]), reds

    def step_loss(model: nn.Module, batch: list[torch.Tensor]) -> torch.Tensor:
        images, kinds, reds = batch
        logits, _, red = model(detector.normalise(images).contiguous(memory_format=torch.channels_last))
        return classifier.loss(logits, red, kinds, reds)

    plan = Plan(steps=STEPS, batch=BATCH, rate=RATE, ema=EMA, seed=seed)
    return train(copy.deepcopy(net), draw, step_loss, plan, out).eval()


@torch.no_grad()  # type: ignore[untyped-decorator]
def looks_of(net: nn.Module, crops: Crops) -> Looks:
    """What a network says of crops uint8 ``(N, 64, 48, 3)``."""
    parts = [net(detector.normalise(torch.from_numpy(crops[i : i + 256]))) for i in range(0, len(crops), 256)]
    logits, embeddings = (torch.cat([part[k] for part in parts]).float().numpy() for k in (0, 1))
    return Looks(logits, embeddings)


def compared(before: nn.Module, after: nn.Module, crops: Crops, kinds: Numbers, temperature: float) -> Score:
    """Judge two networks on crops seen both ways up."""
    from vision.enroll.guard import judged

    labels = np.asarray(kinds, np.intp)
    plain, tuned = (
        judged(looks_of(net, both_ways(crops)), None, temperature, labels) for net in (before, after)
    )
    return Score(len(crops), plain[0], plain[1], tuned[0], tuned[1])


def crops_of(pool: Sequence[Patch]) -> tuple[Crops, Numbers]:
    """Crops as the product cuts them, and label numbers."""
    crops = np.stack([plain_crop(patch.image, patch.box) for patch in pool])
    return crops, np.asarray([patch.kind for patch in pool], np.int64)


def base_sampler(photos: Sequence[Photo], seed: int) -> Sampler:
    """What keeps the network from forgetting: training photographs and rendered tiles."""
    pool = classifier_samples.collect(photos)
    return Sampler(pool, make_faces(seed, STYLES), (1 - RENDERED_SHARE, RENDERED_SHARE, 0.0))


def finetune(
    tileset: Path, checkpoint: Path, card: Path, out: Path, seed: int, threads: int
) -> dict[str, Any]:
    """Fine-tune on a tile set; writes a recognizer and the renewed tile set into ``out`` where it helps.

    ``checkpoint``: of the training that made the classifier of ``card``. Returns the report that is written
    as ``out/report.json``. Raises TileSetError where set, checkpoint or photographs cannot be used.
    """
    if not data_root().is_dir():
        raise TileSetError(f"The training photographs are not in {data_root()}: set QUEZHUO_TILES.")
    torch.set_num_threads(threads)
    cv2.setNumThreads(1)
    tiles, model, net = TileSet.load(tileset), ModelCard.load(card), start(checkpoint)
    runs = out / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    base = base_sampler(fitting_photos()[::EVERY_PHOTO], seed)
    left_out, names = [], ("first", "second")
    for name, (learned, asked) in zip(names, halves(tiles.shots), strict=True):
        tuned = tune(net, patches(learned), base, runs / name, seed)
        left_out.append(compared(net, tuned, *crops_of(patches(asked)), model.temperature))
    own = _summed(left_out)
    final = tune(net, patches(tiles.shots), base, runs / "final", seed)
    others = crops_of(classifier_samples.collect(validation_photos()))
    general = compared(net, final, *others, model.temperature)
    kept = own.helps and not general.harms
    report = {"kept": kept, "own": asdict(own), "validation": asdict(general), "steps": STEPS, "seed": seed}
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    if kept:
        _write(final, base, model, tiles, tileset.name, out, report)
    shutil.rmtree(runs, ignore_errors=True)
    return report


def words(report: dict[str, Any], out: Path) -> str:
    """Say what came of it, in one line."""
    own, general = Score(**report["own"]), Score(**report["validation"])
    figures = (
        f"left out: {own.right} of {own.tiles} right, before {own.plain_right},"
        f" uncertainty {own.nll:.4f}, before {own.plain_nll:.4f};"
        f" validation: {general.right} of {general.tiles}, before {general.plain_right}"
    )
    if report["kept"]:
        return f"Kept in {out} ({figures}). Use it with: model = {str(out / 'recognizer.json')!r}."
    return f"Not kept: it does not help ({figures})."


def _summed(scores: Sequence[Score]) -> Score:
    tiles = sum(score.tiles for score in scores)
    return Score(
        tiles,
        sum(score.plain_right for score in scores),
        sum(score.plain_nll * score.tiles for score in scores) / tiles,
        sum(score.right for score in scores),
        sum(score.nll * score.tiles for score in scores) / tiles,
    )


def _write(
    net: nn.Module,
    base: Sampler,
    model: ModelCard,
    tiles: TileSet,
    name: str,
    out: Path,
    report: dict[str, Any],
) -> None:
    """Export the classifier, copy the detector, write the card, and renew the tile set for it."""
    from vision.recognizer import Recognizer

    rng = np.random.default_rng([report["seed"], 98])
    export_classifier(net, out / "float32.onnx")
    arrays = [base.batch(rng, 64)[0] for _ in range(8)]
    quantise(out / "float32.onnx", out / "classifier.onnx", "crops", arrays, FLOAT_NODES["classifier"])
    (out / "float32.onnx").unlink()
    shutil.copyfile(model.detector, out / "detector.onnx")
    data = json.loads(model.path.read_text("utf-8"))
    data["detector"]["file"] = "detector.onnx"
    raw = (out / "classifier.onnx").read_bytes()
    data["classifier"] |= {
        "file": "classifier.onnx",
        "sha256": hashlib.sha256(raw).hexdigest(),
        "bytes": len(raw),
        "finetuned": {"tileset": tiles.provenance.name, **report},
    }
    (out / "recognizer.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    recognizer = Recognizer.load(out / "recognizer.json")
    shots = [_again(recognizer, shot) for shot in tiles.shots if shot.patch is not None]
    origin = replace(tiles.provenance, model=data["classifier"]["sha256"])
    TileSet.build(shots, tiles.kinds, origin).save(out / name)


def _again(recognizer: Any, shot: Shot) -> Shot:
    assert shot.patch is not None
    image, box = shot.patch.image(), shot.patch.box
    fresh = shots_of(recognizer.classify, image, [box], [shot.kind], shot.picture, keep=False)[0]
    return replace(fresh, patch=shot.patch)
