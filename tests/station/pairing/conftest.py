"""Identities of both sides, and a ticket."""

import hashlib

import pytest
from nacl.public import PrivateKey

from station.pairing.protocol import Identity
from station.pairing.ticket import Ticket


def identity(name: str) -> Identity:
    """Keys that are the same in every run."""
    secret = hashlib.blake2b(name.encode(), digest_size=32).digest()
    return Identity(PrivateKey(secret).public_key.encode(), secret, hashlib.sha256(secret).digest())


@pytest.fixture
def station() -> Identity:
    return identity("station")


@pytest.fixture
def table() -> Identity:
    return identity("table")


@pytest.fixture
def eve() -> Identity:
    return identity("eve")


@pytest.fixture
def ticket(station: Identity) -> Ticket:
    return Ticket(station.public, b"s" * 16, ("192.168.1.2:7701",))
