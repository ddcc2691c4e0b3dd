"""Finding the station in the hall's network by multicast DNS (RFC 6762, RFC 6763).

Anybody in the network can announce anything: what is found is an address and nothing more. The station's
pinned key decides whether who answers there is believed; the announced key only picks among several stations.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import ifaddr
from zeroconf import Error as ZeroconfError
from zeroconf import InterfaceChoice, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

__all__ = ["LINK", "PAIRING", "Found", "announced", "endpoint_host", "find", "own_addresses"]

LINK: Final = "_quezhuo._tcp.local."
"""Where tables connect."""
PAIRING: Final = "_quezhuo-pair._tcp.local."
"""Where tables are paired, while the window is open."""
_KEY_LENGTH: Final = 40
_ANSWER_MS: Final = 1500

Interfaces = Sequence[str] | InterfaceChoice


@dataclass(frozen=True, slots=True)
class Found:
    """A station that says it is at these addresses (``host:port``) and has this key (Z85; may be empty)."""

    addresses: tuple[str, ...]
    key: str


def endpoint_host(endpoint: str) -> tuple[str, int]:
    """Split ``tcp://host:port`` of a link.

    Raises:
        ValueError: it is no such address.
    """
    host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
    return host, int(port)


def own_addresses() -> list[str]:
    """Give this machine's IPv4 addresses that others may reach, link-local ones last."""
    found = [
        str(ip.ip)
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
        if isinstance(ip.ip, str) and not ipaddress.ip_address(ip.ip).is_loopback
    ]
    return sorted(set(found), key=lambda ip: (ipaddress.ip_address(ip).is_link_local, found.index(ip)))


@asynccontextmanager
async def announced(
    kind: str, addresses: Sequence[str], port: int, key: str, interfaces: Interfaces = InterfaceChoice.All
) -> AsyncIterator[None]:
    """Announce a service while the block runs.

    Args:
        kind: `LINK` or `PAIRING`.
        addresses: IPv4 addresses of this machine.
        port: where it listens.
        key: public key of the station (Z85).
        interfaces: addresses of the interfaces to announce on.

    Raises:
        OSError: the network refuses.
    """
    name = hashlib.blake2b(key.encode(), digest_size=6).hexdigest()
    info = AsyncServiceInfo(
        kind,
        f"{name}.{kind}",
        port=port,
        addresses=[socket.inet_aton(address) for address in addresses],
        properties={"v": "1", "key": key},
        server=f"quezhuo-{name}.local.",
    )
    zeroconf = AsyncZeroconf(interfaces=interfaces, ip_version=IPVersion.V4Only)
    try:
        try:
            await zeroconf.async_register_service(info, allow_name_change=True)
        except ZeroconfError as error:
            raise OSError(f"the station cannot be announced: {error}") from error
        yield
        await zeroconf.async_unregister_service(info)
    finally:
        await zeroconf.async_close()


async def find(
    kind: str,
    *,
    key: str | None = None,
    timeout_s: float = 3.0,
    interfaces: Interfaces = InterfaceChoice.All,
) -> list[Found]:
    """Look for stations.

    Args:
        kind: `LINK` or `PAIRING`.
        key: stop at the first station that claims to have this key (Z85), and give it alone.
        timeout_s: how long to look.
        interfaces: addresses of the interfaces to look on.

    Returns:
        what was found, in the order it came; empty where the network does not carry multicast.
    """
    try:
        zeroconf = AsyncZeroconf(interfaces=interfaces, ip_version=IPVersion.V4Only)
    except OSError:
        return []
    names: asyncio.Queue[str] = asyncio.Queue()

    def heard(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        del zeroconf, service_type
        if state_change is not ServiceStateChange.Removed:
            names.put_nowait(name)

    browser = AsyncServiceBrowser(zeroconf.zeroconf, kind, handlers=[heard])
    found: dict[str, Found] = {}
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                name = await names.get()
                info = await _asked(zeroconf, kind, name)
                if info is None:  # a slow network: as long as there is time, the answer may still come
                    names.put_nowait(name)
                    continue
                station = _station(info)
                if station is None:
                    continue
                found[name] = station
                if key is not None and station.key == key:
                    return [station]
    except TimeoutError:
        return [] if key is not None else list(found.values())
    finally:
        await browser.async_cancel()
        await zeroconf.async_close()


async def _asked(zeroconf: AsyncZeroconf, kind: str, name: str) -> AsyncServiceInfo | None:
    """Ask for address, port and key; None when the answer does not come for a while."""
    info = AsyncServiceInfo(kind, name)
    return info if await info.async_request(zeroconf.zeroconf, _ANSWER_MS) else None


def _station(info: AsyncServiceInfo) -> Found | None:
    """Read an answer; None when it is nonsense."""
    if not info.port:
        return None
    addresses = info.parsed_addresses(IPVersion.V4Only)[:4]
    raw = info.properties.get(b"key") or b""
    key = raw.decode("ascii", errors="replace") if len(raw) == _KEY_LENGTH else ""
    return Found(tuple(f"{address}:{info.port}" for address in addresses), key) if addresses else None
