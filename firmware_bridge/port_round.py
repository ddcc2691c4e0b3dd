"""Which port to open next, while the right board may be at any of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firmware_bridge.discovery import Targets
from firmware_bridge.errors import PortAmbiguousError, PortError, PortMissingError
from firmware_bridge.transport import Port, open_port

LOOK_AGAIN: Final = 5.0
"""Seconds between two looks for the right board while another one answers."""


class PortRound:
    """The ports where the machine may be, and at which of them another board answered.

    Args:
        targets: where the machine may be now.
        clock: monotonic seconds.
    """

    def __init__(self, targets: Callable[[], Targets], clock: Callable[[], float]) -> None:
        self._targets = targets
        self._clock = clock
        self._round: tuple[str, ...] = ()
        self._look_again = 0.0
        self._others: set[str] = set()
        """Ports at which another board answered since the last round."""

    async def open_first(self) -> tuple[str, Port]:
        """Open the likeliest port at which no other board answered in this round.

        Raises:
            PortError: none can be opened; of several refusals the first, which is that of the likeliest port.
        """
        found = self._targets()
        self._round = found.ports
        if found.why is not None:
            raise PortAmbiguousError(f"{found.why.sentence} {found.why.fix}")
        ports = [port for port in found.ports if port not in self._others]
        if not ports:  # another board at each: begin again, since they may have been exchanged meanwhile
            self._others.clear()
            ports = list(found.ports)
        refusal: PortError | None = None
        for port in ports:
            try:
                return port, await open_port(port)
            except PortError as error:
                refusal = refusal or error
        self._others.clear()
        raise refusal or PortMissingError("There is no port to open; plug the machine in.")

    def elsewhere(self, url: str) -> bool:
        """Another board answers here; whether the right one may be at a port that was not tried yet."""
        self._others.add(url)
        now = self._clock()
        if all(port in self._others for port in self._round) and now >= self._look_again:
            self._look_again = now + LOOK_AGAIN
            self._round = self._targets().ports
            if all(port in self._others for port in self._round):
                self._others = {url}  # everywhere another one; they may be exchanged meanwhile
        return any(port not in self._others for port in self._round)
