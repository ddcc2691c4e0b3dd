"""The hash chain as pure functions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.log import chain
from station.log.chain import GENESIS, ZERO_HEAD, Entry, Head

LOG = bytes(range(16))
KINDS = st.text(max_size=12)
EVENTS = st.lists(st.tuples(KINDS, st.binary(max_size=40)), max_size=8)


def test_known_answer() -> None:
    """Fixed bytes: a change of the format would make every existing log unreadable."""
    (entry,) = chain.link(LOG, ZERO_HEAD, [("hand.confirmed", b'{"v":1}')], 1_700_000_000_000)
    assert entry.hash.hex() == "b1ac463e881ea9d69c94dd83e41d88c1ffb0517bdec63a98056f3b5bdc548ad9"
    assert entry.prev == GENESIS


@given(EVENTS, st.integers(-(2**40), 2**50))
def test_linked_entries_hold(events: list[tuple[str, bytes]], at_ms: int) -> None:
    entries = chain.link(LOG, ZERO_HEAD, events, at_ms)
    assert [(e.kind, e.body) for e in entries] == events
    assert chain.first_broken(entries) is None


@given(EVENTS, EVENTS)
def test_a_chain_can_be_linked_in_pieces(
    first: list[tuple[str, bytes]], second: list[tuple[str, bytes]]
) -> None:
    head = entries[-1].head if (entries := chain.link(LOG, ZERO_HEAD, first, 5)) else ZERO_HEAD
    assert entries + chain.link(LOG, head, second, 5) == chain.link(LOG, ZERO_HEAD, first + second, 5)


@given(st.tuples(KINDS, st.binary(max_size=9)), st.tuples(KINDS, st.binary(max_size=9)))
def test_moving_bytes_between_kind_and_body_changes_the_hash(
    a: tuple[str, bytes], b: tuple[str, bytes]
) -> None:
    one, two = (chain.entry_hash(GENESIS, LOG, 1, kind, 0, body) for kind, body in (a, b))
    assert (one == two) == (a == b)


def test_first_broken_names_the_first_seq_that_does_not_fit() -> None:
    entries = chain.link(LOG, ZERO_HEAD, [("a", b"1"), ("a", b"2"), ("a", b"3")], 7)
    changed = Entry(LOG, 2, "a", 7, b"x", entries[1].prev, entries[1].hash)
    assert chain.first_broken([entries[0], changed, entries[2]]) == 2
    assert chain.first_broken([entries[0], entries[2]]) == 2
    assert chain.first_broken(entries[1:]) == 1
    assert chain.first_broken(entries[1:], entries[0].head) is None


def test_two_logs_never_share_a_hash() -> None:
    other = bytes(16)
    assert chain.entry_hash(GENESIS, LOG, 1, "a", 0, b"") != chain.entry_hash(GENESIS, other, 1, "a", 0, b"")


def test_the_store_hash_covers_every_column_of_the_file() -> None:
    (entry,) = chain.link(LOG, ZERO_HEAD, [("a", b"1")], 7)
    (other,) = chain.link(LOG, ZERO_HEAD, [("a", b"2")], 7)
    base = (GENESIS, 1, "T1", 5, entry.hash)
    variants = [
        (bytes(31) + b"\1", 1, "T1", 5, entry.hash),
        (GENESIS, 2, "T1", 5, entry.hash),
        (GENESIS, 1, "T2", 5, entry.hash),
        (GENESIS, 1, "T1", 6, entry.hash),
        (GENESIS, 1, "T1", 5, other.hash),
    ]
    assert len({chain.store_hash(*v) for v in [base, *variants]}) == 1 + len(variants)


@pytest.mark.parametrize(
    ("log_id", "seq", "at_ms"), [(b"short", 1, 0), (LOG, -1, 0), (LOG, 1 << 64, 0), (LOG, 1, 1 << 63)]
)
def test_header_refuses_what_does_not_fit(log_id: bytes, seq: int, at_ms: int) -> None:
    with pytest.raises(ValueError):
        chain.header(log_id, seq, "a", at_ms)


@pytest.mark.parametrize(
    "event", [("k" * (chain.MAX_KIND + 1), b""), ("k", bytes(chain.MAX_BODY + 1))], ids=["kind", "body"]
)
def test_too_large_an_event_is_refused(event: tuple[str, bytes]) -> None:
    with pytest.raises(ValueError, match="too large"):
        chain.link(LOG, Head(0, GENESIS), [event], 0)
