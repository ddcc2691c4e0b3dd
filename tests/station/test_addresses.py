from __future__ import annotations

import pytest

from station.addresses import is_loopback


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.255.255.254",
        "::1",
        "[::1]",
        "::ffff:127.0.0.1",
        "[::ffff:127.0.0.1]",
        "::ffff:7f00:1",
        "localhost",
        "LOCALHOST",
        "localhost.",
    ],
)
def test_these_lead_to_this_computer_alone(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "0.0.0.0",
        "::",
        "[::]",
        "::ffff:0.0.0.0",
        "192.168.1.2",
        "::ffff:192.168.1.2",
        "fe80::1",
        "128.0.0.1",
        "127.0.0.1.example",
        "127.1",  # the resolver takes it; nobody who means well writes it
        "localhost.example",
        "notlocalhost",
        "localhost..",
        "[localhost]",
        "[127.0.0.1",
        "*",
        "unix:/run/x",
    ],
)
def test_these_may_lead_elsewhere(host: str) -> None:
    assert not is_loopback(host)
