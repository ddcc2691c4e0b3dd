"""How much is held of each connection, and which are cut."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from station.link.holding import Holding, on_the_wire

MINUTE = 60.0


def came_in(**sizes: int) -> Callable[[int], int | None]:
    return lambda fd: sizes.get(f"fd{fd}")


def test_what_is_handed_over_is_not_held() -> None:
    holding = Holding(each=1000, together=10_000)
    holding.opened(3, 0.0)
    for n in range(100):
        holding.took(3, 900)
        assert holding.over(came_in(fd3=900 * (n + 1)), 1.0) == []


def test_what_comes_in_and_is_not_handed_over_is_held_until_it_is_too_much() -> None:
    holding = Holding(each=1000, together=10_000)
    holding.opened(3, 0.0)
    assert holding.over(came_in(fd3=1000), 0.0) == []
    assert holding.over(came_in(fd3=1001), 0.0) == [3]
    holding.closed(3)
    assert len(holding) == 0
    assert holding.over(came_in(fd3=2000), 0.0) == []


def test_heartbeats_are_not_held_but_a_message_that_grows_slowly_is() -> None:
    idle, slow = Holding(each=1000), Holding(each=1000)
    for holding in (idle, slow):
        holding.opened(3, 0.0)
    for n in range(1, 200):
        idle.took(3, 50)
        assert idle.over(came_in(fd3=(50 + 42) * n), 2.0 * n) == []
    cut_after = next(n for n in range(200) if slow.over(came_in(fd3=42 * n), MINUTE * n))
    assert cut_after == 24


def test_of_many_the_greatest_go_until_the_rest_is_within_the_bound() -> None:
    holding = Holding(each=1000, together=1500)
    for fd in range(3, 7):
        holding.opened(fd, 0.0)
    assert holding.over(came_in(fd3=900, fd4=600, fd5=300, fd6=1200), 0.0) == [6, 3]


def test_a_number_that_is_used_again_begins_anew() -> None:
    holding = Holding(each=1000)
    holding.opened(3, 0.0)
    holding.took(3, 5000)
    holding.named(3, "key")
    assert holding.key_of(3) == "key"
    holding.closed(3)
    holding.opened(3, 0.0)
    assert holding.key_of(3) == ""
    assert holding.over(came_in(fd3=1001), 0.0) == [3]


def test_what_is_handed_over_before_its_connection_is_heard_of_counts_for_it() -> None:
    holding = Holding(each=1000)
    for n in range(2):
        holding.took(3, 5000)
        holding.opened(3, 0.0)
        assert holding.over(came_in(fd3=6000), 0.0) == []
        assert holding.over(came_in(fd3=6001), 0.0) == [3], n
        holding.closed(3)


@given(st.lists(st.integers(0, 300), max_size=5))
def test_the_size_on_the_wire_is_that_of_curve_and_zmtp(sizes: list[int]) -> None:
    sealed = [size + 33 for size in sizes]
    expected = sum(size + (2 if size < 256 else 9) for size in sealed)
    assert on_the_wire(bytes(size) for size in sizes) == expected
