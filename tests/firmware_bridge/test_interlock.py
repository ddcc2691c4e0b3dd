"""The interlock, exhaustively: every combination of state and operation against a second, plain telling."""

from dataclasses import replace
from itertools import product

import pytest

from firmware_bridge.interlock import (
    BLOCKS,
    EFFECTS,
    RULES,
    Allowed,
    Fault,
    Lane,
    Lid,
    Magazine,
    Reason,
    Refused,
    State,
    Surface,
    effect,
    may_move,
)
from firmware_bridge.ops import Op

FULL = (17, 17, 17, 17)
ARGS = {
    Op.ADOPT: {"hand": 7},
    Op.RELEASE_INTAKE: {"hand": 7},
    Op.RAISE_WALLS: {"stacks": (0, 0, 0, 0)},
    Op.DEAL: {"tiles": (14, 13, 13, 13)},
    Op.HOME: {"nobody": 1},
    Op.JOG: {"nobody": 1},
}
MOTIONS = {
    Op.OPEN_LID, Op.CLOSE_LID, Op.START_BUILD, Op.RAISE_WALLS, Op.DEAL, Op.LOWER,
    Op.ROLL_DICE, Op.FLIP_INDICATOR, Op.HOME, Op.JOG, Op.RESUME,
}  # fmt: skip


def told(s: State, op: Op) -> bool:  # noqa: C901 - the page of the design, sentence by sentence
    """The design's table as prose turned into ifs; written without looking at `RULES`."""
    if op is Op.LAMP:
        return True
    if s.estop and op is not Op.CLEAR:
        return False
    if op is Op.CLEAR:
        return not s.running and (s.estop or bool(s.faults))
    if any(op in BLOCKS[f] for f in s.faults):
        return False
    if op in (Op.ADOPT, Op.START):
        return s.hand_no is None and not s.running
    if s.hand_no is None:
        return False
    if op is Op.RELEASE_INTAKE:
        return s.hand_no == 7
    if op is Op.LEAVE:
        return s.hold
    if not s.lease:
        return False
    if op is Op.RESUME:
        under_lid = s.cut & {Op.RAISE_WALLS, Op.DEAL, Op.START_BUILD}
        return s.hold and not s.running and not (under_lid and s.lid is Lid.OPEN) and Op.JOG not in s.cut
    if op is Op.LOWER and s.hold:
        lane_free = not any(RULES[o].lane is Lane.SURFACE for o in s.running)
        return bool(s.cut & {Op.RAISE_WALLS, Op.LOWER}) and not s.taken and lane_free
    if s.hold:
        return False
    if op is Op.START_BUILD:
        free = not s.running & {Op.START_BUILD, Op.LOWER}
        return free and s.lid is Lid.CLOSED and s.magazine in (Magazine.EMPTY, Magazine.LOADED)
    if any(o is not Op.START_BUILD for o in s.running):
        return False
    raise_ok = (
        s.surface is Surface.CLEAR
        and s.magazine is Magazine.READY
        and s.lid is Lid.CLOSED
        and s.stacks == FULL
    )
    match op:
        case Op.OPEN_LID:
            return (
                not s.locked
                and s.surface in (Surface.CLEAR, Surface.DEALT)
                and s.magazine in (Magazine.READY, Magazine.EMPTY)
            )
        case Op.CLOSE_LID:
            return s.lid is Lid.OPEN
        case Op.RAISE_WALLS:
            return raise_ok
        case Op.DEAL:
            from_walls = s.surface is Surface.WALLS_UP and s.lid is Lid.CLOSED and s.walls == FULL
            return (raise_ok or from_walls) and not s.taken
        case Op.LOWER:
            room = s.magazine in (Magazine.EMPTY, Magazine.LOADED)
            return s.surface is Surface.WALLS_UP and room and not s.taken
        case Op.ROLL_DICE | Op.FLIP_INDICATOR:
            return s.surface in (Surface.WALLS_UP, Surface.DEALT)
        case Op.HOME | Op.JOG:
            return s.service and s.surface is Surface.CLEAR and not s.running
    raise AssertionError(op)


def variants():
    """(hold, running, cut) that can occur together with the rest."""
    yield False, frozenset(), frozenset()
    yield False, frozenset({Op.START_BUILD}), frozenset()
    yield False, frozenset({Op.RAISE_WALLS}), frozenset()
    yield False, frozenset({Op.LOWER}), frozenset()
    yield False, frozenset({Op.START_BUILD, Op.DEAL}), frozenset()
    yield True, frozenset(), frozenset({Op.RAISE_WALLS})
    yield True, frozenset(), frozenset({Op.DEAL, Op.START_BUILD})
    yield True, frozenset(), frozenset({Op.LOWER})
    yield True, frozenset(), frozenset({Op.JOG})


def states():
    faults = [frozenset(), *({f} for f in Fault)]
    yes = (False, True)
    for surface, magazine, lid, locked, hand, lease, estop in product(
        Surface, Magazine, Lid, yes, (None, 7, 8), yes, yes
    ):
        for (hold, running, cut), counts in product(variants(), ("fit", "short")):
            stacks = FULL if counts == "fit" else (17, 17, 17, 16)
            yield State(
                surface, magazine, lid, locked, hand, lease, estop, hold, frozenset(), running, cut,
                stacks=stacks, walls=stacks, service=True,
            )  # fmt: skip
    for surface, magazine, lid, locked, (hold, running, cut), fault, taken, service in product(
        Surface, Magazine, Lid, yes, variants(), faults, yes, yes
    ):
        yield State(
            surface, magazine, lid, locked, 7, True, False, hold, frozenset(fault), running, cut,
            taken=taken, service=service, stacks=FULL, walls=FULL,
        )  # fmt: skip


@pytest.mark.slow
def test_every_state_and_operation():
    checked = allowed = 0
    for state in states():
        for op in Op:
            decision = may_move(state, op, ARGS.get(op))
            checked += 1
            allowed += isinstance(decision, Allowed)
            assert isinstance(decision, Allowed) == told(state, op), (op, decision, state)
            if isinstance(decision, Allowed) and op in MOTIONS:
                assert state.lease
                assert not state.estop
                assert state.hand_no is not None
            if op is Op.OPEN_LID and state.locked:
                assert isinstance(decision, Refused)
    assert checked > 500_000
    assert allowed > 20_000


def test_only_the_end_of_a_stop_must_name_what_it_saw():
    assert [op for op in Op if RULES[op].names_rev] == [Op.CLEAR]


def test_too_many_tiles_stop_what_would_hide_them_and_nothing_else():
    assert BLOCKS[Fault.TILES_OVER] == {Op.START_BUILD, Op.RAISE_WALLS}
    assert BLOCKS[Fault.SENSOR_STUCK] == {Op.START_BUILD, Op.RAISE_WALLS, Op.DEAL, Op.RESUME}


def test_the_table_is_complete():
    assert set(RULES) == set(Op)
    assert {op for op, rule in RULES.items() if rule.motion} == MOTIONS
    assert set(BLOCKS) == set(Fault)
    assert set(EFFECTS) <= set(Op)


PLAYING = State(
    Surface.DEALT, Magazine.READY, Lid.CLOSED, locked=True, hand_no=7, lease=True, stacks=FULL, drum=False
)


@pytest.mark.parametrize(
    ("change", "op", "args", "reason"),
    [
        ({}, Op.OPEN_LID, {}, Reason.INTERLOCK),
        ({"hand_no": None}, Op.OPEN_LID, {}, Reason.NOT_STARTED),
        ({}, Op.RELEASE_INTAKE, {"hand": 6}, Reason.WRONG_HAND),
        ({}, Op.START, {}, Reason.ALREADY_STARTED),
        ({"locked": False, "lease": False}, Op.OPEN_LID, {}, Reason.NO_LEASE),
        ({"locked": False, "magazine": Magazine.BUILDING}, Op.OPEN_LID, {}, Reason.MAGAZINE),
        ({"estop": True}, Op.RELEASE_INTAKE, {"hand": 7}, Reason.ESTOP),
        ({"faults": frozenset({Fault.JAM})}, Op.START_BUILD, {}, Reason.FAULT),
        ({"faults": frozenset({Fault.TILES_OVER})}, Op.RAISE_WALLS, {}, Reason.FAULT),
        ({"faults": frozenset({Fault.SENSOR_STUCK})}, Op.DEAL, {}, Reason.FAULT),
        ({"surface": Surface.CLEAR, "stacks": (17, 17, 17, 16)}, Op.RAISE_WALLS, {}, Reason.COUNTS),
        ({"surface": Surface.CLEAR}, Op.DEAL, {"tiles": (0, 0, 0, 0)}, Reason.COUNTS),
        ({"surface": Surface.CLEAR}, Op.DEAL, {"tiles": (99, 13, 13, 13)}, Reason.COUNTS),
        ({"surface": Surface.CLEAR}, Op.RAISE_WALLS, {"stacks": (18, 18, 18, 18)}, Reason.COUNTS),
        ({"surface": Surface.WALLS_UP, "magazine": Magazine.LOADED, "taken": True}, Op.LOWER, {},
         Reason.TILES_TAKEN),
        ({}, Op.RESUME, {}, Reason.NOTHING_CUT),
        ({}, Op.CLEAR, {}, Reason.NOTHING_TO_CLEAR),
        ({"surface": Surface.CLEAR, "service": True}, Op.JOG, {"nobody": 0}, Reason.SERVICE_KEY),
        ({"surface": Surface.CLEAR, "lid": Lid.OPEN}, Op.RAISE_WALLS, {}, Reason.LID),
        ({"running": frozenset({Op.FLIP_INDICATOR})}, Op.ROLL_DICE, {}, Reason.BUSY),
    ],
)  # fmt: skip
def test_the_reason_is_the_first_that_fails(change, op, args, reason):
    assert may_move(replace(PLAYING, **change), op, args) == Refused(reason)


def test_one_hand_through_the_effects():
    s = State(magazine=Magazine.LOADED, drum=True, lease=True)
    s = effect(s, Op.START)
    assert (s.hand_no, s.locked) == (0, False)
    s = effect(s, Op.START_BUILD)
    assert s.magazine is Magazine.READY
    s = effect(s, Op.RAISE_WALLS)
    assert (s.surface, s.magazine, s.hand_no, s.locked) == (Surface.WALLS_UP, Magazine.EMPTY, 1, True)
    s = effect(s, Op.DEAL)
    assert (s.surface, s.hand_no, s.locked) == (Surface.DEALT, 1, True)
    s = effect(s, Op.RELEASE_INTAKE)
    s = effect(s, Op.OPEN_LID)
    assert (s.surface, s.lid, s.locked) == (Surface.COLLECTING, Lid.OPEN, False)
    s = effect(s, Op.CLOSE_LID)
    assert (s.surface, s.magazine, s.lid) == (Surface.CLEAR, Magazine.LOADED, Lid.CLOSED)


def test_a_direct_deal_counts_the_hand_once():
    ready = State(magazine=Magazine.READY, drum=True, lease=True, hand_no=3, locked=False, stacks=FULL)
    dealt = effect(ready, Op.DEAL)
    assert (dealt.surface, dealt.hand_no, dealt.locked) == (Surface.DEALT, 4, True)
    assert dealt.magazine is Magazine.LOADED


def test_adopting_keeps_the_lock():
    s = effect(State(surface=Surface.DEALT), Op.ADOPT, {"hand": 12})
    assert (s.hand_no, s.locked) == (12, True)
