"""Sessions, command ids, events, configuration: what a board answers, whatever it is made of."""

import pytest

from firmware_bridge import messages as m
from firmware_bridge.codec import Frame, crc16, encode
from firmware_bridge.interlock import Magazine, Reason, Surface
from firmware_bridge.ops import Op, pack_args
from firmware_bridge.wire.enums import SCHEMA

MALFORMED = ((0x01, b"x"), (0x02, b"\1"), (0x04, b"\1\2"), (0x05, bytes(4)), (0x07, b"x"), (0x7F, b""))


def test_it_introduces_itself(board):
    welcome = board.hello()
    assert (welcome.proto, welcome.nonce, welcome.schema) == (1, 99, SCHEMA)
    assert welcome.reset_cause is m.ResetCause.POWER_ON
    assert welcome.profile == "136"
    assert (welcome.last_cmd, welcome.last_result) == (0, m.Result.NEVER_SEEN)
    assert welcome.event_first == welcome.event_last == 1
    assert m.Caps.RAISES_WALLS | m.Caps.DEALS | m.Caps.DICE in welcome.caps
    board.wait(0.5)
    assert board.codes() == [m.EventCode.BOOTED]
    assert board.events[1].args[0] in set(m.ResetCause)


def test_after_power_up_it_is_locked_and_knows_no_hand(board):
    board.hello()
    status = board.status()
    assert status.locked
    assert status.hand_no is None
    assert (status.surface, status.magazine, status.drum) == (Surface.CLEAR, Magazine.LOADED, True)
    assert (status.active, status.cut, status.faults) == ((), (), ())
    assert status.lease
    assert board.refused(Op.START_BUILD) == Reason.NOT_STARTED


def test_another_version_is_answered_and_obeyed_in_nothing(board):
    seq = board.post(m.Hello(2, 3, 5), session=9)
    assert board.answer(m.Welcome.KIND, seq).proto == 0
    seq = board.post(m.Ping(0, 1000), session=9)
    assert board.answer(m.Pong.KIND, seq, limit=0.3) is None


def test_a_host_made_from_another_definition_learns_it_and_may_look(board):
    welcome = board.hello(schema=SCHEMA ^ 1)
    assert welcome.schema == SCHEMA
    assert board.status().locked


def test_another_session_is_ignored(board):
    board.hello(session=7)
    seq = board.post(m.Command(1, Op.START), session=6)
    assert board.answer(m.CommandAck.KIND, seq, limit=0.3) is None
    seq = board.post(m.StatusRequest(), session=0)
    assert board.answer(m.StatusReport.KIND, seq, limit=0.3) is None
    assert board.outcome(1).result is m.Result.NEVER_SEEN


def test_malformed_messages_are_ignored(board):
    board.hello()
    for kind, payload in MALFORMED:
        board.bench.send(encode(Frame(kind, 200, board.session, payload)))
    board.wait(0.2)
    assert [seq for seq, _ in board.answers] == []
    assert board.status().hand_no is None


def test_frames_of_a_device_are_ignored(board):
    board.hello()
    status = board.status()
    board.bench.send(encode(Frame(status.KIND, 200, board.session, status.to_bytes())))
    board.wait(0.1)
    assert board.answers == []


def test_adopt_keeps_the_hand_locked_and_start_begins_an_evening(board):
    board.hello()
    board.do(Op.ADOPT, hand=12)
    status = board.status()
    assert (status.hand_no, status.locked) == (12, True)
    assert board.refused(Op.START) == Reason.ALREADY_STARTED
    board.reset()
    board.do(Op.START)
    status = board.status()
    assert (status.hand_no, status.locked) == (0, False)
    assert board.refused(Op.ADOPT, hand=3) == Reason.ALREADY_STARTED


def test_a_repeated_command_runs_once(board):
    board.built()
    command = m.Command(50, Op.RAISE_WALLS, m.ANY_REV, pack_args(Op.RAISE_WALLS, {}))
    first, second = board.ask(command), board.ask(command)
    assert (first.verdict, second.verdict) == (m.Verdict.ACCEPTED, m.Verdict.DUPLICATE)
    assert second.result is m.Result.RUNNING
    done = board.done(50)
    third = board.ask(command)
    assert (third.verdict, third.result, third.code) == (m.Verdict.DUPLICATE, m.Result.DONE, 0)
    assert board.status().hand_no == 1
    outcome = board.outcome(50)
    assert outcome.result is m.Result.DONE
    assert (outcome.duration_ms, outcome.values) == (done.duration_ms, done.values)
    assert done.values == bytes([17, 17, 17, 17])


def test_a_refusal_is_remembered(board):
    board.start()
    command = m.Command(9, Op.RELEASE_INTAKE, m.ANY_REV, pack_args(Op.RELEASE_INTAKE, {"hand": 5}))
    first, again = board.ask(command), board.ask(command)
    assert (first.verdict, first.code) == (m.Verdict.REJECTED, Reason.WRONG_HAND)
    assert (again.verdict, again.result, again.code) == (
        m.Verdict.DUPLICATE,
        m.Result.REJECTED,
        Reason.WRONG_HAND,
    )
    assert board.outcome(9).result is m.Result.REJECTED


def test_a_lower_id_is_stale(board):
    board.start()
    board.command(Op.RELEASE_INTAKE, cmd_id=20, hand=0)
    assert board.refused(Op.START_BUILD, cmd_id=15) == Reason.STALE_ID
    assert board.status().active == ()


def test_a_closed_id_never_runs_and_one_only_asked_for_may(board):
    board.start()
    assert board.outcome(30).result is m.Result.NEVER_SEEN
    assert board.outcome(31, close=True).result is m.Result.NEVER_SEEN
    assert board.command(Op.RELEASE_INTAKE, cmd_id=30, hand=0).verdict is m.Verdict.ACCEPTED
    assert board.refused(Op.RELEASE_INTAKE, cmd_id=31, hand=0) == Reason.STALE_ID


def test_old_ids_expire_and_unseen_ones_between_do_not(board):
    board.start()
    board.acknowledge()
    for cmd_id in range(4, 40, 2):
        board.command(Op.RELEASE_INTAKE, cmd_id=cmd_id, hand=0)
        board.acknowledge()
    assert board.outcome(1).result is m.Result.EXPIRED
    assert board.outcome(38).result is m.Result.DONE
    assert board.outcome(37).result is m.Result.NEVER_SEEN


def test_a_running_command_is_never_forgotten(board):
    board.built()
    running = board.begin(Op.RAISE_WALLS)
    for _ in range(20):
        board.refused(Op.ADOPT, hand=1)
    assert board.outcome(running).result in (m.Result.RUNNING, m.Result.DONE)
    assert board.done(running).result is m.Result.DONE


@pytest.mark.parametrize(
    ("op", "args", "reason"),
    [
        (200, b"", Reason.UNSUPPORTED),
        (0, b"", Reason.UNSUPPORTED),
        (Op.ADOPT, b"\1", Reason.BAD_ARGUMENTS),
        (Op.START_BUILD, b"", Reason.BAD_ARGUMENTS),
        (Op.START_BUILD, b"\3", Reason.BAD_ARGUMENTS),
        (Op.LOWER, b"\0", Reason.BAD_ARGUMENTS),
    ],
)
def test_unknown_and_malformed_commands_are_refused(board, op, args, reason):
    board.start()
    ack = board.ask(m.Command(9, op, m.ANY_REV, args))
    assert (ack.verdict, ack.code) == (m.Verdict.REJECTED, reason)


def test_a_lamp_is_lit_or_said_to_be_missing(board):
    welcome = board.hello()
    ack = board.command(Op.LAMP, place=1)
    if m.Caps.LAMPS in welcome.caps:
        assert ack.verdict is m.Verdict.ACCEPTED
    else:
        assert (ack.verdict, ack.code) == (m.Verdict.REJECTED, Reason.UNSUPPORTED)


def test_a_wish_for_an_older_state_is_stale(board):
    board.start()
    rev = board.status().state_rev
    board.do(Op.START_BUILD)
    assert board.status().state_rev > rev
    assert board.refused(Op.RAISE_WALLS, rev=rev) == Reason.STALE_STATE
    assert board.command(Op.RAISE_WALLS, rev=board.status().state_rev).verdict is m.Verdict.ACCEPTED


def test_progress_does_not_make_a_wish_stale(board):
    board.start()
    board.begin(Op.START_BUILD)
    board.until(lambda: sum(board.status().stacks) > 3)
    before = board.status()
    board.until(lambda: board.status().stacks != before.stacks)
    after = board.status()
    assert after.magazine is Magazine.BUILDING
    assert after.state_rev == before.state_rev
    assert after.detail_rev > before.detail_rev
    pong = board.ping()
    assert pong.state_rev == after.state_rev


def test_ends_are_repeated_until_they_are_acknowledged(board):
    board.start()
    cmd_id = board.begin(Op.START_BUILD)
    board.acknowledge()
    done = board.done(cmd_id)
    board.repeats = 0
    board.wait(1.2)
    assert board.repeats >= 3
    board.post(m.EventAck(done.no))
    board.wait(0.3)
    board.repeats = 0
    board.wait(1.0)
    assert board.repeats == 0


def test_unacknowledged_events_come_again_in_the_next_session(board):
    board.start()
    cmd_id = board.begin(Op.START_BUILD)
    done = board.done(cmd_id)
    board.events.clear()
    welcome = board.hello(session=8)
    assert welcome.event_first == 1
    assert welcome.event_last >= done.no
    board.until(lambda: done.no in board.events, limit=3)
    assert board.events[done.no] == done
    assert welcome.last_cmd == cmd_id
    assert welcome.last_result is m.Result.DONE


def test_what_no_longer_fits_the_ring_shows_as_a_gap(board):
    board.start()
    for _ in range(70):
        board.command(Op.RELEASE_INTAKE, hand=0)
    welcome = board.hello(session=8)
    assert welcome.event_last >= 70
    assert 8 <= welcome.event_last - welcome.event_first + 1 <= 64
    board.events.clear()
    board.until(lambda: board.events, limit=2)
    assert min(board.events) == welcome.event_first


def test_nothing_is_sent_unasked_when_nobody_listens(board):
    board.start()
    board.alive = False
    board.wait(4.0)
    board.bench.receive()
    board.wait(1.0)
    assert board.bench.receive() == b""


def test_the_configuration_is_told_and_replaced_while_nothing_moves(board):
    board.hello()
    old = board.ask(m.ConfigGet())
    assert (old.reason, old.config.walls) == (0, (17, 17, 17, 17))
    new = m.BoardConfig("144", (18, 18, 18, 18), tuple(range(100, 110)), 52)
    assert board.ask(m.ConfigSet(new)) == m.ConfigReport(0, new)
    assert board.ask(m.ConfigSet(new)) == m.ConfigReport(0, new)
    assert board.status().plan == (18, 18, 18, 18)
    board.wait(board.bench.remembers)
    welcome = board.reset()
    assert (welcome.profile, welcome.config_crc) == ("144", crc16(new.to_bytes()))
    assert board.ask(m.ConfigGet()).config == new


def test_an_impossible_configuration_is_refused(board):
    board.hello()
    before = board.ask(m.ConfigGet()).config
    report = board.ask(m.ConfigSet(m.BoardConfig("wide", (21, 1, 1, 1), (0,) * 10, 0)))
    assert report == m.ConfigReport(Reason.BAD_ARGUMENTS, before)


def test_no_configuration_while_something_moves_is_cut_or_stands_on_the_table(board):
    board.built()
    mine = board.ask(m.ConfigGet()).config
    other = m.BoardConfig("124", (16, 15, 16, 15), mine.timeouts, 0)
    board.amid(Op.RAISE_WALLS)
    assert board.ask(m.ConfigSet(other)).reason == Reason.BUSY
    assert board.ask(m.ConfigSet(mine)).reason == 0
    board.ask(m.Hold())
    assert board.ask(m.ConfigSet(other)).reason == Reason.HOLD
    board.do(Op.LOWER)
    board.stop()
    assert board.ask(m.ConfigSet(other)).reason == Reason.ESTOP
    board.clear()
    board.do(Op.RAISE_WALLS)
    assert board.ask(m.ConfigSet(other)) == m.ConfigReport(Reason.SURFACE, mine)


def test_a_configuration_whose_name_is_no_ascii_is_ignored(board):
    board.hello()
    before = board.ask(m.ConfigGet())
    payload = b"\xff" + before.config.to_bytes()[1:]
    board.bench.send(encode(Frame(m.ConfigSet.KIND, 200, board.session, payload)))
    board.wait(0.1)
    assert board.answers == []
    assert board.ask(m.ConfigGet()) == before
