"""Where the central station is, when the configuration does not say: looked for, and remembered."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import structlog

from station.errors import LinkError
from station.files import replace_file
from station.finding import LINK, Found, find
from station.link.keys import load_public
from station.table.config import TableConfig

__all__ = ["recalled", "with_endpoint"]

_log = structlog.get_logger()
_REMEMBERED = "station-endpoint"
_CONNECT_S = 1.5
_ENDPOINT = re.compile(r"tcp://[0-9A-Za-z.:\[\]_-]{1,80}:[0-9]{1,5}")


async def _look(key: str) -> list[Found]:
    return await find(LINK, key=key)


async def with_endpoint(
    config: TableConfig, home: Path, look: Callable[[str], Awaitable[list[Found]]] = _look
) -> TableConfig:
    """Return the configuration with the address of the station that has the pinned key.

    Args:
        config: as loaded.
        home: the table's folder; the address is remembered there.
        look: gives the stations that claim to have a key. Only the link's handshake proves it.

    Raises:
        LinkError: the station was not found, now or ever. KeyFileError: the pinned key is damaged.
    """
    central = config.central
    if central is None or central.endpoint:
        return config
    file = home / _REMEMBERED
    endpoint = await _answering(await look(load_public(Path(central.public_key))))
    if endpoint is None:
        endpoint = _recall(file)
    else:
        _remember(file, endpoint)
    if endpoint is None:
        raise LinkError(
            "The central station is not found in the network.",
            fix="Start it first, or set endpoint in [central].",
            code="link.not_found",
        )
    return msgspec.structs.replace(config, central=msgspec.structs.replace(central, endpoint=endpoint))


async def _answering(found: list[Found]) -> str | None:
    """Return the first address at which anything answers; the first of all when nothing does."""
    addresses = [address for station in found for address in station.addresses]
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(_CONNECT_S):
                _, writer = await asyncio.open_connection(host, int(port))
            writer.close()
        except (OSError, TimeoutError):
            continue
        return f"tcp://{address}"
    return f"tcp://{addresses[0]}" if addresses else None


def recalled(home: Path) -> str | None:
    """The address of the station that was found at an earlier start; None: none yet."""
    return _recall(home / _REMEMBERED)


def _recall(file: Path) -> str | None:
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if _ENDPOINT.fullmatch(text) else None


def _remember(file: Path, endpoint: str) -> None:
    """Keep the address for a start at which the station is silent; without it this start goes well too."""
    try:
        replace_file(file, f"{endpoint}\n")
    except OSError as error:
        _log.warning("the station's address is not remembered", file=str(file), reason=error.strerror)
