"""Telling the hall's network where the station is, for tables whose configuration does not say."""

from __future__ import annotations

import asyncio

import structlog

from station import finding
from station.addresses import is_loopback

__all__ = ["announce"]

_log = structlog.get_logger()


async def announce(endpoint: str, key: str) -> None:
    """Announce the link until cancelled; one on loopback is nobody's business.

    Args:
        endpoint: ``tcp://host:port`` with its real port.
        key: public key of the station (Z85).
    """
    host, port = finding.endpoint_host(endpoint)
    if not is_loopback(host):
        everywhere = host in ("0.0.0.0", "*")  # noqa: S104 - asked, not bound
        addresses = finding.own_addresses() if everywhere else [host]
        v4 = [address for address in addresses if ":" not in address]
        try:
            async with finding.announced(finding.LINK, v4, port, key, v4):
                await asyncio.Event().wait()
        except OSError as error:
            _log.warning("not announced; tables need an endpoint", reason=str(error))
    await asyncio.Event().wait()
