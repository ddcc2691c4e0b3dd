"""Encoding and decoding of the link's messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.errors import WireError
from station.link.wire import (
    Ack,
    Diverged,
    Event,
    FromCentral,
    FromTable,
    Hello,
    Nack,
    Ping,
    Resume,
    decode_from_central,
    decode_from_table,
    encode,
)
from station.log.chain import MAX_BODY, Entry, Head

SESSION = st.binary(min_size=8, max_size=8)
LOG_ID = st.binary(min_size=16, max_size=16)
HASH = st.binary(min_size=32, max_size=32)
SEQ = st.integers(1, (1 << 63) - 1)
NAME = st.text(max_size=16)
HEAD = st.builds(Head, st.integers(0, (1 << 63) - 1), HASH)
ENTRY = st.builds(
    Entry, LOG_ID, SEQ, NAME, st.integers(-(1 << 63), (1 << 63) - 1), st.binary(max_size=64), HASH, HASH
)
FROM_TABLE = st.one_of(
    st.builds(Hello, SESSION, LOG_ID, HEAD, NAME, st.integers(0, 255)),
    st.builds(Event, SESSION, ENTRY),
    st.builds(Ping, SESSION, LOG_ID, SEQ),
    st.builds(Diverged, SESSION, LOG_ID, HEAD, NAME),
)
FROM_CENTRAL = st.one_of(
    st.builds(Resume, SESSION, LOG_ID, SEQ, HASH),
    st.builds(Ack, SESSION, LOG_ID, SEQ),
    st.builds(Nack, SESSION, LOG_ID, NAME),
)


@given(FROM_TABLE)
def test_what_a_table_says_comes_back_the_same(message: FromTable) -> None:
    assert decode_from_table(encode(message)) == message


@given(FROM_CENTRAL)
def test_what_the_central_station_says_comes_back_the_same(message: FromCentral) -> None:
    assert decode_from_central(encode(message)) == message


@given(st.one_of(FROM_TABLE, FROM_CENTRAL), st.data())
def test_damaged_messages_are_refused_or_read_but_never_crash(
    message: FromTable | FromCentral, data: st.DataObject
) -> None:
    frames = encode(message)
    at = data.draw(st.integers(0, len(frames) - 1))
    frames[at] = data.draw(st.binary(max_size=40))
    if data.draw(st.booleans()):
        del frames[data.draw(st.integers(0, len(frames) - 1))]
    for decode in (decode_from_table, decode_from_central):
        try:
            again = decode(frames)
        except WireError:
            continue
        assert encode(again) == frames


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_noise_is_refused(frames: list[bytes]) -> None:
    for decode in (decode_from_table, decode_from_central):
        with pytest.raises(WireError):
            decode(frames)


def event_frames(**changes: bytes) -> list[bytes]:
    names = ["kind", "session", "log_id", "numbers", "prev", "hash", "event_kind", "body"]
    frames = encode(Event(bytes(8), Entry(bytes(16), 1, "e", 0, b"{}", bytes(32), bytes(32))))
    return [changes.get(name, frame) for name, frame in zip(names, frames, strict=True)]


@pytest.mark.parametrize(
    "changes",
    [
        {"session": bytes(7)},
        {"log_id": bytes(17)},
        {"numbers": bytes(16)},
        {"numbers": b"\xff" * 16},
        {"numbers": bytes(15)},
        {"prev": bytes(31)},
        {"hash": bytes(33)},
        {"event_kind": b"\xff"},
        {"event_kind": b"k" * 65},
        {"body": bytes(MAX_BODY + 1)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_each_frame_of_an_event_is_checked(changes: dict[str, bytes]) -> None:
    assert decode_from_table(event_frames())
    with pytest.raises(WireError):
        decode_from_table(event_frames(**changes))


def test_the_greatest_body_passes() -> None:
    assert decode_from_table(event_frames(body=bytes(MAX_BODY)))
