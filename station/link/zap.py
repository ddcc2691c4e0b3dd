"""Answering ZAP requests: which CURVE keys may connect. Pure.

Source: https://rfc.zeromq.org/spec/27/ (ZAP) and https://rfc.zeromq.org/spec/25/ (CURVE in ZMTP).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from zmq.utils import z85

__all__ = ["DOMAIN", "ENDPOINT", "Decision", "decide"]

ENDPOINT = "inproc://zeromq.zap.01"
DOMAIN = b"station"
"""The one ZAP domain of the central station's socket."""


class Decision(msgspec.Struct, frozen=True):
    """The reply to send, and who asked: public key (Z85, may be empty), network address, admitted or not."""

    reply: list[bytes]
    key: str
    address: str
    admitted: bool


def decide(request: Sequence[bytes], table_of: Callable[[str], str | None]) -> Decision:
    """Decide a request ``[version, id, domain, address, identity, mechanism, credentials…]``.

    An admitted connection gets its public key in Z85 as the user id of all its messages.
    """
    match list(request):
        case [b"1.0", request_id, domain, address, _, b"CURVE", raw] if len(raw) == 32:
            key = z85.encode(raw).decode()
            admitted = domain == DOMAIN and table_of(key) is not None
            status = [b"200", b"OK", key.encode()] if admitted else [b"400", b"not enrolled", b""]
            return Decision(
                [b"1.0", request_id, *status, b""], key, address.decode(errors="replace"), admitted
            )
        case [_, request_id, *_]:
            return Decision([b"1.0", request_id, b"400", b"CURVE only", b"", b""], "", "", admitted=False)
        case _:
            return Decision([b"1.0", b"", b"500", b"bad request", b"", b""], "", "", admitted=False)
