"""What somebody might try against a board: nothing of it moves anything that nobody wants now."""

import pytest

from firmware_bridge import messages as m
from firmware_bridge.codec import STOP, Frame, encode
from firmware_bridge.interlock import Fault, Reason
from firmware_bridge.ops import Op, pack_args


def jogging(board):
    """The id of a service motion on its way, under the key."""
    board.built()
    board.bench.service_key(True)
    board.until(lambda: board.status().service, limit=1)
    cmd_id = board.begin(Op.JOG, axis=0, steps=30, nobody=1)
    assert [active.cmd_id for active in board.status().active] == [cmd_id]
    return cmd_id


def test_a_clear_meant_for_an_earlier_stop_does_not_end_a_later_one(board):
    board.start()
    board.stop()
    board.wait(0.1)
    seen = board.status().state_rev
    board.stop()
    board.wait(0.1)
    assert board.refused(Op.CLEAR, rev=seen) == Reason.STALE_STATE
    assert board.status().estop
    board.clear()


def test_closed_ids_never_run_however_many_are_closed(board):
    board.start()
    first = board.cmd_id + 1
    for cmd_id in range(first, first + 20):
        board.outcome(cmd_id, close=True)
    for cmd_id in (first, first + 19):
        ack = board.ask(m.Command(cmd_id, Op.START_BUILD, m.ANY_REV, pack_args(Op.START_BUILD, {})))
        assert (ack.verdict, ack.code) == (m.Verdict.REJECTED, Reason.STALE_ID)
    assert board.status().active == ()


def test_a_service_motion_ends_when_the_key_is_let_go(board):
    cmd_id = jogging(board)
    board.bench.service_key(False)
    done = board.done(cmd_id)
    assert (done.result, done.code) == (m.Result.ABORTED, Fault.HELD)
    assert board.status().hold


@pytest.mark.parametrize("key", [True, False])
def test_a_service_motion_is_not_resumed_since_nobody_gives_his_word_again(board, key):
    jogging(board)
    board.ask(m.Hold())
    board.bench.service_key(key)
    board.until(lambda: board.status().service is key, limit=1)
    assert board.refused(Op.RESUME) == Reason.SERVICE_KEY
    board.do(Op.LEAVE)
    assert not board.status().hold


def test_a_command_whose_frame_a_stop_cut_in_two_is_never_seen(board):
    board.start()
    command = m.Command(50, Op.RELEASE_INTAKE, m.ANY_REV, pack_args(Op.RELEASE_INTAKE, {"hand": 0}))
    wire = encode(Frame(command.KIND, 200, board.session, command.to_bytes()))
    board.bench.send(wire[:9])
    board.wait(0.05)
    board.bench.send(STOP + wire[9:])
    board.wait(0.1)
    assert board.status().estop
    assert board.outcome(50).result is m.Result.NEVER_SEEN
