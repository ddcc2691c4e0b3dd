"""Indicator: rendered wall ends with a photographed face as the tile turned up, or with none turned up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from vision.geometry import Calibration, default_calibration
from vision.hand_reading import look_indicator
from vision.indicator import FACE_DOWN, NONE, ONE, IndicatorState, IndicatorWatch
from vision.indicator import UNSURE as UNSURE_STATUS
from vision.reading_service import Reader
from vision.render import Look, render, tile_quads
from vision.render.scene import Scene
from vision.shapes import BACK
from vision.training.dataset import Image
from vision.training.measure.bounds import clopper_pearson
from vision.training.measure.compose import BEVEL, within
from vision.training.measure.hands import fingerprint
from vision.training.measure.journal import Journal, Record, fill
from vision.training.measure.lens import noise
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
    """A frame with a tile turned up: where it lies, its stack if on a wall, and its kind (None: none is).

    ``otherwise``: what is to be seen where none is turned up.
    """

    frame: Image
    where: str
    stack: tuple[int, int] | None
    kind: str | None
    source: str
    otherwise: str = FACE_DOWN


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
    covered = nothing and where == BESIDE and rng.random() < 0.5
    shown = None if nothing else kind
    scene = Scene(BACK if covered else shown, {}, tuple(walls), seed, turned=None if nothing else stack)
    frame = render(scene, calibration, seed=seed, look=look)
    if shown is not None:
        quad = next(quad for name, quad in tile_quads(scene, calibration) if name == shown)
        faces = pool.faces[kind]
        _paste(rng, frame, faces[int(rng.integers(len(faces)))].image, quad)
    otherwise = FACE_DOWN if covered or where == ON_WALL else NONE
    return Turned(frame, where, stack, shown, pool.name, otherwise)


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


def look(reader: Reader, calibration: Calibration, turned: Turned) -> IndicatorState:
    """Look at the tile turned up as a table does: in its own zone, or on the stack where it must lie."""
    if turned.stack is not None:
        image = look_at_stack(calibration, turned.frame, *turned.stack).image
    else:
        image = calibration.rectify(turned.frame, "indicator").image
    return look_indicator(reader, image)[0]


def verdict(state: IndicatorState, turned: Turned) -> str:
    """Whether what was seen is right, unsure or wrong.

    Nothing and a face-down tile both say that none was turned up: taking one for the other harms nobody.
    """
    if state.status == UNSURE_STATUS:
        return UNSURE
    if turned.kind is None:
        return RIGHT if state.status in (NONE, FACE_DOWN) else WRONG
    return RIGHT if state.status == ONE and state.kind == turned.kind else WRONG


def later(rng: Rng, turned: Turned) -> Turned:
    """The same table a while later: other noise, slightly other light."""
    frame = turned.frame * rng.uniform(0.9, 1.05)
    for part in np.array_split(frame, 2):
        part += noise(rng, part.shape[0], part.shape[1]) * rng.uniform(0.5, 3)
    return replace(turned, frame=np.clip(frame, 0, 255).astype(np.uint8))


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
        state = look(recognizer, calibration, turned)
        change = IndicatorWatch(state).change(look(recognizer, calibration, later(rng, turned)))
        return {
            "where": turned.where, "source": turned.source, "kind": turned.kind,
            "verdict": verdict(state, turned),
            "read": [state.status, state.kind, state.score and round(state.score, 4), *state.reasons],
            "otherwise": turned.otherwise, "watch": change,
        }  # fmt: skip

    return fill(Journal(out / "indicator.jsonl", first), scenes + round(NOTHING_TURNED * scenes), work)


def report(records: Sequence[Record]) -> str:
    """Return markdown: right, unsure, wrong by place and source, then every wrong one."""
    counts: dict[str, Counter[str]] = {}
    watch: Counter[str] = Counter()
    wrong = []
    for r in records:
        group = f"{r['where']}, turned up" if r["kind"] else f"{r['where']}, none turned up"
        for name in (group, *(["all turned up", f"face of {r['source']}"] if r["kind"] else [])):
            counts.setdefault(name, Counter())[r["verdict"]] += 1
        if r["kind"] and r["verdict"] == RIGHT:
            watch[r["watch"]] += 1
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
    hidden = [r for r in records if not r["kind"] and r["otherwise"] == FACE_DOWN]
    overlooked = sum(r["read"][0] == NONE for r in hidden)
    watched = ", ".join(f"{what} {n}" for what, n in watch.most_common())
    notes = [
        f"seen right, looked at again: {watched}",
        f"face down and overlooked: {overlooked} of {len(hidden)}",
    ]
    return "\n".join([*lines, "", *(f"* {line}" for line in (*notes, *wrong))])
