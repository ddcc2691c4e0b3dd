"""Answering ZAP requests: which CURVE keys may connect. Pure.

Source: https://rfc.zeromq.org/spec/27/ (ZAP) and https://rfc.zeromq.org/spec/25/ (CURVE in ZMTP).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from zmq.utils import z85

from station.link.allow_list import NOT_ENROLLED, Standing
from station.link.register import EXPIRED, REVOKED

__all__ = ["DOMAIN", "ENDPOINT", "Decision", "decide"]

ENDPOINT = "inproc://zeromq.zap.01"
DOMAIN = b"station"
"""The one ZAP domain of the central station's socket."""


class Decision(msgspec.Struct, frozen=True):
    """The reply to send, and who asked.

    ``key``: public key (Z85, may be empty). ``address``: network address. ``reason``: why it was refused, see
    `Standing`; empty when it was admitted. ``holder``: whose key it is or was; empty: nobody's.
    """

    reply: list[bytes]
    key: str
    address: str
    reason: str = ""
    holder: str = ""

    @property
    def admitted(self) -> bool:
        """Whether the connection may go on."""
        return not self.reason


def decide(request: Sequence[bytes], standing_of: Callable[[str], Standing]) -> Decision:
    """Decide a request ``[version, id, domain, address, identity, mechanism, credentials…]``.

    An admitted connection gets its public key in Z85 as the user id of all its messages. A key that is
    expired or revoked is admitted to hear just that, since libzmq tells a denied peer nothing that its screen
    could show; `CentralEnd` takes nothing from it.
    """
    match list(request):
        case [b"1.0", request_id, domain, address, _, b"CURVE", raw] if len(raw) == 32:
            key = z85.encode(raw).decode()
            standing = standing_of(key)
            reason = standing.reason if domain == DOMAIN else NOT_ENROLLED
            if reason in (EXPIRED, REVOKED):
                reason = ""
            # The text stays on this side: libzmq tells a refused peer the status alone.
            status = [b"400", reason.encode(), b""] if reason else [b"200", b"OK", key.encode()]
            reply = [b"1.0", request_id, *status, b""]
            return Decision(reply, key, address.decode(errors="replace"), reason, standing.holder)
        case [_, request_id, *_]:
            return Decision([b"1.0", request_id, b"400", b"CURVE only", b"", b""], "", "", NOT_ENROLLED)
        case _:
            return Decision([b"1.0", b"", b"500", b"bad request", b"", b""], "", "", NOT_ENROLLED)
