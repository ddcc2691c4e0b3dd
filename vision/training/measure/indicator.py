"""Indicator: rendered wall ends with a photographed face as the tile turned up, or with none turned up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from vision.geometry import Calibration, default_calibration
from vision.hand_reading import read_turned
from vision.reading_service import Reader
from vision.readings import Reading
from vision.render import Look, render, tile_quads
from vision.render.scene import Scene
from vision.shapes import BACK
from vision.training.dataset import Image
from vision.training.measure.bounds import clopper_pearson
from vision.training.measure.compose import BEVEL, noise, within
from vision.training.measure.hands import fingerprint
from vision.training.measure.journal import Journal, Record, fill
from vision.training.measure.models import header, load
from vision.training.measure.pools import Pool, make_pools
from vision.training.measure.unseen import find_unseen, left_out
from vision.training.pen import Rng
from vision.training.scenes import paste_face, rounded_mask
from vision.walls import look_at_stack

NOTHING_TURNED = 0.15
"""Share of pictures, beside the others, in which all tiles lie face down or none lies in the zone."""
UNSURE_LIMIT = 0.02
BESIDE, ON_WALL = "beside the wall", "on the wall"
RIGHT, UNSURE, WRONG = "right", "unsure", "wrong"
CLOTHS = ((104, 82, 46), (60, 110, 40), (70, 60, 130), (90, 90, 90), (120, 70, 40))


@dataclass(frozen=True)
class Turned:
    """A frame with a tile turned up: where it lies, its stack if on a wall, and its kind (None: none is)."""

    frame: Image
    where: str
    stack: tuple[int, int] | None
    kind: str | None
    source: str


def wall_end(rng: Rng, pools: Sequence[Pool], calibration: Calibration, nothing: bool) -> Turned:
    """Render a table during play with the tile turned up, its face one of a pool."""
    pool = pools[int(rng.integers(len(pools)))]
    kind = str(rng.choice(sorted(pool.kinds)))
    walls = [int(rng.integers(2, 18)) for _ in range(4)]
    place, seed = int(rng.integers(4)), int(rng.integers(1 << 30))
    where = ON_WALL if rng.random() < 0.5 else BESIDE
    stack = None
    if where == ON_WALL:
        first = 17 - walls[place] + 1
        stack = place, min(17, first + int(rng.integers(0, 4)))
    back = _near(rng, (92, 122, 29), 60)
    look = Look(_near(rng, CLOTHS[int(rng.integers(len(CLOTHS)))], 15), back)
    shown = None if nothing else kind
    scene = Scene(shown, {}, tuple(walls), seed, turned=None if nothing else stack)
    frame = render(scene, calibration, seed=seed, look=look)
    if shown is not None:
        quad = next(quad for name, quad in tile_quads(scene, calibration) if name == shown)
        faces = pool.faces[kind]
        _paste(rng, frame, faces[int(rng.integers(len(faces)))].image, quad)
    return Turned(frame, where, stack, shown, pool.name)


def _near(rng: Rng, colour: tuple[int, int, int], spread: int) -> tuple[int, int, int]:
    b, g, r = (int(np.clip(c + rng.integers(-spread, spread + 1), 0, 255)) for c in colour)
    return b, g, r


def _paste(rng: Rng, frame: Image, face: Image, quad: np.ndarray) -> None:
    """Put a photographed face on a rendered tile, as bright as the rendered one, with the frame's noise."""
    x0, y0 = np.floor(quad.min(0)).astype(int) - 2
    x1, y1 = np.ceil(quad.max(0)).astype(int) + 3
    spot = frame[y0:y1, x0:x1]
    level = float(np.percentile(spot, 80)) / max(1.0, float(np.percentile(face, 80)))
    lit = np.clip(face * level, 0, 255).astype(np.uint8)
    if rng.random() < 0.5:
        lit = np.ascontiguousarray(lit[::-1, ::-1])
    before = spot.copy()
    paste_face(frame, lit, within(quad, float(rng.uniform(*BEVEL))), rounded_mask(rng.uniform(4, 12)))
    soft = cv2.GaussianBlur(spot, (0, 0), rng.uniform(0.5, 0.8))
    changed = (np.abs(spot.astype(int) - before).max(2) > 0)[..., None]
    grain = noise(rng, spot.shape[0], spot.shape[1]) * rng.uniform(1, 4)
    spot[:] = np.where(changed, np.clip(soft + grain, 0, 255), spot).astype(np.uint8)


def read(reader: Reader, calibration: Calibration, turned: Turned) -> Reading:
    """Read the tile turned up as a table does: its own zone, or the stack where it is known to lie."""
    if turned.stack is not None:
        return read_turned(reader, look_at_stack(calibration, turned.frame, *turned.stack).image)
    return read_turned(reader, calibration.rectify(turned.frame, "indicator").image)


def verdict(reading: Reading, kind: str | None) -> str:
    """Whether a reading is right, unsure or wrong; where none is turned up, a back or nothing is right."""
    seen = [tile.kind for tile in reading.tiles]
    if kind is None and (not seen or seen == [BACK]):
        return RIGHT
    if not reading.accept:
        return UNSURE
    return RIGHT if kind is not None and seen == [kind] else WRONG


def measure(
    models: Path, out: Path, *, scenes: int, seed: int, threads: int, unseen: frozenset[str] = frozenset()
) -> list[Record]:
    """Read ``scenes`` tiles turned up and some tables with none; write ``indicator.jsonl``."""
    whole = unseen | left_out(models)
    recognizer, calibration = load(models, threads), default_calibration()
    pools = make_pools(find_unseen(whole))
    first = header("indicator", recognizer, whole, seed=seed, faces=fingerprint(pools), scenes=scenes)

    def work(n: int) -> Record:
        rng = np.random.default_rng([seed, n, 4])
        turned = wall_end(rng, pools, calibration, nothing=n >= scenes)
        reading = read(recognizer, calibration, turned)
        tiles = [[t.kind, round(t.score, 4), *t.doubts] for t in reading.tiles]
        return {
            "where": turned.where, "source": turned.source, "kind": turned.kind, "read": tiles,
            "verdict": verdict(reading, turned.kind), "why": list(reading.why),
        }  # fmt: skip

    return fill(Journal(out / "indicator.jsonl", first), scenes + round(NOTHING_TURNED * scenes), work)


def report(records: Iterable[Record]) -> str:
    """Return markdown: right, unsure, wrong by place and source, then every wrong one."""
    counts: dict[str, Counter[str]] = {}
    wrong = []
    for r in records:
        group = f"{r['where']}, turned up" if r["kind"] else f"{r['where']}, none turned up"
        for name in (group, *(["all turned up", f"face of {r['source']}"] if r["kind"] else [])):
            counts.setdefault(name, Counter())[r["verdict"]] += 1
        if r["verdict"] == WRONG:
            wrong.append(f"{r['n']}: {r['kind']} read as {r['read']} {r['where']}, {r['source']}")
    lines = ["| tiles | seen | right | unsure | wrong (95 %) |", "|---|---|---|---|---|"]
    for name in sorted(counts):
        one = counts[name]
        total = sum(one.values())
        low, high = clopper_pearson(one[WRONG], total)
        lines.append(
            f"| {name} | {total} | {one[RIGHT]} | {one[UNSURE]} ({one[UNSURE] / total:.1%})"
            f" | {one[WRONG]} ({low:.2%}–{high:.2%}) |"
        )
    return "\n".join([*lines, "", *(f"* {line}" for line in wrong)])
