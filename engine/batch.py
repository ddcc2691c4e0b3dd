"""The win check for many hands at once, with numpy: the same tables and answers as `engine.wincheck`.

For exhaustive proofs and statistics; one claim at a table needs `engine.wincheck` only. No other module of
the engine uses numpy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.tiles import KINDS, Tile
from engine.wincheck import MAX_COPIES, CountsError
from engine.wintable import HEAD_RANKS, NEED_OF_SUM, TAIL_KEYS, honour_row, suit_rows

CHUNK = 16_384
"""Hands at a time: their counts stay in the processor's cache."""

MOST_WILDS = KINDS * MAX_COPIES
"""More wildcards than there are tiles are a slip of the caller."""

_HONOURS_FIRST = Tile.EAST
_HONOURS_SPLIT = Tile.WHITE  # the keys of winds and of dragons fit 16 bits, that of all honours does not


class _Tables(NamedTuple):
    starts: NDArray[np.int32]
    """Where the row of a head key begins in `suits`."""
    suits: NDArray[np.uint8]
    """The rows that differ, one after the other."""
    honours: NDArray[np.uint8]
    needs: NDArray[np.int16]


@lru_cache(maxsize=1)
def _tables() -> _Tables:
    starts: dict[bytes, int] = {}
    rows = [starts.setdefault(row, len(starts) * TAIL_KEYS) for row in suit_rows()]
    return _Tables(
        np.array(rows, np.int32),
        np.frombuffer(b"".join(starts), np.uint8),
        np.frombuffer(honour_row(), np.uint8),
        np.array(NEED_OF_SUM, np.int16),
    )


def deficiency(counts: ArrayLike) -> NDArray[np.int16]:
    """Fewest wildcards that complete each hand to sets and one pair.

    Args:
        counts: shape (N, 34), integers 0..4, fastest as uint8; wildcards left out.

    Raises:
        CountsError: another shape, not integers, or counts that no hand has; it names row and tile.
    """
    hands = _checked(counts)
    needed = np.empty(len(hands), np.int16)
    for start in range(0, len(hands), CHUNK):
        by_kind = np.ascontiguousarray(hands[start : start + CHUNK].T)
        needed[start : start + CHUNK] = _needed(by_kind)
    return needed


def wins(counts: ArrayLike, wilds: ArrayLike = 0) -> NDArray[np.bool_]:
    """Whether each hand is sets and one pair with its wildcards (3n + 2 tiles with them).

    >>> wins(np.eye(34, dtype=np.uint8)[:2] * 2, [0, 1])
    array([ True, False])

    Args:
        counts: as for `deficiency`.
        wilds: the wildcards of each hand, shape (N,), or one number for all; 0..136.

    Raises:
        CountsError: as `deficiency`, or numbers of wildcards that do not fit.
    """
    hands = _checked(counts)
    having = np.broadcast_to(_checked_wilds(wilds, len(hands)), (len(hands),))
    answers = np.empty(len(hands), np.bool_)
    for start in range(0, len(hands), CHUNK):
        by_kind = np.ascontiguousarray(hands[start : start + CHUNK].T)
        has = having[start : start + CHUNK]
        complete = (by_kind.sum(axis=0, dtype=np.uint8) + has) % 3 == 2
        answers[start : start + CHUNK] = complete & (_needed(by_kind) <= has)
    return answers


def _checked(counts: ArrayLike) -> NDArray[np.uint8]:
    hands = np.asarray(counts)
    if hands.ndim != 2 or hands.shape[1] != KINDS or hands.dtype.kind not in "iu":
        raise CountsError(f"hands are whole numbers of shape (N, {KINDS}), not {hands.dtype} {hands.shape}.")
    if hands.size and (hands.max() > MAX_COPIES or hands.min() < 0):
        row, kind = np.argwhere((hands > MAX_COPIES) | (hands < 0))[0]
        tile = Tile(kind)
        raise CountsError(f"row {row}: a hand cannot have {hands[row, kind]} of {tile.id}.", tile)
    return hands.astype(np.uint8, copy=False)


def _checked_wilds(wilds: ArrayLike, hands: int) -> NDArray[np.int16]:
    having = np.asarray(wilds)
    if having.dtype.kind not in "iu" or having.shape not in ((), (hands,)):
        raise CountsError(f"wildcards are whole numbers, one for all hands or {hands}.")
    if having.size and not 0 <= having.min() <= having.max() <= MOST_WILDS:
        raise CountsError(f"a hand has 0 to {MOST_WILDS} wildcards, not {having.min()} or {having.max()}.")
    return having.astype(np.int16)


def _needed(by_kind: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Wildcards needed, from counts of shape (34, N)."""
    tables = _tables()
    total = np.zeros(by_kind.shape[1], np.int16)
    for first in range(0, _HONOURS_FIRST, 9):
        starts = tables.starts.take(_key(by_kind[first : first + HEAD_RANKS]))
        total += tables.suits.take(starts + _key(by_kind[first + HEAD_RANKS : first + 9]))
    winds = _key(by_kind[_HONOURS_FIRST:_HONOURS_SPLIT]).astype(np.int32)
    dragons = by_kind[_HONOURS_SPLIT:KINDS]
    total += tables.honours.take(winds * 5 ** len(dragons) + _key(dragons))
    needed: NDArray[np.int16] = tables.needs.take(total)
    return needed


def _key(ranks: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Key to base 5 of at most six ranks, the first most significant."""
    key: NDArray[np.uint16] = ranks[0].astype(np.uint16)
    for rank in ranks[1:]:
        key *= 5
        key += rank
    return key
