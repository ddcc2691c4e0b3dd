"""What every driver of this package tells alike: the view, events, and who waits for them."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from firmware_bridge.errors import BridgeError, PortError
from firmware_bridge.interlock import Lid
from firmware_bridge.machine import Capability, LinkState, MachineEvent, MachineView, sentence_code

EVENTS_KEPT: Final = 256

PORT_STATES: Final = {
    "port_missing": LinkState.PORT_MISSING,
    "port_busy": LinkState.PORT_BUSY,
    "port_denied": LinkState.PORT_DENIED,
    "port_ambiguous": LinkState.PORT_AMBIGUOUS,
    "link_down": LinkState.DOWN,
}


TROUBLES: Final = frozenset({"button_held", "contact_open", "contact_closed"})
"""Troubles of a relay board with sentences of their own, more telling than that its port fails."""


class Telling:
    """The view of one machine and everybody who wants to know of it.

    `on_change` is called with each new view, `on_event` with each event; both in the loop. `locked`: at the
    start, and for ever where no lock is kept.
    """

    def __init__(
        self,
        capabilities: Capability,
        profile: str,
        clock: Callable[[], float],
        on_change: Callable[[MachineView], None] | None,
        on_event: Callable[[MachineEvent], None] | None,
        *,
        locked: bool,
    ) -> None:
        self.view = MachineView(
            capabilities=capabilities,
            profile=profile,
            boot_id=secrets.randbits(32),
            lid=Lid.CLOSED,
            locked=locked,
        )
        self.events: deque[MachineEvent] = deque(maxlen=EVENTS_KEPT)
        self._clock = clock
        self._begun = clock()
        self._count = 0
        self._on_change = on_change
        self._on_event = on_event
        self._watchers: list[tuple[Callable[[MachineView], bool], asyncio.Future[None]]] = []
        self._closed = False
        self._trouble: str | None = None

    def update(self, **changes: object) -> None:
        """Tell a change of the view; one that changes nothing is not told."""
        view = replace(self.view, **changes)  # type: ignore[arg-type]
        if view == self.view:
            return
        view = replace(view, rev=self.view.rev + 1)
        named = self._trouble is not None and view.link is LinkState.PORT_ERROR
        self.view = replace(view, code=f"machine.{self._trouble}" if named else sentence_code(view))
        if self._on_change is not None:
            self._on_change(self.view)
        for reached, future in self._watchers:
            if not future.done() and reached(self.view):
                future.set_result(None)
        self._watchers = [pair for pair in self._watchers if not pair[1].done()]

    def failed(self, error: PortError) -> None:
        """Tell that the port can not be used, and why."""
        self._trouble = error.code if error.code in TROUBLES else None
        self.update(
            link=PORT_STATES.get(error.code, LinkState.PORT_ERROR),
            detail=str(error),
            attempt=self.view.attempt + 1,
            lease=False,
        )

    def report(self, code: str) -> None:
        """Tell an event."""
        self._count += 1
        event = MachineEvent(self._count, self.view.boot_id, code, (), self._clock() - self._begun)
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    async def wait_for(self, reached: Callable[[MachineView], bool]) -> MachineView:
        """Wait until the view is so.

        Raises:
            BridgeError: the driver was closed meanwhile.
        """
        if not reached(self.view):
            if self._closed:
                raise BridgeError("The machine was closed; open it again.")
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._watchers.append((reached, future))
            await future
        return self.view

    def close(self) -> None:
        """Tell that the driver let its port go; nobody waits any longer."""
        self._closed = True
        self.update(link=LinkState.CLOSED, lease=False)
        for _, future in self._watchers:
            if not future.done():
                future.set_exception(BridgeError("The machine was closed."))
        self._watchers.clear()
