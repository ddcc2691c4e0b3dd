"""Where a table's link stands, for people."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from station.link.codes import NackCode

__all__ = ["LinkState", "LinkStatus", "state_of"]


class LinkState(enum.Enum):
    """States with a sentence of their own."""

    OFF = "off"
    """No central station is configured."""
    DOWN = "down"
    """The central station cannot be reached."""
    DENIED = "denied"
    """The central station does not know this table's key: the table is not enrolled."""
    EXPIRED = "expired"
    """The time for which the key was enrolled is over."""
    REVOKED = "revoked"
    """The key was revoked."""
    VERSION = "version"
    """Table and central station speak different versions of the protocol."""
    REFUSED = "refused"
    """The central station knows the key but takes nothing of this log; see the reason."""
    UP = "up"


_STATES = {
    NackCode.EXPIRED: LinkState.EXPIRED,
    NackCode.REVOKED: LinkState.REVOKED,
    NackCode.VERSION: LinkState.VERSION,
}
_REASONS = {
    NackCode.FORK: "central.fork",
    NackCode.ROLLBACK: "central.fork",
    NackCode.WRONG_TABLE: "central.wrong_table",
}


def state_of(reason: str) -> LinkState:
    """Give the state for the code of a refusal."""
    return _STATES.get(reason, LinkState.REFUSED)


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """The link as it is now.

    Args:
        state: see `LinkState`.
        head: seq of the last entry of the log.
        acked: seq up to which the central station has committed, as far as known.
        reason: code of a refusal, for example ``fork`` or ``wrong_table``.
        endpoint: address of the station that is in use, or is tried now; empty without one. Two that differ
            in nothing else are equal.
        standby: whether that is the second of two stations.
        trouble: code of the error that keeps commands from being stored here; empty: none.
    """

    state: LinkState
    head: int = 0
    acked: int = 0
    reason: str | None = None
    endpoint: str = field(default="", compare=False)
    standby: bool = False
    trouble: str = ""

    @property
    def code(self) -> str:
        """Identifier for screens: ``central.none``, ``central.fork``, or ``central.`` and the state."""
        if self.state is LinkState.OFF:
            return "central.none"
        if self.state is LinkState.REFUSED:
            return _REASONS.get(self.reason or "", "central.refused")
        if self.state is LinkState.UP and self.standby:
            return "central.standby"
        return f"central.{self.state.value}"

    @property
    def unsent(self) -> int:
        """Entries that the central station has not acknowledged."""
        return self.head - self.acked
