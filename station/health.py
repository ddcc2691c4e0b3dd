"""What a table tells the central station of itself besides its events. Only the newest counts."""

from __future__ import annotations

from typing import Annotated

import msgspec

__all__ = ["TableHealth", "decode", "encode"]

_Code = Annotated[str, msgspec.Meta(max_length=64)]


class TableHealth(msgspec.Struct, frozen=True, kw_only=True):
    """How a table is now.

    Args:
        v: version of the layout; fields of a newer one are left out.
        phase: what the table waits for.
        machine: code of its machine; None: it has none.
        camera: code of its camera.
        log_pos: seq of the last event it has folded.
        standby: whether the station that hears this is its second one.
    """

    v: int = 1
    phase: _Code
    machine: _Code | None
    camera: _Code
    log_pos: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
    standby: bool = False


_decoder = msgspec.json.Decoder(TableHealth)


def encode(health: TableHealth) -> bytes:
    """Give the body of the value."""
    return msgspec.json.encode(health)


def decode(body: bytes) -> TableHealth:
    """Read the body of the value.

    Raises:
        msgspec.DecodeError: it is none.
    """
    try:
        return _decoder.decode(body)
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deep") from None
