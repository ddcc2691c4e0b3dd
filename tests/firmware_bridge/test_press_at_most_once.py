"""Whatever is lost and whoever restarts: a wish is at most one pulse, and a locked button is dead."""

import asyncio
import contextlib
import tempfile
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_bridge.drivers.modbus_press import ModbusPress
from firmware_bridge.drivers.wiring import PressSettings
from firmware_bridge.machine import Status
from tests.firmware_bridge.relay_kit import CONTACT, LID, LIFT, WIRING, Kit, KitLine
from tests.virtual import run_virtually

WISHES = ("OPEN_LID", "ROLL_DICE", "START", "ADOPT", "RELEASE_INTAKE", "LEAVE", "CLEAR")
PEOPLE = ("push", "build", "wait", "restart", "power_cycle", "deaf", "hears")
CYCLE = [
    ("wish", "OPEN_LID"),
    ("people", "push"),
    ("people", "build"),
    ("wish", "ROLL_DICE"),
    ("wish", "RELEASE_INTAKE"),
]
LOST = st.integers(0, 12).map(lambda n: ("lose", n))
STEPS = st.one_of(
    st.tuples(st.sampled_from(CYCLE)),
    st.tuples(LOST, st.sampled_from(CYCLE)),
    st.tuples(LOST, *(st.just(step) for step in CYCLE)),
    st.just((*CYCLE, ("people", "wait"))),
    st.just((("people", "deaf"), ("wish", "OPEN_LID"), ("people", "hears"), ("wish", "LEAVE"))),
    st.just((("people", "restart"), ("wish", "START"), ("people", "wait"))),
    st.tuples(st.tuples(st.just("people"), st.sampled_from(PEOPLE))),
    st.tuples(st.tuples(st.just("wish"), st.sampled_from(WISHES))),
)
"""Some steps in a row: mostly what an evening is made of, with losses in it."""
OPENING = [("wish", "START"), ("people", "wait")]


class Scene:
    """One driver after another over one kit and one ledger."""

    def __init__(self, folder, inhibit):
        self.kit = Kit()
        self.kit.lid_moves = True
        self.kit.wired_in_series = inhibit
        self.line = KitLine(self.kit)
        self.line.loses = self._loses
        self.losing = None
        self.ledger = folder / "commands.db"
        self.wiring = {**WIRING, "inhibit_relay": CONTACT if inhibit else None}
        self.ids = []

    def _loses(self, request):
        if self.losing is None:
            return False
        self.losing -= 1
        if self.losing >= 0:
            return False
        self.losing = None
        return True

    async def begin(self):
        self.machine = ModbusPress(
            PressSettings("kit", **self.wiring),
            self.line,
            self.ledger,
            clock=asyncio.get_running_loop().time,
        )
        self.task = asyncio.create_task(self.machine.run())
        await asyncio.sleep(1.0)

    async def end(self):
        await self.machine.close()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task

    async def step(self, kind, what):
        if kind == "wish":
            await self.wish(what)
        elif kind == "lose":
            self.losing = what
        elif what == "push":
            self.push()
            await asyncio.sleep(0.5)
        elif what == "build":
            self.kit.build()
            await asyncio.sleep(0.5)
        elif what == "wait":
            await asyncio.sleep(8.0)
            self.settled()
        elif what == "restart":
            await self.end()
            await self.begin()
        elif what == "power_cycle":
            self.kit.relays = [False] * 8
        else:
            self.kit.obeys = what == "hears"

    async def wish(self, op):
        view = self.machine.view
        args = {"hand": view.hand_no or 0} if op in ("ADOPT", "RELEASE_INTAKE") else {}
        before, open_before = len(self.kit.pulses), self.kit.inputs[LID]
        outcome = await self.machine.execute(op, **args)
        pulses = len(self.kit.pulses) - before
        assert pulses <= 1
        if outcome.status is Status.REJECTED or op not in ("OPEN_LID", "ROLL_DICE"):
            assert pulses == 0
        if outcome.done and op in ("OPEN_LID", "ROLL_DICE"):
            assert pulses == 1 or (op == "OPEN_LID" and open_before)
        if outcome.cmd_id:
            assert outcome.cmd_id > max(self.ids, default=0)
            self.ids.append(outcome.cmd_id)

    def push(self):
        """People push the machine's own button."""
        before = self.kit.inputs[LID]
        self.kit.push()
        if self.kit.wired_in_series and not self.kit.relays[CONTACT]:
            assert self.kit.inputs[LID] is before

    def settled(self):
        """After a while without losses the contact is where the lock is."""
        if self.losing is None and self.machine.view.lease and self.kit.wired_in_series:
            assert self.kit.relays[CONTACT] is not self.machine.view.locked
        assert not self.kit.relays[LIFT]


def judge(steps, inhibit):
    """Play a schedule; the scene asserts at every step."""

    async def play(folder):
        scene = Scene(folder, inhibit)
        await scene.begin()
        try:
            for step in [*OPENING, *chain.from_iterable(steps), ("people", "wait")]:
                await scene.step(*step)
        finally:
            await scene.end()
        assert not scene.kit.relays[CONTACT], "locked on the way out, or never wired"

    with tempfile.TemporaryDirectory() as folder:
        run_virtually(play(Path(folder)))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, max_size=8), st.booleans())
def test_a_wish_is_at_most_one_pulse_on_any_schedule(steps, inhibit):
    judge(steps, inhibit)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@settings(max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, max_size=14), st.booleans())
def test_a_wish_is_at_most_one_pulse_on_very_many_schedules(steps, inhibit):
    judge(steps, inhibit)
