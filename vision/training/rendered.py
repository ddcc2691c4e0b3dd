"""Measures the product's reading on rendered tables: every place's zone and the indicator, rectified."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from vision.geometry import default_calibration
from vision.recognizer import Recognizer
from vision.render import LaidHand, Scene, render
from vision.training.pen import Rng

PLACES = 4


def random_hand(rng: Rng, bag: list[str]) -> LaidHand:
    """Draw a hand of 14 from the bag: up to two melds (a concealed kong now and then), a tile apart."""
    melds: list[tuple[str, ...]] = []
    for _ in range(int(rng.integers(0, 3))):
        tiles = [bag.pop() for _ in range(3)]
        melds.append(("back", tiles[0], tiles[1], "back") if rng.random() < 0.3 else tuple(tiles))
    concealed = tuple(bag.pop() for _ in range(13 - 3 * len(melds)))
    return LaidHand(tuple(melds), concealed, bag.pop())


def random_scene(rng: Rng) -> Scene:
    """Lay four hands from one shuffled set of 144 tiles, and an indicator."""
    kinds = [f"{n}{suit}" for suit in "mps" for n in range(1, 10)] + [f"{n}z" for n in range(1, 8)]
    bag = kinds * 4 + [f"{n}f" for n in range(1, 9)]
    rng.shuffle(bag)
    hands = {place: random_hand(rng, bag) for place in range(PLACES)}
    return Scene(bag.pop(), hands, (0, 0, 0, 0), int(rng.integers(1 << 30)))


def measure(card: Path, scenes: int, seed: int = 1) -> str:
    """Render scenes and read them; return tiles right, hands exact, and what was mistaken."""
    rng = np.random.default_rng(seed)
    recognizer, calibration = Recognizer.load(card), default_calibration()
    tiles = right = hands = exact = 0
    mistakes: Counter[str] = Counter()
    for _ in range(scenes):
        scene = random_scene(rng)
        frame = render(scene, calibration, seed=int(rng.integers(1 << 30)))
        wanted: list[tuple[str | int, list[str]]] = [(p, list(scene.hands[p].kinds)) for p in scene.hands]
        wanted += [("indicator", [scene.indicator or ""])]
        for zone, kinds in wanted:
            part = calibration.rectify(frame, zone)
            reading = recognizer.read(part.image, None, len(kinds))
            seen = [reading.tiles[i].kind for row in reading.rows for i in row]
            good = sum(a == b for a, b in zip(kinds, seen, strict=False)) if len(seen) == len(kinds) else 0
            tiles, right = tiles + len(kinds), right + good
            hands, exact = hands + 1, exact + (good == len(kinds))
            if len(seen) == len(kinds):
                mistakes.update(f"{a} read as {b}" for a, b in zip(kinds, seen, strict=True) if a != b)
            else:
                mistakes[f"{len(seen)} tiles read of {len(kinds)}"] += 1
    lines = [f"rendered tables: {right} of {tiles} tiles right, {exact} of {hands} zones exact"]
    return "\n".join(lines + [f"{what} x {n}" for what, n in mistakes.most_common(15)])
