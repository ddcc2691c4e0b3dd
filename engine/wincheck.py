"""Does a hand win? Sets and one pair, with any number of wildcards, tiles and melds (engine/wintable.py).

Hands are counts of the 34 kinds *without* the wildcards, and a number of wildcards. Melds stay outside: the
rest of a hand with melds is just a smaller hand. `wins` and `deficiency` check what they are given; a
`WinChecker` does not and is meant for millions of hands that are known to be sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from struct import Struct

from engine.errors import EngineError
from engine.tiles import HAND_KINDS, KINDS, Tile
from engine.wintable import (
    COPIES,
    DRAGONS,
    FLAG,
    HEAD_RANKS,
    HONOURS,
    NEED_OF_SUM,
    TAIL_KEYS,
    TAIL_RANKS,
    WINDS,
    honour_parts,
    honour_row,
    suit_rows,
)

Counts = Sequence[int]
"""How many of each of the 34 kinds a hand has, wildcards left out."""

MAX_COPIES = 4


class CountsError(EngineError):
    """The counts are not those of a hand; `tile` is the kind which occurs too often, if that is it."""

    def __init__(self, message: str, tile: Tile | None = None) -> None:
        super().__init__(message)
        self.tile = tile


def counts_of(tiles: Iterable[int]) -> list[int]:
    """Count tiles by kind.

    Raises:
        CountsError: a flower, a face-down or an unknown tile is among them.
    """
    counts = [0] * KINDS
    for tile in tiles:
        if not 0 <= tile < KINDS:
            raise CountsError(f"{Tile(tile).id} cannot be part of a set; leave it out.", Tile(tile))
        counts[tile] += 1
    return counts


def _steps(first: int, ranks: int) -> tuple[tuple[int, int], ...]:
    """For each rank: its number from `first` on, and the way from a key to that with one more tile.

    The way is one round backwards, as negative indices go: a fifth copy then still finds *some* entry.
    """
    return tuple((first + rank, 5 ** (ranks - 1 - rank) - 5**ranks) for rank in range(ranks))


_HEAD_STEPS, _TAIL_STEPS = _steps(0, HEAD_RANKS), _steps(HEAD_RANKS, TAIL_RANKS)
_HONOUR_STEPS = _steps(Tile.EAST, HONOURS)


@lru_cache(maxsize=1)
def _keys_of_counts() -> tuple[dict[bytes, int], ...]:
    """The key of each way to have 0..4 copies of five, of four and of three kinds."""
    return tuple(
        {bytes(copies): key for key, copies in enumerate(product(range(COPIES), repeat=kinds))}
        for kinds in (HEAD_RANKS, TAIL_RANKS, DRAGONS)
    )


def _fields(counts: Counts) -> tuple[int, int, int, int, int, int, int]:
    """Head and tail key of characters, dots and bamboos, and key of the honours."""
    fives, fours, threes = _keys_of_counts()
    try:
        c = bytes(counts)
        if len(c) == KINDS:
            honours = fours[c[27:31]] * len(threes) + threes[c[31:]]
            return (
                fives[c[:5]],
                fours[c[5:9]],
                fives[c[9:14]],
                fours[c[14:18]],
                fives[c[18:23]],
                fours[c[23:27]],
                honours,
            )
    except (KeyError, ValueError):
        pass
    raise _counts_error(counts)


def suit_keys(counts: Counts) -> tuple[int, int, int, int]:
    """Keys to base 5 of characters, dots, bamboos and honours, the lowest rank most significant.

    Raises:
        CountsError: not 34 counts of 0..4.
    """
    m, m2, p, p2, s, s2, z = _fields(counts)
    return m * TAIL_KEYS + m2, p * TAIL_KEYS + p2, s * TAIL_KEYS + s2, z


def _table_sum(counts: Counts) -> int:
    """Sum of the four table bytes of a hand."""
    rows = suit_rows()
    m, m2, p, p2, s, s2, z = _fields(counts)
    return rows[m][m2] + rows[p][p2] + rows[s][s2] + honour_row()[z]


def _counts_error(counts: Counts) -> CountsError:
    for kind, count in enumerate(counts[:KINDS]):
        if not 0 <= count <= MAX_COPIES:
            tile = Tile(kind)
            return CountsError(f"a hand cannot have {count} of {tile.id}; read the tiles again.", tile)
    return CountsError(f"a hand is counted over {KINDS} kinds, not {len(counts)}.")


def deficiency(counts34: Counts, wilds: int = 0) -> int:
    """Fewest wildcards, beyond the `wilds` in hand, that complete all tiles to sets and one pair.

    0 = complete (or, with too few tiles, part of a complete hand). A cheap distance for choosing a discard.

    >>> deficiency(counts_of([0, 1, 2, 3, 4, 5, 6, 7, 8, 27, 27, 27, 9]))
    1

    Raises:
        CountsError: not 34 counts of 0..4.
    """
    return max(0, NEED_OF_SUM[_table_sum(counts34)] - wilds)


def sets_deficiency(counts34: Counts) -> int:
    """Fewest wildcards that complete these tiles to sets without a pair.

    Raises:
        CountsError: not 34 counts of 0..4.
    """
    return _table_sum(counts34) % FLAG


def wins(counts34: Counts, wilds: int = 0) -> bool:
    """Whether the tiles and `wilds` wildcards are sets and one pair (3n + 2 tiles with the wildcards).

    Wildcards left over are a multiple of three and make sets of their own.

    Raises:
        CountsError: not 34 counts of 0..4.
    """
    return deficiency(counts34) <= wilds and (sum(counts34) + wilds) % 3 == 2


def every_tile_wins(counts34: Counts, wilds: int) -> bool:
    """Whether every one of the 34 kinds completes these 3n + 1 tiles (跑搭 of Zhenjiang, 游金 of Xiamen).

    The same as: without one wildcard the hand splits into sets, and that wildcard pairs with whatever comes.

    Raises:
        CountsError: not 34 counts of 0..4.
    """
    return sets_deficiency(counts34) < wilds and (sum(counts34) + wilds) % 3 == 1


def waits(counts34: Counts, wilds: int = 0, wild: Tile | None = None) -> tuple[Tile, ...]:
    """The kinds that complete these 3n + 1 tiles (wildcards included), in tile order.

    Args:
        counts34: the natural tiles by kind, 0..4 each.
        wilds: how many wildcards there are besides.
        wild: their kind, if one more of it is a wildcard too; None when it counts like any other tile.

    A kind of which the hand already has four is none: no fifth can come. Other tiles that lie open, and kinds
    the tile set does not have, are not known here.

    >>> waits(counts_of([18, 18, 18, 20, 21, 22, 23, 23, 23, 23, 24, 25, 25]))
    (Tile.S2, Tile.S5, Tile.S7, Tile.S8)

    Raises:
        CountsError: not 34 counts of 0..4.
    """
    m, m2, p, p2, s, s2, z = _fields(counts34)
    rows, honours = suit_rows(), honour_row()
    table = (rows[m][m2], rows[p][p2], rows[s][s2], honours[z])
    total = sum(table)
    if NEED_OF_SUM[total] > wilds + 1 or (sum(counts34) + wilds) % 3 != 1:
        return ()  # one tile does no more than one wildcard does
    need = NEED_OF_SUM
    found: list[int] = []
    for first, head, tail, byte in ((0, m, m2, table[0]), (9, p, p2, table[1]), (18, s, s2, table[2])):
        others, row = total - byte, rows[head]
        found += [first + kind for kind, up in _HEAD_STEPS if need[others + rows[head + up][tail]] <= wilds]
        found += [first + kind for kind, up in _TAIL_STEPS if need[others + row[tail + up]] <= wilds]
    others = total - table[3]
    found += [kind for kind, up in _HONOUR_STEPS if need[others + honours[z + up]] <= wilds]
    live = [HAND_KINDS[kind] for kind in found if counts34[kind] < MAX_COPIES and kind != wild]
    if wild is not None and counts34[wild] + wilds < MAX_COPIES:
        live = sorted([*live, wild])
    return tuple(live)


_FIELDS = Struct(">B8H")  # wildcards, winds, dragons, head and tail key of bamboos, dots, characters
_WILD_SHIFT = 128


def _tile_key(kind: int) -> int:
    """What one tile adds to the packed key of a hand."""
    suit, rank = divmod(kind, 9)
    head, tail = (WINDS, DRAGONS) if suit == 3 else (HEAD_RANKS, TAIL_RANKS)
    key, low = (head - 1 - rank, 16) if rank < head else (head + tail - 1 - rank, 0)
    return int(COPIES**key) << (32 * suit + low)


_TILE_KEYS = tuple(_tile_key(kind) for kind in range(KINDS))


class WinChecker:
    """Fast win check from tile ids for one wildcard kind. **It checks nothing**: see `wins_unchecked`.

    >>> WinChecker(Tile.S6).wins_unchecked([0, 1, 2, 27, 27, 18, 19, 23])
    True
    """

    def __init__(self, wild: Tile | None = None) -> None:
        keys = list(_TILE_KEYS)
        if wild is not None:
            keys[wild] = 1 << _WILD_SHIFT
        self.wins_unchecked: Callable[[Sequence[int]], bool] = _unchecked(keys)
        """Whether the tiles (ids 0..33, 3n + 2 of them) win. Five copies of a kind, another number of tiles
        or other ids give a **wrong answer or an error**: use `wins` for anything a camera has read."""


def _unchecked(keys: list[int]) -> Callable[[Sequence[int]], bool]:
    unpack, size = _FIELDS.unpack, _FIELDS.size
    two = [[key + other for other in keys] for key in keys]  # two tiles at a time: half the additions
    rows, winds, dragons, need = suit_rows(), *honour_parts(), NEED_OF_SUM

    def wins_unchecked(tiles: Sequence[int]) -> bool:
        if len(tiles) == 14:
            a, b, c, d, e, f, g, h, i, j, k, m, n, o = tiles
            key = two[a][b] + two[c][d] + two[e][f] + two[g][h] + two[i][j] + two[k][m] + two[n][o]
        elif len(tiles) == 17:
            a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r = tiles
            key = two[a][b] + two[c][d] + two[e][f] + two[g][h] + two[i][j] + two[k][m] + two[n][o]
            key += two[p][q] + keys[r]
        else:
            key = 0
            for tile in tiles:
                key += keys[tile]
        fields: tuple[int, ...] = unpack(key.to_bytes(size))
        wilds, z, z2, s, s2, p, p2, m, m2 = fields
        return need[rows[m][m2] + rows[p][p2] + rows[s][s2] + winds[z] + dragons[z2]] <= wilds

    return wins_unchecked
