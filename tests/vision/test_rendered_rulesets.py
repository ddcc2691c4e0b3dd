"""Hands of every rule set, rendered as the demo shows them and read as the table reads them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from vision.geometry import Calibration, default_calibration
from vision.hand import HandShape, lay_meld
from vision.hand_reading import HandReading, read_claimed, read_shown, read_turned
from vision.recognizer import Recognizer
from vision.render import LaidHand, Scene, render
from vision.render.atlas import KINDS
from vision.render.scene import Wall
from vision.walls import look_at_stack

FACES, FLOWERS = KINDS[:34], KINDS[34:42]
WINDS, DRAGONS = ("1z", "2z", "3z", "4z"), ("5z", "6z", "7z")


@dataclass(frozen=True)
class RuleSet:
    shape: HandShape
    faces: tuple[str, ...] = FACES
    flowers: tuple[str, ...] = ()
    places: int = 4
    stacks: int = 17

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset((*self.faces, *self.flowers))


RULE_SETS = {
    "zhenjiang": RuleSet(HandShape(13, "PKA")),
    "xiamen": RuleSet(HandShape(16, "CPKA"), flowers=FLOWERS, stacks=18),
    "mcr": RuleSet(HandShape(13, "CPKA"), flowers=FLOWERS, stacks=18),
    "fengcheng": RuleSet(
        HandShape(16, "CPKAH", spread=True), tuple(k for k in FACES if k[1] != "s" or k == "1s"), places=3
    ),
}


class Dealer:
    """Draws hands that the tile set can hold."""

    def __init__(self, rules: RuleSet, seed: int) -> None:
        self.rules, self.rng = rules, np.random.default_rng(seed)
        self.left: Counter[str] = Counter()

    def hand(self) -> LaidHand:
        self.left = Counter(dict.fromkeys(self.rules.faces, 4))
        if self.rules.shape.spread:
            self.left["1s"] = 2
        spread = self._spread() if self.rules.shape.spread else ()
        sets = self.rules.shape.tiles // 3 - sum(len(group) > 2 for group in spread)
        melds = tuple(self._meld() for _ in range(int(self.rng.integers(0, sets + 1))))
        deck = [kind for kind in self.rules.faces for _ in range(self.left[kind])]
        self.rng.shuffle(deck)
        waiting = self.rules.shape.tiles % 3 + 3 * (sets - len(melds))
        flowers = [str(k) for k in self.rng.permutation(self.rules.flowers)]
        drawn = tuple(flowers[: int(self.rng.integers(0, 9))]) if flowers else ()
        concealed = tuple(sorted(deck[:waiting], key=KINDS.index))
        return LaidHand(melds, concealed, deck[waiting], drawn, spread)

    def _take(self, tiles: tuple[str, ...]) -> tuple[str, ...]:
        self.left.subtract(tiles)
        return tiles

    def _spread(self) -> tuple[tuple[str, ...], ...]:
        groups = []
        for whole in (WINDS, DRAGONS):
            extra = tuple(kind for kind in whole if self.rng.random() < 0.15)
            if self.rng.random() < 0.5:
                groups.append(self._take(whole + extra))
        if self.rng.random() < 0.5:
            groups.append(self._take(("1s",) * int(self.rng.integers(1, 3))))
        return tuple(groups)

    def _meld(self) -> tuple[str, ...]:
        while True:
            letter, kind = str(self.rng.choice(list(self.rules.shape.melds))), str(self.rng.choice(FACES))
            size = 4 if letter in "KA" else 3
            tiles = (kind,) * size
            if letter == "C":
                rank, suit = int(kind[0]), kind[1]
                tiles = tuple(f"{rank + step}{suit}" for step in self.rng.permutation(3))
            if all(self.left[tile] >= count for tile, count in Counter(tiles).items()) and (
                letter != "C" or kind[1] != "z"
            ):
                return lay_meld(letter, self._take(tiles))


def walls(rules: RuleSet, rng: np.random.Generator) -> tuple[Wall, ...]:
    standing = [int(rng.integers(0, rules.stacks + 1)) for _ in range(rules.places)]
    return (*standing, *[0] * (4 - rules.places))


def as_laid(hand: HandReading) -> LaidHand:
    kinds, layout = hand.reading.kinds, hand.layout

    def named(indices: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(kinds[i] for i in indices)

    return LaidHand(
        tuple(map(named, layout.melds)),
        named(layout.concealed),
        None if layout.win is None else kinds[layout.win],
        named(layout.flowers),
        tuple(map(named, layout.spread)),
    )


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    return Recognizer.load()


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return default_calibration()


@pytest.mark.slow
@pytest.mark.parametrize("name", RULE_SETS)
def test_claimed_hands_are_read_whole_from_every_place(
    name: str, recognizer: Recognizer, calibration: Calibration
) -> None:
    rules = RULE_SETS[name]
    dealer = Dealer(rules, 12)
    wrong, accepted = [], 0
    for n in range(20):
        hand, place = dealer.hand(), n % rules.places
        seed = int(dealer.rng.integers(2**30))
        scene = Scene(None, {place: hand}, walls(rules, dealer.rng), seed, rules.stacks)
        view = calibration.rectify(render(scene, calibration, seed=n), place)
        read = read_claimed(recognizer, view.image, rules.shape, rules.kinds)
        accepted += read.reading.accept
        if as_laid(read) != hand:
            wrong.append((place, hand, as_laid(read)))
    assert wrong == []
    assert accepted >= 19


@pytest.mark.slow
@pytest.mark.parametrize("covered", [False, True], ids=["tiles kept back", "tiles face down"])
def test_what_losers_show_is_read_whole(
    covered: bool, recognizer: Recognizer, calibration: Calibration
) -> None:
    rules = RULE_SETS["fengcheng"]
    dealer = Dealer(rules, 31)
    wrong = []
    for n in range(4):
        hands = {place: replace(dealer.hand(), win=None) for place in range(3)}
        shown = {place: replace(hand, concealed=()) for place, hand in hands.items()}
        laid = {p: replace(h, concealed=("back",) * len(h.concealed)) for p, h in hands.items()}
        scene = Scene(None, laid if covered else shown, walls(rules, dealer.rng), n)
        frame = render(scene, calibration, seed=n)
        for place, hand in shown.items():
            view = calibration.rectify(frame, place)
            read = as_laid(read_shown(recognizer, view.image, rules.shape, rules.kinds))
            if read != hand:
                wrong.append((place, hand, read))
    assert wrong == []


@pytest.mark.slow
def test_the_gold_is_read_on_any_stack_of_the_wall(recognizer: Recognizer, calibration: Calibration) -> None:
    rng = np.random.default_rng(8)
    wrong = []
    for n, kind in enumerate((*FACES, "back")):
        place, stack = n % 4, int(rng.integers(1, 19))
        gone = int(rng.integers(0, stack))
        standing: list[Wall] = [18] * 4
        standing[place] = (0,) * gone + (2,) * (18 - gone)
        scene = Scene(kind, {}, tuple(standing), n, 18, (place, stack))
        view = look_at_stack(calibration, render(scene, calibration, seed=n), place, stack)
        if read_turned(recognizer, view.image).kinds != (kind,):
            wrong.append((kind, place, stack))
    assert wrong == []
