"""The relay board: one wish is one pulse, and only feedback proves it."""

import asyncio
import struct

import pytest

from firmware_bridge import profiles
from firmware_bridge.drivers.press_core import Gate, Missing, Press, ReadInputs, ReadRelays, Write, pulse
from firmware_bridge.drivers.presser import Presser
from firmware_bridge.drivers.watch_core import Bits
from firmware_bridge.drivers.wiring import PressSettings
from firmware_bridge.errors import PortError, UsageError
from firmware_bridge.machine import Capability, Status
from firmware_bridge.ops import Op
from tests.firmware_bridge.relay_kit import (
    CONTACT,
    DICE,
    LID,
    LIFT,
    READY,
    TOGGLE,
    WIRING,
    Board,
    Clock,
    bits,
    need_modbus,
)

PROFILE = profiles.load("136")


@pytest.fixture
def board():
    need_modbus()
    made = Board()
    made.lid_moves = True
    yield made
    made.close()


def settings(board, **changed):
    return PressSettings(**({"port": board.path, "reply_s": 2.0, **WIRING} | changed))


def play(board, scene, **changed):
    """Run `scene(driver)` against the board; nothing that was sent may be a toggle."""
    from firmware_bridge.drivers.relay_board import RelayBoard

    async def run():
        clock = Clock()
        board.start()
        wired = settings(board, **changed)
        line = RelayBoard(wired.port, wired.address, wired.baud, wired.reply_s)
        driver = Presser(wired, PROFILE, line, clock=clock, sleep=clock.sleep)
        try:
            async with asyncio.timeout(5):
                return await scene(driver)
        finally:
            await driver.close()
            board.stop()

    result = asyncio.run(run())
    writes = [(address, value) for function, address, value in board.requests if function == 5]
    assert all(value != TOGGLE for _, value in writes)
    assert {address for address, _ in writes} <= {CONTACT, 0x0200 + LIFT, 0x0200 + DICE}
    return result


async def press(driver):
    await driver.open()
    await driver.release()
    return await driver.press("OPEN_LID", 1)


def test_a_press_is_one_pulse_of_the_board_and_done_after_feedback(board):
    outcome = play(board, press)
    assert (outcome.status, outcome.code, outcome.cmd_id) == (Status.DONE, "ok", 1)
    assert board.pulses == [(LIFT, 3)]


def test_lost_replies_make_one_pulse_and_an_unknown(board):
    board.loses = lambda function, address: address == 0x0200

    async def scene(driver):
        first = await press(driver)
        return first, await driver.press("OPEN_LID", 2)

    first, second = play(board, scene, reply_s=0.2)
    assert (first.status, first.code) == (Status.UNKNOWN, "no_reply")
    assert (second.status, second.code) == (Status.REJECTED, "look_first")
    assert board.pulses == [(LIFT, 3)]


def test_a_line_that_dies_after_the_pulse_makes_an_unknown(board):
    board.loses = lambda function, address: bool(board.pulses)
    outcome = play(board, press, reply_s=0.2)
    assert (outcome.status, outcome.code) == (Status.UNKNOWN, "no_reply")
    assert len(board.pulses) == 1


def test_missing_feedback_makes_an_unknown_after_the_time_of_the_profile(board):
    board.obeys = False
    outcome = play(board, press)
    assert (outcome.status, outcome.code) == (Status.UNKNOWN, "no_feedback")
    assert outcome.seconds == pytest.approx(PROFILE.seconds[Op.OPEN_LID])
    assert len(board.pulses) == 1


def test_a_second_press_is_a_new_wish_of_a_person_who_looked(board):
    board.obeys = False

    async def scene(driver):
        await press(driver)
        same = await driver.press("OPEN_LID", 1)
        driver.looked()
        board.obeys = True
        return same, await driver.press("OPEN_LID", 2)

    same, second = play(board, scene)
    assert (same.status, same.code) == (Status.REJECTED, "stale_id")
    assert second.done
    assert len(board.pulses) == 2


def test_while_locked_a_press_is_refused_and_the_maker_s_button_is_dead(board):
    board.relays[CONTACT] = True  # as a former run left it

    async def scene(driver):
        await driver.open()
        at_open = board.relays[CONTACT]
        refused = await driver.press("OPEN_LID", 1)
        await driver.release()
        released = board.relays[CONTACT]
        await driver.lock()
        return at_open, refused, released, board.relays[CONTACT], await driver.press("RAISE_WALLS", 2)

    at_open, refused, released, locked, again = play(board, scene)
    assert (at_open, released, locked) == (False, True, False)
    assert {refused.code, again.code} == {"interlock"}
    assert board.pulses == []


def test_a_lock_during_a_press_opens_the_contact_at_once_and_stops_what_was_not_sent(board):
    async def scene(driver):
        await driver.open()
        await driver.release()
        locks = []
        board.at_request = lambda function, address: (
            locks.append(asyncio.ensure_future(driver.lock())) if function == 2 and not locks else None
        )
        outcome = await driver.press("OPEN_LID", 1)
        await locks[0]
        return outcome

    outcome = play(board, scene)
    assert (outcome.status, outcome.code) == (Status.REJECTED, "interlock")
    assert board.pulses == []


def test_a_board_that_was_powered_up_meanwhile_is_not_pressed(board):
    async def scene(driver):
        await driver.open()
        await driver.release()
        board.relays[CONTACT] = False
        return await driver.press("OPEN_LID", 1)

    assert play(board, scene).code == "contact_open"
    assert board.pulses == []


def test_a_contact_that_does_not_obey_keeps_the_lock(board):
    async def scene(driver):
        await driver.open()
        board.at_request = lambda function, address: board.relays.__setitem__(CONTACT, False)
        with pytest.raises(PortError, match="contact_open"):
            await driver.release()
        return driver.locked

    assert play(board, scene) is True


def test_a_reopened_line_is_read_back_and_the_contact_set_again(board):
    async def scene(driver):
        await driver.open()
        await driver.release()
        board.loses = lambda function, address: function == 2
        with pytest.raises(PortError, match="does not answer"):
            await driver.inputs()
        board.loses = lambda function, address: False
        board.relays[CONTACT] = False
        board.requests.clear()
        return await driver.inputs()

    assert play(board, scene, reply_s=0.2) == bits(READY)
    assert board.requests[:3] == [(5, CONTACT, 0xFF00), (1, 0, 8), (2, 0, 8)]


def test_a_late_reply_answers_nothing_else(board):
    """The echo of a write that comes where inputs were asked for is no input."""
    board.answers = lambda unit, function, reply: (
        struct.pack(">BBHH", unit, 5, CONTACT, 0) if function == 2 else reply
    )

    async def scene(driver):
        await driver.open()
        await driver.inputs()

    with pytest.raises(PortError, match="does not answer"):
        play(board, scene)


@pytest.mark.parametrize(
    ("exception", "ends"),
    [(2, (Status.REJECTED, "board_refused")), (4, (Status.UNKNOWN, "no_reply"))],
)
def test_a_refusing_board_has_not_pressed_and_a_failing_one_may_have(board, exception, ends):
    board.answers = lambda unit, function, reply: (
        bytes([unit, 0x85, exception]) if reply[2:4] == b"\x02\x00" else reply
    )
    outcome = play(board, press)
    assert (outcome.status, outcome.code) == ends


def test_dice_are_thrown_under_the_lock(board):
    async def scene(driver):
        await driver.open()
        return await driver.press("ROLL_DICE", 1)

    assert play(board, scene).done
    assert board.pulses == [(DICE, 3)]


def test_a_second_press_meanwhile_is_not_queued(board):
    async def scene(driver):
        await driver.open()
        await driver.release()
        return await asyncio.gather(driver.press("OPEN_LID", 1), driver.press("OPEN_LID", 2))

    first, second = play(board, scene)
    assert first.done
    assert (second.status, second.code) == (Status.REJECTED, "busy")
    assert len(board.pulses) == 1


def test_a_press_that_was_cancelled_after_the_pulse_wants_a_look(board):
    async def scene(driver):
        await driver.open()
        await driver.release()
        board.loses = lambda function, address: address == 0x0200
        task = asyncio.ensure_future(driver.press("OPEN_LID", 1))
        while not board.pulses:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await driver.press("OPEN_LID", 2)

    assert play(board, scene).code == "look_first"
    assert len(board.pulses) == 1


def test_a_held_button_keeps_the_board_shut(board):
    board.relays[LIFT] = True

    async def scene(driver):
        with pytest.raises(PortError, match="closed"):
            await driver.open()
        await driver.release()
        return await driver.press("OPEN_LID", 1)

    assert play(board, scene).code == "button_held"


def test_a_missing_port_is_told_in_plain_words(board):
    async def scene(driver):
        outcome = await driver.press("ROLL_DICE", 1)
        with pytest.raises(PortError, match="There is no device at /nowhere"):
            await driver.open()
        return outcome

    assert play(board, scene, port="/nowhere").code == "port_missing"


def test_without_the_series_contact_the_interlock_is_only_advice(board):
    board.wired_in_series = False

    async def scene(driver):
        await driver.open()
        refused = await driver.press("OPEN_LID", 1)
        await driver.release()
        return driver.capabilities, refused.code, await driver.press("OPEN_LID", 2)

    able, refused, outcome = play(board, scene, inhibit_relay=None)
    assert able == Capability.MOVES | Capability.DICE | Capability.LID
    assert refused == "interlock"
    assert outcome.done


def test_an_operation_without_a_button_is_our_own_mistake(board):
    async def scene(driver):
        await driver.press("DEAL", 1)

    with pytest.raises(UsageError, match="No button"):
        play(board, scene)


# The pure part, which needs no library.


def walk(inputs: list[Bits], *, wired: PressSettings, feedback_s: float = 0.2):
    """Feed one press with these looks at the inputs, the last for ever; returns its end and its pulses."""
    step, now, pulses, looks = Press(wired, Op.OPEN_LID, feedback_s), 0.0, [], list(inputs)
    request = step.start()
    while not hasattr(request, "status"):
        if isinstance(request, ReadRelays):
            request = step.next(now, bits())
        elif isinstance(request, ReadInputs):
            request = step.next(now, looks.pop(0) if len(looks) > 1 else looks[0])
        elif isinstance(request, Write):
            pulses.append(request)
            request = step.next(now, ())
        else:
            now += request.seconds
            request = step.next(now)
    return request, pulses


def test_a_flicker_of_the_lamp_is_no_feedback():
    end, pulses = walk([bits(READY), bits(), bits(READY)], wired=PressSettings("/dev/x"))
    assert (end.status, end.code) == (Status.UNKNOWN, "no_feedback")
    assert len(pulses) == 1


def test_the_lid_is_feedback_while_the_lamp_stays_lit():
    wired = PressSettings("/dev/x", lid_input=LID)
    end, pulses = walk([bits(READY), bits(READY, LID)], wired=wired)
    assert (end.status, end.code) == (Status.DONE, "ok")
    assert pulses == [Write(0x0200, 3)]


def test_a_lamp_that_is_off_already_could_prove_nothing():
    end, pulses = walk([bits()], wired=PressSettings("/dev/x"))
    assert (end.status, end.code, pulses) == (Status.REJECTED, "not_ready", [])


def test_a_silent_board_is_not_pressed():
    step = Press(PressSettings("/dev/x"), Op.OPEN_LID, 1.0)
    step.start()
    assert step.next(0.0, Missing.LOST).code == "link_down"
    assert not step.pressed


def test_no_pulse_looks_like_on_off_or_toggle():
    values = {pulse(relay, ms).value for relay in range(8) for ms in range(100, 2001, 100)}
    assert values == set(range(1, 21))
    assert not values & {0x0000, 0xFF00, TOGGLE}


def test_ids_only_grow_and_everything_begins_locked():
    gate = Gate()
    assert gate.refusal(Op.OPEN_LID, 5) == "interlock"
    gate.locked = False
    assert gate.refusal(Op.OPEN_LID, 5) == "stale_id"
    assert gate.refusal(Op.OPEN_LID, 6) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": ""},
        {"inhibit_relay": 2},
        {"fault_input": 0},
        {"address": 0},
        {"address": 248},
        {"baud": 0},
        {"reply_s": 0},
        {"lift_relay": 8},
        {"dice_relay": -1},
        {"inhibit_relay": 0},
        {"ready_input": 8},
        {"lid_input": 0},
        {"ready_input": None},
        {"dice_relay": 1},
        {"pulse_ms": 50},
        {"pulse_ms": 2100},
        {"pulse_ms": 250},
    ],
)
def test_wiring_that_can_not_be_is_refused(wrong):
    with pytest.raises(UsageError, match=f"^({'|'.join(wrong)}|dice_input|lid_input): "):
        PressSettings(**({"port": "/dev/x"} | wrong))


def test_what_a_wiring_can_do_is_told():
    assert PressSettings("/dev/x").capabilities == Capability.MOVES
    held = PressSettings("/dev/x", inhibit_relay=2, lid_input=1)
    assert held.capabilities == Capability.MOVES | Capability.LID | Capability.INHIBIT
