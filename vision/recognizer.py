"""The tile recognizer: a picture goes in, a reading comes out. The only importer of onnxruntime."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from vision.arrange import arrange, narrow
from vision.decode import DecodeSettings, choose, decode, odd_sizes
from vision.errors import ModelError, RegionError
from vision.imaging import CROP_HEIGHT, CROP_WIDTH, fit, tile_crops
from vision.interpret import Thresholds, opinions, softmax, tile_readings, why_not
from vision.model_card import LABELS, ModelCard
from vision.readings import Box, Detections, Floats, Image, Looks, Reading, check_image
from vision.shapes import HandShape

__all__ = ["Adapt", "Classify", "Detect", "Looks", "Recognizer"]

Detect = Callable[[Image], Floats]
"""BGR uint8 ``(H, W, 3)``, sides multiples of 32 -> maps float32 ``(5, H/8, W/8)``."""
Classify = Callable[[Image], Looks]
"""BGR uint8 ``(N, 64, 48, 3)`` -> logits ``(N, 44)``, embeddings ``(N, 128)``, whether fives are red."""
Adapt = Callable[[Looks], Floats]
"""What a table's own tiles make of the classifier's answers: logits float32 ``(N, 44)``."""

BACK = LABELS.index("back")
SPARE = 8
"""Candidates classified beyond the expected number, so that the classifier can throw false boxes out."""
NOT_A_TILE = 0.5
"""Probability of "no tile here" from which a box is dropped."""
SURE = 0.9
"""A tile less certain than this from two sides is looked at from the other two as well."""


@dataclass(frozen=True, slots=True)
class Recognizer:
    """Reads tiles from pictures with two networks, given as plain callables.

    Not bound to a thread; a call keeps no state. ``adapt`` corrects the classifier's answers by what is known
    of the tiles in play; without it they count as they are.
    """

    detect: Detect
    classify: Classify
    temperature: float = 1.0
    settings: DecodeSettings = field(default_factory=DecodeSettings)
    limits: Thresholds = field(default_factory=Thresholds)
    card: ModelCard | None = None
    adapt: Adapt | None = None

    @classmethod
    def load(cls, card: Path | None = None, threads: int = 1) -> Recognizer:
        """Load the networks a model card names (the shipped ones by default) and warm them up.

        ``threads``: how many each network may use. Raises ModelError when card and files do not
        belong together or the networks are not what the card says.
        """
        model = ModelCard.load(card)
        detector = _session(model.detector, threads, "image", "maps")
        classifier = _session(model.classifier, threads, "crops", "logits", "embedding")
        outputs = [o.name for o in classifier.get_outputs() if o.name in ("logits", "embedding", "red")]

        def detect(image: Image) -> Floats:
            return cast(Floats, detector.run(["maps"], {"image": image[None]})[0][0])

        def classify(crops: Image) -> Looks:
            answer = dict(zip(outputs, classifier.run(outputs, {"crops": crops}), strict=True))
            return Looks(answer["logits"], answer["embedding"], answer.get("red"))

        limits = Thresholds(doubt=model.doubt, box=model.settings.threshold)
        recognizer = cls(detect, classify, model.temperature, model.settings, limits, model)
        recognizer.warm_up()
        return recognizer

    def warm_up(self) -> None:
        """Run both networks once: the first run allocates, and a referee should not wait for it.

        Raises ModelError when a network does not answer in the agreed shape.
        """
        side = self.settings.multiple * 2
        maps = self.detect(np.zeros((side, side, 3), np.uint8))
        logits = self._logits(np.zeros((2, CROP_HEIGHT, CROP_WIDTH, 3), np.uint8))
        if maps.shape != (5, side // 8, side // 8) or logits.shape != (2, len(LABELS)):
            raise ModelError("The networks do not answer as their card says: install the model files again.")

    def read(
        self,
        frame: Image,
        region: Box | None = None,
        expect: int | None = None,
        kinds: frozenset[str] | None = None,
        shape: HandShape | None = None,
        long_side: int | None = None,
    ) -> Reading:
        """Read all tiles of a picture.

        ``frame``: uint8 ``(H, W, 3)`` BGR, upright. ``region``: the part to search, pixels of the
        frame, all of it by default. ``expect``: how many tiles there are, where known. ``kinds``: the
        tile set in play; ``shape``: the hands in play, which says what tiles may lie face down;
        ``long_side``: pixels to search the picture at, by default the card's. Boxes of the reading are pixels
        of ``frame``. A picture without tiles gives an empty reading that is not accepted. Raises RegionError
        and ShapeError.
        """
        started = time.perf_counter()
        check_image(frame, "frame")
        area = clip_region(region, frame.shape[1], frame.shape[0])
        part = frame[area[1] : area[3], area[0] : area[2]]
        picked = self._pick(part, self.find(part, long_side), expect)
        found = picked.found.shifted(area[0], area[1])
        lie = arrange(found)
        seen = opinions(picked.shares, LABELS, kinds)
        edge = (float(area[0]), float(area[1]), float(area[2]), float(area[3]))
        tiles = tile_readings(found, seen, lie, edge, self.limits, shape)
        why = why_not(tiles, expect, picked.extra)
        ms = (time.perf_counter() - started) * 1000
        size = (frame.shape[1], frame.shape[0])
        return Reading(tiles, lie.rows, lie.groups, not why, why, ms, size)

    def find(self, image: Image, long_side: int | None = None) -> Detections:
        """Find boxes in a picture ``(H, W, 3)``, best first, weak ones included, odd sizes left out.

        ``long_side``: pixels to search it at, by default the card's.
        """
        settings = replace(self.settings, long_side=long_side or self.settings.long_side)
        canvas, plan = fit(image, settings)
        found = decode(self.detect(canvas), plan.scale, (image.shape[1], image.shape[0]), settings)
        strong = found.take(found.scores >= self.settings.threshold)
        if len(strong) == 0:
            return found
        lie = arrange(strong)
        rows = [[lie.order[k] for k in row] for row in lie.rows]
        odd = odd_sizes(strong, rows, self.settings)
        weak = found.take(found.scores < self.settings.threshold)
        usual = float(np.median(np.prod(strong.sizes, axis=1)))
        area = np.prod(weak.sizes, axis=1)
        fits = (area >= self.settings.smallest * usual) & (area <= self.settings.largest * usual)
        keep = np.concatenate([~odd, fits])
        return found.take(np.flatnonzero(keep))

    def probabilities(self, image: Image, boxes: Floats) -> Floats:
        """Classify boxes ``(N, 4)`` of a picture: calibrated probabilities float32 ``(N, 44)``.

        Every crop is looked at upright and upside down; those that stay unclear from the other two
        sides as well.
        """
        if len(boxes) == 0:
            return np.zeros((0, len(LABELS)), np.float32)
        result = self._both_ways(tile_crops(image, boxes))
        unclear = np.flatnonzero(result.max(axis=1) < SURE)
        if len(unclear):
            sideways = self._both_ways(tile_crops(image, boxes[unclear], quarter=True))
            result[unclear] = (result[unclear] + sideways) / 2
        return result

    def _both_ways(self, crops: Image) -> Floats:
        both = np.concatenate([crops, crops[:, ::-1, ::-1]])
        shares = softmax(self._logits(np.ascontiguousarray(both)), self.temperature)
        return np.asarray((shares[: len(crops)] + shares[len(crops) :]) / 2, np.float32)

    def _logits(self, crops: Image) -> Floats:
        looks = self.classify(crops)
        return looks.logits if self.adapt is None else self.adapt(looks)

    def _pick(self, image: Image, found: Detections, expect: int | None) -> _Picked:
        """Classify the candidates and keep those that are tiles."""
        strong = int((found.scores >= self.settings.threshold).sum())
        count = strong if expect is None else min(len(found), expect + SPARE)
        found = found.take(np.arange(count))
        shares = self.probabilities(image, found.boxes)
        is_tile = (shares[:, -1] < NOT_A_TILE) & ~_gaps(found, shares)
        worth = np.where(is_tile, found.scores, 0.1 * found.scores).astype(np.float32)
        kept = choose(worth, self.settings.threshold, expect)
        left = np.setdiff1d(np.arange(count), kept)
        # Walls of face-down tiles beside a hand are usual; more open tiles than expected are not.
        open_tile = shares[left, :BACK].max(axis=1, initial=0) >= self.limits.doubt
        extra = bool((open_tile & (worth[left] >= self.settings.threshold)).any())
        return _Picked(found.take(kept), shares[kept], extra and expect is not None)


def _gaps(found: Detections, shares: Floats) -> NDArray[np.bool_]:
    """Mark candidates ``(N,)`` that look face down but are too narrow: cloth between two tiles."""
    back = shares.argmax(axis=1) == BACK
    return np.asarray(back & narrow(found, arrange(found)) if back.any() else back, np.bool_)


@dataclass(frozen=True, slots=True)
class _Picked:
    """Boxes taken for tiles, their probabilities ``(N, 44)``, and whether open tiles were left over."""

    found: Detections
    shares: Floats
    extra: bool


def clip_region(region: Box | None, width: int, height: int) -> tuple[int, int, int, int]:
    """Whole-pixel part of a ``width`` x ``height`` picture that a region covers.

    Raises RegionError when it covers none.
    """
    if region is None:
        return 0, 0, width, height
    x0, y0 = max(0, int(np.floor(region[0]))), max(0, int(np.floor(region[1])))
    x1, y1 = min(width, int(np.ceil(region[2]))), min(height, int(np.ceil(region[3])))
    if x1 <= x0 or y1 <= y0:
        raise RegionError(
            f"The region {region} covers no pixel of the {width} x {height} picture:"
            " give X0,Y0,X1,Y1 in pixels of the upright picture."
        )
    return x0, y0, x1, y1


def _session(file: Path, threads: int, source: str, *targets: str) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Two sessions whose waiting threads spin take the cores from each other: half the speed.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises many unrelated classes
        raise ModelError(f"{file.name} cannot be loaded ({error}): install the model files again.") from error
    if source not in {i.name for i in session.get_inputs()} or not set(targets) <= {
        o.name for o in session.get_outputs()
    }:
        raise ModelError(f"{file.name} has other inputs or outputs than its card says: install it again.")
    return session
