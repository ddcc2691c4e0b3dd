"""Trouble with boards: that start anew, take long, or run for days."""

import pytest

from firmware_bridge import messages as m
from firmware_bridge.codec import FrameDecoder
from firmware_bridge.machine import LinkState, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.rig import Rig


def test_a_board_that_resets_at_every_opening_waits_for_a_person_each_time():
    rig = Rig(5, fresh="ready")
    rig.ready()
    boots = set()
    for _ in range(5):
        assert rig.execute(Op.START).done
        boots.add(rig.view.boot_id)
        rig.unplug()
        rig.run(0.1)
        rig.reset_device()
        rig.plug()
        rig.ready()
        assert rig.view.link is LinkState.RECOVER
        assert rig.view.hand_no is None
    assert len(boots) == 5
    assert set(rig.executed.values()) == {1}


def test_a_boot_loader_that_is_deaf_for_two_seconds_hears_only_greetings():
    rig = Rig(6)
    start = rig.now
    rig.to_device.mute(start + 2.0)
    sent = []
    push = rig.to_device.push
    rig.to_device.push = lambda data, now: (sent.append((now, data)), push(data, now))
    while rig.now < start + 1.9:
        rig.to_host.inject(rig.rng.randbytes(40), rig.now)
        rig.run(0.05)
    assert not rig.view.ready
    early = b"".join(data for now, data in sent if now <= start + 2.0)
    assert {frame.kind for frame in FrameDecoder().feed(early)} == {m.Hello.KIND}
    rig.ready(limit=1.0)
    assert rig.host.link.stats.opens == 1


def test_an_operation_of_a_minute_neither_looks_dead_nor_floods_the_line():
    rig = Rig(speed=0.5)
    rig.ready()
    rig.execute(Op.START)
    before = rig.host.link.stats
    links = set()
    build = rig.submit(Op.START_BUILD)
    while build not in rig.outcomes:
        rig.step()
        links.add(rig.view.link)
    after = rig.host.link.stats
    assert rig.outcomes[build][-1].seconds == pytest.approx(60, abs=0.5)
    assert links == {LinkState.UP}
    assert (after.retransmits, after.sessions) == (0, 1)
    assert after.tx_frames - before.tx_frames < 60 * 9  # four pings and their STATUS a second
    assert rig.executed[build] == 1


def test_a_board_that_resets_in_motion_waits_for_a_person_however_long():
    rig = Rig(2, fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run(1.0)
    rig.reset_device()
    rig.run(600)
    assert rig.outcomes[raising][-1].status is Status.UNKNOWN
    assert rig.view.link is LinkState.RECOVER
    assert not rig.device.plant.motions
    assert rig.executed.total() == 2


def live(hours):
    """Hours of standing by, a light and an accident in each."""
    rig = Rig(8, fresh="ready", speed=10.0)
    accidents = [
        lambda: rig.to_host.mute(rig.now + 20),
        lambda: rig.to_device.stall(rig.now + 4),
        rig.restart_host,
        rig.reset_device,
        rig.unplug,
        rig.to_host.hang_up,
        lambda: rig.host.link._decoder.feed(b"\x01" * 500),
    ]
    asked = 0
    for hour in range(hours):
        if not rig.plugged:
            rig.plug()
        rig.ready()
        if rig.view.link is LinkState.RECOVER:
            assert rig.execute(Op.START).done
            asked += 1
        assert rig.execute(Op.LAMP, place=hour % 4).done
        asked += 1
        end = rig.now + 3600
        while rig.now < end:
            rig.step(0.5)
            assert rig.view.ready
        accidents[hour % len(accidents)]()
        rig.run(30)
    assert rig.executed.total() == asked
    assert set(rig.executed.values()) == {1}
    return rig


@pytest.mark.slow
def test_seven_hours_with_an_accident_in_each():
    live(7)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_seven_days_with_an_accident_in_each_hour():
    rig = live(24 * 7)
    assert rig.now > 7 * 86_400
