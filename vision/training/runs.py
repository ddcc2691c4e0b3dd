"""Puts data, network and loop together for each of the two networks."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import cv2
import torch
from torch import nn

from vision.training import classifier, classifier_samples, detector, detector_samples
from vision.training.art import make_faces
from vision.training.dataset import Photo, training_crops, training_photos
from vision.training.realfaces import face_sets
from vision.training.train import Plan, draw_curve, train

TRAY_SET = ("IMG-*", "IMG_*")
"""Names in ``rf_train_aug`` that show the tile set of ``rf_tray``: left out together with it."""


@dataclass(frozen=True)
class Run:
    """What both trainings ask: where to write, how long, which seed, and which sources to leave out."""

    out: Path
    steps: int
    seed: int
    styles: int
    threads: int
    rate: float
    start_from: Path | None = None
    without: tuple[str, ...] = ()


def fitting_photos(without: Sequence[str] = ()) -> list[Photo]:
    """Photographs that the networks are fitted to; ``without`` names sources whose tile sets stay unseen."""
    tray = "rf_tray" in without
    return [
        p
        for p in training_photos()
        if p.source not in without and not (tray and any(fnmatch(p.name, name) for name in TRAY_SET))
    ]


def fitting_crops(without: Sequence[str] = ()) -> list[tuple[Path, int]]:
    """Single-tile photographs that the classifier is fitted to."""
    return [entry for entry in training_crops() if entry[0].parents[2].name not in without]


def _prepare(threads: int) -> None:
    torch.set_num_threads(threads)
    cv2.setNumThreads(1)


def train_detector(run: Run) -> nn.Module:
    """Train the detector into ``run.out`` and draw its loss curve."""
    _prepare(run.threads)
    photos = fitting_photos(run.without)
    cut = face_sets(photos, fitting_crops(run.without))
    sampler = detector_samples.Sampler(photos, make_faces(run.seed, run.styles), cut=cut)
    plan = Plan(steps=run.steps, batch=12, rate=run.rate, ema=0.997, seed=run.seed)

    def step_loss(model: nn.Module, batch: list[torch.Tensor]) -> torch.Tensor:
        images, heat, sides, mask, weight = batch
        x = detector.normalise(images).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            maps = model(x)
        return detector.loss(maps, heat, sides, mask, weight)

    trained = train(detector.Detector(), sampler.batch, step_loss, plan, run.out, run.start_from)
    draw_curve(run.out / "log.jsonl", run.out / "loss.png")
    return trained


def train_classifier(run: Run, shares: tuple[float, float, float]) -> nn.Module:
    """Train the classifier into ``run.out`` and draw its loss curve.

    ``shares`` of photographed, rendered and composed crops.
    """
    _prepare(run.threads)
    photos, crops = fitting_photos(run.without), fitting_crops(run.without)
    sampler = classifier_samples.Sampler(
        classifier_samples.collect(photos, crops),
        make_faces(run.seed + zlib.crc32(b"faces") % 97, run.styles),
        shares,
        detector_samples.clear_patches(photos, [p.read() for p in photos]),
        classifier_samples.gaps(photos),
        face_sets(photos, crops),
    )
    plan = Plan(steps=run.steps, batch=128, rate=run.rate, ema=0.998, seed=run.seed)

    def step_loss(model: nn.Module, batch: list[torch.Tensor]) -> torch.Tensor:
        images, kinds, reds = batch
        x = detector.normalise(images).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            logits, _, red = model(x)
        return classifier.loss(logits, red, kinds, reds)

    trained = train(classifier.Classifier(), sampler.batch, step_loss, plan, run.out, run.start_from)
    draw_curve(run.out / "log.jsonl", run.out / "loss.png")
    return trained
