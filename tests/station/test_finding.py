"""Finding the station by multicast DNS; on the loopback interface alone."""

import asyncio
import socket

import pytest
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from station import finding
from station.addresses import is_loopback
from station.finding import LINK, PAIRING, announced, endpoint_host, find, own_addresses
from tests.required import go_without

HERE = ["127.0.0.1"]
KEY, OTHER = "k" * 40, "o" * 40

GROUP, PORT = "224.0.0.251", 5353

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def multicast() -> None:
    """A word to everybody on the loopback interface comes back; not every container lets it."""
    here = socket.inet_aton(HERE[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ears:
        try:
            ears.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            ears.bind(("", PORT))
            ears.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + here)
            ears.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
            ears.settimeout(2.0)
            ears.sendto(b"\0" * 12, (GROUP, PORT))
            ears.recvfrom(9000)
        except OSError as error:
            go_without("multicast", f"no multicast on the loopback interface here: {error}")


async def _looked(kind: str, key: str | None, timeout_s: float = 30.0) -> list[tuple[tuple[str, ...], str]]:
    async with (
        announced(LINK, HERE, 7700, KEY, HERE),
        announced(LINK, HERE, 7800, OTHER, HERE),
    ):
        found = await find(kind, key=key, timeout_s=timeout_s, interfaces=HERE)
        return [(station.addresses, station.key) for station in found]


def test_a_station_is_found_by_what_it_announces(multicast: None) -> None:
    assert asyncio.run(_looked(LINK, KEY)) == [(("127.0.0.1:7700",), KEY)]


def test_a_station_whose_answers_come_late_is_asked_again(
    multicast: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = finding._asked

    async def slowly(zeroconf: AsyncZeroconf, kind: str, name: str) -> AsyncServiceInfo | None:
        asked.append(name)
        await asyncio.sleep(0.01)
        return None if asked.count(name) < 3 else await ask(zeroconf, kind, name)

    monkeypatch.setattr(finding, "_asked", slowly)
    assert asyncio.run(_looked(LINK, KEY)) == [(("127.0.0.1:7700",), KEY)]


def test_all_stations_are_found_where_no_key_is_known_yet(multicast: None) -> None:
    for timeout_s in (2.0, 10.0, 30.0):  # a look without a key takes all of its time
        found = {key for _, key in asyncio.run(_looked(LINK, None, timeout_s))}
        if found >= {KEY, OTHER}:
            break
    assert found >= {KEY, OTHER}, "and whatever else speaks on this computer"


def test_another_key_and_another_service_are_not_taken_for_it(multicast: None) -> None:
    assert asyncio.run(_looked(LINK, "x" * 40, 1.0)) == []
    others = asyncio.run(_looked(PAIRING, None, 0.5))  # of another program on this computer
    assert {KEY, OTHER}.isdisjoint(key for _, key in others)


def test_an_endpoint_is_split_and_the_own_addresses_are_those_that_others_may_reach() -> None:
    assert endpoint_host("tcp://[::1]:7700") == ("[::1]", 7700)
    assert not any(is_loopback(address) for address in own_addresses())
