"""The reliable link alone: sessions, repetitions, silence; one conversation over four kinds of line."""

import random
from dataclasses import replace

import pytest

from firmware_bridge import messages as m
from firmware_bridge.codec import STOP, Frame, FrameDecoder, encode
from firmware_bridge.interlock import Reason, Surface
from firmware_bridge.link import (
    SENDS,
    TRANSITIONS,
    WATCHED,
    Answered,
    Connected,
    HostLink,
    Phase,
    Pushed,
    Quality,
    Turn,
    Unanswered,
)
from firmware_bridge.machine import LinkState, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.faulty import PRELUDE_MAX, FaultyLine, Rates
from firmware_bridge.sim.rig import Rig
from firmware_bridge.sim.session import EVENT_RING


def sent(link):
    return FrameDecoder().feed(link.take())


def welcome(frame, nonce):
    message = m.Welcome(
        1, nonce, 7, 1, m.ResetCause.POWER_ON, "136", 0, m.Caps(0), 0, 0, m.Result.NEVER_SEEN, 1, 0, (0, 1, 0)
    )
    return encode(Frame(message.KIND, frame.seq, frame.session, message.to_bytes()))


def answer(frame, message):
    return encode(Frame(message.KIND, frame.seq, frame.session, message.to_bytes()))


def opened(now=100.0):
    numbers = random.Random(1)
    link = HostLink(lambda: numbers.getrandbits(32))
    link.open(now)
    link.poll(now)
    return link


def connected(now=100.0):
    link = opened(now)
    (frame,) = sent(link)
    link.feed(welcome(frame, m.parse(frame).nonce), now)
    assert isinstance(link.events()[0], Connected)
    link.poll(now)
    (ping,) = sent(link)
    link.feed(answer(ping, m.Pong(m.parse(ping).t_host, 0, 1, 1)), now + 0.01)
    link.events()
    return link


def test_every_transition_is_in_the_table():
    assert {phase for phase, _ in TRANSITIONS} == set(Phase)
    assert {turn for _, turn in TRANSITIONS} == set(Turn)
    assert all((phase, Turn.CLOSED) in TRANSITIONS for phase in Phase if phase is not Phase.CLOSED)


def test_hello_is_repeated_until_a_welcome_with_its_nonce():
    link = opened()
    (first,) = sent(link)
    link.feed(welcome(first, 12345), 100.1)
    link.feed(b"boot loader v1.0\r\n\x00\x7f", 100.2)
    assert link.phase is Phase.CONNECTING
    link.poll(100.5)
    (second,) = sent(link)
    assert second == first
    link.feed(welcome(second, m.parse(second).nonce), 100.6)
    assert link.phase is Phase.UP


def test_a_request_is_repeated_twice_at_most_and_byte_for_byte():
    link = connected()
    link.request(m.Query(3))
    frames, now = [], 100.02
    while link.phase is Phase.UP:
        link.poll(now)
        frames += [f for f in sent(link) if f.kind == m.Query.KIND]
        now += 0.01
    assert len(frames) == SENDS
    assert len(set(frames)) == 1
    assert link.phase is Phase.SUSPECT
    assert link.events() == [Unanswered(m.Query(3))]
    link.poll(now)
    (hello,) = sent(link)
    assert hello.kind == m.Hello.KIND
    assert hello.session != frames[0].session


def test_on_a_line_slower_than_the_pings_requests_have_their_turn():
    rig = Rig(fresh="ready", speed=4.0)
    rig.to_device.delay = rig.to_host.delay = 0.3
    rig.ready(limit=5.0)
    assert rig.execute(Op.START, limit=5.0).status is Status.DONE
    assert rig.execute(Op.RAISE_WALLS, limit=20.0).status is Status.DONE


def test_what_belongs_to_another_session_is_dropped():
    link = connected()
    link.request(m.Query(3))
    link.poll(100.02)
    (query,) = sent(link)
    outcome = m.CommandOutcome(3, m.Result.DONE, 0, 0, 0)
    stale = Frame(outcome.KIND, query.seq, query.session + 1, outcome.to_bytes())
    link.feed(encode(stale), 100.03)
    link.feed(answer(query, outcome), 100.04)
    link.feed(answer(query, outcome), 100.05)
    assert link.events() == [Answered(m.Query(3), outcome)]
    assert link.stats.rx_ignored == 1


def test_our_own_echo_answers_nothing():
    link = connected()
    link.request(m.StatusRequest())
    link.poll(100.02)
    echo = link.take()
    link.feed(echo, 100.03)
    assert link.events() == []
    assert link.stats.rx_ignored == 1


def test_unasked_messages_are_told_apart_from_answers():
    link = connected()
    event = m.Event(1, 0, 1)
    link.feed(encode(Frame(event.KIND, 0, link._session, event.to_bytes())), 100.1)
    assert link.events() == [Pushed(event)]


@pytest.mark.parametrize(("moving", "limit"), [(False, 1.5), (True, 0.75)])
def test_silence_becomes_a_named_state(moving, limit):
    link = connected()
    link.moving = moving
    heard = 100.01
    link.poll(heard + limit - 0.01)
    assert link.phase is Phase.UP
    link.poll(heard + limit)
    assert link.phase is Phase.SUSPECT
    link.poll(heard + 2.99)
    assert link.phase is Phase.SUSPECT
    link.poll(heard + 3.01)
    assert link.phase is Phase.DOWN


def test_requests_without_a_session_fail_at_once():
    link = opened()
    link.request(m.StatusRequest())
    assert link.events() == [Unanswered(m.StatusRequest())]


def test_the_timeout_adapts_and_stays_in_bounds():
    link = connected()
    for step in range(20):
        now = 101.0 + step
        link.request(m.StatusRequest())
        link._heard_at = now
        link._ping_at = now + 9
        link.poll(now)
        (frame,) = sent(link)
        link.feed(answer(frame, m.Pong(0, 0, 0, 0)), now)  # wrong kind: ignored
        status = Rig().device._status()
        link.feed(answer(frame, status), now + 0.3)
    assert link.stats.srtt == pytest.approx(0.3, abs=0.05)
    assert 0.3 <= link.stats.rto <= 1.0


class Timed:
    """A connected link whose requests are answered, or not, at chosen moments; pings stay out of the way."""

    def __init__(self):
        self.link = connected()
        self.link._srtt, self.link._rto = None, self.link.timing.rto_first
        self.now = 101.0

    def ask(self, rtt):
        """One request with its answer after `rtt` seconds, whatever repetitions come in between."""
        link = self.link
        link.request(m.Query(3))
        sent_at = self.now
        frames = []
        while self.now < sent_at + rtt:
            link._heard_at, link._ping_at = self.now, self.now + 9
            link.poll(self.now)
            frames += sent(link)
            self.now = min(sent_at + rtt, max(self.now + 1e-9, link._pending.due))
        outcome = m.CommandOutcome(3, m.Result.DONE, 0, 0, 0)
        link.feed(answer(frames[-1], outcome), self.now)
        return len(frames)


def test_the_first_round_trip_and_the_next_ones_are_smoothed_as_in_rfc_6298():
    timed = Timed()
    timed.ask(0.2)
    stats = timed.link.stats
    assert (stats.srtt, stats.rttvar) == pytest.approx((0.2, 0.1))
    assert stats.rto == pytest.approx(0.2 + 4 * 0.1)
    timed.ask(0.3)
    stats = timed.link.stats
    rttvar = 0.75 * 0.1 + 0.25 * abs(0.2 - 0.3)  # with the srtt from before
    srtt = 0.875 * 0.2 + 0.125 * 0.3
    assert (stats.srtt, stats.rttvar) == pytest.approx((srtt, rttvar))
    assert stats.rto == pytest.approx(srtt + 4 * rttvar)


def test_the_timeout_never_leaves_its_bounds():
    quick = Timed()
    for _ in range(40):
        quick.ask(0.001)
    assert quick.link.stats.rto == quick.link.timing.rto_min
    slow = Timed()
    slow.ask(0.2)
    for _ in range(20):
        slow.ask(slow.link.stats.rto - 0.001)
    assert slow.link.stats.rto == slow.link.timing.rto_max


def test_a_timeout_doubles_and_a_repeated_request_is_not_measured():
    timed = Timed()
    timed.ask(0.1)
    before = timed.link.stats
    assert before.rto == pytest.approx(0.3)
    assert timed.ask(0.85) == 2
    after = timed.link.stats
    assert (after.srtt, after.rttvar) == (before.srtt, before.rttvar)  # Karn
    assert after.rto == pytest.approx(0.6)  # kept until something is measured
    assert after.retransmits == 1
    timed.ask(0.1)
    assert timed.link.stats.rto == pytest.approx(0.1 + 4 * 0.75 * 0.05)


def test_a_new_session_measures_anew():
    link = connected()
    assert link.stats.srtt is not None
    link.close()
    link.open(200.0)
    link.poll(200.0)
    (hello,) = sent(link)
    link.feed(welcome(hello, m.parse(hello).nonce), 200.0)
    stats = link.stats
    assert (stats.srtt, stats.rttvar, stats.rto) == (None, None, link.timing.rto_first)
    assert (stats.sessions, stats.reconnects, stats.opens) == (2, 1, 2)


def test_every_frame_and_byte_is_counted():
    rig = Rig()
    rig.ready()
    there, back = 0, 0
    before = rig.host.link.stats
    rig.host.take, take = lambda: note(take()), rig.host.take
    rig.host.feed, feed = lambda data, now: heard(data, now), rig.host.feed

    def note(out):
        nonlocal there
        there += len(out)
        return out

    def heard(data, now):
        nonlocal back
        back += len(data)
        feed(data, now)

    rig.run(10.0)
    after = rig.host.link.stats
    assert there > 0
    assert (after.tx_bytes - before.tx_bytes, after.rx_bytes - before.rx_bytes) == (there, back)
    assert after.tx_frames - before.tx_frames == pytest.approx(20, abs=3)
    assert after.rx_frames - before.rx_frames == after.tx_frames - before.tx_frames
    assert (after.rx_bad, after.retransmits, after.disturbed) == (0, 0, 0.0)


def test_a_line_is_called_noisy_above_one_percent_and_calm_below_a_half():
    link = connected()
    good = m.Event(9, 0, 1)
    frame = encode(Frame(good.KIND, 0, link._session, good.to_bytes()))

    def heard(count, wire):
        for _ in range(count):
            link.feed(wire, 101.0)
        return [event for event in link.events() if isinstance(event, Quality)]

    assert heard(390, frame) == []
    assert heard(4, b"\x00no frame\x00") == []
    assert heard(1, b"\x00no frame\x00") == [Quality(True, 5 / WATCHED)]
    assert heard(300, frame) == []
    assert heard(200, frame) == [Quality(False, 2 / WATCHED)]


def test_a_stop_is_shouted_three_times_in_any_phase():
    numbers = random.Random(1)
    link = HostLink(lambda: numbers.getrandbits(32))
    link.shout_stop()
    assert link.take() == STOP * 3
    link.open(1.0)
    link.poll(1.0)
    link.shout_stop()
    assert link.take().startswith(STOP * 3 + b"\x00")


def perfect(line):
    return line


def bytewise(line):
    line.split = True


def lossy(line):
    line.rates = Rates(drop=0.2, garbage=0.1)


def slow(line):
    line.delay = 0.08


@pytest.mark.parametrize("kind", [perfect, bytewise, lossy, slow])
def test_the_same_hand_over_four_kinds_of_line(kind):
    rig = Rig(seed=4, speed=4.0)
    kind(rig.to_device)
    kind(rig.to_host)
    for op, args in (
        (Op.START, {}),
        (Op.START_BUILD, {}),
        (Op.RAISE_WALLS, {}),
        (Op.DEAL, {"tiles": (14, 13, 13, 13)}),
    ):
        outcome = None
        while outcome is None or outcome.code in ("never_seen", "link_down"):  # nothing moved; ask anew
            rig.ready()
            outcome = rig.execute(op, **args)
        assert outcome.status is Status.DONE
    assert set(rig.executed.values()) == {1}
    assert rig.executed.total() == 4
    assert rig.view.hand_no == 1


def test_a_mute_line_in_motion_is_suspect_then_down_then_found_again():
    rig = Rig(fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    rig.submit(Op.RAISE_WALLS)
    rig.run(0.5)
    rig.to_host.mute(rig.now + 5)
    rig.to_device.mute(rig.now + 5)
    states = []
    for _ in range(400):
        rig.step()
        if not states or states[-1] is not rig.view.link:
            states.append(rig.view.link)
    assert states[:2] == [LinkState.UP, LinkState.SUSPECT]
    assert LinkState.PORT_MISSING in states  # the rig closes a port that is DOWN
    assert states[-1] is LinkState.UP
    assert rig.view.hold


def test_two_lost_replies_do_not_repeat_a_motion():
    rig = Rig(fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    rig.to_host.lose_next = [m.CommandAck.KIND] * 2
    assert rig.execute(Op.RAISE_WALLS).done
    assert rig.executed.total() == 2


def test_another_board_gets_no_command():
    rig = Rig()
    rig.host._expected_uid = "00000000000000ff"
    rig.run(2)
    assert rig.view.link is LinkState.UID_MISMATCH
    assert rig.view.uid == "0000000000000051"
    assert rig.execute(Op.START).code == "link_down"


def test_a_board_of_another_definition_is_only_looked_at():
    rig = Rig()
    device, hello = rig.device, rig.device._hello
    heard = []

    def foreign(frame, message, now):
        hello(frame, message, now)
        (welcome,) = FrameDecoder().feed(device._session.out.pop())
        theirs = replace(m.parse(welcome), schema=1)
        device._session.send(theirs, welcome.seq, welcome.session)

    device._hello = foreign
    device.feed, feed = lambda data, now: (heard.append(data), feed(data, now)), device.feed
    rig.run(10)
    assert rig.view.link is LinkState.VERSION_MISMATCH
    assert rig.host.link.stats.sessions == 1  # it stays connected
    for op in (Op.START, Op.CLEAR, Op.LAMP):
        assert rig.submit(op, **({"place": 1} if op is Op.LAMP else {})).code == "link_down"
    rig.host.hold(rig.now)
    rig.run(1)
    assert {frame.kind for frame in FrameDecoder().feed(b"".join(heard))} == {m.Hello.KIND}
    assert device.lease_until <= rig.now - 10
    device._hello = hello  # the right firmware is put in
    rig.ready()
    assert rig.execute(Op.START).done


WANTED = m.BoardConfig("144", (18, 18, 18, 18), (0,) * 10, 0)


def codes(rig):
    return [event.code for event in rig.host.events]


def test_a_board_with_another_configuration_is_told_the_wanted_one_once():
    rig = Rig(config=WANTED)
    rig.to_host.delay = 0.03
    links = []
    for _ in range(100):
        rig.step()
        links.append(rig.view.link)
    assert LinkState.CONFIG_MISMATCH in links
    assert rig.view.link is LinkState.RECOVER
    assert rig.view.profile == "144"
    assert rig.view.plan == WANTED.walls
    assert [code for code in codes(rig) if code.startswith("config")] == ["config_sent", "config_set"]
    rig.restart_host()
    rig.ready()
    assert not any(code.startswith("config") for code in codes(rig))  # it fits now
    assert rig.execute(Op.START).done
    assert rig.execute(Op.START_BUILD).result == {"stacks": WANTED.walls}


def test_nothing_moves_until_the_configuration_fits():
    rig = Rig(fresh="dealt", config=WANTED)
    rig.run(2)
    assert rig.view.link is LinkState.CONFIG_MISMATCH
    assert rig.view.code == "machine.config_mismatch"
    assert rig.execute(Op.ADOPT, hand=4).done  # moves nothing
    assert rig.execute(Op.RELEASE_INTAKE, hand=4).done
    assert rig.submit(Op.OPEN_LID).code == "config_mismatch"
    rig.host.estop()
    rig.run_until(lambda: rig.view.estop)
    rig.run(0.2)
    assert rig.execute(Op.CLEAR).done
    assert "config_sent" not in codes(rig)
    assert rig.executed.total() == 3
    rig.device.plant.sensors.surface = Surface.CLEAR  # the tiles were put away by hand
    rig.run_until(lambda: rig.view.ready)
    assert codes(rig)[-1] == "config_set"


def test_a_refused_configuration_is_reported_and_not_forced():
    rig = Rig(config=m.BoardConfig("999", (21, 21, 21, 21), (0,) * 10, 0))
    rig.run(5)
    assert rig.view.link is LinkState.CONFIG_MISMATCH
    told = [(event.code, event.args) for event in rig.host.events if event.code.startswith("config")]
    assert told == [("config_sent", ()), ("config_refused", (Reason.BAD_ARGUMENTS,))]


@pytest.mark.parametrize("kind", [m.ConfigSet.KIND, m.ConfigReport.KIND])
@pytest.mark.parametrize("times", [1, 3])
def test_a_lost_configuration_is_repeated_or_sent_by_the_next_session(kind, times):
    rig = Rig(config=WANTED)
    (rig.to_host if kind & 0x80 else rig.to_device).lose_next = [kind] * times
    rig.run_until(lambda: rig.view.ready, limit=20)
    assert rig.device.config == WANTED
    assert rig.host.link.stats.sessions == (1 if times == 1 else 2)


def test_a_command_beyond_its_time_is_reported_and_not_forgotten():
    config = m.BoardConfig("136", (17,) * 4, (0, 0, 1000, *(0,) * 7), 0)
    rig = Rig(config=config, speed=0.5)
    rig.ready()
    rig.execute(Op.START)
    build = rig.submit(Op.START_BUILD)  # 60 s, and 10 are allowed
    rig.run(14.5)
    assert rig.view.overdue == ()
    rig.run(1.0)
    assert rig.view.overdue == (Op.START_BUILD,)
    assert rig.view.code == "machine.overdue"
    overdue = [event for event in rig.host.events if event.code == "overdue"]
    assert [event.args for event in overdue] == [(build, Op.START_BUILD)]
    rig.run_until(lambda: bool(rig.outcomes.get(build)))
    assert rig.outcomes[build][-1].done
    assert rig.view.overdue == ()
    assert rig.view.code == "machine.ok"


def test_a_board_that_forgets_a_light_command_is_reported():
    rig = Rig()
    rig.ready()
    rig.device._finish = lambda *_: None
    rig.submit(Op.LAMP, place=1)
    rig.run(8)
    assert rig.view.overdue == (Op.LAMP,)


def test_an_end_that_never_comes_is_asked_for_when_it_is_overdue():
    rig = Rig()
    rig.ready()
    lamp = rig.submit(Op.LAMP, place=1)
    rig.to_host.rates = Rates(kinds={m.CommandDone.KIND: 1.0})
    rig.run_until(lambda: lamp in rig.outcomes, limit=8)
    assert rig.outcomes[lamp][-1].done
    assert [event.code for event in rig.host.events if event.no == 0] == ["overdue"]
    assert rig.view.overdue == ()


def test_events_that_the_board_kept_no_longer_end_the_session_and_not_the_story():
    """More came in one burst than the ring holds, and the first of them was lost."""
    rig = Rig()
    rig.ready()
    rig.run(0.5)
    rig.to_host.lose_next = [m.Event.KIND]
    for _ in range(EVENT_RING + 6):
        rig.device.button()
    lamp = rig.submit(Op.LAMP, place=1)
    rig.to_host.lose_next += [m.CommandDone.KIND]
    rig.run_until(lambda: lamp in rig.outcomes, limit=4)
    assert rig.outcomes[lamp][-1].done
    rig.run(6)
    assert "events_lost" in codes(rig)
    assert rig.host.link.stats.sessions == 2
    before = rig.host.link.stats.rx_frames
    rig.run(5)
    assert rig.host.link.stats.rx_frames - before < 30  # nothing is repeated any more


def test_an_hour_of_play_keeps_the_link_up():
    rig = Rig(speed=10)
    rig.ready()
    for _ in range(60):
        rig.step(0.1)
        rig.run(0.5)
        assert rig.view.ready
    assert rig.host.link.stats.sessions == 1


def test_a_faulty_line_can_be_cut_and_muted():
    line = FaultyLine(random.Random(1))
    line.push(b"\x00abc\x00", 0.0)
    line.cut()
    assert line.pull(1.0) == []
    line.mute(5.0)
    line.push(b"\x00abc\x00", 4.0)
    line.push(b"\x00abc\x00", 5.0)
    assert line.pull(6.0) == [b"\x00abc\x00"]
    assert line.lost == 1


A, B = b"\x00abc\x00", b"\x00de\x00"


def test_a_stalled_line_delivers_all_at_once_and_a_coalescing_one_by_its_clock():
    line = FaultyLine(random.Random(1))
    line.stall(5.0)
    line.push(A, 4.0)
    line.push(B, 4.5)
    assert line.pull(4.9) == []
    assert line.pull(5.0) == [A + B]
    line.coalesce = 0.5
    line.push(A, 5.1)
    line.push(B, 5.4)
    assert line.pull(5.45) == []
    assert line.pull(5.5) == [A + B]


def test_a_frame_is_overtaken_whole_or_let_go_after_a_while():
    line = FaultyLine(random.Random(1))
    line.rates = Rates(reorder=1.0)
    line.push(A + B, 0.0)
    assert line.pull(0.0) == [B + A]
    line.push(A, 1.0)
    assert line.pull(1.05) == []
    assert line.pull(1.1) == [A]


def test_an_echo_comes_back_to_the_sender_once():
    there, back = FaultyLine(random.Random(1)), FaultyLine(random.Random(1))
    there.back, back.back = back, there
    there.rates = back.rates = Rates(echo=1.0)
    there.push(A, 0.0)
    assert there.pull(0.0) == [A]
    assert back.pull(0.0) == [A]
    assert there.pull(0.0) == []


def test_a_line_hangs_up_in_the_middle_of_a_frame_until_it_is_opened():
    line = FaultyLine(random.Random(1))
    line.hang_up()
    line.push(A + B, 0.0)
    line.push(B, 0.0)
    assert line.hung
    assert line.pull(0.0) == [A[:2]]
    line.rates = Rates(prelude=1.0)
    line.opened(1.0)
    (noise,) = line.pull(1.0)
    assert 1 <= len(noise) <= PRELUDE_MAX
    line.push(B, 1.0)
    assert line.pull(1.0) == [B]


@pytest.mark.parametrize("to_host", [True, False])
def test_a_port_lost_in_mid_frame_is_opened_again(to_host):
    rig = Rig(3)
    rig.ready()
    (rig.to_host if to_host else rig.to_device).hang_up()
    rig.run_until(lambda: rig.view.link is LinkState.PORT_MISSING)
    for line in (rig.to_host, rig.to_device):
        line.rates = Rates(prelude=1.0)
    rig.ready()
    assert rig.host.link.stats.opens == 2
