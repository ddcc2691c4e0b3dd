"""Where photos go: as the station says, and only to one that this table trusts."""

from __future__ import annotations

import msgspec
import pytest

from station.evidence.address import Target, announcement, where

MAIN = ("tcp://192.168.1.2:7700", "M" * 40)
STANDBY = ("tcp://[fe80::1]:7700", "S" * 40)


@pytest.mark.parametrize(
    ("said", "station", "taken"),
    [
        ("tcp://0.0.0.0:7702", MAIN, "tcp://192.168.1.2:7702"),
        ("tcp://*:9", MAIN, "tcp://192.168.1.2:9"),
        ("tcp://[::]:7702", STANDBY, "tcp://[fe80::1]:7702"),
        ("tcp://10.0.0.9:7702", MAIN, "tcp://10.0.0.9:7702"),
    ],
)
def test_a_station_that_listens_everywhere_takes_photos_where_it_takes_events(
    said: str, station: tuple[str, str], taken: str
) -> None:
    assert where(announcement(said, station[1], "s"), [MAIN, STANDBY]) == Target(taken, station[1], "s")
    earlier = msgspec.json.encode({"endpoint": said, "key": station[1]})
    assert where(earlier, [MAIN, STANDBY]) == Target(taken, station[1])


def test_a_strange_key_and_rubbish_are_not_followed() -> None:
    assert where(announcement("tcp://0.0.0.0:1", "X" * 40), [MAIN, STANDBY]) is None
    for body in (b"", b"rubbish", b"{}", b'{"endpoint": 1, "key": 2}', announcement(*MAIN, "s" * 65)):
        assert where(body, [MAIN]) is None
