"""Trouble on the line itself: flipped bits, remains, echoes, bursts, silence."""

import itertools

import pytest

from firmware_bridge import messages as m
from firmware_bridge.codec import Frame, FrameDecoder, encode
from firmware_bridge.link import Answered
from firmware_bridge.machine import LinkState, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.faulty import Rates
from firmware_bridge.sim.rig import Rig


def test_half_a_frame_left_over_spoils_nothing():
    old = encode(Frame(m.StatusRequest.KIND, 9, 77, b""))
    decoder = FrameDecoder()
    for cut in range(1, len(old)):
        new = Frame(m.Hello.KIND, 0, 5, m.Hello(1, 1, 3).to_bytes())
        assert new in decoder.feed(old[:cut] + encode(new))


def test_a_mute_line_in_motion_holds_the_machine_and_resets_nothing():
    rig = Rig(fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    boot = rig.view.boot_id
    rig.submit(Op.RAISE_WALLS)
    rig.run(1.0)
    for line in (rig.to_device, rig.to_host):
        line.mute(rig.now + 3.0)
    rig.run(2.5)
    assert not rig.device.plant.motions
    rig.ready()
    assert (rig.view.boot_id, rig.view.hold, rig.view.fault) == (boot, True, "lease_expired")
    rig.run(10)
    assert not rig.device.plant.motions  # never by itself


def conversation():
    """A link with one request on its way, and the device's true answer to it."""
    rig = Rig(2, fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    return rig


def replies():
    """One wire image of each kind of reply, with the link that waits for it."""
    rig = conversation()
    link = rig.host.link
    for request in (
        m.Ping(1, 2000),
        m.StatusRequest(),
        m.Query(1),
        m.ConfigGet(),
        m.Command(9, Op.LAMP, m.ANY_REV, b"\x01\x01"),
    ):
        link.request(request)
        link.poll(rig.now)
        while link._pending.request is not request:
            rig.exchange()
        rig.device.feed(link.take(), rig.now)
        for wire in rig.device.take():
            (frame,) = FrameDecoder().feed(wire)
            if frame.kind == m.REPLIES[request.KIND]:
                yield request, link, wire, rig.now
        link._pending = None


def test_no_single_flipped_bit_of_a_reply_is_believed():
    kinds = set()
    for request, link, wire, now in replies():
        pending = link._pending
        kinds.add(m.REPLIES[request.KIND])
        link.events()
        for bit in range(8 * len(wire)):
            spoiled = bytearray(wire)
            spoiled[bit // 8] ^= 1 << bit % 8
            link.feed(bytes(spoiled), now)
            told = [event.reply for event in link.events() if isinstance(event, Answered)]
            assert told == []
            link._pending = pending
        link.feed(b"\x00", now)
        link.feed(wire, now)
        link.events()
    assert len(kinds) == 5


def test_any_flipped_bit_of_an_acknowledgement_costs_time_and_nothing_else():
    size = None
    for bit in itertools.count():
        rig = conversation()
        pushed, spoiled = rig.to_host.push, []

        def push(wire, now, pushed=pushed, spoiled=spoiled, bit=bit):
            (frame,) = FrameDecoder().feed(wire)
            if frame.kind == m.CommandAck.KIND and not spoiled:
                spoiled.append(len(wire))
                copy = bytearray(wire)
                copy[bit // 8] ^= 1 << bit % 8
                wire = bytes(copy)
            pushed(wire, now)

        rig.to_host.push = push
        assert rig.execute(Op.LAMP, place=2).done
        assert set(rig.executed.values()) == {1}
        (size,) = spoiled
        if bit == 8 * size - 1:
            break
    assert size > 15


def test_a_border_flipped_behind_the_dice_costs_time_and_not_the_dice():
    """A flipped last border makes a frame that is one zero byte longer; the check sum tells."""
    rig = conversation()
    rig.execute(Op.RAISE_WALLS)
    pushed, spoiled = rig.to_host.push, []

    def push(wire, now):
        (frame,) = FrameDecoder().feed(wire)
        if frame.kind == m.CommandDone.KIND and not spoiled:
            spoiled.append(wire)
            wire = wire[:-1] + b"\x01"
        pushed(wire, now)

    rig.to_host.push = push
    outcome = rig.execute(Op.ROLL_DICE)
    assert spoiled
    assert len(outcome.result["dice"]) == 2


def test_a_line_that_gets_worse_is_told_before_it_fails():
    rig = Rig(3)
    rig.ready()
    rig.execute(Op.START)
    told = []
    for share in (0.0, 0.002, 0.02, 0.05, 0.0):
        for line in (rig.to_device, rig.to_host):
            line.rates = Rates(flip=share)
        for _ in range(1500 if share else 4000):
            rig.step(0.1)
            told.append((share, rig.view.link, rig.view.code))
    codes = [event.code for event in rig.host.events if event.code.startswith("link_")]
    assert codes == ["link_noisy", "link_calm"]
    first = next(n for n, (_, _, code) in enumerate(told) if code == "machine.noisy")
    assert all(link is LinkState.UP for _, link, _ in told[:first])
    assert told[first][0] > 0.01
    assert told[-1][2] == "machine.ok"


@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0, 2.5, 5.0])
@pytest.mark.parametrize("both", [True, False])
def test_a_burst_at_the_start_of_a_motion_leaves_one_motion_or_none(seconds, both):
    rig = conversation()
    count = rig.device._on_execute

    def burst(cmd_id, op, boot_id):
        count(cmd_id, op, boot_id)
        rig.to_host.mute(rig.now + seconds)
        if both:
            rig.to_device.mute(rig.now + seconds)

    rig.device._on_execute = burst
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run_until(lambda: bool(rig.outcomes.get(raising)))
    rig.ready()
    outcome = rig.outcomes[raising][-1]
    assert rig.executed[raising] == 1
    assert (outcome.status, outcome.code) in ((Status.DONE, "ok"), (Status.FAILED, "lease_expired"))
    assert outcome.done or seconds >= 2.0


def started(rig):
    rig.ready()
    for op, args in ((Op.START, {}), (Op.RAISE_WALLS, {}), (Op.DEAL, {"tiles": (14, 13, 13, 13)})):
        assert rig.execute(op, **args).done


def test_a_line_that_echoes_everything_changes_nothing():
    rig = Rig(4, fresh="ready", speed=10.0)
    for line in (rig.to_device, rig.to_host):
        line.rates = Rates(echo=1.0)
    started(rig)
    assert set(rig.executed.values()) == {1}
    assert rig.host.link.stats.sessions == 1
    assert rig.host.link.stats.rx_ignored > 20


def test_a_line_that_echoes_halves_changes_nothing():
    rig = Rig(4, fresh="ready", speed=10.0)
    push = rig.to_device.push

    def half(data, now):
        push(data, now)
        rig.to_host.inject(data[: len(data) // 2], now)

    rig.to_device.push = half
    started(rig)
    assert set(rig.executed.values()) == {1}
    assert rig.host.link.stats.sessions == 1
