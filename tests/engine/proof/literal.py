"""An independent win check, and random hands for it: nothing here knows the tables of the engine.

Wildcards are replaced by every multiset of kinds; then sets are taken away one by one.
"""

from functools import lru_cache
from itertools import combinations_with_replacement

KINDS = 34
DIGIT = 16  # a suit is one hexadecimal number, a digit a rank: fifth copies fit in


class SuitAnswers(dict):
    """Key of a suit → 1 when it is sets, 2 when it is sets and a pair, 0 when it is neither."""

    def __init__(self, runs):
        super().__init__()
        self.runs = runs

    def __missing__(self, key):
        self[key] = answer = self.split(key)
        return answer

    def split(self, key):
        if key == 0:
            return 1
        rank = next(r for r in range(9) if key // DIGIT**r % DIGIT)
        one = DIGIT**rank
        have = key // one % DIGIT
        answers = set()
        if have >= 3:
            answers.add(self[key - 3 * one])
        if have >= 2 and self[key - 2 * one] == 1:
            answers.add(2)
        if self.runs and rank <= 6 and key // (one * DIGIT) % DIGIT and key // (one * DIGIT**2) % DIGIT:
            answers.add(self[key - one * (1 + DIGIT + DIGIT**2)])
        assert not {1, 2} <= answers  # the number of tiles tells sets from sets and a pair
        return max(answers, default=0)


SUIT, HONOURS = SuitAnswers(runs=True), SuitAnswers(runs=False)
ADD = [[DIGIT ** (kind % 9) if kind // 9 == suit else 0 for suit in range(4)] for kind in range(KINDS)]


@lru_cache
def substitutes(wilds):
    """What each multiset of kinds adds to the keys of the four suits."""
    return [
        tuple(sum(ADD[kind][suit] for kind in kinds) for suit in range(4))
        for kinds in combinations_with_replacement(range(KINDS), wilds)
    ]


def suit_key(ranks):
    return sum(n * DIGIT**rank for rank, n in enumerate(ranks))


def wins_literally(hand, wilds):
    """Whether some way to replace the wildcards gives sets and a pair."""
    m, p, s, z = (suit_key(hand[first : first + 9]) for first in (0, 9, 18, 27))
    suit, honours = SUIT, HONOURS
    for dm, dp, ds, dz in substitutes(wilds):
        if suit[m + dm] * suit[p + dp] * suit[s + ds] * honours[z + dz] == 2:
            return True
    return False


def near_win(rng, size, wilds):
    """A winning hand; wildcards are missing at random, and in half of the hands one tile is another."""
    tiles = [rng.randrange(KINDS)] * 2
    for _ in range(size // 3):
        first = rng.randrange(KINDS)
        run = first < 27 and first % 9 < 7 and rng.random() < 0.7
        tiles += [first, first + 1, first + 2] if run else [first] * 3
    rng.shuffle(tiles)
    tiles = tiles[: size - wilds]
    if tiles and rng.random() < 0.5:
        tiles[0] = rng.randrange(KINDS)
    return tiles


def random_hand(rng, size, wilds):
    """Counts of a hand of `size` tiles with its wildcards: half are near wins, half random over few kinds."""
    near = rng.random() < 0.5
    while True:
        if near:
            tiles = near_win(rng, size, wilds)
        else:
            kinds = rng.sample(range(KINDS), rng.randint(6, 14))
            tiles = rng.choices(kinds, k=size - wilds)
        hand = [0] * KINDS
        for tile in tiles:
            hand[tile] += 1
        if max(hand) <= 4:
            return hand
