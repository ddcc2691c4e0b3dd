"""Encoding and decoding of the link's messages."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.errors import WireError
from station.link import run
from station.link.run import MAX_ENTRIES
from station.link.said import (
    MAX_VALUE,
    Ack,
    Diverged,
    Event,
    Hello,
    Message,
    Nack,
    Ping,
    Resume,
    Time,
    Value,
)
from station.link.wire import decode, encode, entries_in
from station.log import chain
from station.log.chain import MAX_BODY, ZERO_HEAD, Entry, Head
from tests.station.link.runs import runs

SESSION = st.binary(min_size=8, max_size=8)
LOG_ID = st.binary(min_size=16, max_size=16)
HASH = st.binary(min_size=32, max_size=32)
SEQ = st.integers(1, (1 << 63) - 1)
I64 = st.integers(-(1 << 63), (1 << 63) - 1)
NAME = st.text(max_size=16)
HEAD = st.builds(Head, st.integers(0, (1 << 63) - 1), HASH)
MESSAGE = st.one_of(
    st.builds(Hello, SESSION, LOG_ID, HEAD, NAME, st.integers(0, 255)),
    st.builds(Event, SESSION, runs()),
    st.builds(Ping, SESSION, LOG_ID, SEQ),
    st.builds(Diverged, SESSION, LOG_ID, HEAD, NAME),
    st.builds(Resume, SESSION, LOG_ID, SEQ, HASH),
    st.builds(Ack, SESSION, LOG_ID, SEQ),
    st.builds(Nack, SESSION, LOG_ID, NAME),
    st.builds(Value, SESSION, SEQ, I64, NAME, st.binary(max_size=64)),
    st.builds(Time, SESSION, I64, I64, I64),
)


@given(MESSAGE)
def test_what_one_end_says_comes_back_the_same(message: Message) -> None:
    assert decode(encode(message)) == message


@given(MESSAGE, st.data())
def test_damaged_messages_are_refused_or_read_but_never_crash(message: Message, data: st.DataObject) -> None:
    frames = encode(message)
    at = data.draw(st.integers(0, len(frames) - 1))
    frames[at] = data.draw(st.one_of(st.binary(max_size=40), st.just(frames[at][:-1])))
    if data.draw(st.booleans()):
        del frames[data.draw(st.integers(0, len(frames) - 1))]
    try:
        again = decode(frames)
    except WireError:
        return
    assert encode(again) == frames


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_noise_is_refused(frames: list[bytes]) -> None:
    with pytest.raises(WireError):
        decode(frames)


@given(st.sampled_from([b"EVENT", b"ACK", b"PING", b"VALUE", b"TIME", b"RESUME", b"DIVERGED"]), st.binary())
def test_noise_under_a_known_name_is_refused_or_is_such_a_message(kind: bytes, noise: bytes) -> None:
    with contextlib.suppress(WireError):
        assert encode(decode([kind, noise])) == [kind, noise]


ENTRIES = tuple(chain.link(bytes(16), ZERO_HEAD, [("e", b"{}")] * 3, 1))


# Where a message of entries has what: 24 seq, 32 prev, 64 count; in its first entry, from 66: at_ms, 74 hash,
# 106 size of kind, 107 size of body, 111 kind.
@pytest.mark.parametrize(
    ("at", "patch"),
    [
        (24, b"\x00" * 8),
        (24, b"\xff" * 8),
        (24, b"\x7f" + b"\xff" * 7),
        (64, b"\x00\x00"),
        (64, b"\x00\x02"),
        (64, b"\x00\x04"),
        (64, b"\xff\xff"),
        (106, b"\x00"),
        (106, b"\x02"),
        (106, b"\x40"),
        (106, b"\xff"),
        (107, b"\x00" * 4),
        (107, b"\xff" * 4),
        (111, b"\xff"),
    ],
)
def test_each_part_of_entries_is_checked(at: int, patch: bytes) -> None:
    kind, payload = encode(Event(bytes(8), ENTRIES))
    assert decode([kind, payload]) == Event(bytes(8), ENTRIES)
    with pytest.raises(WireError):
        decode([kind, payload[:at] + patch + payload[at + len(patch) :]])


@given(runs())
def test_how_many_entries_it_has_is_known_before_it_is_decoded(entries: tuple[Entry, ...]) -> None:
    frames = encode(Event(bytes(8), entries))
    assert entries_in(frames) == len(entries)
    assert entries_in([b"EVENT", frames[1][:60]]) == entries_in(encode(Time(bytes(8), 1))) == 1


def test_no_more_entries_than_allowed_are_read() -> None:
    few = chain.link(bytes(16), ZERO_HEAD, [("e", b"")] * (MAX_ENTRIES + 1), 1)
    assert decode(encode(Event(bytes(8), tuple(few[1:]))))
    with pytest.raises(WireError):
        decode(encode(Event(bytes(8), tuple(few))))


@given(st.lists(st.integers(0, 40_000), max_size=300))
def test_entries_are_divided_so_that_each_message_keeps_its_bound(sizes: list[int]) -> None:
    entries = chain.link(bytes(16), ZERO_HEAD, [("e", bytes(size)) for size in sizes], 1)
    parts = list(run.runs(entries))
    assert [entry for part, _ in parts for entry in part] == entries
    for part, size in parts:
        assert 1 <= len(part) <= MAX_ENTRIES
        assert size <= run.RUN_BYTES or len(part) == 1
        assert len(run.pack(bytes(8), part)) == 66 + size


def test_the_greatest_bodies_pass_and_no_greater_ones() -> None:
    def event(size: int) -> list[bytes]:
        return encode(Event(bytes(8), (Entry(bytes(16), 1, "e", 0, bytes(size), bytes(32), bytes(32)),)))

    def value(size: int) -> list[bytes]:
        return encode(Value(bytes(8), 1, 0, "k", bytes(size)))

    assert decode(event(MAX_BODY))
    assert decode(value(MAX_VALUE))
    for frames in (event(MAX_BODY + 1), value(MAX_VALUE + 1)):
        with pytest.raises(WireError):
            decode(frames)


def test_greeting_and_refusal_are_those_of_protocol_1() -> None:
    """Written out, since tables and stations of other versions depend on it."""
    hello = [b"HELLO", b"\x01", b"s" * 8, b"l" * 16, b"\0" * 7 + b"\x05", b"h" * 32, b"T1"]
    assert decode(hello) == Hello(b"s" * 8, b"l" * 16, Head(5, b"h" * 32), "T1", 1)
    assert encode(Nack(b"s" * 8, b"l" * 16, "version")) == [b"NACK", b"s" * 8, b"l" * 16, b"version"]
