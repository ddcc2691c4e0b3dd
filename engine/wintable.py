"""Tables of the win check: how many wildcards each suit needs, from one small automaton.

The automaton reads the counts of a suit rank by rank. Its state holds, for every (runs begun two ranks ago,
runs begun one rank ago, pair taken), the fewest wildcards spent so far; 537 states exist. At the end
`need0` wildcards make the suit sets only, `need1` sets and one pair. `need1` is always `need0 + 2` (the pair
is two more wildcards) or `need0 - 1` (the pair frees one that a set would need), so one byte holds both.

No hand size, number of melds or number of wildcards is built in. A wildcard may stand for a fifth copy here;
rule sets which forbid that look at the decompositions.
"""

from __future__ import annotations

from functools import lru_cache

Spent = tuple[int, ...]
"""Fewest wildcards per (runs two ranks ago, runs one rank ago), flattened; 99 = impossible."""

State = tuple[Spent, Spent]
"""Fewest wildcards while the pair is not taken, and after it is taken."""

IMPOSSIBLE = 99
RUNS = 3  # three equal runs are three triplets: 0, 1 or 2 at a time are enough
COPIES = 5  # counts 0..4 are the digits of a key
FLAG = 64
"""Set in a table byte when `need1 == need0 - 1`, clear when `need1 == need0 + 2`; the rest is `need0`."""

HEAD_RANKS = 5
TAIL_RANKS = 4
TAIL_KEYS = COPIES**TAIL_RANKS
WINDS, DRAGONS = 4, 3
HONOURS = WINDS + DRAGONS


def _costs(count: int, pair: int) -> tuple[tuple[int, int, int], ...]:
    """Wildcards that `count` tiles of a rank cost, per (runs one rank ago, runs begun here).

    Each entry holds them for 0, 1 and 2 runs begun two ranks ago. What no run and no pair takes are triplets.
    """
    table = []
    for one_ago in range(RUNS):
        for begun in range(RUNS):
            demands = [two_ago + one_ago + begun + 2 * pair for two_ago in range(RUNS)]
            first, second, third = (d + 3 * max(0, -(-(count - d) // 3)) - count for d in demands)
            table.append((first, second, third))
    return tuple(table)


class _SuitAutomaton:
    """Builds the table of a suit; every state's table of the remaining ranks is made once."""

    def __init__(self) -> None:
        self.start: State = ((0, *[IMPOSSIBLE] * (RUNS * RUNS - 1)), (IMPOSSIBLE,) * (RUNS * RUNS))
        self._costs = [(_costs(count, 0), _costs(count, 1)) for count in range(COPIES)]
        self._steps: dict[Spent, tuple[State, ...]] = {}
        self._next: dict[State, tuple[State, ...]] = {}
        self._tails: dict[tuple[State, int], bytes] = {}

    def successors(self, state: State) -> tuple[State, ...]:
        """The states after a rank with 0, 1, 2, 3 or 4 tiles."""
        known = self._next.get(state)
        if known is None:
            open_pair, taken = state
            known = self._next[state] = tuple(
                (without, tuple(map(min, after, now)))
                for (without, now), (after, _) in zip(self._step(open_pair), self._step(taken), strict=True)
            )
        return known

    def _step(self, spent: Spent) -> tuple[State, ...]:
        """What is spent after a rank with 0 … 4 tiles, when its pair is not taken here and when it is."""
        known = self._steps.get(spent)
        if known is None:
            known = self._steps[spent] = tuple(
                (_advance(spent, without), _advance(spent, with_pair)) for without, with_pair in self._costs
            )
        return known

    def tail(self, state: State, ranks: int) -> bytes:
        """The table bytes of all counts of the last `ranks` ranks, first rank most significant."""
        if ranks == 0:
            need0, need1 = state[0][0], state[1][0]
            return bytes([need0 | FLAG if need1 < need0 else need0])
        key = (state, ranks)
        known = self._tails.get(key)
        if known is None:
            known = self._tails[key] = b"".join(
                [self.tail(after, ranks - 1) for after in self.successors(state)]
            )
        return known


def _advance(spent: Spent, costs: tuple[tuple[int, int, int], ...]) -> Spent:
    return tuple(
        [
            min(spent[nth // RUNS] + none, spent[nth // RUNS + 3] + one, spent[nth // RUNS + 6] + two)
            for nth, (none, one, two) in enumerate(costs)
        ]
    )


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
    more = [_with_honour(need0, flag) for need0, flag in ((0, 0), (2, FLAG), (1, FLAG), (0, 0), (2, FLAG))]
    row = bytes(1)
    for _ in range(HONOURS):  # each is put in front; they are all alike
        row = b"".join([row.translate(table) for table in more])
    return row


@lru_cache(maxsize=1)
def honour_rows() -> tuple[bytes, ...]:
    """The same in rows like those of a suit: `honour_rows()[key // TAIL_KEYS][key % TAIL_KEYS]`."""
    row = honour_row()
    return tuple(row[start : start + TAIL_KEYS] for start in range(0, len(row), TAIL_KEYS))


@lru_cache(maxsize=1)
def honour_parts() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The same for winds and for dragons alone; their bytes add up, too."""
    row = honour_row()
    return tuple(row[:: COPIES**DRAGONS]), tuple(row[: COPIES**DRAGONS])


def _with_honour(need0: int, flag: int) -> bytes:
    """Table from the byte of some honours to the byte with one more kind, by what that kind needs."""
    return bytes([(byte % FLAG + need0) % FLAG | byte & FLAG | flag for byte in range(256)])


NEED_OF_SUM: tuple[int, ...] = tuple(
    (total % FLAG) + (2 if total < FLAG else -1) for total in range(FLAG * 6)
)
"""Wildcards that complete a hand, by the sum of its table bytes: the pair goes where it is cheapest."""

NEEDS: tuple[tuple[int, int], ...] = tuple(
    (byte % FLAG, byte % FLAG + (2 if byte < FLAG else -1)) for byte in range(FLAG * 2)
)
"""`need0` and `need1` of a table byte."""
