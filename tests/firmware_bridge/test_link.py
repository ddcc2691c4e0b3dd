"""The reliable link alone: sessions, repetitions, silence; one conversation over four kinds of line."""

import random

import pytest

from firmware_bridge import messages as m
from firmware_bridge.codec import STOP, Frame, FrameDecoder, encode
from firmware_bridge.link import (
    SENDS,
    TRANSITIONS,
    Answered,
    Connected,
    HostLink,
    Phase,
    Pushed,
    Turn,
    Unanswered,
)
from firmware_bridge.machine import LinkState, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.faulty import PRELUDE_MAX, FaultyLine, Rates
from firmware_bridge.sim.rig import Rig


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
