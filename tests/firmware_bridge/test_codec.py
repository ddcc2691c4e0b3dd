"""Framing: inverse, resynchronisation after garbage, bounded memory; the `cobs` package is the oracle."""

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.codec import (
    MAX_ENCODED,
    MAX_PAYLOAD,
    STOP,
    Frame,
    FrameDecoder,
    StopWatch,
    crc16,
    encode,
    stuff,
    unstuff,
)
from firmware_bridge.errors import UsageError

FRAMES = st.builds(
    Frame,
    kind=st.integers(0, 255),
    seq=st.integers(0, 255),
    session=st.integers(0, 0xFFFF),
    payload=st.binary(max_size=MAX_PAYLOAD),
)


def test_crc_has_the_published_check_value():
    assert crc16(b"123456789") == 0xD64E


def test_a_last_border_flipped_into_a_block_of_nothing_is_no_frame():
    for payload in (b"", b"\x01", b"dice"):
        wire = encode(Frame(0x05, 1, 2, payload))
        decoder = FrameDecoder()
        assert decoder.feed(wire[:-1] + b"\x01\x00") == []
        assert decoder.errors.checksum == 1


@given(st.binary(max_size=600))
def test_stuffing_equals_the_reference(data):
    assert stuff(data) == cobs.encode(data)
    assert unstuff(stuff(data)) == data
    assert 0 not in stuff(data)


@pytest.mark.parametrize("length", [253, 254, 255, 508, 509])
def test_stuffing_of_long_blocks_equals_the_reference(length):
    for data in (b"x" * length, b"x" * length + b"\x00", b"\x00" + b"x" * length):
        assert stuff(data) == cobs.encode(data)
        assert unstuff(stuff(data)) == data


@given(st.binary(max_size=80))
def test_unstuffing_accepts_what_the_reference_accepts(data):
    try:
        expected = cobs.decode(data)
    except cobs.DecodeError:
        expected = None
    assert unstuff(data) == expected


@given(FRAMES, st.integers(1, 130))
def test_a_frame_survives_any_cutting(frame, size):
    wire = encode(frame)
    decoder = FrameDecoder()
    got = [f for at in range(0, len(wire), size) for f in decoder.feed(wire[at : at + size])]
    assert got == [frame]
    assert decoder.errors.total == 0


@given(st.binary(max_size=400), FRAMES, st.binary(max_size=400), FRAMES)
def test_frames_are_found_in_any_garbage(before, first, between, second):
    wire = before + encode(first) + between + encode(second)
    got = FrameDecoder().feed(wire)
    assert first in got
    assert got[-1] == second


@given(FRAMES, st.data())
def test_a_flipped_bit_never_gives_another_frame(frame, data):
    wire = bytearray(encode(frame))
    bit = data.draw(st.integers(0, 8 * len(wire) - 1))
    wire[bit // 8] ^= 1 << bit % 8
    assert all(got == frame for got in FrameDecoder().feed(bytes(wire)))


def test_memory_stays_bounded_without_a_border():
    decoder = FrameDecoder()
    for _ in range(1000):
        assert decoder.feed(b"\x55" * 100) == []
        assert len(decoder._buffer) <= MAX_ENCODED
    frame = Frame(1, 2, 3, b"x")
    assert decoder.feed(encode(frame)) == [frame]
    assert decoder.errors.overflow == 1


def test_each_kind_of_bad_piece_is_counted():
    decoder = FrameDecoder()
    good = bytearray(encode(Frame(1, 2, 3, b"abc")))
    good[-2] ^= 0x10
    decoder.feed(b"\x05\x01\x00" + b"\x02\x01\x00" + bytes(good))
    assert (decoder.errors.stuffing, decoder.errors.length, decoder.errors.checksum) == (1, 1, 1)


STREAMS = st.lists(st.one_of(FRAMES.map(encode), st.just(b"\x00"))).map(b"".join)
PIECES_OF_STOP = st.sampled_from([STOP[:at] for at in range(1, 9)] + [STOP[at:] for at in range(8)])
NEAR_STOPS = st.lists(st.one_of(st.just(STOP), PIECES_OF_STOP, st.binary(max_size=12), STREAMS)).map(b"".join)
TAILS = st.sampled_from([STOP, STOP[:-1], STOP[1:], STOP[1:] + STOP[1:], b"\x80\xffSTO", b"\xff" * 8])


def watched(stream, cuts=()):
    """Every index just behind a stop, as the watch sees it."""
    watch, ends, at = StopWatch(), [], 0
    for end in [*sorted({cut for cut in cuts if cut < len(stream)}), len(stream)]:
        piece = stream[at:end]
        ends += [at + n + 1 for n, value in enumerate(piece) if watch.byte(value)]
        at = end
    return ends


@given(
    STREAMS,
    st.lists(st.builds(Frame, st.integers(0, 255), st.integers(0, 255), st.integers(0, 0xFFFF), TAILS)),
)
def test_no_stream_of_frames_contains_a_stop(stream, teasing):
    stream += b"".join(encode(frame) for frame in teasing)
    assert STOP[:2] not in stream
    assert watched(stream) == []


@given(FRAMES, st.binary(max_size=20), st.data())
def test_a_flipped_bit_makes_a_stop_only_of_a_frame_that_ends_like_one(frame, payload, data):
    frame = Frame(frame.kind, frame.seq, frame.session, payload + data.draw(TAILS))
    wire = bytearray(encode(frame) + encode(frame))
    bit = data.draw(st.integers(0, 8 * len(wire) - 1))
    ends_like_one = wire[:-1].endswith(STOP[1:-1])
    wire[bit // 8] ^= 1 << bit % 8
    assert STOP not in wire or ends_like_one


def test_a_frame_made_for_it_becomes_a_stop_by_one_bit():
    """What the codec does not promise: the check sum must be 50 FF behind a payload that ends FF 'STO'."""
    made = next(
        wire
        for number in range(1 << 20)
        if (wire := encode(Frame(4, 1, 7, number.to_bytes(3) + b"\x01\xffSTO"))).endswith(STOP[1:])
    )
    at = made.rindex(STOP[1:]) - 1
    assert STOP in made[:at] + bytes([made[at] ^ 1]) + made[at + 1 :]


@given(NEAR_STOPS, st.lists(st.integers(0, 300)))
def test_the_watch_fires_exactly_where_a_stop_ends(stream, cuts):
    ends = [at + 8 for at in range(len(stream)) if stream[at : at + 8] == STOP]
    assert watched(stream, cuts) == ends
    assert StopWatch().feed(stream) == (ends[-1] if ends else None)


def test_a_stop_is_a_dropped_piece_to_the_decoder():
    decoder = FrameDecoder()
    frame = Frame(1, 2, 3, b"x")
    assert decoder.feed(encode(frame)[:-4] + STOP + encode(frame)) == [frame]
    assert decoder.errors.stuffing == 2


def test_too_long_a_payload_is_our_bug():
    assert len(encode(Frame(1, 1, 1, b"\xff" * MAX_PAYLOAD))) <= MAX_ENCODED + 2
    with pytest.raises(UsageError, match="at most"):
        encode(Frame(1, 1, 1, b"x" * (MAX_PAYLOAD + 1)))
