"""Tickets, and pairing with one."""

from pathlib import Path

import cv2
import numpy as np
import pytest
import segno
from hypothesis import given
from hypothesis import strategies as st
from nacl.public import PrivateKey

from station.errors import PairingError
from station.pairing import with_ticket
from station.pairing.photo import text_in, text_in_file
from station.pairing.protocol import Candidate, Identity, Offer
from station.pairing.ticket import Ticket, read_ticket
from station.pairing.wire import Ask, Sealed

STATION, TABLE = (
    Identity(PrivateKey(secret).public_key.encode(), secret, b"v" * 32) for secret in (b"1" * 32, b"2" * 32)
)
ENDPOINT = "tcp://192.168.1.2:7700"


def test_a_ticket_is_read_as_it_was_written(ticket: Ticket) -> None:
    assert read_ticket(ticket.text) == ticket
    assert read_ticket(f" {ticket.text[:30].lower()}\n {ticket.text[30:]} ") == ticket
    assert "secret" not in repr(ticket)


@given(at=st.integers(5, 100), sign=st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"))
def test_a_slip_in_a_ticket_is_found(at: int, sign: str) -> None:
    text = Ticket(b"k" * 32, b"s" * 16, ("192.168.1.2:7701",), "T1").text
    changed = text[:at] + sign + text[at + 1 :]
    if changed != text:
        with pytest.raises(PairingError, match="not whole"):
            read_ticket(changed)


@given(st.text())
def test_anything_else_is_no_ticket(text: str) -> None:
    with pytest.raises(PairingError):
        read_ticket("QZP1:" + text)
    with pytest.raises(PairingError):
        read_ticket(text)


def test_a_ticket_is_read_from_a_photograph(ticket: Ticket, tmp_path: Path) -> None:
    segno.make(ticket.text, error="m", micro=False).save(str(tmp_path / "flat.png"), scale=6, border=4)
    flat = cv2.imread(str(tmp_path / "flat.png"))
    assert flat is not None
    h, w = flat.shape[:2]
    corners = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)
    seen = np.array([[120, 60], [480, 90], [460, 430], [100, 400]], np.float32)
    photo = cv2.warpPerspective(
        flat, cv2.getPerspectiveTransform(corners, seen), (640, 480), borderValue=(190, 190, 190)
    )
    cv2.imwrite(str(tmp_path / "photo.jpg"), cv2.GaussianBlur(photo, (3, 3), 0))
    assert read_ticket(text_in_file(tmp_path / "photo.jpg")) == ticket
    cv2.imwrite(str(tmp_path / "empty.jpg"), np.full((200, 200, 3), 190, np.uint8))
    for name, said in (("empty.jpg", "No QR code"), ("nowhere.jpg", "no file")):
        with pytest.raises(PairingError, match=said):
            text_in_file(tmp_path / name)


def test_every_ticket_is_read_where_one_way_of_finding_codes_misses_some() -> None:
    for number in range(120):
        ticket = Ticket(bytes([number]) * 32, b"s" * 16, ("192.168.1.2:7701",), "T1")
        code = np.array(list(segno.make(ticket.text, error="m", micro=False).matrix), np.uint8)
        flat = np.kron(np.pad(255 * (1 - code), 4, constant_values=255), np.ones((6, 6), np.uint8))
        assert text_in(cv2.cvtColor(flat, cv2.COLOR_GRAY2BGR)) == ticket.text


def paired(ticket: Ticket, station: Identity, table: Identity) -> tuple[Candidate, Offer]:
    message = with_ticket.ask(ticket, table, "T1")
    candidate = with_ticket.read_ask(ticket, station, message)
    sealed = with_ticket.answer(ticket, station, candidate, message, ENDPOINT)
    return candidate, with_ticket.read_answer(ticket, table, message, sealed)


def test_with_a_ticket_each_learns_the_others_keys(
    ticket: Ticket, station: Identity, table: Identity
) -> None:
    candidate, offer = paired(ticket, station, table)
    assert candidate == Candidate("T1", table.public, table.verify or b"")
    assert offer == Offer(ENDPOINT, station.public, station.verify)


def test_without_the_secret_nobody_is_let_in(ticket: Ticket, station: Identity, eve: Identity) -> None:
    guessed = Ticket(ticket.station, b"x" * 16, ticket.addresses)
    with pytest.raises(PairingError, match="does not know this ticket"):
        with_ticket.read_ask(ticket, station, with_ticket.ask(guessed, eve, "T1"))


def test_who_stole_the_ticket_still_is_not_the_station(
    ticket: Ticket, station: Identity, table: Identity, eve: Identity
) -> None:
    """The key on the ticket is the station's; Eve has its secret but not the secret key."""
    message = with_ticket.ask(ticket, table, "T1")
    candidate = Candidate("T1", table.public, table.verify or b"")
    forged = with_ticket.answer(ticket, eve, candidate, message, "tcp://6.6.6.6:7700")
    with pytest.raises(PairingError):
        with_ticket.read_answer(ticket, table, message, forged)


def test_an_answer_to_another_message_is_none(ticket: Ticket, station: Identity, table: Identity) -> None:
    first, second = (with_ticket.ask(ticket, table, "T1") for _ in range(2))
    candidate = with_ticket.read_ask(ticket, station, first)
    sealed = with_ticket.answer(ticket, station, candidate, first, ENDPOINT)
    with pytest.raises(PairingError):
        with_ticket.read_answer(ticket, table, second, sealed)


def test_a_ticket_for_one_table_is_for_that_one_alone(station: Identity, table: Identity) -> None:
    ticket = Ticket(station.public, b"s" * 16, ("192.168.1.2:7701",), "T2")
    with pytest.raises(PairingError, match="another table"):
        with_ticket.read_ask(ticket, station, with_ticket.ask(ticket, table, "T1"))


def test_a_refusal_says_why_and_cannot_be_forged(ticket: Ticket, station: Identity, table: Identity) -> None:
    message = with_ticket.ask(ticket, table, "T1")
    with pytest.raises(PairingError, match="was revoked"):
        with_ticket.read_answer(ticket, table, message, with_ticket.refuse(ticket, message, "revoked"))
    guessed = Ticket(ticket.station, b"x" * 16, ticket.addresses)
    with pytest.raises(PairingError, match="Somebody else"):
        with_ticket.read_answer(ticket, table, message, with_ticket.refuse(guessed, message, "revoked"))


@given(box=st.binary(min_size=40, max_size=300))
def test_rubbish_is_refused_on_both_sides(box: bytes) -> None:
    ticket = Ticket(STATION.public, b"s" * 16, ("192.168.1.2:7701",))
    with pytest.raises(PairingError):
        with_ticket.read_ask(ticket, STATION, Ask(1, box))
    with pytest.raises(PairingError):
        with_ticket.read_answer(ticket, TABLE, with_ticket.ask(ticket, TABLE, "T1"), Sealed(box))
