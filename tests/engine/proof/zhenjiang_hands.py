"""Random claims of Zhenjiang, mostly wins or nearly, and what they are worth, found by trying everything.

The price finder shares no code with the engine: wildcards are replaced by every kind, then sets are searched.
"""

from functools import lru_cache
from itertools import combinations_with_replacement

from hypothesis import strategies as st

from engine.claim import Claim, Counters, Facts, Seat
from engine.melds import Meld, MeldKind
from engine.tiles import HAND_KINDS, Tile

RUNS = [tuple(Tile(kind + step) for step in range(3)) for kind in range(27) if kind % 9 <= 6]
TRIPLETS = [(tile,) * 3 for tile in HAND_KINDS]
PAIRS = [(tile,) * 2 for tile in HAND_KINDS]
FOURS = [(tile,) * 4 for tile in HAND_KINDS]


def next_kind(tile):
    """The wildcard for an indicator, written down once more: §3."""
    if tile < 27:
        return Tile(tile // 9 * 9 + (tile + 1) % 9)
    winds, dragons = [27, 28, 29, 30], [33, 32, 31]
    cycle = winds if tile <= 30 else dragons
    return Tile(cycle[(cycle.index(tile) + 1) % len(cycle)])


@st.composite
def claims(draw, melds=None, wilds=4):
    """Claims with melds, wildcards in hand, counters; about two thirds of them win."""
    indicator = draw(st.sampled_from(HAND_KINDS))
    wild = next_kind(indicator)
    lying = [indicator]

    def take(groups):
        fitting = [g for g in groups if all((lying + list(g)).count(tile) <= 4 for tile in g)]
        group = draw(st.sampled_from(fitting))
        lying.extend(group)
        return group

    laid = draw(st.integers(0, 4)) if melds is None else melds
    kinds = [draw(st.sampled_from("PKA")) for _ in range(laid)]
    shown = tuple(Meld(MeldKind(kind), take(TRIPLETS if kind == "P" else FOURS)) for kind in kinds)
    tiles = [tile for _ in range(4 - laid) for tile in take(draw(st.sampled_from([RUNS, TRIPLETS])))]
    tiles += take(PAIRS)
    for _ in range(draw(st.integers(0, wilds))):
        if lying.count(wild) < 4:
            at = draw(st.integers(0, len(tiles) - 1))
            if tiles[at] != wild:
                lying.remove(tiles[at])
                lying.append(wild)
                tiles[at] = wild
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(tiles) - 1))
        lying.remove(tiles[at])
        [tiles[at]] = take([(tile,) for tile in HAND_KINDS])
    win = tiles.pop(draw(st.integers(0, len(tiles) - 1)))
    hows = ["self", "discard", "robkong", *({"K": "kong_ming", "A": "kong_an"}[k] for k in kinds if k != "P")]
    how = draw(st.sampled_from([*hows, *([] if laid else ["heaven"])]))
    winner, discarder = draw(st.permutations(range(4)))[:2]
    free = 4 - lying.count(wild)
    names = draw(st.lists(st.sampled_from(["shou", "er", "peng"]), max_size=0 if how == "heaven" else free))
    da = Counters({name: names.count(name) for name in names})
    return Claim(
        indicator=indicator,
        concealed=tuple(draw(st.permutations(tiles))),
        melds=shown,
        win=win,
        how=how,
        winner=Seat(0 if how == "heaven" else winner),
        discarder=Seat(discarder) if how in ("discard", "robkong") else None,
        facts=Facts(da=da) if da else Facts(),
        chips=draw(st.none() | st.tuples(*[st.integers(0, 60)] * 4)),
    )


@lru_cache(maxsize=200_000)
def splits(tiles, *, pair=True):
    """Whether sorted tiles are sets and, with `pair`, one pair."""
    if not tiles:
        return not pair
    first = tiles[0]
    if pair and tiles[1:2] == (first,) and splits(tiles[2:], pair=False):
        return True
    if tiles[1:3] == (first, first) and splits(tiles[3:], pair=pair):
        return True
    run = (first + 1, first + 2)
    if first >= 27 or first % 9 > 6 or not all(kind in tiles for kind in run):
        return False
    rest = list(tiles[1:])
    for kind in run:
        rest.remove(kind)
    return splits(tuple(rest), pair=pair)


def readings(tiles, wilds, wild, melded=(), *, fifth=True):
    """Yield, for every way to replace so many wildcards that wins, how many of them are substitutes."""
    for chosen in combinations_with_replacement(range(34), wilds):
        whole = tuple(sorted([*map(int, tiles), *chosen]))
        fits = fifth or all((*whole, *map(int, melded)).count(kind) <= 4 for kind in set(whole))
        if fits and splits(whole):
            yield sum(kind != wild for kind in chosen)


def unit_price(claim, options):
    """Self-drawn: what each loser owes for the best reading (§6 of the document); None when it is no win."""
    wild = next_kind(claim.indicator)
    melded = [tile for meld in claim.melds for tile in meld.tiles]
    held = list(claim.held)
    wilds = held.count(wild)
    natural = [tile for tile in held if tile != wild]
    fifth = options["wild_fifth_copy"]
    ways = set(readings(natural, wilds, wild, melded, fifth=fifth))
    if not ways:
        return None

    def completes(kind):
        free = claim.concealed.count(wild) + (kind == wild)
        before = [tile for tile in (*claim.concealed, kind) if tile != wild]
        return any(True for _ in readings(before, free, wild, melded, fifth=fifth))

    pao = claim.how != "heaven" and all(map(completes, HAND_KINDS))
    prices = []
    for substitutes in ways:
        sub = substitutes > 0
        whole = [options["self_sub"] if sub else 6]
        if claim.how == "heaven":
            whole.append(12)
        if claim.how == "kong_ming":
            whole.append(5 if sub else 8)
        if claim.how == "kong_an":
            whole.append(5 if sub else 9)
        if pao:
            whole.append(5 if sub else 10)
        prices.append(max(whole) if options["combine"] == "max" else sum(whole))
    da = claim.facts.get("da", {})
    return max(prices) + 6 * da.get("shou", 0) + 4 * da.get("er", 0) + 2 * da.get("peng", 0)
