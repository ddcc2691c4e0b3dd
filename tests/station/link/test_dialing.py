"""When a table gives up a socket, and which address it tries next."""

from __future__ import annotations

import math

from station.link.dialing import Dialing, Patience

PATIENCE = Patience(connect_s=3, alone_s=8, greet_s=12, silence_s=10, pause_s=1, pause_most_s=5)


def dialing(addresses: int = 2) -> Dialing:
    made = Dialing(addresses, PATIENCE)
    assert made.opens(0.0)
    made.opened(0.0)
    assert not made.opens(1e9)
    return made


def test_an_address_that_does_not_answer_is_followed_by_the_other_and_that_by_the_first() -> None:
    d = dialing()
    for at, address in ((3.0, 1), (6.0, 0), (9.0, 1)):
        assert not d.gives_up(at - 0.1)
        assert d.gives_up(at)
        assert d.opens(at)
        d.opened(at)
        assert d.address == address


def test_a_single_address_is_opened_anew_now_and_then() -> None:
    d = dialing(1)
    assert not d.gives_up(7.9)
    assert d.gives_up(8.0)
    assert (d.address, d.opens(8.0)) == (0, True)


def test_where_something_listens_the_handshake_may_take_longer_but_not_for_ever() -> None:
    d = dialing()
    for at in (1.0, 5.0, 11.0):
        d.reached(at)
        assert not d.gives_up(at)
    assert d.gives_up(12.0)


def test_an_address_that_drops_every_connection_is_not_tried_for_ever() -> None:
    d = dialing()
    d.reached(0.5)
    d.lost(0.6)
    assert (d.next_deadline(), d.address) == (1.6, 1)
    d.opened(1.6)
    d.reached(1.7)
    d.lost(1.8)
    assert (d.next_deadline(), d.address) == (3.8, 0)


def test_after_a_good_connection_the_same_address_gets_a_chance_first() -> None:
    d = dialing()
    d.well(100.0)
    d.lost(105.0)
    assert d.opens(105.2)
    assert d.address == 0
    d.opened(105.2)
    assert not d.gives_up(108.1)
    assert d.gives_up(108.2)
    assert d.address == 1


def test_a_station_that_says_nothing_more_is_given_up() -> None:
    d = dialing(1)
    d.well(100.0)
    assert d.next_deadline() == 110.0
    assert d.gives_up(110.0)


def test_a_silence_in_which_this_end_slept_is_not_the_stations() -> None:
    """Else a slow disk or a suspended machine would send the table to the other station, where it stays."""
    d = dialing()
    d.well(100.0)
    assert not d.gives_up(400.0)
    d.well(100.0)  # what was heard last is as old as before
    assert d.address == 0
    assert d.next_deadline() == 410.0
    assert d.gives_up(410.0)
    assert d.address == 1


def test_denied_everywhere_it_asks_again_ever_later_but_at_least_every_five_seconds() -> None:
    d, at, pauses = dialing(), 0.0, []
    for _ in range(5):
        d.failed(at, denied=True)
        pauses.append(d.next_deadline() - at)
        at = d.next_deadline()
        d.opened(at)
    assert pauses == [1, 2, 4, 5, 5]
    assert d.denied
    d.well(at)
    assert not d.denied


def test_a_station_that_refuses_is_stayed_with() -> None:
    d = dialing()
    d.refused()
    assert d.next_deadline() == math.inf
