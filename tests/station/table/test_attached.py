"""Tables whose machine is pressed through a relay board, or only watched: whole hands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from engine import rulesets
from firmware_bridge.abstract import Machine
from firmware_bridge.drivers.modbus_press import ModbusPress
from firmware_bridge.drivers.observe import Observe
from firmware_bridge.drivers.press_core import Write
from firmware_bridge.drivers.wiring import ObserveSettings, PressSettings
from firmware_bridge.machine import LinkState, MachineEvent
from station import messages as m
from station.clock import Clock
from station.errors import LogError
from station.session import Stage
from station.table.camera_worker import Unfit
from station.table.config import TableConfig
from station.table.photos import PhotoStore
from station.table.runtime import Table
from tests.firmware_bridge.relay_kit import CONTACT, LID, LIFT, READY, WIRING, Kit, KitLine
from tests.station.table.rigged import Evening as Rigged
from tests.station.table.running import Running
from tests.virtual import run_virtually
from vision.fitness import Fitness, Problem

PRESS = {"port": "kit", **WIRING}
ADVISORY = {**PRESS, "inhibit_relay": None}
LAMP_ONLY = {"port": "kit", "ready_input": READY}
WATCHED = {"port": "kit", "lid_input": LID, "ready_input": READY}


class Eyes:
    """A camera of which a test knows how often it was looked through."""

    sees_indicator = False
    refused = ()
    tilesets = None

    def __init__(self) -> None:
        self.frames = 0

    async def zones(self, sides: Any) -> bytes | None:
        self.frames += 1
        self.sides = list(sides)
        return b"\xff\xd8 zones"

    async def hand(self, *_: Any, **__: Any) -> Any:
        return Unfit(Fitness((Problem("hands", (1.0, 2.0, 3.0, 4.0), 1.0, 0.5),)), 990.0)


class Evening(Running):
    """One table with a kit, and the people around it."""

    def __init__(self, writer: Any, folder: Path, driver: str, wiring: dict[str, Any], eyes: Any = None):
        super().__init__()
        self.kit = Kit()
        self.kit.lid_moves = wiring.get("lid_input") is not None
        self.kit.wired_in_series = wiring.get("inhibit_relay") is not None
        self.line = KitLine(self.kit)
        rules = rulesets.load("zhenjiang")
        config = TableConfig(home=str(folder), driver=driver, camera="none")
        loop = asyncio.get_running_loop()
        about: dict[str, Any] = {
            "clock": loop.time,
            "on_change": lambda _: self.table.changed(),
            "on_event": lambda event: self.table.machine_told(event),
        }
        self.machine: Machine
        if driver == "observe":
            board = self.line if wiring else None
            self.machine = Observe(ObserveSettings(**wiring), board, **about)
        else:
            self.machine = ModbusPress(PressSettings(**wiring), self.line, folder / "commands.db", **about)
        wall = Clock(monotonic=loop.time, wall=lambda: 1_000.0 + loop.time())
        self.writer = writer
        self.photos = PhotoStore(folder / "photos")
        self.table = Table(config, rules, writer, self.photos, self.machine, eyes, wall)

    async def let_go(self) -> None:
        await self.machine.close()

    async def until(self, reached: Callable[[dict[str, Any]], bool], limit: float = 30.0) -> dict[str, Any]:
        try:
            async with asyncio.timeout(limit):
                while not reached(self.state):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            state = self.state
            keep = {key: state[key] for key in ("phase", "machine", "recovery", "messages")}
            raise AssertionError(f"stuck: {keep} {self.table.session.stage}") from None
        return self.state

    async def phase(self, *phases: str) -> dict[str, Any]:
        return await self.until(lambda state: state["phase"] in phases)

    async def dice_to_play(self) -> None:
        await self.phase("dice")
        assert await self.post("dice", dice=[3, 4]) == "ok"
        while (await self.phase("dice", "flowers", "indicator", "play"))["phase"] != "play":
            match self.state["phase"]:
                case "dice":
                    assert await self.post("dice", dice=[1, 2]) == "ok"
                case "flowers":
                    await self.post("flowers")
                case _:
                    await self.post("indicator", tile="1p")

    async def rule(self) -> None:
        assert await self.post("ruling", kind="draw", reason="wall_exhausted") == "ok"
        await self.phase("ruled")

    def bodies(self, kind: type[m.Body]) -> list[Any]:
        entries = self.writer.stored()
        decoded = [m.decode(entry.kind, entry.body) for entry in entries]
        return [body for body in decoded if isinstance(body, kind)]


@pytest.fixture
def play(new_writer: Callable[[], Any], tmp_path: Path) -> Callable[..., None]:
    def run(
        scene: Callable[[Evening], Awaitable[None]], driver: str, wiring: dict[str, Any], eyes: Any = None
    ) -> None:
        async def whole() -> None:
            evening = Evening(new_writer(), tmp_path, driver, wiring, eyes)
            await evening.begin()
            try:
                await scene(evening)
            finally:
                await evening.end()

        run_virtually(whole())

    return run


async def first_walls(e: Evening) -> None:
    """A person taps start; the kit presses; people push nothing in and close; walls come up."""
    await e.until(lambda state: state["machine"]["link"] in ("up", "recover"))
    await e.until(lambda state: state["machine"]["magazine"] == "READY")
    assert await e.post("start") == "ok"
    await e.until(lambda state: state["machine"]["lid"] == "OPEN")
    assert e.state["phase"] == "intake"
    e.kit.push()
    await e.phase("dice")
    e.kit.build()


def test_hands_with_a_relay_kit_from_tap_to_tap(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await first_walls(e)
        for hand in (1, 2):
            await e.dice_to_play()
            state = e.state
            assert (state["machine"]["locked"], state["machine"]["hand_no"]) == (True, hand)
            assert e.kit.relays[CONTACT] is False
            assert state["machine"]["advisory"] is False
            assert [x["code"] for x in state["messages"]] == []
            await e.rule()
            await e.until(lambda s: not s["machine"]["locked"])
            assert e.kit.relays[CONTACT] is True
            assert await e.post("start") == "ok"
            await e.until(lambda s: s["machine"]["lid"] == "OPEN")
            e.kit.push()
            await e.phase("dice")
            e.kit.build()
        assert e.kit.pulses == [(LIFT, 3)] * 3
        dealt = e.bodies(m.WallDealt)
        assert [body.machine_hand for body in dealt] == [1, 2]
        assert [body.machine_hand for body in e.bodies(m.IntakeReleased)] == [1, 2]

    play(scene, "modbus_press", PRESS)


def test_people_may_run_the_machine_themselves_before_they_tap(play: Callable[..., None]) -> None:
    """The usual way at such a table: after the ruling somebody presses the machine's own button."""

    async def scene(e: Evening) -> None:
        await first_walls(e)
        await e.dice_to_play()
        await e.rule()
        await e.until(lambda s: not s["machine"]["locked"])
        e.kit.push()
        await e.until(lambda s: s["machine"]["lid"] == "OPEN")
        e.kit.push()
        state = await e.until(lambda s: s["machine"]["hand_no"] == 2)
        assert state["phase"] == "ruled"
        assert state["machine"]["walls_stand"]
        assert await e.post("start") == "ok"
        await e.phase("dice")
        await e.dice_to_play()
        assert len(e.kit.pulses) == 1
        assert e.bodies(m.IntakeOpenedEarly) == []

    play(scene, "modbus_press", PRESS)


def test_dice_that_the_kit_throws_are_typed_in(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await first_walls(e)
        assert await e.post("dice") == "dice_thrown"
        assert e.kit.pulses[-1] == (1, 3)
        assert e.state["phase"] == "dice"
        await e.dice_to_play()

    play(scene, "modbus_press", PRESS)


def test_an_early_opening_is_booked_without_a_frame_while_nobody_claims(play: Callable[..., None]) -> None:
    eyes = Eyes()

    async def scene(e: Evening) -> None:
        await first_walls(e)
        await e.dice_to_play()
        assert "machine.advisory" in [x["code"] for x in e.state["messages"]]
        revision = e.state["rev"]
        e.kit.push()
        await e.until(lambda s: "intake_opened_early" in [x["code"] for x in s["messages"]])
        assert e.state["rev"] == revision, "nobody's tap goes stale by it"
        (booked,) = e.bodies(m.IntakeOpenedEarly)
        assert (booked.hand, booked.machine_hand, booked.opened, booked.photo) == (1, 1, True, None)
        assert eyes.frames == 0
        e.kit.push()
        await e.until(lambda s: s["machine"]["lid"] == "CLOSED")
        assert e.state["phase"] == "play"
        assert await e.post("ruling", kind="void", reason="machine_fault") == "ok"
        await e.until(lambda s: not s["machine"]["locked"])
        assert [x["code"] for x in e.state["messages"]] == []
        e.kit.build()
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        assert await e.post("start") == "ok"
        await e.until(lambda s: s["machine"]["lid"] == "OPEN")

    play(scene, "modbus_press", ADVISORY, eyes)


@pytest.mark.parametrize(("driver", "wiring"), [("modbus_press", ADVISORY), ("observe", WATCHED)])
def test_the_frame_of_an_early_opening_is_kept_while_a_claim_is_pending(
    play: Callable[..., None], driver: str, wiring: dict[str, Any]
) -> None:
    eyes = Eyes()

    async def scene(e: Evening) -> None:
        if driver == "observe":
            assert await e.post("start") == "ok"
        else:
            await first_walls(e)
        await e.dice_to_play()
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        assert await e.post("claim", place=1, how="self") == "ok"
        assert eyes.frames == 0
        e.kit.push()
        async with asyncio.timeout(30):
            while not e.bodies(m.IntakeOpenedEarly):
                await asyncio.sleep(0.05)
        (booked,) = e.bodies(m.IntakeOpenedEarly)
        path = e.photos.path(booked.photo)
        assert path is not None
        assert path.read_bytes().startswith(b"\xff\xd8")
        assert eyes.frames == 1
        assert eyes.sides == [1], "of the claimant, and of nobody else"

    play(scene, driver, wiring, eyes)


def test_a_contact_that_stays_closed_makes_the_lock_advice(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await first_walls(e)
        await e.dice_to_play()
        e.kit.welded.add(CONTACT)
        state = await e.until(lambda s: s["machine"]["code"] == "machine.contact_closed")
        assert state["machine"]["advisory"]
        e.kit.push()
        await e.until(lambda s: "intake_opened_early" in [x["code"] for x in s["messages"]])
        (booked,) = e.bodies(m.IntakeOpenedEarly)
        assert booked.opened
        e.kit.welded.clear()
        state = await e.until(lambda s: s["machine"]["link"] == "up")
        assert not state["machine"]["advisory"]
        assert e.kit.relays[CONTACT] is False

    play(scene, "modbus_press", PRESS)


def test_a_relay_that_stuck_is_told_of_and_nothing_more_is_pressed(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await first_walls(e)
        await e.dice_to_play()
        e.kit.welded.add(LIFT)
        await e.until(lambda s: s["machine"]["code"] == "machine.button_held")
        assert e.kit.relays[CONTACT] is False
        await e.rule()
        e.kit.welded.clear()
        e.kit.relays[LIFT] = False
        await e.until(lambda s: not s["machine"]["locked"])
        assert e.kit.pulses == [(LIFT, 3)]

    play(scene, "modbus_press", PRESS)


def test_a_lid_that_is_never_seen_open_is_not_pressed_again(play: Callable[..., None]) -> None:
    """A broken lid switch: the lamp tells that the press was taken, and the machine's cycle runs unseen."""

    async def scene(e: Evening) -> None:
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        e.kit.lid_moves = False
        assert await e.post("start") == "ok"
        await e.until(lambda s: s["machine"]["magazine"] == "BUILDING")
        await asyncio.sleep(5)
        e.kit.build()
        state = await e.phase("recovery")
        assert state["recovery"]["why"] == "no_feedback"
        assert await e.post("recovery", choice="leave") == "ok"
        await asyncio.sleep(60)
        assert e.kit.pulses == [(LIFT, 3)], "one wish, one pulse"

    play(scene, "modbus_press", PRESS)


def test_a_long_pulse_is_no_relay_that_stuck(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        e.kit.holds = True
        await first_walls(e)
        await asyncio.sleep(2.5)
        assert e.state["machine"]["code"] == "machine.ok"
        await asyncio.sleep(1.5)
        e.kit.relays[LIFT] = True
        await e.until(lambda s: s["machine"]["code"] == "machine.button_held")

    play(scene, "modbus_press", {**PRESS, "pulse_ms": 2000})


def test_a_board_that_refuses_to_press_asks_a_person_once(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        e.line.refuses = lambda request: isinstance(request, Write) and request.address == 0x0200
        assert await e.post("start") == "ok"
        state = await e.phase("recovery")
        assert state["recovery"] == {"op": "OPEN_LID", "why": "board_refused", "choices": ["clear"]}
        await asyncio.sleep(60)
        assert len(e.bodies(m.MotionCut)) == 1
        e.line.refuses = lambda _: False
        assert await e.post("recovery", choice="clear") == "ok"
        await e.until(lambda s: s["machine"]["lid"] == "OPEN")
        assert e.kit.pulses == [(LIFT, 3)]

    play(scene, "modbus_press", PRESS)


def test_no_frame_is_kept_when_the_claim_falls_while_the_camera_looks(play: Callable[..., None]) -> None:
    looked = asyncio.Event()

    class Slow(Eyes):
        async def zones(self, sides: Any) -> bytes | None:
            looked.set()
            await asyncio.sleep(2)
            return await super().zones(sides)

    eyes = Slow()

    async def scene(e: Evening) -> None:
        assert await e.post("start") == "ok"
        await e.dice_to_play()
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        assert await e.post("claim", place=1, how="self") == "ok"
        e.kit.push()
        await asyncio.wait_for(looked.wait(), 30)
        assert await e.post("reject", reason="no win") == "ok"
        async with asyncio.timeout(30):
            while not e.bodies(m.IntakeOpenedEarly):
                await asyncio.sleep(0.05)
        assert e.bodies(m.IntakeOpenedEarly)[0].photo is None
        assert eyes.frames == 1

    play(scene, "observe", WATCHED, eyes)


def test_an_early_opening_on_a_full_disk_waits_until_it_can_be_booked(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        assert await e.post("start") == "ok"
        await e.dice_to_play()
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        e.writer.fail = LogError("The disk is full.")
        e.kit.push()
        await e.until(lambda s: s["machine"]["lid"] == "OPEN")
        await asyncio.sleep(5)
        assert not any(task.done() for task in e.tasks), "the table goes on"
        e.writer.fail = None
        await e.until(lambda s: "intake_opened_early" in [x["code"] for x in s["messages"]])
        assert len(e.bodies(m.IntakeOpenedEarly)) == 1

    play(scene, "observe", WATCHED)


def test_a_recording_that_the_disk_refused_is_told_between_two_hands(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        e.table.record_lost()
        assert "machine.record_lost" in [x["code"] for x in e.state["messages"]]

    play(scene, "observe", {})


def test_hands_at_a_machine_that_is_only_watched(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await e.until(lambda s: s["machine"]["link"] == "up")
        for _ in (1, 2):
            assert await e.post("start") == "ok"
            e.kit.push()
            state = await e.phase("intake")
            assert state["machine"]["lid"] == "OPEN"
            e.kit.push()
            await e.phase("dice")
            e.kit.build()
            assert await e.post("dice") == "bad_dice"
            await e.dice_to_play()
            assert "machine.advisory" in [x["code"] for x in e.state["messages"]]
            await e.rule()
        assert e.kit.pulses == []
        assert [body.machine_hand for body in e.bodies(m.WallDealt)] == [None, None]
        assert e.bodies(m.IntakeOpenedEarly) == []
        assert e.bodies(m.MotionCut) == []

    play(scene, "observe", WATCHED)


def test_a_watched_machine_that_is_opened_in_mid_hand_is_booked(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        assert await e.post("start") == "ok"
        await e.dice_to_play()
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        e.kit.push()
        await e.until(lambda s: "intake_opened_early" in [x["code"] for x in s["messages"]])
        assert len(e.bodies(m.IntakeOpenedEarly)) == 1

    play(scene, "observe", WATCHED)


def test_with_a_lamp_alone_the_cycle_that_begins_is_the_opening(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        assert await e.post("start") == "ok"
        e.kit.push()  # between two hands: nothing to book
        await e.until(lambda s: s["machine"]["magazine"] == "BUILDING")
        e.kit.build()
        await e.dice_to_play()
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        assert e.bodies(m.IntakeOpenedEarly) == []
        e.kit.push()
        await e.until(lambda s: "intake_opened_early" in [x["code"] for x in s["messages"]])

    play(scene, "observe", LAMP_ONLY)


@pytest.mark.parametrize("away", [False, True], ids=["nothing wired", "board away"])
def test_a_watched_machine_never_keeps_a_table_from_playing(play: Callable[..., None], away: bool) -> None:
    async def scene(e: Evening) -> None:
        e.line.away = away
        for _ in range(2):
            assert await e.post("start") == "ok"
            await e.dice_to_play()
            await e.rule()

    play(scene, "observe", WATCHED if away else {})


def test_a_press_without_an_answer_asks_a_person_and_never_presses_again(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await e.until(lambda s: s["machine"]["magazine"] == "READY")
        e.line.loses = lambda request: isinstance(request, Write) and request.address == 0x0200
        e.kit.obeys = False
        assert await e.post("start") == "ok"
        state = await e.phase("recovery")
        assert state["recovery"] == {"op": "OPEN_LID", "why": "no_reply", "choices": ["leave"]}
        await asyncio.sleep(60)
        assert e.kit.pulses == [(LIFT, 3)]
        e.line.loses = lambda _: False
        await e.until(lambda s: s["machine"]["link"] == "up")
        assert await e.post("recovery", choice="finish") == "bad_choice"
        assert await e.post("recovery", choice="leave") == "ok"
        await e.phase("start")
        assert e.kit.pulses == [(LIFT, 3)]
        # The person goes on by hand, with a button that is alive, ...
        e.kit.push()
        await e.until(lambda s: s["machine"]["lid"] == "OPEN")
        e.kit.push()
        await e.phase("dice")
        await e.dice_to_play()
        assert e.kit.pulses == [(LIFT, 3)]

    play(scene, "modbus_press", PRESS)


def test_a_lamp_that_tells_a_fault_stops_presses_and_no_play(
    play: Callable[..., None], tmp_path: Path
) -> None:
    from importlib import resources

    text = (resources.files("firmware_bridge") / "profiles" / "136.toml").read_text()
    rules = (("jam", "fault", "on"), ("ready", "ready", "on"), ("building", "ready", "off"))
    lamps = "".join(
        f'[[lamps]]\nshows = "{shows}"\nwhen = {{ {lamp} = "{lit}" }}\n' for shows, lamp, lit in rules
    )
    profile = tmp_path / "maker.toml"
    profile.write_text(text.replace("[seconds]", lamps + "[seconds]"))

    async def scene(e: Evening) -> None:
        await first_walls(e)
        await e.dice_to_play()
        e.kit.inputs[5] = True
        await e.until(lambda s: s["machine"]["fault"] == "jam")
        await asyncio.sleep(5)
        assert e.state["phase"] == "play"
        await e.rule()
        await e.until(lambda s: not s["machine"]["locked"])
        assert await e.post("start") == "ok"
        await asyncio.sleep(5)
        assert len(e.kit.pulses) == 1
        e.kit.inputs[5] = False
        await e.until(lambda s: s["machine"]["lid"] == "OPEN")
        assert e.bodies(m.MotionCut) == []

    play(scene, "modbus_press", {**PRESS, "fault_input": 5, "profile": str(profile)})


def test_a_board_that_lost_its_line_in_mid_hand_goes_on_where_it_was(play: Callable[..., None]) -> None:
    async def scene(e: Evening) -> None:
        await first_walls(e)
        await e.dice_to_play()
        e.line.away = True
        await e.until(lambda s: s["machine"]["link"] == LinkState.DOWN)
        await e.rule()
        assert e.table.session.released is False
        e.line.away = False
        await e.until(lambda s: s["machine"]["link"] == "up")
        async with asyncio.timeout(60):
            while not e.table.session.released:
                await asyncio.sleep(0.1)
        assert e.table.session.stage is Stage.RULED

    play(scene, "modbus_press", PRESS)


def test_a_push_at_a_button_that_is_held_is_booked_as_a_try(
    new_writer: Callable[[], Any], tmp_path: Path
) -> None:
    """Our own board tells of it, and nothing moves."""

    async def scene() -> None:
        evening = Rigged(new_writer(), tmp_path)
        await evening.begin()
        push = MachineEvent(1, 1, "intake_opened_early")
        evening.table.machine_told(push)  # between two hands: nobody's business
        await evening.play_on(lambda state: state["phase"] == "play")
        evening.table.machine_told(push)
        await evening.until(lambda _: not evening.table.happened)
        await asyncio.sleep(1.0)
        booked = [m.decode(entry.kind, entry.body) for entry in evening.writer.stored()]
        (event,) = [body for body in booked if isinstance(body, m.IntakeOpenedEarly)]
        assert (event.hand, event.opened) == (1, False)
        assert evening.table.session.opened_early is False
        await evening.end()

    run_virtually(scene())
