"""Messages and arguments: every one is the inverse of its bytes; strange bytes give MessageError only."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge import messages as m
from firmware_bridge.codec import FROM_DEVICE, MAX_PAYLOAD, Frame
from firmware_bridge.errors import MessageError, UsageError
from firmware_bridge.interlock import Fault, Lid, Magazine, Surface
from firmware_bridge.machine import ActiveOp, FaultReport
from firmware_bridge.ops import ARGUMENTS, TIMEOUT_OPS, Op, pack_args, pack_result, unpack_args, unpack_result

U8, U16, U32 = st.integers(0, 255), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
QUAD = st.tuples(U8, U8, U8, U8)
TAIL = st.binary(max_size=16)
BOOL = st.booleans()

STATUS = st.builds(
    m.StatusReport,
    state_rev=U32,
    detail_rev=U32,
    surface=st.sampled_from(Surface),
    magazine=st.sampled_from(Magazine),
    lid=st.sampled_from(Lid),
    locked=BOOL,
    hand_no=st.none() | U32,
    estop=BOOL,
    hold=BOOL,
    lease=BOOL,
    drum=BOOL,
    taken=BOOL,
    service=BOOL,
    indicator_up=BOOL,
    stacks=QUAD,
    walls=QUAD,
    dealt=QUAD,
    plan=QUAD,
    dice=st.none() | st.tuples(st.integers(1, 6), st.integers(1, 6)),
    lift=st.integers(0, 100),
    active=st.lists(st.builds(ActiveOp, U32, st.sampled_from(Op)), max_size=2).map(tuple),
    cut=st.lists(st.sampled_from(Op), max_size=2).map(tuple),
    faults=st.lists(
        st.builds(FaultReport, st.sampled_from(Fault), st.none() | st.integers(0, 254), U8), max_size=9
    ).map(tuple),
)

CONFIG = st.builds(
    m.BoardConfig, st.text("abc-0123", max_size=12), QUAD, st.tuples(*[U16] * len(TIMEOUT_OPS)), U8
)

MESSAGES = st.one_of(
    st.builds(m.Hello, U8, U8, U32, U32),
    st.builds(
        m.Welcome,
        U8,
        U32,
        st.integers(0, 2**64 - 1),
        U32,
        st.sampled_from(m.ResetCause),
        st.text("abc-0123", max_size=12),
        U16,
        st.integers(0, sum(m.Caps)).map(m.Caps),
        U32,
        U32,
        st.sampled_from(m.Result),
        U32,
        U32,
        st.tuples(U8, U8, U8),
        U32,
    ),
    st.builds(m.Ping, U32, U16),
    st.builds(m.Pong, U32, U32, U32, U32),
    st.just(m.StatusRequest()),
    STATUS,
    st.builds(m.Command, U32, U8, U32, TAIL),
    st.builds(m.CommandAck, U32, st.sampled_from(m.Verdict), st.sampled_from(m.Result), U8, U32),
    st.builds(m.CommandDone, U32, U32, st.sampled_from(m.Result), U8, U32, U32, TAIL),
    st.builds(m.Query, U32, BOOL),
    st.builds(m.CommandOutcome, U32, st.sampled_from(m.Result), U8, U32, U32, TAIL),
    st.builds(m.Event, U32, U32, U8, TAIL),
    st.builds(m.EventAck, U32),
    st.just(m.Hold()),
    st.builds(m.Abort, U32),
    st.just(m.ConfigGet()),
    st.builds(m.ConfigSet, CONFIG),
    st.builds(m.ConfigReport, U8, CONFIG),
)


@given(MESSAGES)
def test_every_message_is_the_inverse_of_its_bytes(message):
    payload = message.to_bytes()
    assert len(payload) <= MAX_PAYLOAD
    assert m.parse(Frame(message.KIND, 1, 1, payload)) == message


@given(st.sampled_from(sorted(m.MESSAGES)) | U8, st.binary(max_size=MAX_PAYLOAD))
def test_strange_bytes_give_a_message_or_a_plain_error(kind, payload):
    try:
        message = m.parse(Frame(kind, 0, 0, payload))
    except MessageError:
        return
    assert kind == message.KIND


def test_every_message_is_in_the_table_and_replies_come_from_the_device():
    assert len(m.MESSAGES) == 18
    for asked, answer in m.REPLIES.items():
        assert not asked & FROM_DEVICE
        assert answer & FROM_DEVICE
        assert answer in m.MESSAGES


def test_the_largest_status_fits_a_frame():
    everything = tuple(FaultReport(f, 1, 1) for f in Fault)
    status = m.StatusReport(
        1, 1, Surface.CLEAR, Magazine.EMPTY, Lid.OPEN, True, 1, True, True, True, True, True, True, True,
        (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (6, 6), 100,
    )  # fmt: skip
    full = replace(
        status, active=(ActiveOp(1, Op.DEAL),) * 2, cut=(Op.DEAL, Op.START_BUILD), faults=everything
    )
    assert len(full.to_bytes()) <= MAX_PAYLOAD


def test_arguments_and_results_are_inverses():
    cases = {
        Op.ADOPT: {"hand": 7},
        Op.DEAL: {"tiles": (14, 13, 13, 13), "dealer": 2, "opening": (1, 5)},
        Op.JOG: {"axis": 1, "steps": -20, "nobody": 1},
        Op.RAISE_WALLS: {"stacks": (17, 17, 17, 0)},
        Op.START: {},
    }
    for op, args in cases.items():
        assert unpack_args(op, pack_args(op, args)) == args
    assert unpack_result(Op.ROLL_DICE, pack_result(Op.ROLL_DICE, {"dice": (3, 4)})) == {"dice": (3, 4)}
    assert unpack_result(Op.DEAL, b"") == {}


def test_arguments_left_out_take_their_default_and_lists_are_welcome():
    assert unpack_args(Op.RAISE_WALLS, pack_args(Op.RAISE_WALLS, {})) == {"stacks": (0, 0, 0, 0)}
    assert pack_args(Op.DEAL, {"tiles": [14, 13, 13, 13]}) == pack_args(
        Op.DEAL, {"tiles": (14, 13, 13, 13), "dealer": 0, "opening": (0, 0)}
    )


@pytest.mark.parametrize(
    ("op", "args", "says"),
    [
        (Op.ADOPT, {}, "needs"),
        (Op.START, {"hand": 1}, "no argument"),
        (Op.DEAL, {"tiles": (1, 2)}, "takes 4"),
        (Op.ADOPT, {"hand": -1}, "out of range"),
        (Op.ADOPT, {"hand": "x"}, "no number"),
    ],
)
def test_wrong_arguments_are_our_bug(op, args, says):
    with pytest.raises(UsageError, match=says):
        pack_args(op, args)


def test_arguments_of_a_wrong_length_are_the_peers_bug():
    with pytest.raises(MessageError):
        unpack_args(Op.ADOPT, b"\x01")


def test_operations_are_found_by_name():
    assert Op.of("DEAL") is Op.DEAL
    assert Op.of(Op.DEAL) is Op.DEAL
    with pytest.raises(UsageError, match="SHUFFLE"):
        Op.of("SHUFFLE")
    assert set(ARGUMENTS) <= set(Op)


def test_the_page_about_the_protocol_names_every_message():
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")
    table = page[page.index("## Messages") : page.index("CLEAR (end a latched")]
    kinds = re.findall(r"^\| ([0-9A-F]{2}) \|", table, re.MULTILINE)
    assert {int(kind, 16) for kind in kinds} == set(m.MESSAGES)
