"""Accounts by themselves: sums, shares, the collection of deferred fines."""

import pytest

from engine.accounts import add, collect, shared


def test_accounts_are_added_player_by_player():
    assert add((1, 2, 3), (10, -2, 0), (100, 0, -3)) == (111, 0, 0)
    assert add((7,)) == (7,)
    with pytest.raises(ValueError, match="shorter"):
        add((1, 2), (1,))


def test_largest_remainders_get_what_cannot_be_shared_and_of_equal_ones_the_first():
    assert shared(10, (7, 7, 7)) == (4, 3, 3)
    assert shared(11, (7, 7, 7)) == (4, 4, 3)
    assert shared(5, (1, 2, 3)) == (1, 2, 2)
    assert shared(1, (1, 2, 3)) == (0, 0, 1)
    assert shared(7, (10, 1, 1)) == (6, 1, 0)
    assert shared(12, (10, 1, 1)) == (10, 1, 1)
    assert shared(4, (0, 3, 0)) == (0, 4, 0)
    assert shared(0, (0, 0)) == (0, 0)


def test_fines_are_collected_from_the_chips_there_are_and_creditors_get_equal_parts():
    assert collect((6, -18, 6, 6), (50, 9, 50, 50), limited=True) == ((3, -9, 3, 3), 0, (0, 9, 0, 0))
    assert collect((6, -18, 6, 6), (50, 9, 50, 50), limited=False) == ((6, -18, 6, 6), 0, (0, 0, 0, 0))
    assert collect((-6, -10, 0, 0), (4, 100, 7, 7), limited=True) == ((-4, -10, 0, 0), 14, (2, 0, 0, 0))
    assert collect((-6, 3, 0, 0), (-5, 1, 1, 1), limited=True) == ((0, 0, 0, 0), 0, (6, 0, 0, 0))
    assert collect((-1, 0), (1, 0), limited=True) == ((-1, 0), 1, (0, 0))


def test_players_without_chips_of_their_own_cannot_be_collected_from():
    with pytest.raises(ValueError, match="shorter"):
        collect((-1, 1), (1,), limited=False)
