"""Other libraries as contestants: each gets the hands in the form it likes best, made ready beforehand.

None of them knows wildcards. A library that is not installed is named by `missing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from engine.tiles import KINDS
from engine.wincheck import counts_of

DISTRIBUTIONS = ("mahjong", "PyMahjongGB", "riichienv", "xiangting")

Hands = Sequence[list[int]]
"""Tile ids 0..33; the last tile of 14 is the winning one."""


class Contestant(NamedTuple):
    """Something to be measured: `check` gives a true value for each of `hands`."""

    task: str
    name: str
    check: Callable[[Any], Any]
    hands: Sequence[Any]


def versions() -> dict[str, str | None]:
    """The version of each library, None where it is not installed."""
    found: dict[str, str | None] = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def contestants(hands: Hands, long_hands: Hands) -> Iterator[Contestant]:
    """Every task each installed library can do, without wildcards; hands of 17 tiles where it knows them."""
    for peer in (_mahjong, _py_mahjong_gb, _riichienv, _xiangting):
        try:
            yield from peer(hands)
            if peer is _mahjong:
                yield _mahjong_17(long_hands)
        except ImportError:
            continue  # `versions` says so


def physical(hand: list[int]) -> list[int]:
    """Ids 0..135, a copy each; copy 0 (red fives) comes last."""
    seen: Counter[int] = Counter()
    result = []
    for tile in hand:
        seen[tile] += 1
        result.append(4 * tile + seen[tile] % 4)
    return result


def _mahjong(hands: Hands) -> Iterator[Contestant]:
    from mahjong.agari import Agari
    from mahjong.hand_calculating.divider import HandDivider
    from mahjong.hand_calculating.hand import HandCalculator
    from mahjong.hand_calculating.hand_config import HandConfig

    counted = [counts_of(hand) for hand in hands]
    yield Contestant("win check", "mahjong, counts of 14", Agari.is_agari, counted)
    yield Contestant("win check", "mahjong, 14 tile ids", lambda hand: Agari.is_agari(counts_of(hand)), hands)

    def waits(counts: list[int]) -> list[int]:
        found = []
        for kind in range(KINDS):
            if counts[kind] < 4:
                counts[kind] += 1
                if Agari.is_agari(counts):
                    found.append(kind)
                counts[kind] -= 1
        return found

    waiting = [counts_of(hand[:-1]) for hand in hands]
    yield Contestant("waits", "mahjong, tried one by one", waits, waiting)
    yield Contestant("readings", "mahjong", HandDivider.divide_hand, counted)
    config = HandConfig(is_tsumo=True)

    def score(hand: list[int]) -> bool:
        return HandCalculator.estimate_hand_value(hand, hand[-1], config=config).error is None

    yield Contestant("verdict", "mahjong (riichi)", score, [physical(hand) for hand in hands])


def _mahjong_17(long_hands: Hands) -> Contestant:
    from mahjong.agari import Agari

    counted = [counts_of(hand) for hand in long_hands]
    return Contestant("win check", "mahjong, counts of 17", Agari.is_agari, counted)


def _py_mahjong_gb(hands: Hands) -> Iterator[Contestant]:
    from MahjongGB import MahjongFanCalculator, RegularShanten

    names = [f"{'WTB'[kind // 9]}{kind % 9 + 1}" for kind in range(27)]
    names += [f"F{n}" for n in range(1, 5)] + ["J3", "J2", "J1"]
    named = [tuple(names[tile] for tile in hand) for hand in hands]

    def fans(hand: tuple[str, ...]) -> Any:
        return MahjongFanCalculator((), hand[:-1], hand[-1], 0, True, False, False, False, 0, 0)

    yield Contestant("waits", "PyMahjongGB", lambda hand: RegularShanten(hand)[1], [h[:-1] for h in named])
    yield Contestant("verdict", "PyMahjongGB (MCR), which is its win check too", fans, named)


def _riichienv(hands: Hands) -> Iterator[Contestant]:
    from riichienv import Conditions, HandEvaluator, calculate_shanten

    copies = [physical(hand) for hand in hands]
    yield Contestant("win check", "riichienv", lambda hand: calculate_shanten(hand) == -1, copies)
    waiting = [hand[:-1] for hand in copies]
    yield Contestant("waits", "riichienv", lambda hand: HandEvaluator(hand).get_waits(), waiting)
    conditions = Conditions(tsumo=True)

    def score(hand: list[int]) -> bool:
        return bool(HandEvaluator(hand).calc(hand[-1], conditions=conditions).is_win)

    yield Contestant("verdict", "riichienv (riichi)", score, copies)


def _xiangting(hands: Hands) -> Iterator[Contestant]:
    from xiangting import PlayerCount, calculate_necessary_tiles, calculate_replacement_number

    four = PlayerCount.FOUR
    counted = [counts_of(hand) for hand in hands]
    yield Contestant("win check", "xiangting", lambda c: calculate_replacement_number(c, four) == 0, counted)
    waiting = [counts_of(hand[:-1]) for hand in hands]
    yield Contestant("waits", "xiangting", lambda c: calculate_necessary_tiles(c, four)[1], waiting)
