"""The firmware decides as the host does: every state and operation, asked of both."""

import ctypes
from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.interlock import (
    RULES,
    Allowed,
    Effect,
    Fault,
    HandEffect,
    Lid,
    Magazine,
    Rule,
    State,
    Surface,
    effect_of,
    may_move,
)
from firmware_bridge.ops import ARGUMENTS, Op, pack_args
from tests.firmware_bridge.compiled import CORE, library

FULL, SHORT = (17, 17, 17, 17), (17, 17, 17, 16)
YES = (False, True)

# Every operation with every kind of arguments that the decision can depend on; None: none were given.
CALLS = [
    *((op, None) for op in Op),
    (Op.RELEASE_INTAKE, {"hand": 7}),
    (Op.RAISE_WALLS, {}),
    (Op.RAISE_WALLS, {"stacks": FULL}),
    (Op.RAISE_WALLS, {"stacks": SHORT}),
    (Op.DEAL, {"tiles": (14, 13, 13, 13)}),
    (Op.DEAL, {"tiles": (0, 0, 0, 0)}),
    (Op.DEAL, {"tiles": (34, 34, 34, 34)}),
    (Op.DEAL, {"tiles": (35, 34, 34, 33)}),
    (Op.HOME, {"nobody": 1}),
    (Op.JOG, {"axis": 1, "steps": 1, "nobody": 1}),
    (Op.JOG, {"axis": 1, "steps": 1}),
]

SHIM = """
#include <stddef.h>
#include "interlock.h"

void ask(const qz_state_t *states, uint32_t count, const uint8_t *ops, const uint8_t *args,
         const uint8_t *has_args, uint32_t calls, uint8_t *answers);
void ask(const qz_state_t *states, uint32_t count, const uint8_t *ops, const uint8_t *args,
         const uint8_t *has_args, uint32_t calls, uint8_t *answers) {
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t call = 0; call < calls; call++) {
            *answers++ = qz_may_move(&states[n], ops[call], has_args[call] ? args + 8 * call : NULL);
        }
    }
}
uint32_t state_size(void);
uint32_t state_size(void) {
    return sizeof(qz_state_t);
}
uint32_t state_end(void);
uint32_t state_end(void) {
    return offsetof(qz_state_t, cut);
}
"""

STATE = np.dtype(
    {
        "names": [
            "surface", "magazine", "lid", "locked", "has_hand_no", "lease", "estop", "hold", "drum", "taken",
            "service", "stacks", "walls", "plan", "faults", "hand_no", "running", "cut",
        ],
        "formats": [*["u1"] * 11, *["4u1"] * 3, "<u2", *["<u4"] * 3],
    },
    align=True,
)  # fmt: skip


@pytest.fixture(scope="module")
def firmware():
    made = library([CORE / "interlock.c", CORE / "rules.c", CORE / "protocol.c"], more=SHIM)
    assert made.state_size() == STATE.itemsize
    made.qz_rule_has.restype = ctypes.c_bool
    made.qz_lane_of.restype = ctypes.c_uint8
    assert made.state_end() == STATE.fields["cut"][1]
    return made


def ops_set(ops):
    return sum(1 << op for op in ops)


def packed(state):
    return (
        state.surface, state.magazine, state.lid, state.locked, state.hand_no is not None, state.lease,
        state.estop, state.hold, state.drum, state.taken, state.service, state.stacks, state.walls,
        state.plan,
        sum(1 << (fault - min(Fault)) for fault in state.faults), state.hand_no or 0,
        ops_set(state.running), ops_set(state.cut),
    )  # fmt: skip


def in_c(firmware, states, calls):
    """Reasons (0: allowed) as an array of states x calls."""
    table = np.array([packed(state) for state in states], STATE)
    ops = bytes(op for op, _ in calls)
    args = b"".join((b"" if given is None else pack_args(op, given)).ljust(8, b"\xee") for op, given in calls)
    has = bytes(given is not None for _, given in calls)
    answers = np.zeros((len(states), len(calls)), "u1")
    firmware.ask(
        ctypes.c_void_p(table.ctypes.data), len(states), ops, args, has, len(calls),
        ctypes.c_void_p(answers.ctypes.data),
    )  # fmt: skip
    return answers


def filled(op, given):
    """As a device sees them: whatever was left out has its default."""
    defaults = {field.name: field.default for field in ARGUMENTS.get(op, ())}
    return {} if given is None else {**defaults, **given}


def on_the_host(states, calls):
    asked = [(op, filled(op, given)) for op, given in calls]
    return np.array(
        [
            [0 if isinstance(d := may_move(state, op, args), Allowed) else d.reason for op, args in asked]
            for state in states
        ],
        "u1",
    )


def agree(firmware, states, calls=CALLS):
    """How many questions were asked, and the answers that came; it fails at the first that differs."""
    asked, answers = 0, set()
    states = iter(states)
    while chunk := [state for state, _ in zip(states, range(20_000), strict=False)]:
        host, device = on_the_host(chunk, calls), in_c(firmware, chunk, calls)
        for row, column in np.argwhere(host != device)[:1]:
            pytest.fail(f"{calls[column]}: {host[row, column]} != {device[row, column]} in {chunk[row]}")
        asked += host.size
        answers |= set(np.unique(host).tolist())
    return asked, answers


NONE = frozenset()
MOVING = [op for op in Op if RULES[op].motion and op is not Op.RESUME]
"""What can run or be cut: a RESUME runs as what it resumes."""

REST = (False, NONE, NONE)
RUNNING = [(False, frozenset({op}), NONE) for op in MOVING]
CUT = [(True, NONE, frozenset({op})) for op in MOVING]
BOTH = [
    (False, frozenset({Op.START_BUILD, Op.DEAL}), NONE),
    (True, NONE, frozenset({Op.START_BUILD, Op.LOWER})),
]
MOTIONS = [REST, *RUNNING, *CUT, *BOTH]
FAULTS = [NONE, *(frozenset({fault}) for fault in Fault)]
COUNTS = [(FULL, FULL), (SHORT, FULL), (FULL, SHORT), (SHORT, SHORT)]


def every_place():
    for surface, magazine, lid, locked, hand, lease, estop, (hold, running, cut) in product(
        Surface, Magazine, Lid, YES, (None, 7, 8), YES, YES, MOTIONS
    ):
        yield State(
            surface, magazine, lid, locked, hand, lease, estop, hold, NONE, running, cut,
            service=True, stacks=FULL, walls=FULL,
        )  # fmt: skip


def every_motion_and_fault():
    for surface, magazine, faults, (hold, running, cut), estop in product(
        Surface, Magazine, FAULTS, MOTIONS, YES
    ):
        yield State(
            surface, magazine, Lid.CLOSED, False, 7, True, estop, hold, faults, running, cut,
            service=True, stacks=FULL, walls=FULL,
        )  # fmt: skip


def every_count():
    for surface, magazine, lid, locked, hand, lease, taken, service, (stacks, walls), motion in product(
        Surface, (Magazine.LOADED, Magazine.READY), Lid, YES, (7, 8), YES, YES, YES, COUNTS, (REST, CUT[0])
    ):
        hold, running, cut = motion
        yield State(
            surface, magazine, lid, locked, hand, lease, False, hold, NONE, running, cut,
            taken=taken, service=service, stacks=stacks, walls=walls,
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("states", [every_place, every_motion_and_fault, every_count])
def test_host_and_firmware_give_the_same_answer_in_every_state(firmware, states):
    asked, answers = agree(firmware, states())
    assert asked > 100_000
    assert len(answers) > 10


def everything():
    for surface, magazine, lid, locked, hand, lease, estop, motion, faults, taken, service, counts in product(
        Surface, Magazine, Lid, YES, (None, 7, 8), YES, YES, MOTIONS, FAULTS, YES, YES, (FULL, SHORT)
    ):
        hold, running, cut = motion
        yield State(
            surface, magazine, lid, locked, hand, lease, estop, hold, faults, running, cut,
            taken=taken, service=service, stacks=counts, walls=counts,
        )  # fmt: skip


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_host_and_firmware_agree_on_the_whole_product(firmware):
    asked, answers = agree(firmware, everything())
    assert asked > 60_000_000
    assert answers == {0, *range(1, 18)}


def sets_of(values):
    return st.frozensets(st.sampled_from(list(values)))


U8 = st.integers(0, 255)
QUAD = st.sampled_from([FULL, SHORT, (0, 0, 0, 0), (255,) * 4]) | st.tuples(U8, U8, U8, U8)
STATES = st.builds(
    State,
    surface=st.sampled_from(Surface),
    magazine=st.sampled_from(Magazine),
    lid=st.sampled_from(Lid),
    locked=st.booleans(),
    hand_no=st.none() | st.sampled_from([0, 7, 0xFFFF, 0xFFFFFFFF]) | st.integers(0, 0xFFFFFFFF),
    lease=st.booleans(),
    estop=st.booleans(),
    hold=st.booleans(),
    faults=sets_of(Fault),
    running=sets_of(MOVING),
    cut=sets_of(MOVING),
    drum=st.booleans(),
    taken=st.booleans(),
    service=st.booleans(),
    stacks=QUAD,
    walls=QUAD,
    plan=QUAD,
)
ARGS = st.one_of(
    st.sampled_from(CALLS),
    st.tuples(st.just(Op.RELEASE_INTAKE), st.builds(lambda n: {"hand": n}, st.integers(0, 0xFFFFFFFF))),
    st.tuples(st.just(Op.DEAL), st.builds(lambda t: {"tiles": t}, QUAD)),
    st.tuples(st.just(Op.RAISE_WALLS), st.builds(lambda t: {"stacks": t}, QUAD)),
    st.tuples(st.just(Op.HOME), st.builds(lambda n: {"nobody": n}, U8)),
)


@given(st.lists(STATES, min_size=1, max_size=8), st.lists(ARGS, min_size=1, max_size=8))
def test_they_agree_on_any_sets_and_numbers(firmware, states, calls):
    agree(firmware, states, calls)


@given(STATES, st.sampled_from([0, *range(max(Op) + 1, 256)]))
def test_an_operation_that_does_not_exist_is_unsupported(firmware, state, op):
    answers = np.zeros(1, "u1")
    table = np.array([packed(state)], STATE)
    firmware.ask(
        ctypes.c_void_p(table.ctypes.data), 1, bytes([op]), bytes(8), b"\0", 1,
        ctypes.c_void_p(answers.ctypes.data),
    )  # fmt: skip
    assert answers[0] == 35


def test_lanes_and_flags_are_the_rules_own(firmware):
    flags = [
        "unlocked",
        "still",
        "untaken",
        "service",
        "needs_hold",
        "works_held",
        "under_estop",
        "names_rev",
    ]
    for op in Op:
        rule = RULES[op]
        assert firmware.qz_lane_of(op) == rule.lane
        bits = sum(bool(firmware.qz_rule_has(op, 1 << n)) << n for n in range(8))
        assert bits == sum(getattr(rule, name) << n for n, name in enumerate(flags)), op
    switches = {name for name, value in asdict(Rule()).items() if value is False}
    assert switches == set(flags)
    assert firmware.qz_lane_of(0) == firmware.qz_lane_of(200) == 0


class CEffect(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint8)
        for name in ("op", "start", "surface", "magazine", "lid", "locked", "hand", "flags")
    ]


@pytest.mark.parametrize("op", list(Op))
@pytest.mark.parametrize("surface", list(Surface))
def test_effects_are_the_same(firmware, op, surface):
    found = CEffect()
    firmware.qz_effect_of(op, surface, ctypes.byref(found))
    flags = ["lock_first", "magazine_leaves", "tiles_in"]

    def none(value):
        return None if value == 0xFF else value

    assert effect_of(op, surface=surface) == Effect(
        surface=none(found.surface),
        magazine=none(found.magazine),
        lid=none(found.lid),
        locked=none(found.locked),
        hand=HandEffect(found.hand),
        **{name: bool(found.flags >> n & 1) for n, name in enumerate(flags)},
    )
