from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from msgspec import structs

from firmware_bridge.interlock import Allowed, Fault, Lid, Magazine, Surface
from firmware_bridge.machine import (
    NATIVE,
    ActiveOp,
    Capability,
    FaultReport,
    LinkState,
    MachineView,
    supports,
)
from firmware_bridge.ops import Op
from station.places import Place
from station.session import ClaimState, Cut, Laid, Session, Stage
from station.table.conductor import (
    PLAYED,
    AskStart,
    Motion,
    NoteCut,
    NoteDealt,
    NoteReleased,
    ReadIndicator,
    Step,
    Wait,
    choices,
    next_step,
)

IN_HAND = (Stage.DICED, *PLAYED)
VIEW = MachineView(
    link=LinkState.UP,
    surface=Surface.DEALT,
    magazine=Magazine.READY,
    lid=Lid.CLOSED,
    locked=True,
    hand_no=3,
    lease=True,
    progress=(17, 17, 17, 17),
    plan=(17, 17, 17, 17),
)


def _session(stage: Stage, *, released: bool = False) -> Session:
    claimed = ClaimState(1, Place(1), "self", None, 0.0, laid=Laid(read_at=0.0))
    claim = claimed if stage is Stage.CLAIM else None
    hand = 3 if stage in (*PLAYED, Stage.RULED) else None
    return Session(stage=stage, hand=3, machine_hand=hand, released=released, claim=claim, dice=(1, 2))


def _views() -> list[MachineView]:
    return [
        replace(VIEW, surface=s, magazine=m, lid=lid, locked=locked, hand_no=hand, drum=drum, indicator_up=up)
        for s, m, lid, locked, hand, drum, up in product(
            Surface, Magazine, Lid, (True, False), (None, 2, 3), (True, False), (True, False)
        )
    ]


def _motion(step: Step) -> Op | None:
    return step.op if isinstance(step, Motion) else None


def test_tiles_are_never_taken_in_while_a_hand_waits_for_its_ruling() -> None:
    taking_in = {Op.OPEN_LID, Op.CLOSE_LID, Op.RAISE_WALLS, Op.RELEASE_INTAKE, Op.START, Op.LOWER}
    for stage in IN_HAND:
        for view in _views():
            assert _motion(next_step(_session(stage), view, True)) not in taking_in


def test_the_intake_is_released_only_after_the_ruling_and_only_for_its_own_hand() -> None:
    for stage in Stage:
        for view in _views():
            step = next_step(_session(stage), view, True)
            if _motion(step) is Op.RELEASE_INTAKE:
                assert stage is Stage.RULED
                assert view.hand_no == 3


def test_a_referees_override_releases_before_the_ruling_once() -> None:
    asked = structs.replace(_session(Stage.PLAY), overridden=True)
    assert next_step(asked, VIEW, True) == Motion(Op.RELEASE_INTAKE, {"hand": 3})
    assert next_step(asked, replace(VIEW, locked=False), True) == NoteReleased()
    assert next_step(structs.replace(asked, released=True), replace(VIEW, locked=False), True) == Wait("play")


def test_nothing_moves_without_a_persons_authority() -> None:
    for stage in (s for s in Stage if s is not Stage.RULED):
        for view in _views():
            assert not isinstance(next_step(_session(stage), view, False), Motion)


def test_nothing_moves_after_a_cut_before_a_person_chose() -> None:
    for stage in Stage:
        session = structs.replace(_session(stage), cut=Cut("DEAL", 7, "lease_expired"))
        for view in _views():
            assert isinstance(next_step(session, view, True), Wait)


@pytest.mark.parametrize(
    "change",
    [
        {"link": LinkState.DOWN},
        {"active": (ActiveOp(9, Op.ROLL_DICE),)},
    ],
    ids=["link down", "moving"],
)
def test_a_machine_that_can_not_move_is_waited_for(change: dict[str, object]) -> None:
    for stage in (Stage.CYCLE, Stage.DICED, Stage.DEALT, Stage.RULED):
        view = replace(VIEW, **change)  # type: ignore[arg-type]
        assert isinstance(next_step(_session(stage), view, True), Wait)


def test_a_held_machine_and_a_fault_are_put_before_a_person() -> None:
    held = replace(VIEW, hold=True, cut=(Op.RAISE_WALLS,), faults=(FaultReport(Fault.LEASE_EXPIRED),))
    assert next_step(_session(Stage.CYCLE), held, True) == NoteCut("RAISE_WALLS", "lease_expired")
    jam = replace(VIEW, faults=(FaultReport(Fault.JAM, 2),))
    assert next_step(_session(Stage.CYCLE), jam, True) == NoteCut("FAULT", "jam")
    stopped = replace(VIEW, estop=True)
    assert next_step(_session(Stage.CYCLE), stopped, True) == NoteCut("FAULT", "estop")


def test_a_board_that_restarted_under_a_hand_is_put_before_a_person() -> None:
    for stage in IN_HAND:
        assert next_step(_session(stage), replace(VIEW, hand_no=None), True) == NoteCut(
            "POWER_UP", "machine_restarted"
        )


@pytest.mark.parametrize(
    ("stage", "change", "step"),
    [
        (Stage.CYCLE, {"hand_no": None, "surface": Surface.CLEAR}, Motion(Op.START)),
        (
            Stage.CYCLE,
            {"locked": False, "surface": Surface.CLEAR, "magazine": Magazine.EMPTY},
            Motion(Op.OPEN_LID),
        ),
        (Stage.CYCLE, {"locked": False}, Motion(Op.OPEN_LID)),
        (Stage.CYCLE, {"lid": Lid.OPEN, "surface": Surface.COLLECTING}, Motion(Op.CLOSE_LID)),
        (Stage.CYCLE, {"locked": False, "surface": Surface.CLEAR}, Motion(Op.RAISE_WALLS)),
        (
            Stage.CYCLE,
            {"locked": False, "surface": Surface.CLEAR, "magazine": Magazine.LOADED},
            Motion(Op.START_BUILD),
        ),
        (
            Stage.CYCLE,
            {"locked": False, "surface": Surface.CLEAR, "magazine": Magazine.BUILDING},
            Wait("building"),
        ),
        (Stage.CYCLE, {"surface": Surface.WALLS_UP}, Wait("dice")),
        (Stage.DICED, {"surface": Surface.WALLS_UP}, Motion(Op.DEAL)),
        (Stage.DICED, {}, NoteDealt()),
        (Stage.DEALT, {}, Motion(Op.FLIP_INDICATOR)),
        (Stage.DEALT, {"indicator_up": True}, ReadIndicator()),
        (Stage.PLAY, {"magazine": Magazine.LOADED}, Motion(Op.START_BUILD)),
        (Stage.PLAY, {}, Wait("play")),
        (Stage.RULED, {}, Motion(Op.RELEASE_INTAKE, {"hand": 3})),
        (Stage.RULED, {"locked": False}, NoteReleased()),
        (Stage.RULED, {"hand_no": 4}, Wait("other_hand")),
    ],
)
def test_the_cycle_goes_step_by_step(stage: Stage, change: dict[str, object], step: Step) -> None:
    assert next_step(_session(stage), replace(VIEW, **change), True) == step  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stage", "change", "offered"),
    [
        (Stage.CYCLE, {"hold": True, "cut": (Op.RAISE_WALLS,)}, ["finish", "lower", "leave"]),
        (Stage.DICED, {"hold": True, "cut": (Op.DEAL,)}, ["finish", "leave"]),
        (Stage.PLAY, {"hold": True, "cut": (Op.START_BUILD,)}, ["finish", "leave"]),
        (Stage.CYCLE, {"faults": (FaultReport(Fault.JAM, 1),)}, ["clear"]),
        (Stage.CYCLE, {"estop": True, "hold": True, "cut": (Op.RAISE_WALLS,)}, ["clear"]),
        (Stage.CYCLE, {}, ["clear"]),
        (Stage.PLAY, {"hand_no": None}, ["adopt"]),
        (Stage.CYCLE, {"hand_no": None, "hold": True, "cut": (Op.RAISE_WALLS,)}, ["adopt"]),
        (Stage.CYCLE, {"hand_no": None, "surface": Surface.WALLS_UP}, ["adopt"]),
        (Stage.CYCLE, {"hand_no": None, "surface": Surface.CLEAR}, ["clear"]),
    ],
)
def test_only_what_the_machine_would_do_is_offered(
    stage: Stage, change: dict[str, object], offered: list[str]
) -> None:
    view = replace(VIEW, **change)  # type: ignore[arg-type]
    assert choices(_session(stage), view) == offered


def test_something_is_always_offered() -> None:
    assert choices(_session(Stage.CYCLE), None) == ["clear"]
    for stage in Stage:
        for view in _views():
            for cut in ((), (Op.RAISE_WALLS,), (Op.DEAL,), (Op.START_BUILD,), (Op.OPEN_LID,)):
                assert choices(_session(stage), replace(view, hold=bool(cut), cut=cut))


def test_after_a_restart_an_old_start_asks_for_a_new_tap() -> None:
    view = replace(VIEW, locked=False, surface=Surface.CLEAR)
    assert next_step(_session(Stage.CYCLE), view, False) == AskStart()


def test_a_hand_in_play_is_not_interrupted_to_ask_for_the_build() -> None:
    assert next_step(_session(Stage.PLAY), replace(VIEW, magazine=Magazine.LOADED), False) == Wait("play")


def test_the_other_set_is_built_beside_the_hand() -> None:
    step = next_step(_session(Stage.PLAY), replace(VIEW, magazine=Magazine.LOADED), True)
    assert isinstance(step, Motion)
    assert step.beside


def test_every_motion_asked_for_is_one_the_interlock_allows() -> None:
    for stage in Stage:
        for view in _views():
            step = next_step(_session(stage), view, True)
            if isinstance(step, Motion) and step.op is not Op.DEAL:
                assert view.may(step.op, **step.args) == Allowed()


PRESSED = Capability.MOVES | Capability.DICE | Capability.INHIBIT | Capability.LID
NO_MOTION = Capability.LID


def _attached(able: Capability) -> list[MachineView]:
    return [replace(view, capabilities=able) for view in _views()]


def test_a_machine_is_never_asked_for_what_it_can_not_do() -> None:
    for able in (Capability.NONE, NO_MOTION, PRESSED, PRESSED | Capability.DEALS, NATIVE):
        for stage in Stage:
            for view in _attached(able):
                op = _motion(next_step(_session(stage), view, True))
                assert op is None or supports(able, op)


def test_a_watched_machine_holds_up_nothing() -> None:
    wanted = {
        Stage.CYCLE: Wait("dice"),
        Stage.DICED: NoteDealt(),
        Stage.DEALT: ReadIndicator(),
        Stage.PLAY: Wait("person"),
        Stage.RULED: Wait("person"),
    }
    for stage, step in wanted.items():
        for view in _attached(NO_MOTION):
            for link in (LinkState.UP, LinkState.DOWN):
                troubled = replace(view, link=link, hold=True, faults=(FaultReport(Fault.JAM),))
                assert next_step(_session(stage), troubled, False) == step


def test_whoever_runs_the_machine_s_own_cycle_is_waited_for() -> None:
    kit = replace(VIEW, capabilities=PRESSED)
    opened = replace(kit, lid=Lid.OPEN, surface=Surface.COLLECTING, locked=False)
    assert next_step(_session(Stage.CYCLE), opened, True) == Wait("intake")
    for surface in (Surface.CLEAR, Surface.DEALT):
        closed = replace(kit, surface=surface, locked=False)
        assert next_step(_session(Stage.CYCLE), closed, True) == Motion(Op.OPEN_LID)
    walls = replace(kit, surface=Surface.WALLS_UP)
    assert next_step(_session(Stage.CYCLE), walls, True) == Wait("dice")
    assert next_step(_session(Stage.DICED), walls, True) == NoteDealt()
    assert next_step(_session(Stage.DEALT), walls, True) == ReadIndicator()


def test_a_lamp_of_the_maker_s_that_tells_a_fault_does_not_stop_the_play() -> None:
    jammed = replace(VIEW, capabilities=PRESSED, faults=(FaultReport(Fault.JAM),))
    assert next_step(_session(Stage.PLAY), jammed, True) == Wait("play")
    opening = replace(jammed, locked=False, surface=Surface.CLEAR)
    assert next_step(_session(Stage.CYCLE), opening, True) == Wait("machine.fault")


def test_walls_that_came_up_before_the_deal_was_booked_are_released_after_the_ruling() -> None:
    newer = replace(VIEW, capabilities=PRESSED, hand_no=4)
    assert next_step(_session(Stage.RULED), newer, True) == Motion(Op.RELEASE_INTAKE, {"hand": 4})
    assert next_step(_session(Stage.RULED), replace(newer, capabilities=NATIVE), True) == Wait("other_hand")


def test_an_unanswered_press_can_only_be_left_to_hands() -> None:
    held = replace(VIEW, capabilities=PRESSED, hold=True, cut=(Op.OPEN_LID,), locked=False)
    assert choices(_session(Stage.CYCLE), held) == ["leave"]
    assert choices(_session(Stage.CYCLE), replace(held, capabilities=NO_MOTION)) == ["clear"]


def test_counts_that_nobody_takes_are_not_waited_for() -> None:
    built = replace(VIEW, surface=Surface.CLEAR, locked=False, progress=(0, 0, 0, 0))
    waits = next_step(_session(Stage.CYCLE), built, True)
    assert waits == Wait("machine.counts")
    blind = replace(built, capabilities=NATIVE & ~Capability.COUNTS)
    assert next_step(_session(Stage.CYCLE), blind, True) == Motion(Op.RAISE_WALLS)
