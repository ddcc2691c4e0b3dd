"""Winning hands of the official rules that are not four sets and a pair (mcr_team_event.md §3).

Hands are counts of the 34 kinds with the winning tile, without melds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from engine.tiles import KINDS, Tile
from engine.wincheck import wins

WHOLE = 14
"""Tiles of a hand without melds."""

_RUNS = ((0, 3, 6), (1, 4, 7), (2, 5, 8))
"""Knitted ranks, from 0: 147, 258, 369."""

KNITTED = tuple(
    frozenset(9 * suit + rank for suit, run in enumerate(runs) for rank in run)
    for runs in permutations(_RUNS)
)
"""The six ways to take 147 of one suit, 258 of another and 369 of the third."""

_SUITED = range(Tile.EAST)

ORPHANS = frozenset(kind for kind in range(KINDS) if Tile(kind).is_honour or Tile(kind).rank in (1, 9))


def is_special(counts: Sequence[int]) -> bool:
    """Whether the hand wins in another form than four sets and a pair."""
    forms = (is_seven_pairs, is_thirteen_orphans, is_honours_and_knitted, is_knitted_straight)
    return any(form(counts) for form in forms)


def is_seven_pairs(counts: Sequence[int]) -> bool:
    """七对, 连七对: seven pairs; four alike are two of them."""
    return sum(counts) == WHOLE and not any(count % 2 for count in counts)


def is_thirteen_orphans(counts: Sequence[int]) -> bool:
    """十三幺: one of each end and honour, and one of them twice."""
    return sum(counts) == WHOLE and all((count > 0) == (kind in ORPHANS) for kind, count in enumerate(counts))


def is_honours_and_knitted(counts: Sequence[int]) -> bool:
    """全不靠, 七星不靠: fourteen different tiles, the suited ones out of 147, 258 and 369 of three suits."""
    if sum(counts) != WHOLE or max(counts) > 1:
        return False
    suited = {kind for kind in _SUITED if counts[kind]}
    return any(suited <= knitted for knitted in KNITTED)


def is_knitted_straight(counts: Sequence[int]) -> bool:
    """组合龙: 147, 258 and 369 of three suits, and a set and a pair; the set may be a meld."""
    for knitted in KNITTED:
        if all(counts[kind] for kind in knitted):
            return wins([count - (kind in knitted) for kind, count in enumerate(counts)])
    return False
