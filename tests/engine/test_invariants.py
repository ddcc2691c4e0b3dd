"""What holds for every claim and every match, whatever the hands and the options (acceptance by property)."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from engine import rulesets
from engine.claim import Seat
from engine.match import Match
from engine.melds import Meld
from engine.tiles import Tile
from engine.verdict import Outcome
from tests.engine.proof.zhenjiang_hands import claims

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "payment": st.sampled_from(["pei", "bao", "discarder"]),
        "fine_to": st.sampled_from(["bank", "each_other", "split"]),
        "base": st.integers(1, 9),
        "combine": st.sampled_from(["max", "sum"]),
        "cap_at_chips": st.booleans(),
        "kong_fee": st.booleans(),
        "ron_needs_natural": st.booleans(),
        "wild_fifth_copy": st.booleans(),
        "claimed_wild_value": st.sampled_from(["face", "wild"]),
        "dealer_stays_on_win": st.booleans(),
        "two_broke_ends": st.booleans(),
        "circles": st.integers(1, 2),
    },
)
SEATS = st.integers(0, 3).map(Seat)
STEPS = st.lists(
    st.one_of(
        claims().map(lambda claim: ("claim", claim)),
        st.just(("draw",)),
        st.just(("redeal",)),
        SEATS.map(lambda seat: ("false_win", seat)),
        SEATS.map(lambda seat: ("xianggong", seat)),
        st.tuples(st.just("forfeit"), st.integers(0, 3), st.integers(1, 9)),
    ),
    max_size=12,
)


def judged(claim, rules):
    """Everything about a claim that does not name its tiles."""
    verdict = rules.check(claim)
    money = rules.settle(verdict, claim) if verdict.outcome is Outcome.WIN else None
    readings = 1 + len(verdict.alternatives)
    return verdict.outcome, verdict.problems, verdict.cls, verdict.items, verdict.totals, money, readings


# --- verdicts


@settings(max_examples=100, deadline=None)
@given(claims(), OPTIONS, st.randoms(use_true_random=False))
def test_a_verdict_does_not_depend_on_the_order_of_the_tiles(claim, options, chance):
    def mixed(values):
        return tuple(chance.sample(values, len(values)))

    rules = rulesets.load("zhenjiang", options)
    other = replace(
        claim,
        concealed=mixed(claim.concealed),
        melds=mixed([Meld(meld.kind, mixed(meld.tiles)) for meld in claim.melds]),
    )
    assert judged(other, rules) == judged(claim, rules)


@settings(max_examples=100, deadline=None)
@given(claims(), OPTIONS, st.permutations(range(3)))
def test_relabelled_suits_change_nothing(claim, options, suits):
    def renamed(tile):
        return tile if tile >= 27 else Tile(suits[tile // 9] * 9 + tile % 9)

    rules = rulesets.load("zhenjiang", options)
    other = replace(
        claim,
        indicator=renamed(claim.indicator),
        concealed=tuple(map(renamed, claim.concealed)),
        melds=tuple(Meld(meld.kind, tuple(map(renamed, meld.tiles))) for meld in claim.melds),
        win=renamed(claim.win),
    )
    assert judged(other, rules) == judged(claim, rules)


@settings(max_examples=100, deadline=None)
@given(claims(), OPTIONS, st.tuples(*[st.integers(0, 60)] * 4))
def test_a_cap_takes_from_the_winner_and_never_makes_a_chip(claim, options, chips):
    capped = rulesets.load("zhenjiang", {**options, "cap_at_chips": True})
    free = capped.with_options({"cap_at_chips": False})
    verdict = capped.check(claim)
    if verdict.outcome is not Outcome.WIN:
        return
    less, full = capped.settle(verdict, claim, chips), free.settle(verdict, claim, chips)
    assert all(type(amount) is int for amount in (*less.pay, *less.unpaid, *full.pay))
    assert sum(less.pay) == sum(full.pay) == 0
    for seat in range(4):
        assert chips[seat] + less.pay[seat] >= 0
        if seat != claim.winner:
            assert full.pay[seat] == less.pay[seat] - less.unpaid[seat]
            assert less.unpaid[seat] == 0 or chips[seat] + less.pay[seat] == 0
    assert less.pay[claim.winner] <= full.pay[claim.winner]


# --- matches


def step(match, action, *values):
    if action == "claim":
        return match.claim(*values).match
    if action == "draw":
        return match.draw().match
    if action == "false_win":
        return match.false_win(*values).match
    if action == "forfeit":
        player, amount = values
        have = match.chips[player]
        return match.forfeit(player, min(amount, have)) if have > 0 else match
    return getattr(match, action)(*values)


@settings(max_examples=100, deadline=None)
@given(STEPS, OPTIONS, st.tuples(*[st.integers(0, 60)] * 4))
def test_chips_are_conserved_over_a_whole_match(steps, options, chips):
    rules = rulesets.load("zhenjiang", options)
    match = Match.start(rules, chips)
    for action in steps:
        if match.ended is not None:
            break
        before = match
        match = step(match, *action)
        assert sum(match.chips) + match.bank + match.forfeited == match.issued == sum(chips)
        assert rules.flag("cap_at_chips") is False or min(match.chips) >= 0
        assert sum(match.outside) == sum(match.carried) == sum(match.loans) == 0
        assert match.hand in (before.hand, before.hand + 1)
        assert (match.circle, match.hand) >= (before.circle, before.hand)
        assert match.hand == before.hand or match.barred == match.dead == ()
    fined = -sum(min(0, owed) for owed in match.deferred)
    closed = match.close()
    assert sum(closed.result) + closed.bank + closed.forfeited == sum(chips)
    assert sum(closed.unpaid) <= fined
    assert closed.deferred == (0, 0, 0, 0)
    assert rules.flag("cap_at_chips") is False or min(closed.chips) >= 0


@settings(max_examples=60, deadline=None)
@given(STEPS, OPTIONS, st.integers(0, 3))
def test_a_turned_table_plays_the_same_match(steps, options, turn):
    def turned(account):
        return tuple(account[(player - turn) % 4] for player in range(4))

    rules = rulesets.load("zhenjiang", options)
    one, other = Match.start(rules), Match.start(rules, first_dealer=turn)
    for action, *values in steps:
        if one.ended is not None:
            break
        one = step(one, action, *values)
        moved = [(values[0] + turn) % 4, values[1]] if action == "forfeit" else values
        other = step(other, action, *moved)
        assert turned(one.chips) == other.chips
        assert turned(one.deferred) == other.deferred
        assert (one.circle, one.hand, one.streak, one.ended) == (
            other.circle, other.hand, other.streak, other.ended,
        )  # fmt: skip
