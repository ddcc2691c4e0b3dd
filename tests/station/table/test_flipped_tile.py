"""The flipped tile at the camera: it must lie still, and is looked at again when a hand is claimed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from station.table.acting import Actor
from station.table.camera_worker import Eyes, Seen, SeenHand
from tests.station.table.acting_until import acting_until
from vision.camera import Frame
from vision.geometry import Calibration, Zone
from vision.hand import HandShape
from vision.indicator import Change, IndicatorState
from vision.readings import Box, Image, Reading, TileReading

INDICATOR, PLACE = (64, 64), (320, 96)


def zone(x: float, size: tuple[int, int]) -> Zone:
    w, h = size
    return Zone(((x, 0.0), (x + w, 0.0), (x + w, float(h)), (x, float(h))), size)


APART = Calibration((400, 100), {"0": zone(0, PLACE), "indicator": zone(330, INDICATOR)})
TOGETHER = Calibration((400, 100), {"0": zone(0, PLACE), "indicator": zone(0, PLACE)})


def tile(kind: str, x: float = 20.0) -> Reading:
    box: Box = (x, 10.0, x + 30, 50.0)
    one = TileReading(kind, 0.99, box, ((kind, 0.99),), 0)
    return Reading((one,), ((0,),), ((0,),), True, (), 1.0, INDICATOR)


NOTHING = Reading((), (), (), False, ("no_tiles",), 1.0, INDICATOR)


@dataclass
class Script:
    """Camera and recognizer: what lies in the indicator's zone, look by look."""

    looks: list[Reading]
    frames: int = 0
    read_sizes: list[tuple[int, int]] = field(default_factory=list)

    def grab(self) -> Frame:
        self.frames += 1
        return Frame(np.zeros((100, 400, 3), np.uint8), float(self.frames), "script")

    def close(self) -> None:
        pass

    def read(self, frame: Image, *_: Any, **__: Any) -> Reading:
        size = frame.shape[1], frame.shape[0]
        self.read_sizes.append(size)
        if size != INDICATOR:
            return NOTHING
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]


def eyes_of(script: Script, calibration: Calibration = APART) -> Eyes:
    return Eyes(lambda: script, lambda: script, calibration, frozenset(), HandShape())


def _claimed(eyes: Eyes) -> Change | None:
    """What a claim finds of the flipped tile; the empty frames of these tests are read as they are."""
    seen = eyes.hand(0, win=True, anyway=True)
    assert isinstance(seen, SeenHand)
    return seen.indicator


def test_a_tile_that_lies_still_is_read_in_two_frames() -> None:
    script = Script([tile("6p")])
    seen = eyes_of(script).indicator()
    assert seen.state is not None
    assert (seen.state.status, seen.reading.kinds, script.frames) == ("one", ("6p",), 2)


@pytest.mark.parametrize("second", [tile("6p", 45), tile("7p"), NOTHING], ids=["moved", "other", "gone"])
def test_a_tile_that_is_being_moved_is_not_read(second: Reading) -> None:
    seen = eyes_of(Script([tile("6p"), second])).indicator()
    assert seen.state is not None
    assert (seen.state.status, seen.state.reasons) == ("unsure", ("moving",))


def test_nothing_is_looked_at_once() -> None:
    script = Script([NOTHING])
    seen = eyes_of(script).indicator()
    assert seen.state is not None
    assert (seen.state.status, script.frames) == ("none", 1)


@pytest.mark.parametrize(
    ("later", "became"),
    [(tile("6p", 22), "same"), (tile("7p"), "changed"), (NOTHING, "gone"), (tile("6p", 45), "moved")],
    ids=["same", "changed", "gone", "moved"],
)
def test_a_claim_looks_at_it_again_in_the_same_frame(later: Reading, became: str) -> None:
    script = Script([tile("6p"), tile("6p"), later])
    eyes = eyes_of(script)
    eyes.indicator()
    assert _claimed(eyes) == became
    assert script.frames == 3


def test_where_one_picture_is_every_zone_it_is_not_watched() -> None:
    eyes = eyes_of(Script([tile("6p")]), TOGETHER)
    eyes.indicator()
    assert _claimed(eyes) is None


def test_a_claim_without_a_flipped_tile_looks_at_the_hand_only() -> None:
    script = Script([tile("6p")])
    assert _claimed(eyes_of(script)) is None
    assert INDICATOR not in script.read_sizes


def test_several_tiles_and_a_moving_one_are_told_to_the_players(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        desk = await new_desk(eyes=eyes)
        told: list[str] = []
        states = [
            (IndicatorState("several"), NOTHING),
            (IndicatorState("unsure", "1p", 0.9, None, ("moving",)), tile("1p")),
            (IndicatorState("one", "1p", 0.99), tile("1p")),
        ]

        async def indicator(_: Any = ()) -> Seen:
            told.append(desk.table.state()["camera"]["code"])
            state, reading = states.pop(0) if len(states) > 1 else states[0]
            return Seen(reading, b"jpeg", (100, 100), state)

        eyes.indicator = indicator
        await desk.do("start")
        task = asyncio.create_task(Actor(desk.table).run())
        for _ in range(2000):
            if desk.session.stage == "play":
                break
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert told == ["camera.ok", "indicator.several", "indicator.moving"]
        assert desk.table.state()["camera"]["code"] == "camera.ok"
        assert not desk.table.state()["indicator"]["doubt"]

    asyncio.run(play())


def test_a_flipped_tile_changed_by_the_time_of_a_claim_is_told(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.indicator_reading = reading_of([[["1p"]]])
        eyes.hand_reading = reading_of([[["1m"] * 13, ["5s"]]])
        desk = await new_desk(eyes=eyes)
        look = eyes.hand

        async def hand(side: int, **how: Any) -> Any:
            return replace(await look(side, **how), indicator="changed")

        eyes.hand = hand
        actor = Actor(desk.table)
        await desk.do("start")
        await acting_until(lambda: desk.session.stage == "play", actor)
        await desk.do("claim", place=1, how="self")
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        assert "indicator_changed" in desk.table.state()["claim"]["why"]

    asyncio.run(play())
