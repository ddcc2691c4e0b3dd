"""Puts data, network and loop together for each of the two networks."""

from __future__ import annotations

import zlib
from fnmatch import fnmatch
from pathlib import Path

import cv2
import torch
from torch import nn

from vision.training import classifier, classifier_samples, detector, detector_samples
from vision.training.art import make_faces
from vision.training.dataset import CROP_SOURCES, Photo, load_crops, training_photos
from vision.training.train import Plan, draw_curve, train

VALIDATION = ("421*", "396[0-2]*")


def is_validation(photo: Photo) -> bool:
    """Whether a training photograph is kept for fitting the temperature and for choosing a checkpoint."""
    return any(fnmatch(photo.name, pattern) for pattern in VALIDATION)


def validation_photos() -> list[Photo]:
    """Photographs trained on by nobody that are not in the hold-out either."""
    return [p for p in training_photos() if is_validation(p)]


def fitting_photos() -> list[Photo]:
    """Photographs that the networks are fitted to."""
    return [p for p in training_photos() if not is_validation(p)]


def _prepare(threads: int) -> None:
    torch.set_num_threads(threads)
    cv2.setNumThreads(1)


def train_detector(
    out: Path, *, steps: int, seed: int, styles: int, threads: int, start_from: Path | None, rate: float
) -> nn.Module:
    """Train the detector into ``out`` and draw its loss curve."""
    _prepare(threads)
    sampler = detector_samples.Sampler(fitting_photos(), make_faces(seed, styles))
    plan = Plan(steps=steps, batch=12, rate=rate, ema=0.997, seed=seed)

    def step_loss(model: nn.Module, batch: list[torch.Tensor]) -> torch.Tensor:
        images, heat, sides, mask, weight = batch
        x = detector.normalise(images).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            maps = model(x)
        return detector.loss(maps, heat, sides, mask, weight)

    trained = train(detector.Detector(), sampler.batch, step_loss, plan, out, start_from)
    draw_curve(out / "log.jsonl", out / "loss.png")
    return trained


def train_classifier(
    out: Path,
    *,
    steps: int,
    seed: int,
    styles: int,
    threads: int,
    start_from: Path | None,
    shares: tuple[float, float, float],
    rate: float,
) -> nn.Module:
    """Train the classifier into ``out`` and draw its loss curve."""
    _prepare(threads)
    crops = {source: load_crops(source) for source in CROP_SOURCES}
    photos = fitting_photos()
    pool = classifier_samples.collect(photos, crops)
    surfaces = detector_samples.clear_patches(photos, [p.read() for p in photos])
    faces = make_faces(seed + zlib.crc32(b"faces") % 97, styles)
    sampler = classifier_samples.Sampler(pool, faces, shares, surfaces, classifier_samples.gaps(photos))
    plan = Plan(steps=steps, batch=128, rate=rate, ema=0.998, seed=seed)

    def step_loss(model: nn.Module, batch: list[torch.Tensor]) -> torch.Tensor:
        images, kinds = batch
        x = detector.normalise(images).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            logits, _ = model(x)
        return classifier.loss(logits, kinds)

    trained = train(classifier.Classifier(), sampler.batch, step_loss, plan, out, start_from)
    draw_curve(out / "log.jsonl", out / "loss.png")
    return trained
