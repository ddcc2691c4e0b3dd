"""What the training page shows and may do: simulated machine, fault menu, and a host that practises."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import Allowed
from firmware_bridge.machine import ActiveOp, LinkState, MachineEvent, MachineView, sentence_code
from firmware_bridge.ops import Op, Value
from firmware_bridge.sim.faults import parse_faults, tells
from firmware_bridge.sim.menu import MENU, MOTIONS, NOW, Item, When
from firmware_bridge.sim.mishaps import NOTHING
from firmware_bridge.sim.process import Simulator

HOLD: Final = "HOLD"
"""The one wish that is no operation: stop what moves."""

NOT_OFFERED: Final = frozenset({Op.LAMP, Op.HOME, Op.JOG})

EARLY: Final = "intake_opened_early"
EARLY_SHOWN: Final = 20.0
"""Seconds for which a pressed button is explained: it changes nothing that lasts."""


class Desk:
    """One simulated machine and who practises with it."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self._practice = simulator.practise()
        self._ordered = ""
        self._hand = 0
        self._pressed_at = float("-inf")
        self._newest: MachineEvent | None = None

    # -- asking -------------------------------------------------------------------------------------------

    def order(self, item: str, value: str = "", motion: str = "") -> None:
        """Let something go wrong: an item of the menu with its value and motion, or `none`.

        Raises:
            UsageError: not on the menu, or not so.
        """
        words = item + (f"={value}" if value else "") + (f"@{motion}" if motion else "")
        self.simulator.order(words)
        self._ordered = "" if item == NOTHING else words

    def ask(self, name: str) -> None:
        """Ask the machine for an operation as a table would, or to hold.

        Raises:
            UsageError: there is no such wish, or a table drives the machine.
        """
        if self.simulator.driven:
            raise UsageError("A table drives this machine; use its page.")
        now = time.monotonic()
        if name == HOLD:
            self._practice.core.hold(now)
            return
        op = Op.of(name)
        if op in NOT_OFFERED:
            raise UsageError(f"{name} is not part of the training.")
        self._practice.ask(op, now, **self._args(op))

    def _args(self, op: Op) -> dict[str, Value]:
        if op in (Op.ADOPT, Op.RELEASE_INTAKE):
            return {"hand": self._hand}
        if op is Op.DEAL:
            seated = [stacks > 0 for stacks in self.simulator.device.plant.profile.walls]
            first = seated.index(True)
            return {"tiles": tuple(13 * sits + (side == first) for side, sits in enumerate(seated))}
        return {}

    # -- showing ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that the page shows, for `station.web.training_view.training`. Codes and numbers, no words.

        `codes`: what a table would say now, the most important first; `coming`: what it will say when what
        was ordered last has come true; `may`: wishes that the machine would grant.
        """
        device, plant = self.simulator.device, self.simulator.device.plant
        s, latches = plant.sensors, device.latches
        if latches.hand_no is not None:
            self._hand = latches.hand_no
        self._forget_what_came()
        view = self._view()
        codes = self._codes(view)
        last = self._practice.last
        return {
            "driven": self.simulator.driven,
            "codes": codes,
            "coming": tells(parse_faults(self._ordered)),
            "ordered": self._ordered,
            "waiting": self._waiting(),
            "faults": [{"code": f.code, "place": f.place, "count": f.count} for f in latches.faults],
            "may": self._may(view),
            "last": None
            if last is None
            else {"op": last.op.name, "status": last.status.value, "code": last.code},
            "lid": s.lid.name,
            "lift": s.lift,
            "surface": s.surface.name,
            "magazine": s.magazine.name,
            "locked": latches.locked,
            "hand_no": latches.hand_no,
            "started": device.cause.name,
            "tiles": list(s.tiles),
            "stacks": list(s.stacks),
            "walls": list(s.walls),
            "dealt": list(s.dealt),
            "plan": list(plant.profile.walls),
            "lamps": [str(place) for place, pattern in latches.lamps.items() if pattern],
            "motions": [
                {"op": motion.op.name, "percent": round(100 * motion.share)}
                for motion in plant.motions.values()
            ],
        }

    def _forget_what_came(self) -> None:
        """What has come true is explained by the machine's own state from then on."""
        plan = parse_faults(self._ordered)
        once = bool(plan.trouble or plan.accidents)
        trouble, waiting = self.simulator.device.plant.trouble, self.simulator.waiting.waiting
        left = any(t in trouble for t in plan.trouble) or any(a in waiting for a in plan.accidents)
        if once and not left:
            self._ordered = ""

    def _view(self) -> MachineView:
        """What a table knows: our own host's view, or the machine's truth while a table drives it."""
        if not self.simulator.driven:
            return self._practice.view
        device = self.simulator.device
        latches, plant = device.latches, device.plant
        known = latches.hand_no is not None
        return MachineView(
            link=LinkState.UP if known else LinkState.RECOVER,
            hand_no=latches.hand_no,
            estop=latches.estop,
            hold=bool(plant.cut),
            faults=tuple(latches.faults),
            active=tuple(ActiveOp(0, motion.op) for motion in plant.motions.values()),
        )

    def _codes(self, view: MachineView) -> list[str]:
        codes = [sentence_code(view)]
        if view.ready:
            codes += [f"machine.fault.{report.code}" for report in view.faults]
        if self._early():
            codes.insert(0 if codes[0] in ("machine.ok", "machine.moving") else 1, EARLY)
        return list(dict.fromkeys(codes))

    def _early(self) -> bool:
        """Whether the button was pressed a moment ago."""
        events, now = self._practice.core.events, time.monotonic()
        newest = events[-1] if events else None
        if newest != self._newest:
            self._newest = newest
            if newest is not None and newest.code == EARLY:
                self._pressed_at = now
        return now - self._pressed_at < EARLY_SHOWN

    def _may(self, view: MachineView) -> list[str]:
        if self.simulator.driven or not view.ready:
            return []
        offered = [op for op in Op if op not in NOT_OFFERED and (op is not Op.RELEASE_INTAKE or view.locked)]
        may = [op.name for op in offered if isinstance(view.may(op, **self._args(op)), Allowed)]
        return [*may, HOLD] if view.active else may

    def _waiting(self) -> list[str]:
        """What has not come yet, as items of the menu."""
        mishaps, plant = self.simulator.waiting, self.simulator.device.plant
        items = [_trouble_item(op, report.code) for op, report in plant.trouble]
        return items + [
            accident.what + (f"@{_word(accident.op)}" if accident.op is not None else "")
            for accident in mishaps.waiting
        ]


def menu_rows() -> list[dict[str, Any]]:
    """The menu for the page: name, group, what each takes, and the motions to choose from."""
    return [
        {
            "name": item.name,
            "group": item.group.name,
            "takes": item.takes.name,
            "motions": _motions(item),
        }
        for item in MENU.values()
    ]


def _motions(item: Item) -> list[str]:
    if item.when is When.HALFWAY and item.motions:
        return [NOW, *item.motions]
    return list(item.motions) if len(item.motions) > 1 else []


def _trouble_item(op: Op, code: str) -> str:
    name = {
        "jam": "jam",
        "tiles_short": "missing",
        "tiles_over": "extra",
        "sensor_stuck": "sensor",
    }.get(code, "stuck")
    return f"{name}@{_word(op)}"


def _word(op: Op) -> str:
    return next(word for word, motion in MOTIONS.items() if motion is op)


def known(body: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """Short texts of a request's body, by name; absent ones are empty.

    Raises:
        ValueError: something else stands there.
    """
    if set(body) - set(names) or not all(isinstance(text, str) and len(text) <= 40 for text in body.values()):
        raise ValueError("unexpected content")
    return tuple(body.get(name, "") for name in names)
