"""Whole hands on the board's compiled program: the product's own bridge at one end, the plant at its pins."""

import asyncio
from operator import sub

import pytest

from firmware_bridge import profiles
from firmware_bridge.interlock import Lid, Magazine, Surface
from firmware_bridge.machine import LinkState
from tests.firmware_bridge.asking import done, refused
from tests.firmware_bridge.avr.board import HERTZ
from tests.firmware_bridge.avr.scenes import FAST, HASTE, HASTY, config, play

pytestmark = [pytest.mark.avr, pytest.mark.system, pytest.mark.slow]


def steering_rests(edges):
    """Whether direction and selection change only while nothing is steered by them, with rest around it."""
    rest = HERTZ * 19 // 1000  # 20 ms by a clock of milliseconds
    steered = {"DIR": ({"LIFT", "LID"}, rest), "SEL0": ({"FEED", "TOOL"}, 0), "SEL1": ({"FEED", "TOOL"}, 0)}
    on, off_since, changed = set(), {}, {}
    for pin, level, cycle in edges:
        for steering, (motors, pause) in steered.items():
            if pin == steering:
                assert not on & motors, (pin, cycle)
                assert all(cycle - off_since.get(motor, 0) >= pause for motor in motors), (pin, cycle)
                changed[pin] = cycle
            elif pin in motors and level:
                assert cycle - changed.get(steering, 0) >= pause, (pin, cycle)
        (on.add if level else on.discard)(pin)
        if not level:
            off_since[pin] = cycle
        assert not {"LIFT", "LID"} <= on


async def playing(bridge, tiles):
    """What happens with raised walls until the hand is ruled."""
    assert len((await done(bridge, "ROLL_DICE")).result["dice"]) == 2
    assert (await done(bridge, "DEAL", tiles=tiles, dealer=1)).result == {"tiles": tiles}
    await done(bridge, "FLIP_INDICATOR", place=1)
    assert await refused(bridge, "OPEN_LID") == "interlock"


async def collecting(bridge, hand):
    """From the ruling to the closed lid."""
    await done(bridge, "RELEASE_INTAKE", hand=hand)
    await done(bridge, "OPEN_LID")
    assert (bridge.view.surface, bridge.view.lid) == (Surface.COLLECTING, Lid.OPEN)
    await done(bridge, "CLOSE_LID")
    assert (bridge.view.surface, bridge.view.lid) == (Surface.CLEAR, Lid.CLOSED)


@pytest.mark.parametrize(
    ("profile", "tiles"), [("136", (13, 14, 13, 13)), ("144", (13, 14, 13, 13)), ("102", (13, 14, 13, 0))]
)
def test_two_hands_with_two_sets(start_board, tmp_path, profile, tiles):
    walls = profiles.load(profile).walls
    board = start_board(*FAST, *HASTE, "--walls", ",".join(map(str, walls)))

    def counted(before):
        now = board.ask("counts")
        assert now["tiles"] == 4 * sum(walls), "no tile comes from nowhere or goes there"
        return tuple(tuple(map(sub, now[what], before[what])) for what in ("built", "fed"))

    async def scene(bridge):
        assert bridge.view.link is LinkState.RECOVER
        await bridge.wait_for(lambda view: view.plan == walls)
        assert (bridge.view.profile, bridge.view.uid) == (profile, f"{0x51:016x}")
        await done(bridge, "START")
        before = board.ask("counts")
        assert (await done(bridge, "START_BUILD")).result == {"stacks": walls}
        assert (bridge.view.magazine, bridge.view.progress) == (Magazine.READY, walls)
        assert counted(before) == (walls, (0, 0, 0, 0))
        for hand in (1, 2):
            assert (await done(bridge, "RAISE_WALLS")).result == {"stacks": walls}
            assert (bridge.view.surface, bridge.view.hand_no) == (Surface.WALLS_UP, hand)
            assert (bridge.view.walls, bridge.view.locked) == (walls, True)
            before, began = board.ask("counts"), board.now()
            building = asyncio.create_task(done(bridge, "START_BUILD"))  # the other set, beneath
            await board.edge("BUILD", 1, after=began)
            await playing(bridge, tiles)
            assert (await building).result == {"stacks": walls}
            assert (bridge.view.dealt, bridge.view.progress) == (tiles, walls)
            assert counted(before) == (walls, tiles)
            begins, ends = (
                next(
                    cycle for pin, at, cycle in board.edges if (pin, at) == ("BUILD", level) and cycle > began
                )
                for level in (1, 0)
            )
            others = [pin for pin, level, cycle in board.edges if level and begins < cycle < ends]
            assert "TOOL" in others, "both sets moved at once"
            await collecting(bridge, hand)
        return bridge.stats

    stats = play(board, tmp_path, scene, timing=HASTY, config=config(profile))
    steering_rests(board.edges)
    assert stats.sessions == 1
    assert stats.rx_bad == 0
