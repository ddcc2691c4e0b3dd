"""Pairing by six digits that a person compares."""

from collections import Counter

import pytest

from station.errors import PairingError
from station.pairing.protocol import Candidate, Identity
from station.pairing.wire import Answer, Opening, Start
from station.pairing.with_code import StationRun, TableRun, code_of, commitment

ENDPOINT = "tcp://192.168.1.2:7700"


def met(station: Identity, table: Identity) -> tuple[TableRun, StationRun]:
    there = TableRun(table, "T1", b"t" * 32)
    here = StationRun(station, there.start(), b"s" * 32)
    here.opened(there.answered(here.reply))
    return there, here


def test_both_show_the_same_six_digits_and_learn_each_others_keys(station: Identity, table: Identity) -> None:
    there, here = met(station, table)
    assert there.code == here.code
    assert len(there.code) == 6
    assert there.code.isdigit()
    offer = there.accepted(here.accept(ENDPOINT))
    assert (offer.endpoint, offer.public, offer.verify) == (ENDPOINT, station.public, station.verify)
    here.confirmed(there.confirm())
    there.enrolled(here.enrolled())
    assert here.candidate == Candidate("T1", table.public, table.verify or b"")


def test_everything_that_was_said_is_in_the_code(station: Identity, table: Identity, eve: Identity) -> None:
    codes = set()
    for name, who, nonce in (
        ("T1", table, b"t"),
        ("T2", table, b"t"),
        ("T1", eve, b"t"),
        ("T1", table, b"u"),
    ):
        for other, number in ((station, b"s"), (eve, b"s"), (station, b"r")):
            there = TableRun(who, name, nonce * 32)
            here = StationRun(other, there.start(), number * 32)
            here.opened(there.answered(here.reply))
            codes.add(here.code)
    assert len(codes) == 12


def test_a_number_told_after_the_stations_has_to_be_the_promised_one(
    station: Identity, table: Identity
) -> None:
    there = TableRun(table, "T1", b"t" * 32)
    here = StationRun(station, there.start(), b"s" * 32)
    there.answered(here.reply)
    with pytest.raises(PairingError, match="codes do not agree"):
        here.opened(Opening(b"u" * 32))


def test_who_sits_between_makes_the_codes_differ(station: Identity, table: Identity, eve: Identity) -> None:
    """Eve plays the station to the table and a table to the station; all she says is well-formed."""
    there = TableRun(table, "T1", b"t" * 32)
    as_station = StationRun(eve, there.start(), b"e" * 32)
    as_table = TableRun(eve, "T1", b"f" * 32)
    here = StationRun(station, as_table.start(), b"s" * 32)
    here.opened(as_table.answered(here.reply))
    as_station.opened(there.answered(as_station.reply))
    assert there.code != here.code


def test_eve_chooses_blindly_so_that_her_chance_is_that_of_a_guess(
    station: Identity, table: Identity, eve: Identity
) -> None:
    """She may know the station's code by then, but has to answer before the table tells its number."""
    answers = Counter[str]()
    reply = Answer(eve.public, eve.verify, b"e" * 32)
    for number in range(4000):
        there = TableRun(table, "T1", number.to_bytes(32, "big"))
        there.answered(reply)
        answers[there.code[:1]] += 1
    assert set(answers) == set("0123456789")
    assert max(answers.values()) < 500  # 400 expected, five standard deviations are 95


def test_eve_cannot_speak_after_the_codes_were_compared(
    station: Identity, table: Identity, eve: Identity
) -> None:
    there, here = met(station, table)
    mallory = StationRun(eve, there.start(), b"s" * 32)
    mallory.opened(Opening(b"t" * 32))
    for forged in (mallory.accept("tcp://6.6.6.6:7700"), mallory.enrolled()):
        with pytest.raises(PairingError, match="Somebody else"):
            there.accepted(forged)
    other = TableRun(eve, "T1", b"t" * 32)
    other.answered(here.reply)
    with pytest.raises(PairingError, match="Somebody else"):
        here.confirmed(other.confirm())


def test_a_step_cannot_stand_for_another_nor_be_sent_back(station: Identity, table: Identity) -> None:
    there, here = met(station, table)
    accepted = here.accept(ENDPOINT)
    with pytest.raises(PairingError):
        here.confirmed(accepted)
    with pytest.raises(PairingError):
        there.enrolled(accepted)
    with pytest.raises(PairingError):
        there.accepted(there.confirm())


def test_steps_of_another_conversation_do_not_count(station: Identity, table: Identity) -> None:
    there, _ = met(station, table)
    again = TableRun(table, "T1", b"x" * 32)
    other = StationRun(station, again.start(), b"y" * 32)
    other.opened(again.answered(other.reply))
    with pytest.raises(PairingError):
        there.accepted(other.accept(ENDPOINT))


def test_a_refusal_says_why(station: Identity, table: Identity) -> None:
    there, here = met(station, table)
    with pytest.raises(PairingError, match="another key for a table of this name"):
        there.accepted(here.refuse("taken"))


def test_a_key_that_is_none_is_refused(station: Identity, table: Identity) -> None:
    zero = bytes(32)
    binding = commitment(Candidate("T1", zero, zero), zero)
    with pytest.raises(PairingError):
        StationRun(station, Start(1, "T1", zero, zero, binding), zero)
    with pytest.raises(PairingError):
        TableRun(table, "T1", zero).answered(Answer(zero, None, zero))


def test_another_version_is_told(station: Identity, table: Identity) -> None:
    with pytest.raises(PairingError, match="different versions"):
        StationRun(station, Start(2, "T1", table.public, table.verify or b"", b"c" * 32), b"s" * 32)


def test_a_code_has_always_six_digits() -> None:
    assert {len(code_of(bytes([n]))) for n in range(256)} == {6}
