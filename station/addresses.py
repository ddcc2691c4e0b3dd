"""What an address of the network means to us."""

from __future__ import annotations

import ipaddress
from typing import Final

__all__ = ["is_loopback", "unmapped"]

_NAME: Final = "localhost"


def is_loopback(host: str) -> bool:
    """Whether a host leads to this very computer and nowhere else.

    Args:
        host: an IPv4 or IPv6 address, the latter also in the brackets of a URL (RFC 3986, section 3.2.2) or
            as one of IPv4 (``::ffff:127.0.0.1``, RFC 4291, section 2.5.5.2); or a name. Of names only
            ``localhost`` does (RFC 6761, section 6.3): any other one may be made to lead elsewhere.
    """
    plain = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return host.lower().removesuffix(".") == _NAME
    return ipaddress.ip_address(unmapped(str(address))).is_loopback


def unmapped(host: str) -> str:
    """Give the IPv4 address that an IPv6 one stands for (RFC 4291, section 2.5.5.2); else the host as it is.

    A socket that listens at ``::`` tells so of who comes by IPv4.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return host if mapped is None else str(mapped)
