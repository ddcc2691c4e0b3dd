"""The tile recognizer: a picture goes in, a reading comes out. The only importer of onnxruntime."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime as ort

from vision.areas import better_sides, clip_region, with_margin
from vision.decode import DecodeSettings, decode
from vision.errors import ModelError
from vision.imaging import CROP_HEIGHT, CROP_WIDTH, fit, tile_crops
from vision.interpret import Thresholds, opinions, softmax, tile_readings, why_not
from vision.looking import look
from vision.model_card import LABELS, ModelCard
from vision.picking import Candidates, pick
from vision.readings import Box, Detections, Floats, Image, Looks, Reading, check_image
from vision.shapes import HandShape
from vision.sizes import odd_sizes

__all__ = ["Adapt", "Classify", "Detect", "Looks", "Recognizer"]

Detect = Callable[[Image], Floats]
"""BGR uint8 ``(H, W, 3)``, sides multiples of 32 -> maps float32 ``(5, H/8, W/8)``."""
Classify = Callable[[Image], Looks]
"""BGR uint8 ``(N, 64, 48, 3)`` -> logits ``(N, 44)``, embeddings ``(N, 128)``, whether fives are red."""
Adapt = Callable[[Looks], Floats]
"""What a table's own tiles make of the classifier's answers: logits float32 ``(N, 44)``."""


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

        limits = model.limits
        recognizer = cls(detect, classify, model.temperature, model.settings, limits, model)
        recognizer.warm_up()
        return recognizer

    def warm_up(self) -> None:
        """Run both networks once: the first run allocates, and a referee should not wait for it.

        Raises ModelError when a network does not answer in the agreed shape.
        """
        side = self.settings.multiple * 2
        maps = self.detect(np.zeros((side, side, 3), np.uint8))
        shares, _ = self._judge(np.zeros((2, CROP_HEIGHT, CROP_WIDTH, 3), np.uint8))
        if maps.shape != (5, side // 8, side // 8) or shares.shape != (2, len(LABELS)):
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
        frame, all of it by default; what lies around it is seen, but only tiles that lie in it for the most
        part are read. ``expect``: how many tiles there are, where known. ``kinds``: the
        tile set in play; ``shape``: the hands in play, which says what tiles may lie face down;
        ``long_side``: pixels to search the picture at, by default the card's. Boxes of the reading are pixels
        of ``frame``. A picture without tiles gives an empty reading that is not accepted. Raises RegionError
        and ShapeError.
        """
        started = time.perf_counter()
        check_image(frame, "frame")
        size = (frame.shape[1], frame.shape[0])
        area = clip_region(region, *size)
        x0, y0, x1, y1 = with_margin(area, *size)
        inner = (float(area[0] - x0), float(area[1] - y0), float(area[2] - x0), float(area[3] - y0))
        part = frame[y0:y1, x0:x1]
        picked = pick(
            self.find(part, long_side),
            expect,
            inner,
            lambda boxes: look(self._judge, part, boxes, len(LABELS)),
            lambda boxes: self._judge(tile_crops(part, boxes))[0],
            self.settings,
            self.limits,
            covered_apart=shape is not None and shape.covered,
        )
        found = picked.found.shifted(x0, y0)
        lie = picked.lie
        seen = opinions(picked.sight.shares, LABELS, kinds)
        edge = (0.0, 0.0, float(size[0]), float(size[1]))
        tiles = tile_readings(found, seen, lie, edge, self.limits, shape, picked.sight)
        why = why_not(tiles, expect, picked.whole)
        ms = (time.perf_counter() - started) * 1000
        return Reading(tiles, lie.rows, lie.groups, not why, why, ms, size)

    def find(self, image: Image, long_side: int | None = None) -> Candidates:
        """Find boxes in a picture ``(H, W, 3)``, best first, weak ones included.

        ``long_side``: pixels to search it at, by default the card's. Where the tiles turn out much smaller or
        larger than those that the detector knows best, it is searched once more at a size that suits them.
        """
        side = long_side or self.settings.long_side
        found, scale = self._search(image, side)
        strong = found.take(found.scores >= self.settings.threshold)
        for other in better_sides(strong, scale, side, image.shape[1], image.shape[0]):
            again, _ = self._search(image, other)
            sure = again.take(again.scores >= self.settings.threshold)
            if len(sure) and (len(sure) >= len(strong) or other < side):
                found, strong = again, sure
                break
        return Candidates(found, odd_sizes(found, strong, self.settings))

    def _search(self, image: Image, side: int) -> tuple[Detections, float]:
        settings = replace(self.settings, long_side=side)
        canvas, plan = fit(image, settings)
        return decode(self.detect(canvas), plan.scale, (image.shape[1], image.shape[0]), settings), plan.scale

    def probabilities(self, image: Image, boxes: Floats) -> Floats:
        """Classify boxes ``(N, 4)`` of a picture: calibrated probabilities float32 ``(N, 44)``.

        Every crop is looked at upright and upside down; those that stay unclear along their own edges as
        well.
        """
        return look(self._judge, image, boxes, len(LABELS)).shares

    def _judge(self, crops: Image) -> tuple[Floats, Floats | None]:
        looks = self.classify(crops)
        logits = looks.logits if self.adapt is None else self.adapt(looks)
        red = None if looks.red is None else np.asarray(1 / (1 + np.exp(-looks.red)), np.float32)
        return softmax(logits, self.temperature), red


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
