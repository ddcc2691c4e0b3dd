"""Where the central station takes photos, as it says over the link of the events. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec

from station.link.codes import ValueKey

__all__ = ["VALUE_KEY", "Target", "announcement", "where"]

VALUE_KEY = ValueKey.EVIDENCE
"""Key of the value that the central station says to all tables."""
_ANY_HOST = frozenset({"0.0.0.0", "*", "[::]"})  # noqa: S104 - read, not bound


class Target(msgspec.Struct, frozen=True):
    """Where a table brings its photos.

    Args:
        endpoint: of the channel. key: public key of the station (Z85).
        shelf: what the station has, has it there, see `station.evidence.index.Index.shelf`; empty: not said.
    """

    endpoint: str
    key: str
    shelf: str = ""


_Shelf = Annotated[str, msgspec.Meta(max_length=64)]


class _Announced(msgspec.Struct, frozen=True):
    endpoint: str
    key: str
    shelf: _Shelf = ""


_decoder = msgspec.json.Decoder(_Announced)


def announcement(endpoint: str, key: str, shelf: str = "") -> bytes:
    """Return the value's body for an endpoint, the station's public key (Z85) and the name of its shelf."""
    return msgspec.json.encode(_Announced(endpoint, key, shelf))


def where(body: bytes, stations: Iterable[tuple[str, str]]) -> Target | None:
    """Return where photos go; None when it is no announcement, or of no station of this table.

    Args:
        body: of the value.
        stations: endpoint of the events and public key of each station that this table trusts. A station that
            listens at every address takes photos at the host where it takes events.
    """
    try:
        said = _decoder.decode(body)
    except msgspec.DecodeError:
        return None
    for endpoint, key in stations:
        if key == said.key:
            host, _, port = said.endpoint.removeprefix("tcp://").rpartition(":")
            if host in _ANY_HOST:
                host = endpoint.removeprefix("tcp://").rpartition(":")[0]
            return Target(f"tcp://{host}:{port}", key, said.shelf)
    return None
