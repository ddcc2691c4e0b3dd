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
from vision.decode import DecodeSettings, choose, decode, iou_matrix
from vision.errors import ModelError, RegionError
from vision.imaging import CROP_HEIGHT, CROP_WIDTH, fit, tile_crops
from vision.interpret import (
    Sight,
    Thresholds,
    opinions,
    softmax,
    tile_readings,
    trust_detector,
    why_not,
)
from vision.looking import look
from vision.model_card import LABELS, ModelCard
from vision.readings import (
    CUT_AT_BORDER,
    EXTRA_TILES,
    ODD_SIZE,
    UNSEEN_TILE,
    Box,
    Detections,
    Floats,
    Image,
    Looks,
    Reading,
    check_image,
)
from vision.shapes import HandShape
from vision.sizes import odd_sizes
from vision.unseen import inside_share, unseen_places

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
INSIDE = 0.75
"""A tile belongs to a region when so much of its box lies in it."""
STRADDLING = 0.6
"""From so much on it may belong to it."""
TAKEN = 0.25
"""Overlap with a tile above which a weak box is no other tile."""
SMALL_TILE, LARGE_TILE = 28.0, 130.0
"""Long sides of tiles, pixels as searched, outside of which the picture is searched again..."""
GOOD_SMALL, GOOD_LARGE = 44.0, 80.0
"""...so that they get this long."""
SMALLEST_SIDE, LARGEST_SIDE = 160, 1600
MARGIN = 0.25
"""How much more than the region is looked at, by its short side: a tile at its edge is seen whole."""


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
        picked = self._pick(part, self.find(part, long_side), expect, inner)
        found = picked.found.shifted(x0, y0)
        lie = arrange(found)
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

    def _pick(self, image: Image, candidates: Candidates, expect: int | None, area: Box) -> _Picked:
        """Classify the candidates and keep those that are tiles."""
        found, odd = candidates.found, candidates.odd
        inside = inside_share(found.boxes, area)
        strong = found.scores >= self.settings.threshold
        near = inside >= STRADDLING
        wanted = near & ~odd & (strong if expect is None else True)
        order = np.flatnonzero(wanted)[: None if expect is None else expect + SPARE]
        doubtful = np.flatnonzero(near & odd & strong)[:SPARE]
        order = np.concatenate([order, doubtful])
        found, odd, inside = found.take(order), odd[order], inside[order]
        sight = look(self._judge, image, found.boxes, len(LABELS))
        sight = replace(sight, shares=trust_detector(sight.shares, found.scores))
        shares = sight.shares
        is_tile = (shares[:, -1] < NOT_A_TILE) & ~_gaps(found, shares) & ~odd & (inside >= INSIDE)
        worth = np.where(is_tile, found.scores, 0.1 * found.scores).astype(np.float32)
        kept = choose(worth, self.settings.threshold, expect)
        left = np.setdiff1d(np.arange(len(found)), kept)
        # Walls of face-down tiles beside a hand are usual; more open tiles than expected are not.
        open_tile = shares[left, :BACK].max(axis=1, initial=0) >= self.limits.doubt
        loud = found.scores[left] >= self.settings.threshold
        whole: set[str] = set()
        if expect is not None and (open_tile & loud & ~odd[left] & (inside[left] >= INSIDE)).any():
            whole.add(EXTRA_TILES)
        if (open_tile & loud & (inside[left] < INSIDE) & ~odd[left]).any():
            whole.add(CUT_AT_BORDER)
        if (open_tile & loud & odd[left]).any():
            whole.add(ODD_SIZE)
        tiles = found.take(kept)
        if expect is None and self._overlooks(image, candidates, tiles, area):
            whole.add(UNSEEN_TILE)
        return _Picked(tiles, sight.take(kept), frozenset(whole))

    def _overlooks(self, image: Image, candidates: Candidates, tiles: Detections, area: Box) -> bool:
        """Tell whether the classifier sees a tile where the detector is silent: in gaps, at ends of rows."""
        if len(tiles) == 0:
            return False
        weak = candidates.found.take((candidates.found.scores < self.settings.threshold) & ~candidates.odd)
        weak = weak.take(inside_share(weak.boxes, area) > INSIDE)
        weak = weak.take(iou_matrix(weak.boxes, tiles.boxes).max(axis=1, initial=0) < TAKEN)
        places = np.concatenate([weak.boxes[:SPARE], unseen_places(tiles, arrange(tiles), area)])
        if len(places) == 0:
            return False
        shares, _ = self._judge(tile_crops(image, places))
        return bool((shares[:, :BACK].max(axis=1) >= self.limits.unseen).any())


def _gaps(found: Detections, shares: Floats) -> NDArray[np.bool_]:
    """Mark candidates ``(N,)`` that look face down but are too narrow: cloth between two tiles."""
    back = shares.argmax(axis=1) == BACK
    return np.asarray(back & narrow(found, arrange(found)) if back.any() else back, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Boxes that may be tiles, best first, and which of them ``(N,)`` are of another size than the others."""

    found: Detections
    odd: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Picked:
    """Boxes taken for tiles, what they show, and the doubts of the whole reading."""

    found: Detections
    sight: Sight
    whole: frozenset[str]


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


def with_margin(area: tuple[int, int, int, int], width: int, height: int) -> tuple[int, int, int, int]:
    """Widen an area of a ``width`` x ``height`` picture on all sides as far as the picture goes."""
    x0, y0, x1, y1 = area
    more = round(MARGIN * min(x1 - x0, y1 - y0))
    return max(0, x0 - more), max(0, y0 - more), min(width, x1 + more), min(height, y1 + more)


def better_sides(found: Detections, scale: float, side: int, width: int, height: int) -> list[int]:
    """Long sides at which a ``width`` x ``height`` picture is worth searching again, best first.

    ``scale`` is the one it was searched at with ``side``. None where the tiles ``found`` had a size that the
    detector knows well; without any, they may be smaller or fill the picture.
    """
    long = max(width, height)
    if len(found) == 0:
        return [s for s in (min(2 * side, long), side // 2) if s >= SMALLEST_SIDE and s != side]
    tile = float(np.median(found.sizes.max(axis=1))) * scale
    if SMALL_TILE <= tile <= LARGE_TILE:
        return []
    wanted = (GOOD_SMALL if tile < SMALL_TILE else GOOD_LARGE) / tile * scale * long
    return [
        s for s in (round(min(wanted, LARGEST_SIDE)),) if s >= SMALLEST_SIDE and abs(s - side) > 0.2 * side
    ]


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
