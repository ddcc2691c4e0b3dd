"""The comparison with the truth finds what was booked otherwise."""

import copy

import pytest

from engine import rulesets
from engine.claim import Facts, Seat
from engine.notation import parse_tiles
from engine.tiles import Tile
from station.demo.laid import LaidOpen, OpenTiles
from station.demo.truth import Books, differences, match_of

RULES = rulesets.load("zhenjiang")
ACCOUNTS = {
    "chips": 50,
    "outside": 0,
    "deferred": 0,
    "loans": 0,
    "carried": 0,
    "barred": False,
    "xianggong": False,
}
STATE = {
    "hand_no": 4,
    "dealer": 1,
    "streak": 0,
    "circle": 1,
    "bank": 0,
    "forfeited": 0,
    "places": [{**ACCOUNTS, "side": side} for side in range(4)],
    "machine": {"walls": [17, 17, 17, 17]},
}


def _pending(books, state=STATE, concealed="123m456p789s11z34s", how="self"):
    laid = LaidOpen(Seat(2), how, None, Facts(), parse_tiles(concealed), Tile.S5, (OpenTiles(),) * 4)
    return books.pending(laid.claim(RULES, Tile.P1), laid, state)


def _booked(pending):
    """Return the state after what is expected was booked, and how it shows the end of the hand."""
    after, settlement = pending.expected.match, pending.expected.settlement
    state = copy.deepcopy(STATE)
    state.update(dealer=after.dealer, streak=after.streak, circle=after.circle, bank=after.bank)
    for place, chips in zip(state["places"], after.chips, strict=True):
        place["chips"] = chips
    pay, outside = (list(pending.before.by_player(a)) for a in (settlement.pay, settlement.outside))
    last = {
        "hand_no": 4,
        "outcome": "win",
        "pay": pay,
        "outside": outside,
        "cls": pending.expected.verdict.cls,
    }
    return state, last


@pytest.fixture
def books():
    return Books(RULES)


def test_a_hand_booked_as_it_was_is_no_disagreement(books):
    pending = _pending(books)
    state, last = _booked(pending)
    books.expect(pending.expected.match)
    books.compare_accounts(state)
    books.compare_booking(pending, last)
    books.compare_walls(state)
    assert books.disagreements == []
    assert pending.expected.match.chips != match_of(RULES, STATE).chips


@pytest.mark.parametrize(("where", "value"), [("dealer", 3), ("streak", 7), ("circle", 2), ("bank", 5)])
def test_a_wrong_deal_or_bank_is_found(books, where, value):
    pending = _pending(books)
    state, _ = _booked(pending)
    state[where] = value
    books.expect(pending.expected.match)
    books.compare_accounts(state)
    assert len(books.disagreements) == 1
    assert where in books.disagreements[0]
    books.compare_accounts(state)  # nothing new was booked since
    assert len(books.disagreements) == 1


@pytest.mark.parametrize("account", ["chips", "outside", "deferred", "loans", "carried"])
def test_a_wrong_account_of_one_place_is_found(account):
    pending = _pending(Books(RULES))
    state, _ = _booked(pending)
    state["places"][2][account] += 1
    assert [text.split()[0] for text in differences(pending.expected.match, state)] == [account]


@pytest.mark.parametrize(
    ("key", "value"), [("pay", [0, 0, 0, 0]), ("outside", [1, 0, 0, -1]), ("cls", "pao")]
)
def test_a_hand_booked_otherwise_is_found(books, key, value):
    pending = _pending(books)
    _, last = _booked(pending)
    books.compare_booking(pending, {**last, key: value})
    assert len(books.disagreements) == 1


def test_a_confirmed_hand_that_does_not_win_is_found(books):
    pending = _pending(books, concealed="123m456p789s12z34s")
    assert pending.expected.settlement is None
    books.compare_booking(pending, {"hand_no": 4, "outcome": "win"})
    assert books.disagreements == ["hand 4: a hand that does not win was confirmed"]


def test_a_winning_claim_that_was_turned_down_is_found(books):
    books.compare_no_win(_pending(books, concealed="123m456p789s12z34s"))
    assert books.disagreements == []
    books.compare_no_win(_pending(books))
    assert books.disagreements == ["hand 4: a winning claim was turned down"]


def test_other_walls_than_those_of_the_rule_set_are_found(books):
    books.compare_walls({**STATE, "machine": {"walls": [17, 17, 17, 0]}})
    assert len(books.disagreements) == 1
    books.compare_walls({**STATE, "machine": None})
    assert len(books.disagreements) == 1


def test_three_walls_stand_at_three_sides():
    books = Books(rulesets.load("fengcheng"))
    places = [{**ACCOUNTS, "side": side} for side in (0, 2, 3)]
    books.compare_walls({"hand_no": 1, "places": places, "machine": {"walls": [17, 0, 17, 17]}})
    assert books.disagreements == []
