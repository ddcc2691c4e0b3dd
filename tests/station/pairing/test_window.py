"""How long and how often the station lets itself be paired; what its messages may be."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.errors import PairingError
from station.pairing.window import AT_ONCE, TRIES, VALID_S, Window
from station.pairing.wire import LARGEST, LENGTH_BYTES, Opening, decode, encode, length_of, table_name


def test_it_closes_after_ten_minutes() -> None:
    window = Window(100.0)
    assert window.is_open(100.0 + VALID_S - 0.1)
    assert not window.is_open(100.0 + VALID_S)
    assert window.left_s(100.0 + VALID_S + 5) == 0
    assert not window.enter(100.0 + VALID_S)


def test_it_closes_after_one_pairing() -> None:
    window = Window(0.0)
    window.use()
    assert not window.is_open(1.0)


def test_it_closes_after_three_wrong_codes() -> None:
    window = Window(0.0)
    for _ in range(TRIES):
        assert window.is_open(1.0)
        window.wrong_code()
    assert not window.is_open(1.0)


def test_connections_are_few_at_a_time_and_few_a_second() -> None:
    window = Window(0.0)
    assert [window.enter(0.0) for _ in range(AT_ONCE + 1)] == [True] * AT_ONCE + [False]
    for _ in range(AT_ONCE):
        window.leave()
    entered = 0
    for tick in range(1000):
        if window.enter(tick / 100):
            entered += 1
            window.leave()
    assert 15 <= entered <= 26  # two a second for ten seconds, after what was left of the first eight


@given(st.binary(max_size=LARGEST))
def test_no_bytes_break_the_reader_of_messages(body: bytes) -> None:
    with suppress(PairingError):
        decode(body)


@pytest.mark.parametrize("head", [b"\0\0", b"\xff\xff", (LARGEST + 1).to_bytes(2, "big")])
def test_a_frame_that_is_too_long_is_refused_before_it_is_read(head: bytes) -> None:
    with pytest.raises(PairingError):
        length_of(head)


def test_a_message_is_read_as_it_was_sent() -> None:
    message = Opening(b"n" * 32)
    frame = encode(message)
    assert length_of(frame[:LENGTH_BYTES]) == len(frame) - LENGTH_BYTES
    assert decode(frame[LENGTH_BYTES:]) == message
    with pytest.raises(PairingError):
        decode(encode(Opening(b"short"))[LENGTH_BYTES:])


def test_tables_have_names() -> None:
    assert table_name("T1") == "T1"
    for bad in ("", "T 1", "桌", "a" * 33, "T1\n"):
        with pytest.raises(PairingError):
            table_name(bad)
