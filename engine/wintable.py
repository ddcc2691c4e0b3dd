"""Tables of the win check: how many wildcards each suit needs, from one small automaton.

The automaton reads the counts of a suit rank by rank. Its state holds, for every (runs begun two ranks ago,
runs begun one rank ago, pair taken), the fewest wildcards spent so far; about 630 states exist. At the end
`need0` wildcards make the suit sets only, `need1` sets and one pair. `need1` is always `need0 + 2` (the pair
is two more wildcards) or `need0 - 1` (the pair frees one that a set would need), so one byte holds both.

No hand size, number of melds or number of wildcards is built in. A wildcard may stand for a fifth copy here;
rule sets which forbid that look at the decompositions.
"""

from __future__ import annotations

from functools import lru_cache

Need = tuple[int, ...]
"""A state: fewest wildcards per (runs two ranks ago, runs one rank ago, pair), flattened; 99 = impossible."""

IMPOSSIBLE = 99
RUNS = 3  # three equal runs are three triplets: 0, 1 or 2 at a time are enough
COPIES = 5  # counts 0..4 are the digits of a key
FLAG = 64
"""Set in a table byte when `need1 == need0 - 1`, clear when `need1 == need0 + 2`; the rest is `need0`."""

HEAD_RANKS = 5
TAIL_RANKS = 4
HONOURS = 7


def _index(two_ago: int, one_ago: int, pair: int) -> int:
    return (two_ago * RUNS + one_ago) * 2 + pair


def _transitions(count: int) -> list[list[tuple[int, int]]]:
    """For every next state: the states it can come from and the wildcards that costs, with `count` tiles."""
    cheapest: dict[tuple[int, int], int] = {}
    for two_ago in range(RUNS):
        for one_ago in range(RUNS):
            for begun in range(RUNS):
                for takes_pair in (0, 1):
                    demand = two_ago + one_ago + begun + 2 * takes_pair
                    triplets = max(0, -(-(count - demand) // 3))
                    cost = demand + 3 * triplets - count
                    for had_pair in (0,) if takes_pair else (0, 1):
                        move = (
                            _index(two_ago, one_ago, had_pair),
                            _index(one_ago, begun, had_pair | takes_pair),
                        )
                        cheapest[move] = min(cost, cheapest.get(move, IMPOSSIBLE))
    into: list[list[tuple[int, int]]] = [[] for _ in range(RUNS * RUNS * 2)]
    for (source, target), cost in cheapest.items():
        into[target].append((source, cost))
    return into


class _SuitAutomaton:
    """Builds the table of a suit; every state's table of the remaining ranks is made once."""

    def __init__(self) -> None:
        self.start: Need = (0, *[IMPOSSIBLE] * (RUNS * RUNS * 2 - 1))
        self._into = [_transitions(count) for count in range(COPIES)]
        self._next: dict[Need, tuple[Need, ...]] = {}
        self._tails: dict[tuple[Need, int], bytes] = {}

    def successors(self, state: Need) -> tuple[Need, ...]:
        """The states after a rank with 0, 1, 2, 3 or 4 tiles."""
        known = self._next.get(state)
        if known is None:
            known = self._next[state] = tuple(
                tuple([min([state[source] + cost for source, cost in sources]) for sources in into])
                for into in self._into
            )
        return known

    def tail(self, state: Need, ranks: int) -> bytes:
        """The table bytes of all counts of the last `ranks` ranks, first rank most significant."""
        if ranks == 0:
            need0, need1 = state[0], state[1]
            return bytes([need0 | FLAG if need1 < need0 else need0])
        key = (state, ranks)
        known = self._tails.get(key)
        if known is None:
            known = self._tails[key] = b"".join(
                self.tail(after, ranks - 1) for after in self.successors(state)
            )
        return known


@lru_cache(maxsize=1)
def suit_rows() -> tuple[bytes, ...]:
    """Table of a suit: `suit_rows()[head][tail]`, keys to base 5 of ranks 1-5 and 6-9, lowest rank first.

    3,125 rows of 625 bytes of which only 239 differ, so it takes about 150 KB.
    """
    automaton = _SuitAutomaton()
    states = [automaton.start]
    for _ in range(HEAD_RANKS):
        states = [after for state in states for after in automaton.successors(state)]
    return tuple(automaton.tail(state, TAIL_RANKS) for state in states)


@lru_cache(maxsize=1)
def honour_row() -> bytes:
    """Table of the honours: `honour_row()[key]`, key to base 5 of 1z … 7z, 1z most significant."""
    need0 = (0, 2, 1, 0, 2)
    flag = (0, FLAG, FLAG, 0, FLAG)
    row = [0]
    for _ in range(HONOURS):
        row = [
            ((entry & ~FLAG) + need0[n]) | (entry & FLAG) | flag[n] for entry in row for n in range(COPIES)
        ]
    return bytes(row)


NEED_OF_SUM: tuple[int, ...] = tuple(
    (total % FLAG) + (2 if total < FLAG else -1) for total in range(FLAG * 4 + FLAG)
)
"""Wildcards that complete a hand, by the sum of its four table bytes: the pair goes where it is cheapest."""
