"""A machine that is pressed through a relay board: the lock, the hand's number and the ledger kept by us."""

import asyncio
import contextlib

import pytest

from firmware_bridge.drivers.modbus_press import ModbusPress
from firmware_bridge.drivers.wiring import PressSettings
from firmware_bridge.errors import BridgeError, ProfileError, UsageError
from firmware_bridge.interlock import Lid, Magazine, Reason, Refused, Surface
from firmware_bridge.ledger import Intent, Ledger
from firmware_bridge.machine import Capability, LinkState, Status
from firmware_bridge.ops import Op
from tests.firmware_bridge.relay_kit import (
    CONTACT,
    DICE,
    LID,
    LIFT,
    READY,
    WIRING,
    Board,
    hurried,
    need_modbus,
    profile_file,
)

LAMPS = "".join(
    f'[[lamps]]\nshows = "{shows}"\nwhen = {{ {lamp} = "on" }}\n'
    for shows, lamp in (("jam", "fault"), ("ready", "ready"))
)


@pytest.fixture
def board():
    need_modbus()
    made = Board()
    made.lid_moves = True
    yield made
    made.close()


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "commands.db"


class Scene:
    """A running driver with what it told."""

    def __init__(self, board, ledger, **changed):
        from firmware_bridge.drivers.relay_board import RelayBoard

        self.board = board
        self.events, self.views = [], []
        about = {"port": board.path, "reply_s": 2.0, "profile": profile_file(ledger.parent), **WIRING}
        settings = PressSettings(**(about | changed))
        self.machine = ModbusPress(
            settings,
            RelayBoard(settings.port, settings.address, settings.baud, settings.reply_s),
            ledger,
            **hurried(),
            on_change=self.views.append,
            on_event=lambda event: self.events.append(event.code),
        )

    async def until(self, reached):
        async with asyncio.timeout(30):
            return await self.machine.wait_for(reached)

    async def started(self):
        await self.machine.wait_ready()
        assert (await self.machine.execute("START")).done
        await self.until(lambda view: view.magazine is Magazine.READY)

    async def walls_up(self):
        """Play the machine's cycle once, as people do: press, tiles in, the machine's own button."""
        before = self.machine.view.hand_no
        assert (await self.machine.execute("OPEN_LID")).done
        await self.until(lambda view: view.lid is Lid.OPEN)
        self.board.push()
        await self.until(lambda view: view.hand_no == before + 1)
        self.board.build()
        await self.until(lambda view: view.magazine is Magazine.READY)


def play(board, ledger, scene, **changed):
    async def run():
        board.start()
        made = Scene(board, ledger, **changed)
        task = asyncio.create_task(made.machine.run())
        try:
            async with asyncio.timeout(30):
                return await scene(made)
        finally:
            await made.machine.close()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            board.stop()

    return asyncio.run(run())


def test_it_starts_locked_and_waits_for_a_person(board, ledger):
    async def scene(s):
        view = await s.machine.wait_ready()
        refused = await s.machine.execute("OPEN_LID")
        return view, refused, board.relays[CONTACT]

    view, refused, contact = play(board, ledger, scene)
    assert (view.link, view.locked, view.hand_no) == (LinkState.RECOVER, True, None)
    assert (refused.status, refused.code, refused.cmd_id) == (Status.REJECTED, "not_started", 0)
    assert contact is False
    assert board.pulses == []


def test_a_start_closes_the_contact_and_a_press_opens_the_lid(board, ledger):
    async def scene(s):
        await s.started()
        released = s.machine.view
        contact = board.relays[CONTACT]
        outcome = await s.machine.execute("OPEN_LID")
        return released, contact, outcome, s.machine.view

    released, contact, outcome, view = play(board, ledger, scene)
    assert (released.hand_no, released.locked, contact) == (0, False, True)
    assert (outcome.status, outcome.code) == (Status.DONE, "ok")
    assert (view.lid, view.surface, view.active) == (Lid.OPEN, Surface.COLLECTING, ())
    assert board.pulses == [(LIFT, 3)]


def test_closing_the_lid_by_the_machine_s_own_button_raises_walls_and_locks(board, ledger):
    async def scene(s):
        await s.started()
        await s.walls_up()
        view, contact = s.machine.view, board.relays[CONTACT]
        board.push()  # a dead button
        return view, contact, board.inputs[LID], await s.machine.execute("OPEN_LID"), s.events

    view, contact, lid, refused, events = play(board, ledger, scene)
    assert (view.surface, view.locked, view.hand_no) == (Surface.WALLS_UP, True, 1)
    assert (contact, lid) == (False, False)
    assert refused.code == "interlock"
    assert events == ["lid_opened", "lid_closed"]
    assert len(board.pulses) == 1


def test_only_the_hand_in_play_is_released(board, ledger):
    async def scene(s):
        await s.started()
        await s.walls_up()
        wrong = await s.machine.execute("RELEASE_INTAKE", hand=7)
        right = await s.machine.execute("RELEASE_INTAKE", hand=1)
        view = s.machine.view
        contact = board.relays[CONTACT]
        await s.walls_up()
        return wrong, right, view, contact, s.machine.view.hand_no

    wrong, right, view, contact, number = play(board, ledger, scene)
    assert (wrong.status, wrong.code) == (Status.REJECTED, "wrong_hand")
    assert right.done
    assert (view.surface, view.locked, contact) == (Surface.DEALT, False, True)
    assert number == 2


def test_lost_replies_make_one_pulse_an_unknown_and_a_person_s_look(board, ledger):
    async def scene(s):
        await s.started()
        board.loses = lambda function, address: address == 0x0200
        board.obeys = False
        first = await s.machine.execute("OPEN_LID")
        board.loses = lambda function, address: False
        board.obeys = True
        await s.until(lambda view: view.ready)
        held = s.machine.view
        again = [await s.machine.execute("OPEN_LID"), await s.machine.recover("finish")]
        left = await s.machine.recover("leave")
        return first, held, again, left, await s.machine.execute("OPEN_LID")

    first, held, again, left, last = play(board, ledger, scene, reply_s=0.2)
    assert (first.status, first.code) == (Status.UNKNOWN, "no_reply")
    assert (held.hold, held.cut) == (True, (Op.OPEN_LID,))
    assert [outcome.code for outcome in again] == ["hold", "unsupported"]
    assert left.done
    assert last.done
    assert last.cmd_id > first.cmd_id
    assert board.pulses == [(LIFT, 3)] * 2, "one for each wish of a person"


def test_the_intent_is_on_the_disk_before_the_pulse(board, ledger):
    """Whoever dies at the pulse finds an open intent, and nobody presses again for it."""
    seen = []

    async def scene(s):
        await s.started()

        def look(function, address):
            if address == 0x0200:
                copy = ledger.with_name("copy.db")
                for suffix in ("", "-wal"):
                    copy.with_name(f"copy.db{suffix}").write_bytes(
                        ledger.with_name(f"commands.db{suffix}").read_bytes()
                    )
                reader = Ledger(copy)
                seen.extend(reader.open_intents())
                reader.close()

        board.at_request = look
        return await s.machine.execute("OPEN_LID")

    outcome = play(board, ledger, scene)
    assert outcome.done
    assert [(intent.cmd_id, intent.op) for intent in seen] == [(outcome.cmd_id, Op.OPEN_LID)]


def test_a_press_that_a_former_process_left_open_is_unknown_and_never_repeated(board, ledger):
    former = Ledger(ledger)
    former.intend(Intent(41, Op.OPEN_LID, b"", 0, 1))
    former.close()

    async def scene(s):
        told = await s.machine.resolve_open()
        twice = await s.machine.resolve_open()
        await s.machine.wait_ready()
        refused = await s.machine.execute("OPEN_LID")
        await s.started()
        return told, twice, refused, await s.machine.execute("OPEN_LID")

    told, twice, refused, last = play(board, ledger, scene)
    assert [(o.cmd_id, o.status, o.code) for o in told] == [(41, Status.UNKNOWN, "interrupted")]
    assert twice == ()
    assert refused.status is Status.REJECTED
    assert last.done
    assert last.cmd_id > 41
    assert len(board.pulses) == 1


def test_without_the_series_contact_an_early_opening_is_told(board, ledger):
    board.wired_in_series = False

    async def scene(s):
        await s.started()
        await s.walls_up()
        board.push()
        opened = await s.until(lambda view: view.lid is Lid.OPEN)
        board.push()
        closed = await s.until(lambda view: view.lid is Lid.CLOSED)
        return opened, closed, await s.machine.execute("RELEASE_INTAKE", hand=1), s.events

    opened, closed, released, events = play(board, ledger, scene, inhibit_relay=None)
    assert opened.advisory
    assert opened.locked
    assert events == ["lid_opened", "lid_closed", "intake_opened_early", "lid_closed"]
    assert (closed.hand_no, closed.surface) == (1, Surface.WALLS_UP), "the hand without a ruling goes on"
    assert released.done


def test_with_a_lamp_alone_a_cycle_begins_when_it_goes_off(board, ledger):
    board.wired_in_series = board.lid_moves = False

    async def scene(s):
        await s.started()
        outcome = await s.machine.execute("OPEN_LID")
        await s.until(lambda view: view.hand_no == 1)
        board.build()
        await s.until(lambda view: view.magazine is Magazine.READY)
        board.push()
        await s.until(lambda view: view.magazine is Magazine.BUILDING)
        return outcome, s.machine.view, s.events

    outcome, view, events = play(board, ledger, scene, inhibit_relay=None, lid_input=None)
    assert outcome.done
    assert (view.hand_no, view.locked, view.surface) == (1, True, Surface.WALLS_UP)
    assert events == ["cycle_begun", "intake_opened_early"]


def test_an_open_lid_is_not_pressed_shut_by_a_wish_to_open_it(board, ledger):
    async def scene(s):
        await s.started()
        board.push()  # somebody was quicker, and we do not know it yet
        return await s.machine._presser.press("OPEN_LID", 99)

    outcome = play(board, ledger, scene)
    assert outcome.done
    assert board.pulses == []


def test_dice_are_thrown_and_what_they_show_is_not_known(board, ledger):
    async def scene(s):
        await s.started()
        await s.walls_up()
        return await s.machine.execute("ROLL_DICE")

    outcome = play(board, ledger, scene)
    assert outcome.done
    assert dict(outcome.result) == {}
    assert board.pulses[-1] == (DICE, 3)


def test_the_contact_is_set_again_when_the_board_lost_its_power(board, ledger):
    async def scene(s):
        await s.started()
        board.relays[CONTACT] = False
        async with asyncio.timeout(30):
            while not board.relays[CONTACT]:
                await asyncio.sleep(0.01)
        return s.machine.view

    assert play(board, ledger, scene).locked is False


def test_a_board_that_is_away_is_told_and_found_again(board, ledger):
    async def scene(s):
        await s.started()
        board.loses = lambda function, address: True
        away = await s.until(lambda view: not view.ready)
        refused = await s.machine.execute("ROLL_DICE")
        board.loses = lambda function, address: False
        return away, refused, await s.until(lambda view: view.ready)

    away, refused, back = play(board, ledger, scene, reply_s=0.1)
    assert (away.link, away.lease) == (LinkState.DOWN, False)
    assert "does not answer" in away.detail
    assert (refused.status, refused.code, refused.cmd_id) == (Status.REJECTED, "link_down", 0)
    assert (back.hand_no, back.boot_id, back.detail) == (0, away.boot_id, "")


def test_a_missing_port_shows_in_the_view(board, ledger):
    async def scene(s):
        return await s.until(lambda view: view.link is LinkState.PORT_MISSING)

    view = play(board, ledger, scene, port="/dev/nowhere")
    assert view.attempt >= 1
    assert "There is no device" in view.detail


def test_after_a_restart_a_person_says_which_hand_is_in_play(board, ledger):
    async def first(s):
        await s.started()
        await s.walls_up()
        return s.machine.view.boot_id

    async def second(s):
        view = await s.machine.wait_ready()
        adopted = await s.machine.execute("ADOPT", hand=1)
        return view, adopted, s.machine.view

    boot = play(board, ledger, first)
    assert board.relays[CONTACT] is False, "locked on the way out"
    view, adopted, after = play(board, ledger, second)
    assert (view.link, view.locked, view.boot_id != boot) == (LinkState.RECOVER, True, True)
    assert adopted.done
    assert (after.link, after.hand_no, after.locked, after.surface) == (LinkState.UP, 1, True, Surface.DEALT)


def test_what_it_can_not_do_is_unsupported(board, ledger):
    async def scene(s):
        await s.started()
        view = s.machine.view
        stale = await s.machine.execute("OPEN_LID", rev=view.rev - 1)
        dealt = await s.machine.execute("DEAL", tiles=(13, 13, 13, 13))
        with pytest.raises(UsageError):
            await s.machine.execute("SING")
        with pytest.raises(UsageError):
            await s.machine.recover("sing")
        s.machine.hold()
        s.machine.estop()
        return view, stale, dealt

    view, stale, dealt = play(board, ledger, scene)
    assert (stale.code, dealt.code) == ("stale_state", "unsupported")
    assert view.may(Op.CLOSE_LID) == Refused(Reason.UNSUPPORTED)
    assert Capability.COUNTS not in view.capabilities
    assert not view.advisory
    assert board.pulses == []


def test_nobody_waits_for_a_closed_driver(board, ledger):
    async def scene(s):
        waiting = asyncio.ensure_future(s.machine.wait_for(lambda view: view.hand_no == 9))
        await asyncio.sleep(0)
        await s.machine.close()
        with pytest.raises(BridgeError):
            await waiting
        with pytest.raises(BridgeError):
            await s.machine.wait_ready()
        return s.machine.view.link

    assert play(board, ledger, scene) is LinkState.CLOSED


def test_an_unknown_profile_is_refused_at_once(board, ledger):
    from firmware_bridge.drivers.relay_board import RelayBoard

    with pytest.raises(ProfileError):
        ModbusPress(PressSettings("/dev/x", profile="137"), RelayBoard("/dev/x", 1, 9600, 0.5), ledger)


def test_a_lamp_fault_of_the_profile_is_told(board, ledger, tmp_path):
    profile = profile_file(tmp_path, lamps=LAMPS)

    async def scene(s):
        await s.started()
        board.inputs[5] = True
        jammed = await s.until(lambda view: view.fault == "jam")
        refused = await s.machine.execute("OPEN_LID")
        board.inputs[5] = False
        return jammed, refused, await s.until(lambda view: view.fault is None)

    jammed, refused, _ = play(board, ledger, scene, profile=profile, fault_input=5)
    assert (jammed.code, refused.code) == ("machine.fault.jam", "fault")


def test_the_ready_lamp_must_burn_before_the_lid_is_asked_for(board, ledger):
    async def scene(s):
        await s.started()
        board.inputs[READY] = False
        await s.until(lambda view: view.magazine is Magazine.BUILDING)
        return await s.machine.execute("OPEN_LID")

    assert play(board, ledger, scene).code == "magazine"


def test_clearing_a_fault_leaves_an_unknown_press_for_a_person_s_choice(board, ledger, tmp_path):
    from importlib import resources

    text = (resources.files("firmware_bridge") / "profiles" / "136.toml").read_text()
    rules = LAMPS
    profile = tmp_path / "maker.toml"
    profile.write_text(text.replace("[seconds]", rules + "[seconds]"))

    async def scene(s):
        await s.started()
        board.obeys = False
        assert (await s.machine.execute("OPEN_LID")).code == "no_feedback"
        board.inputs[5] = True
        await s.until(lambda view: view.fault == "jam")
        cleared = await s.machine.execute("CLEAR")
        held = s.machine.view.hold
        return cleared, held, await s.machine.recover("leave"), s.machine.view.hold

    cleared, held, left, after = play(board, ledger, scene, profile=str(profile), fault_input=5)
    assert (cleared.done, held, left.done, after) == (True, True, True, False)


def test_a_press_that_nobody_waits_for_any_more_is_unknown_and_told_later(board, ledger):
    async def scene(s):
        await s.started()
        board.loses = lambda function, address: address == 0x0200
        task = asyncio.ensure_future(s.machine.execute("OPEN_LID"))
        while not board.pulses:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        board.loses = lambda function, address: False
        held = s.machine.view.hold
        await s.until(lambda view: view.ready)
        return held, await s.machine.resolve_open(), await s.machine.execute("OPEN_LID")

    held, told, again = play(board, ledger, scene)
    assert held
    assert [(outcome.op, outcome.status) for outcome in told] == [(Op.OPEN_LID, Status.UNKNOWN)]
    assert again.status is Status.REJECTED
    assert len(board.pulses) == 1
