"""Keeping the view of a machine: what it reports, and how far its line lets that be believed. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.link import Phase
from firmware_bridge.machine import NATIVE, Capability, LinkState, MachineView, sentence_code
from firmware_bridge.ops import Op

OPTIONAL: Final[Mapping[m.Caps, Capability]] = {
    m.Caps.DEALS: Capability.DEALS,
    m.Caps.DICE: Capability.DICE | Capability.PIPS,
    m.Caps.INDICATOR: Capability.INDICATOR,
    m.Caps.LAMPS: Capability.LAMPS,
    m.Caps.SERVICE: Capability.SERVICE,
    m.Caps.COUNTS: Capability.COUNTS,
}
"""What a board of ours may lack, by its flag on the wire."""


def abilities(caps: m.Caps) -> Capability:
    """What a board of ours can do: the protocol's own, and what it says of itself."""
    able = NATIVE
    for flag, capability in OPTIONAL.items():
        if flag not in caps:
            able &= ~capability
    return able


class ViewKeeper:
    """The last known state of one machine, and what its line is called."""

    def __init__(self) -> None:
        self.view = MachineView()
        self.port = LinkState.CLOSED
        """State of the port while nothing is said over it."""
        self.wrong: LinkState | None = None
        """Why what answers is not to be moved; None: it is the right one."""
        self.informed = False
        """Whether a status of this session is known, and still true."""
        self._detail_rev = 0

    def is_behind(self, pong: m.Pong) -> bool:
        """Whether the machine has changed since the status that is shown."""
        shown = (self.view.rev, self._detail_rev)
        return (pong.state_rev, pong.detail_rev) != shown or not self.view.lease

    def take(self, status: m.StatusReport) -> dict[str, object]:
        """What a status changes in the view, for `update`."""
        self.informed = True
        self._detail_rev = status.detail_rev
        return {
            "rev": status.state_rev,
            "surface": status.surface,
            "magazine": status.magazine,
            "lid": status.lid,
            "locked": status.locked,
            "hand_no": status.hand_no,
            "lease": status.lease,
            "hold": status.hold,
            "estop": status.estop,
            "faults": status.faults,
            "cut": status.cut,
            "active": status.active,
            "progress": status.stacks,
            "walls": status.walls,
            "dealt": status.dealt,
            "plan": status.plan,
            "drum": status.drum,
            "taken": status.taken,
            "service": status.service,
            "lift": status.lift,
            "dice": status.dice,
            "indicator_up": status.indicator_up,
        }

    def update(
        self, changes: dict[str, object], phase: Phase, config_fits: bool, overdue: tuple[Op, ...]
    ) -> None:
        """Change the view, and say anew what state the line is in."""
        has_hand = changes.get("hand_no", self.view.hand_no) is not None
        changes = changes | {"overdue": overdue, "link": self._link_state(phase, config_fits, has_hand)}
        if phase is not Phase.UP:
            changes["lease"] = False
        view = replace(self.view, **changes)  # type: ignore[arg-type]
        code = sentence_code(view)
        self.view = view if view.code == code else replace(view, code=code)

    def _link_state(self, phase: Phase, config_fits: bool, has_hand: bool) -> LinkState:
        match phase:
            case Phase.CLOSED:
                return self.port
            case Phase.CONNECTING:
                # A line on which nobody answered stays so while it is tried again: a screen that turned back
                # to "connecting" every few seconds would never tell anybody to look at the cable.
                return LinkState.DOWN if self.port is LinkState.DOWN else LinkState.CONNECTING
            case Phase.SUSPECT:
                return LinkState.SUSPECT
            case Phase.DOWN:
                return LinkState.DOWN
            case Phase.UP:
                pass
        if self.wrong is not None:
            return self.wrong
        if not self.informed:
            return LinkState.CONNECTING
        if not config_fits:
            return LinkState.CONFIG_MISMATCH
        return LinkState.UP if has_hand else LinkState.RECOVER
