"""Fengcheng against slow code that shares nothing with the engine, and properties of its settlement."""

import random
from collections import Counter
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.match import Match
from engine.notation import claim_from_object
from engine.rules.fengcheng_spread import DRAGONS, HONOURS, WINDS, Spread, surely_spread
from engine.tiles import Tile
from engine.vectors import check_vector
from engine.verdict import Outcome

RULES = rulesets.load("fengcheng")
KINDS = [f"{rank}{suit}" for suit in "mp" for rank in range(1, 10)] + [f"{rank}z" for rank in range(1, 8)]
SETS = [(kind,) * 3 for kind in KINDS] + [
    (f"{rank}{suit}", f"{rank + 1}{suit}", f"{rank + 2}{suit}") for suit in "mp" for rank in range(1, 8)
]


# --- the best reading, by trying every combination of sets


def slow_readings(tiles):
    """Every way to split tiles into sets and one pair, as (triplets, pair); by trying all sets in order."""
    found = set()

    def split(counts, first, triplets):
        if not counts:
            return [triplets]
        lowest = min(counts)
        ways = []
        for nth in range(first, len(SETS)):
            needed = Counter(SETS[nth])
            if lowest in needed and all(counts[kind] >= copies for kind, copies in needed.items()):
                left = Counter({kind: n for kind in counts if (n := counts[kind] - needed[kind])})
                ways += split(left, 0, (*triplets, SETS[nth][0]) if len(needed) == 1 else triplets)
        return ways

    counts = Counter(tiles)
    for pair in [kind for kind in counts if counts[kind] >= 2]:
        left = Counter({kind: n for kind in counts if (n := counts[kind] - 2 * (kind == pair))})
        for triplets in split(left, 0, ()):
            found.add((tuple(sorted(triplets)), pair))
    return found


def slow_lei(tiles, win, how):
    """What the best reading counts, with the price list written out once more; None = no reading."""
    best = None
    for triplets, _ in slow_readings([*tiles, win]):
        lei = 50 if how == "self" else 40
        for kind in triplets:
            place = 2 if kind[1] == "z" else int(kind[0] in "19")
            if how == "self":
                lei += (2, 5, 20)[place]
            elif kind == win and tiles.count(win) == 2:
                lei += (1, 2, 10)[place]
        best = lei if best is None else max(best, lei)
    return best


def hand_with_many_triplets(seed):
    """16 tiles and one: sets of few kinds, so that runs and triplets compete; sometimes one tile is off."""
    rng = random.Random(seed)
    pool = rng.sample(SETS, 5) if seed % 3 else [s for s in SETS if s[0][1] == "m"]
    while True:
        tiles = [kind for group in rng.choices(pool, k=5) for kind in group] + [rng.choice(KINDS)] * 2
        if seed % 5 == 0:
            tiles[0] = rng.choice(KINDS)
        if max(Counter(tiles).values()) <= 4:
            rng.shuffle(tiles)
            return tiles


def check_seeds(seeds):
    won = 0
    for seed in seeds:
        *tiles, win = hand_with_many_triplets(seed)
        for how in ("self", "discard"):
            claim = claim_from_object(
                {"hand": "".join(tiles), "win": win, "how": how, "winner": seed % 3}, "fengcheng"
            )
            verdict = RULES.check(claim)
            best = slow_lei(tiles, win, how)
            assert (verdict.outcome is Outcome.WIN) == (best is not None), tiles
            if best is not None:
                assert sum(item.amount for item in verdict.items) == best, (tiles, win)
                won += 1
    return won


def test_no_reading_counts_more_than_the_one_that_is_told():
    assert check_seeds(range(150)) > 200


@pytest.mark.soak
def test_no_reading_counts_more_than_the_one_that_is_told_at_length():
    assert check_seeds(range(1000, 6000)) > 6000


@pytest.mark.parametrize(("meld", "lei"), [("P:777z", 10), ("H:111p", 5), ("A:9999m", 20), ("K:4444p", 5)])
def test_melds_add_to_the_best_reading(meld, lei):
    players = [{"melds": [meld]}, {}, {}]
    hand = {"hand": "22233344m567p88p", "win": "4m", "how": "self", "winner": 0, "players": players}
    best = slow_lei([f"{rank}m" for rank in "22233344"] + ["5p", "6p", "7p", "8p", "8p"], "4m", "self")
    assert check_vector(hand, "fengcheng")["lei"][0] == best + lei


# --- honours that can all be there, by trying every way to lay them


def slow_fit(spreads, known):
    left = Counter(dict.fromkeys(HONOURS, 4))
    left.subtract(tile for tile in known if tile in left)
    if min(left.values()) < 0:
        return False
    return _lay(list(spreads), left)


def _lay(spreads, left):
    if not spreads:
        return True
    spread, *others = spreads
    for group in (WINDS, DRAGONS, HONOURS):
        groups = 1 if group != HONOURS else 2
        further = spread.laid_honours - len(group)
        if (spread.sets or groups) != groups or further < 0:
            continue
        for more in combinations_with_replacement(group, further):
            rest = left.copy()
            rest.subtract([*group, *more])
            if min(rest.values()) >= 0 and _lay(others, rest):
                return True
    return spread.laid_honours == 0 and _lay(others, left)


def test_spread_honours_fit_just_when_some_way_to_lay_them_fits():
    rng = random.Random(7)
    seen = Counter()
    for _ in range(400):
        spreads = []
        for _ in range(3):
            groups, star = rng.randint(0, 2), rng.random() < 0.2
            least = {0: 3, 1: 3, 2: 7}[groups]
            honors = rng.choice([0, least + rng.randint(0, 2)]) if groups == 0 else least + rng.randint(0, 2)
            spread = Spread(seven_star=True, extra_honors=rng.randint(0, 2)) if star else None
            spreads.append(spread or Spread(honors=honors, groups=groups))
        known = rng.choices(HONOURS, k=rng.randint(0, 12))
        if max(Counter(known).values(), default=0) > 4:
            continue
        fits = slow_fit(spreads, known)
        assert surely_spread(spreads, known)[1] is fits, (spreads, known)
        seen[fits] += 1
    assert min(seen[True], seen[False]) > 40


def test_tiles_that_surely_lie_there_are_told():
    tiles, fits = surely_spread([Spread(honors=5, groups=1), Spread(yaoji="single"), Spread()], [])
    assert (Counter(tiles), fits) == (Counter([*WINDS, Tile.S1]), True)
    tiles, fits = surely_spread([Spread(honors=5, groups=1)], [Tile.EAST] * 4)
    assert (Counter(tiles), fits) == (Counter(DRAGONS), True)


# --- properties of a settlement


melds = st.lists(st.sampled_from(["P:555z", "H:666z", "K:7777z", "A:9999p", "C:123m"]), max_size=1)
players = st.fixed_dictionaries(
    {"melds": melds},
    optional={
        "spread": st.fixed_dictionaries(
            {}, optional={"yaoji": st.just("single"), "honors": st.sampled_from([4, 5])}
        ),
        "no_honor_start": st.booleans(),
    },
)
hands = st.sampled_from(
    [
        "22233344m56778999p +4m",
        "345678m123456p2278p +9p",
        "44m11122233m456p88p +4m",
        "123m456m789m123p45p22z +6p",
    ]
)
chosen = st.fixed_dictionaries(
    {
        "settlement": st.sampled_from(RULES.data.options["settlement"].allowed),
        "lei_per_point": st.integers(1, 30),
        "loan_unit": st.integers(1, 200),
    }
)


@st.composite
def claims(draw):
    shown = [draw(players) for _ in range(3)]
    for player in shown:  # one thing of each kind: enough, and it always fits
        if player.get("spread", {}).get("honors") and any("z" in meld for meld in player["melds"]):
            del player["spread"]["honors"]
    if draw(st.booleans()):
        return {"draw": True, "players": shown, "options": draw(chosen)}
    hand, win = draw(hands).split(" +")
    winner = draw(st.integers(0, 2))
    shown[winner] = {key: value for key, value in shown[winner].items() if key == "no_honor_start"}
    how = draw(st.sampled_from(["self", "discard"]))
    return {"hand": hand, "win": win, "how": how, "winner": winner, "players": shown, "options": draw(chosen)}


def settled(obj, chips=None):
    claim = claim_from_object(obj, "fengcheng")
    verdict = RULES.check(claim)
    return RULES.settle(verdict, claim, chips) if verdict.outcome in (Outcome.WIN, Outcome.DRAW) else None


@settings(max_examples=120, deadline=None)
@given(claims(), st.lists(st.integers(0, 300), min_size=3, max_size=3))
def test_nothing_is_made_or_lost_and_everybody_can_pay(obj, chips):
    settlement = settled(obj, chips)
    if settlement is None:
        return
    assert sum(settlement.pay) == sum(settlement.totals["net"]) == 0
    assert all(
        type(number) is int for number in (*settlement.pay, *settlement.loans, *settlement.totals["net"])
    )
    assert settlement.unpaid == (0, 0, 0)
    unit = obj["options"]["loan_unit"]
    for have, pay, loan in zip(chips, settlement.pay, settlement.loans, strict=True):
        assert have + pay + loan >= 0
        assert loan % unit == 0
        assert loan == 0 or have + pay + loan < unit
    if obj["options"]["lei_per_point"] == 1:
        assert settlement.pay == settlement.totals["net"]


@settings(max_examples=60, deadline=None)
@given(claims(), st.randoms(use_true_random=False))
def test_neither_the_order_of_tiles_nor_the_names_of_suits_matter(obj, rng):
    plain = check_vector(obj, "fengcheng")
    swapped = _renamed(obj, str.maketrans("mp", "pm"))
    told = check_vector(swapped, "fengcheng")
    for key in ("outcome", "reason", "lei", "net", "pay"):
        assert told.get(key) == plain.get(key)
    if "hand" in obj:
        tiles = [tile.id for tile in claim_from_object(obj, "fengcheng").concealed]
        rng.shuffle(tiles)
        shuffled = check_vector({**obj, "hand": "".join(tiles)}, "fengcheng")
        assert shuffled["decomposition"] == plain["decomposition"]
        assert shuffled["items"] == plain["items"]


def _renamed(value, table):
    if isinstance(value, dict):
        keep = ("how", "options", "yaoji")
        return {key: inner if key in keep else _renamed(inner, table) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, table) for inner in value]
    if not isinstance(value, str) or value.startswith("P:"):
        return "P:" + value[2:].translate(table) if isinstance(value, str) else value
    return value.translate(table)


@settings(max_examples=60, deadline=None)
@given(claims())
def test_the_two_who_do_not_deal_are_alike(obj):
    zero, one, two = obj["players"]
    other = {**obj, "players": [zero, two, one]}
    if "winner" in obj:
        other["winner"] = (0, 2, 1)[obj["winner"]]
    plain, mirrored = check_vector(obj, "fengcheng"), check_vector(other, "fengcheng")
    assert plain["outcome"] == mirrored["outcome"]
    if plain["pay"] is not None:
        for key in ("lei", "net", "pay"):
            assert [plain[key][seat] for seat in (0, 2, 1)] == mirrored[key]


@settings(max_examples=25, deadline=None)
@given(st.lists(claims(), min_size=1, max_size=6))
def test_a_match_keeps_its_chips_whatever_happens(hands_played):
    match = Match.start(RULES.with_options({"lei_per_point": 3}), [100, 100, 100])
    for obj in hands_played:
        match = match.claim(claim_from_object({**obj, "options": {}}, "fengcheng")).match
        assert min(match.chips) >= 0
        assert sum(match.chips) == 300 + sum(match.loans)
    assert sum(match.close().result) == 300


@pytest.mark.parametrize("lei", list(product((0, 7, 45), repeat=3)))
def test_each_pair_is_rounded_for_itself(lei):
    obj = {
        "draw": True,
        "players": [{"spread": {"seven_star": True}}, {"no_honor_start": True}, {"seven_less_two": True}],
        "options": {
            "seven_star": lei[0],
            "no_honor_start": lei[1],
            "seven_less_two": lei[2],
            "lei_per_point": 10,
        },
    }
    wanted = [0, 0, 0]
    for one, other, weight in ((0, 1, 2), (0, 2, 2), (1, 2, 1)):
        difference = weight * (lei[one] - lei[other])
        points = int(abs(difference) / 10 + 0.5) * (1 if difference > 0 else -1)
        wanted[one] += points
        wanted[other] -= points
    assert check_vector(obj, "fengcheng")["pay"] == wanted
