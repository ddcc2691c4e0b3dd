"""The device's half, frame by frame: what it obeys, repeats, refuses and forgets."""

import random

import pytest

from firmware_bridge import messages as m
from firmware_bridge import profiles
from firmware_bridge.codec import STOP, Frame, FrameDecoder, encode
from firmware_bridge.interlock import Reason
from firmware_bridge.ops import Op, pack_args
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.plant import FRESH, Plant
from firmware_bridge.sim.records import REMEMBERED
from firmware_bridge.sim.session import EVENT_RING


class Wire:
    """Speaks to one device in single frames."""

    def __init__(self, fresh="ready"):
        profile = profiles.load("136")
        plant = Plant(profile, random.Random(1), 10.0, FRESH[fresh](profile))
        self.ran = []
        self.now = 10.0
        self.device = Device(
            plant, uid=7, boot_id=1, now=self.now, on_execute=lambda cmd_id, op, boot: self.ran.append(cmd_id)
        )
        self.session = 0
        self.seq = 0

    def raw(self, message, session=None, seq=None):
        if seq is None:
            self.seq = self.seq % 255 + 1
            seq = self.seq
        session = self.session if session is None else session
        self.device.feed(encode(Frame(message.KIND, seq, session, message.to_bytes())), self.now)
        return self.sent()

    def sent(self):
        return [m.parse(f) for wire in self.device.take() for f in FrameDecoder().feed(wire)]

    def hello(self, session=5):
        self.session = session
        (welcome,) = [a for a in self.raw(m.Hello(1, 1, 99)) if isinstance(a, m.Welcome)]
        self.raw(m.Ping(0, 60_000))
        return welcome

    def ask(self, message):
        answers = [a for a in self.raw(message) if m.REPLIES[message.KIND] == a.KIND]
        return answers[-1]

    def command(self, cmd_id, op, **args):
        return self.ask(m.Command(cmd_id, op, m.ANY_REV, pack_args(op, args)))

    def pass_time(self, seconds):
        self.now += seconds
        self.device.tick(self.now)
        return self.sent()


@pytest.fixture
def wire():
    wire = Wire()
    wire.hello()
    assert wire.command(1, Op.START).verdict is m.Verdict.ACCEPTED
    return wire


def test_it_introduces_itself():
    welcome = Wire().hello()
    assert (welcome.uid, welcome.boot_id, welcome.nonce, welcome.profile) == (7, 1, 99, "136")
    assert welcome.reset_cause is m.ResetCause.POWER_ON
    assert welcome.config_crc == m.config_crc(m.BoardConfig("136", (17,) * 4, (0,) * 10, 0))
    assert (welcome.event_first, welcome.event_last) == (1, 1)


CONFIG = m.BoardConfig("144", (18,) * 4, (0, 0, 6000, *(0,) * 7), 0)


def test_a_configuration_is_taken_kept_and_told():
    wire = Wire()
    before = wire.hello()
    own = wire.ask(m.ConfigGet())
    assert (own.reason, m.config_crc(own.config)) == (0, before.config_crc)
    rev = wire.ask(m.StatusRequest()).state_rev
    assert wire.ask(m.ConfigSet(CONFIG)) == m.ConfigReport(0, CONFIG)
    status = wire.ask(m.StatusRequest())
    assert (status.plan, status.state_rev) == ((18,) * 4, rev + 1)
    assert wire.ask(m.ConfigSet(CONFIG)) == m.ConfigReport(0, CONFIG)
    assert wire.ask(m.StatusRequest()).state_rev == rev + 1
    wire.device.reset(2, m.ResetCause.POWER_ON, wire.now)
    after = wire.hello()
    assert (after.profile, after.config_crc) == ("144", m.config_crc(CONFIG))


def test_a_configuration_waits_until_the_machine_rests(wire):
    def refused():
        report = wire.ask(m.ConfigSet(CONFIG))
        assert report.config != CONFIG
        return report.reason

    wire.command(2, Op.RAISE_WALLS)
    assert refused() == Reason.BUSY
    wire.raw(m.Hold())
    assert refused() == Reason.HOLD
    wire.command(3, Op.RESUME)
    wire.pass_time(5)
    assert refused() == Reason.SURFACE
    wire.device.feed(STOP, wire.now)
    assert refused() == Reason.ESTOP
    own = wire.ask(m.ConfigGet()).config
    assert wire.ask(m.ConfigSet(own)).reason == 0  # what is so already changes nothing


def test_a_configuration_of_too_long_walls_is_refused(wire):
    assert (
        wire.ask(m.ConfigSet(m.BoardConfig("999", (17, 21, 17, 17), (0,) * 10, 0))).reason
        == Reason.BAD_ARGUMENTS
    )


def test_without_a_common_version_it_answers_and_obeys_nothing():
    wire = Wire()
    wire.session = 5
    (welcome,) = [a for a in wire.raw(m.Hello(2, 3, 1)) if isinstance(a, m.Welcome)]
    assert welcome.proto == 0
    assert wire.raw(m.Ping(0, 1000)) == []


def test_another_session_is_ignored(wire):
    assert wire.raw(m.Command(2, Op.START_BUILD), session=4) == []
    assert wire.raw(m.StatusRequest(), session=0) == []
    assert wire.ran == [1]


def test_a_repeated_command_runs_once(wire):
    command = m.Command(2, Op.RAISE_WALLS, m.ANY_REV, pack_args(Op.RAISE_WALLS, {}))
    first = wire.ask(command)
    second = wire.ask(command)
    assert first.verdict is m.Verdict.ACCEPTED
    assert (second.verdict, second.result) == (m.Verdict.DUPLICATE, m.Result.RUNNING)
    wire.pass_time(5)
    third = wire.ask(command)
    assert (third.verdict, third.result) == (m.Verdict.DUPLICATE, m.Result.DONE)
    assert wire.ran == [1, 2]


def test_a_refusal_is_remembered_too(wire):
    first = wire.command(2, Op.RELEASE_INTAKE, hand=9)
    again = wire.command(2, Op.RELEASE_INTAKE, hand=9)
    assert (first.verdict, first.code) == (m.Verdict.REJECTED, Reason.WRONG_HAND)
    assert (again.verdict, again.result, again.code) == (
        m.Verdict.DUPLICATE,
        m.Result.REJECTED,
        Reason.WRONG_HAND,
    )


def test_a_lower_id_is_stale(wire):
    wire.command(10, Op.LAMP, place=0)
    ack = wire.command(5, Op.RAISE_WALLS)
    assert (ack.verdict, ack.code) == (m.Verdict.REJECTED, Reason.STALE_ID)
    assert wire.ran == [1, 10]


def test_a_closed_id_never_runs(wire):
    assert wire.ask(m.Query(2)).result is m.Result.NEVER_SEEN
    assert wire.ask(m.Query(2, close=True)).result is m.Result.NEVER_SEEN
    ack = wire.command(2, Op.RAISE_WALLS)
    assert (ack.verdict, ack.code) == (m.Verdict.REJECTED, Reason.STALE_ID)
    assert wire.ran == [1]


def test_an_id_that_was_only_asked_for_may_run(wire):
    wire.ask(m.Query(2))
    assert wire.command(2, Op.RAISE_WALLS).verdict is m.Verdict.ACCEPTED


def test_old_ids_expire_and_unseen_ones_between_do_not(wire):
    for cmd_id in range(4, 4 + 2 * REMEMBERED, 2):
        wire.command(cmd_id, Op.LAMP, place=0)
    assert wire.ask(m.Query(1)).result is m.Result.EXPIRED
    last = 2 + 2 * REMEMBERED
    assert wire.ask(m.Query(last)).result is m.Result.DONE
    assert wire.ask(m.Query(last - 1)).result is m.Result.NEVER_SEEN


def test_a_running_command_is_never_forgotten(wire):
    wire.command(2, Op.RAISE_WALLS)
    for cmd_id in range(3, 3 + 2 * REMEMBERED):
        wire.command(cmd_id, Op.LAMP, place=0)
    assert wire.ask(m.Query(2)).result is m.Result.RUNNING


def test_after_a_reset_the_running_one_was_interrupted(wire):
    wire.command(2, Op.RAISE_WALLS)
    wire.device.reset(2, m.ResetCause.WATCHDOG, wire.now)
    assert wire.raw(m.StatusRequest()) == []  # the old session died with it
    welcome = wire.hello(6)
    assert (welcome.boot_id, welcome.reset_cause, welcome.last_cmd) == (2, m.ResetCause.WATCHDOG, 2)
    assert wire.ask(m.Query(2)).result is m.Result.INTERRUPTED
    assert wire.ask(m.Query(1)).result is m.Result.EXPIRED
    assert wire.command(2, Op.RAISE_WALLS).code == Reason.STALE_ID
    status = wire.ask(m.StatusRequest())
    assert status.locked
    assert status.hand_no is None
    assert status.hold
    assert status.cut == (Op.RAISE_WALLS,)


def test_unknown_and_malformed_commands_are_refused(wire):
    assert wire.ask(m.Command(2, 200)).code == Reason.UNSUPPORTED
    assert wire.ask(m.Command(3, Op.ADOPT, m.ANY_REV, b"\x01")).code == Reason.BAD_ARGUMENTS
    assert wire.command(4, Op.START_BUILD, mode=3).code == Reason.BAD_ARGUMENTS
    assert wire.ask(m.Command(5, Op.LAMP, 77, pack_args(Op.LAMP, {"place": 0}))).code == Reason.STALE_STATE


def test_the_acknowledgement_comes_before_the_motion(wire):
    ack, *_ = wire.raw(m.Command(2, Op.RAISE_WALLS, m.ANY_REV, pack_args(Op.RAISE_WALLS, {})))
    assert isinstance(ack, m.CommandAck)


def test_the_end_is_repeated_until_it_is_acknowledged(wire):
    wire.command(2, Op.RAISE_WALLS)
    ends = []
    for _ in range(100):
        ends += [a for a in wire.pass_time(0.02) if isinstance(a, m.CommandDone) and a.cmd_id == 2]
    assert len(ends) > 3
    assert len(set(ends)) == 1
    wire.raw(m.EventAck(ends[0].no))
    later = [a for _ in range(50) for a in wire.pass_time(0.02)]
    assert later == []


def test_nothing_is_sent_unasked_when_nobody_listens(wire):
    wire.device.button()
    wire.sent()
    assert wire.pass_time(4) == []
    wire.device.button()
    assert wire.pass_time(1) == []


def test_a_lost_event_shows_as_a_gap(wire):
    for _ in range(EVENT_RING + 10):
        wire.device.button()
    welcome = wire.hello(6)
    assert welcome.event_last - welcome.event_first + 1 == EVENT_RING
    assert welcome.event_first > 1


def test_motion_ends_exactly_with_its_lease():
    wire = Wire()
    wire.hello()
    wire.command(1, Op.START)
    wire.raw(m.Ping(0, 100))
    wire.command(2, Op.RAISE_WALLS)
    wire.pass_time(30)  # one late look must not move the lift any further
    assert wire.device.plant.cut
    (motion,) = wire.device.plant.cut.values()
    assert motion.elapsed == pytest.approx(0.1)
    wire.hello(6)
    outcome = wire.ask(m.Query(2))
    assert outcome.result is m.Result.ABORTED


def test_abort_stops_only_the_named_command(wire):
    wire.command(2, Op.RAISE_WALLS)
    assert wire.ask(m.Abort(1)).active != ()
    status = wire.ask(m.Abort(2))
    assert status.active == ()
    assert status.hold
    assert wire.ask(m.Query(2)).result is m.Result.ABORTED


def test_a_stop_needs_no_session():
    wire = Wire()
    wire.device.feed(STOP, wire.now)
    assert wire.device.latches.estop


@pytest.mark.parametrize("size", [1, 3, 200])
def test_a_stop_amid_noise_and_a_half_frame_ends_all_motion(wire, size):
    wire.command(2, Op.RAISE_WALLS)
    wire.pass_time(0.1)
    half = encode(Frame(m.Ping.KIND, 1, 5, m.Ping(0, 60_000).to_bytes()))[:-3]
    noise = half + b"\x17\xffSTO" + STOP + b"\xff\x33"
    for at in range(0, len(noise), size):
        wire.device.feed(noise[at : at + size], wire.now)
    assert wire.device.latches.estop
    assert not wire.device.plant.motions
    assert wire.ask(m.Query(2)).result is m.Result.ABORTED
    for cmd_id, op in enumerate((Op.RAISE_WALLS, Op.RESUME, Op.LOWER, Op.HOME, Op.ROLL_DICE), start=3):
        assert wire.command(cmd_id, op).code == Reason.ESTOP
    wire.pass_time(5)
    assert wire.device.latches.estop
    assert wire.ran == [1, 2]


def test_a_stop_repeated_is_one_event(wire):
    wire.device.feed(STOP * 3, wire.now)
    wire.device.feed(STOP, wire.now)
    events = {a.no for a in wire.sent() if isinstance(a, m.Event) and a.code == m.EventCode.ESTOP}
    assert len(events) == 1


@pytest.mark.parametrize("size", [1, 200])
@pytest.mark.parametrize("named", [True, False])
def test_a_clear_sent_before_a_stop_does_not_end_it(wire, size, named):
    wire.device.feed(STOP, wire.now)
    clear = m.Command(2, Op.CLEAR, wire.ask(m.StatusRequest()).state_rev if named else m.ANY_REV)
    stream = encode(Frame(clear.KIND, 9, wire.session, clear.to_bytes())) + STOP
    for at in range(0, len(stream), size):
        wire.device.feed(stream[at : at + size], wire.now)
    assert wire.device.latches.estop


def test_its_own_echo_is_ignored(wire):
    status = wire.ask(m.StatusRequest())
    assert wire.raw(status) == []


def test_progress_does_not_make_a_wish_stale():
    wire = Wire("loaded")
    wire.hello()
    wire.command(1, Op.START)
    wire.command(2, Op.START_BUILD)
    before = wire.ask(m.StatusRequest())
    wire.pass_time(1)
    after = wire.ask(m.StatusRequest())
    assert after.stacks != before.stacks
    assert after.state_rev == before.state_rev
    assert after.detail_rev > before.detail_rev
