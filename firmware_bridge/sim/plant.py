"""The mechanism: two tile sets, a drum, a magazine, a lift, a lid. No protocol and no permission here.

Time is passed in (seconds, any origin); motions advance only in `tick`. What `Plant` holds is what the
sensors of a real machine would tell, so it survives a reset of the controller: see `power_cut`.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

from firmware_bridge.interlock import RULES, Fault, Lane, Lid, Magazine, Surface, effect_of
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import PLACES, Args, Op, Quad, Value
from firmware_bridge.profiles import Profile

SETS: Final = 2
EMPTY: Final[Quad] = (0, 0, 0, 0)
LIFTING: Final = frozenset({Op.RAISE_WALLS, Op.DEAL, Op.LOWER})


@dataclass(slots=True)
class Motion:
    """One motion in progress. `elapsed` and `total` in seconds; `fails` at that share of the way, or None."""

    op: Op
    args: dict[str, Value]
    total: float
    from_surface: Surface
    elapsed: float = 0.0
    fails: FaultReport | None = None

    @property
    def share(self) -> float:
        """Part done, 0..1."""
        return min(1.0, self.elapsed / self.total)


@dataclass(frozen=True, slots=True)
class Ended:
    """A motion that ended by itself: `fault` None means it reached its goal."""

    lane: Lane
    op: Op
    from_surface: Surface
    fault: FaultReport | None
    result: dict[str, Value]


@dataclass(slots=True)
class Sensors:
    """Where tiles and parts are. `sets_out` counts sets that lie outside, to be put in by hand.

    `tray`: a loose set waits under the lid until the drum is free (only in a new machine).
    """

    surface: Surface = Surface.CLEAR
    magazine: Magazine = Magazine.LOADED
    lid: Lid = Lid.CLOSED
    drum: bool = True
    tray: bool = True
    collected: bool = False
    sets_out: int = 0
    taken: bool = False
    stacks: Quad = EMPTY
    walls: Quad = EMPTY
    dealt: Quad = EMPTY
    lift: int = 0
    dice: tuple[int, int] | None = None
    indicator_up: bool = False

    def to_json(self) -> dict[str, Any]:
        """For a file that outlives the process."""
        data = asdict(self)
        return {
            key: int(value) if isinstance(value, Surface | Magazine | Lid) else value
            for key, value in data.items()
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Sensors:
        """Inverse of `to_json`."""
        quads = {key: _quad(data[key]) for key in ("stacks", "walls", "dealt")}
        dice = data["dice"]
        return cls(
            surface=Surface(data["surface"]),
            magazine=Magazine(data["magazine"]),
            lid=Lid(data["lid"]),
            drum=bool(data["drum"]),
            tray=bool(data["tray"]),
            collected=bool(data["collected"]),
            sets_out=int(data["sets_out"]),
            taken=bool(data["taken"]),
            lift=int(data["lift"]),
            dice=(int(dice[0]), int(dice[1])) if dice else None,
            indicator_up=bool(data["indicator_up"]),
            **quads,
        )


FRESH: Final[dict[str, Callable[[Profile], Sensors]]] = {
    # A set loose in the drum and the other in the tray: build first.
    "loaded": lambda _: Sensors(),
    # As an evening ends: one set built, the other loose beneath.
    "ready": lambda p: Sensors(magazine=Magazine.READY, tray=False, stacks=p.walls),
    # Both sets still in their boxes.
    "empty": lambda _: Sensors(magazine=Magazine.EMPTY, drum=False, tray=False, sets_out=SETS),
    # A set lies on the table as left by the last players.
    "dealt": lambda p: Sensors(
        surface=Surface.DEALT, tray=False, magazine=Magazine.READY, drum=False, stacks=p.walls
    ),
}
"""Tiles of a machine that is switched on for the first time, by name."""


class Plant:
    """The moving parts. Call `tick` often; begin and stop motions in between.

    Args:
        profile: stacks and durations.
        rng: of the dice only.
        speed: motions take `profile.seconds / speed`.
        sensors: where everything is at power-up.
    """

    def __init__(
        self, profile: Profile, rng: random.Random, speed: float = 1.0, sensors: Sensors | None = None
    ) -> None:
        self.profile = profile
        self.sensors = sensors or Sensors()
        self.motions: dict[Lane, Motion] = {}
        self.cut: dict[Lane, Motion] = {}
        self.service_key = False
        self.trouble: list[tuple[Op, FaultReport]] = []
        """Faults that will hit the next motion of that operation, once each."""
        self._rng = rng
        self._speed = speed
        self._now: float | None = None

    # -- motions ----------------------------------------------------------------------------------

    def begin(self, op: Op, args: Args) -> None:
        """Start a motion (permission was checked before)."""
        lane = RULES[op].lane
        if op is Op.LOWER:
            self.cut.pop(lane, None)
        motion = Motion(op, dict(args), self.profile.seconds[op] / self._speed, self.sensors.surface)
        motion.fails = self._next_trouble(op)
        self.motions[lane] = motion
        self._prepare(motion)

    def _prepare(self, motion: Motion) -> None:
        s = self.sensors
        if motion.op is Op.START_BUILD:
            if not s.drum:
                motion.fails = FaultReport(Fault.TILES_SHORT, None, min(255, self.profile.tiles))
            s.magazine, s.stacks, s.drum = Magazine.BUILDING, EMPTY, False
        elif motion.op is Op.OPEN_LID:
            s.lid = Lid.OPEN
        elif motion.op is Op.ROLL_DICE:
            s.dice = None
        elif motion.op is Op.DEAL:
            s.dealt = EMPTY

    def _next_trouble(self, op: Op) -> FaultReport | None:
        for number, (target, report) in enumerate(self.trouble):
            if target is op:
                del self.trouble[number]
                return report
        return None

    def stop(self) -> None:
        """Outputs off: every motion stays where it is, and counts as cut."""
        for lane, motion in self.motions.items():
            self.cut[lane] = motion
            if motion.op in LIFTING:
                self.sensors.surface = Surface.UNKNOWN
        self.motions = {}

    def resume(self) -> None:
        """Go on with everything that was cut."""
        self.motions, self.cut = self.cut, {}

    def leave(self) -> None:
        """A person finished by hand: tiles that were on their way lie on the table for play."""
        for lane, motion in list(self.cut.items()):
            if motion.op is Op.START_BUILD:
                self._scatter()
            elif motion.op in LIFTING:
                self._tiles_on_table(motion)
            elif motion.op in (Op.OPEN_LID, Op.CLOSE_LID):
                self._lid_stays_open()
            del self.cut[lane]

    def tick(self, now: float) -> list[Ended]:
        """Advance to `now`; the motions that ended by themselves."""
        step = 0.0 if self._now is None else max(0.0, now - self._now)
        self._now = now
        ended: list[Ended] = []
        for lane, motion in list(self.motions.items()):
            motion.elapsed += step
            self._progress(motion)
            if motion.fails is not None and motion.share >= 0.5:
                ended.append(self._fail(lane, motion, motion.fails))
            elif motion.share >= 1.0:
                ended.append(self._finish(lane, motion))
        self._tip_tray()
        return ended

    def _progress(self, motion: Motion) -> None:
        s, share = self.sensors, motion.share
        if motion.op is Op.START_BUILD:
            jammed = motion.fails.place if motion.fails and motion.fails.fault is Fault.JAM else None
            s.stacks = self._rising(share, jammed)
        elif motion.op is Op.DEAL:
            s.dealt = _served(_tiles(motion), share)
            if motion.from_surface is Surface.CLEAR:
                s.lift = round(100 * share)
        elif motion.op is Op.RAISE_WALLS:
            s.lift = round(100 * share)
        elif motion.op is Op.LOWER:
            s.lift = min(s.lift, round(100 * (1 - share)))

    def _rising(self, share: float, jammed: int | None) -> Quad:
        """Stacks per place: the heads work alike, each a little behind the one before."""
        height = [
            int(n * min(1.0, share * 1.03 - 0.01 * place)) for place, n in enumerate(self.profile.walls)
        ]
        if share >= 1.0:
            height = list(self.profile.walls)
        if jammed is not None and jammed < PLACES:
            height[jammed] = min(height[jammed], self.profile.walls[jammed] // 3)
        return _quad([max(0, n) for n in height])

    def _fail(self, lane: Lane, motion: Motion, report: FaultReport) -> Ended:
        del self.motions[lane]
        if motion.op is Op.START_BUILD:
            empty = report.count >= min(255, self.profile.tiles)
            short = report.fault is Fault.TILES_SHORT and not empty
            counted = self._short_stacks(report.count) if short else self.sensors.stacks
            self._scatter(not empty)
            self.sensors.stacks = counted  # what the heads counted stays on show until the next build
        elif motion.op in (Op.OPEN_LID, Op.CLOSE_LID):
            self._lid_stays_open()
        else:
            self.cut[lane] = motion
            motion.fails = None
            if motion.op in LIFTING:
                self.sensors.surface = Surface.UNKNOWN
        return Ended(lane, motion.op, motion.from_surface, report, {})

    def _short_stacks(self, missing: int) -> Quad:
        stacks = list(self.profile.walls)
        last = max(place for place, n in enumerate(stacks) if n)
        stacks[last] = max(0, stacks[last] - (missing + 1) // 2)
        return _quad(stacks)

    def _finish(self, lane: Lane, motion: Motion) -> Ended:
        del self.motions[lane]
        change = effect_of(motion.op, surface=motion.from_surface)
        s = self.sensors
        s.surface = s.surface if change.surface is None else change.surface
        s.magazine = s.magazine if change.magazine is None else change.magazine
        s.lid = s.lid if change.lid is None else change.lid
        result = self._arrive(motion)
        if change.tiles_in:
            self._take_in()
        if change.magazine_leaves:
            s.magazine = Magazine.LOADED if s.drum else Magazine.EMPTY
        return Ended(lane, motion.op, motion.from_surface, None, result)

    def _arrive(self, motion: Motion) -> dict[str, Value]:
        """What the sensors show when a motion has reached its goal; its result."""
        s = self.sensors
        match motion.op:
            case Op.OPEN_LID:
                s.collected = motion.from_surface is Surface.DEALT
                self._clear_table()
                if not s.collected and s.sets_out:
                    s.sets_out, s.collected = s.sets_out - 1, True
            case Op.START_BUILD:
                s.stacks = self.profile.walls
                return {"stacks": s.stacks}
            case Op.RAISE_WALLS:
                s.walls, s.stacks, s.dealt, s.lift = s.stacks, EMPTY, EMPTY, 100
                s.taken, s.dice, s.indicator_up = False, None, False
                return {"stacks": s.walls}
            case Op.DEAL:
                return self._dealt(motion)
            case Op.LOWER:
                s.stacks = s.walls if any(s.walls) else s.stacks
                s.walls, s.lift = EMPTY, 0
            case Op.ROLL_DICE:
                s.dice = (self._rng.randint(1, 6), self._rng.randint(1, 6))
                return {"dice": s.dice}
            case Op.FLIP_INDICATOR:
                s.indicator_up = True
            case _:
                pass
        return {}

    def _dealt(self, motion: Motion) -> dict[str, Value]:
        s = self.sensors
        if motion.from_surface is not Surface.WALLS_UP:
            s.walls, s.stacks, s.lift = s.stacks, EMPTY, 100
            s.taken, s.dice, s.indicator_up = False, None, False
        s.dealt = _tiles(motion)
        s.taken = True
        return {"tiles": s.dealt}

    # -- tiles ------------------------------------------------------------------------------------

    def take_tile(self) -> None:
        """A player took a tile from the raised walls."""
        if self.sensors.surface is Surface.WALLS_UP:
            self.sensors.taken, self.sensors.surface = True, Surface.DEALT

    def _clear_table(self) -> None:
        s = self.sensors
        s.walls, s.dealt, s.lift, s.taken, s.dice, s.indicator_up = EMPTY, EMPTY, 0, False, None, False

    def _take_in(self) -> None:
        s = self.sensors
        if s.collected:
            s.collected, s.drum = False, True
            if s.magazine is Magazine.EMPTY:
                s.magazine = Magazine.LOADED

    def _tip_tray(self) -> None:
        s = self.sensors
        if s.tray and not s.drum and Lane.DRUM not in self.motions and Lane.DRUM not in self.cut:
            s.tray, s.drum = False, True
            if s.magazine is Magazine.EMPTY:
                s.magazine = Magazine.LOADED

    def _scatter(self, tiles: bool = True) -> None:
        s = self.sensors
        s.stacks, s.drum = EMPTY, tiles
        s.magazine = Magazine.LOADED if tiles else Magazine.EMPTY

    def _tiles_on_table(self, motion: Motion) -> None:
        s = self.sensors
        s.surface, s.taken, s.lift = Surface.DEALT, True, 100
        if motion.from_surface is Surface.CLEAR:
            s.walls, s.stacks = s.stacks, EMPTY
            s.magazine = Magazine.LOADED if s.drum else Magazine.EMPTY

    def _lid_stays_open(self) -> None:
        s = self.sensors
        if s.surface in (Surface.DEALT, Surface.WALLS_UP):
            s.collected = True
            self._clear_table()
        s.surface, s.lid = Surface.COLLECTING, Lid.OPEN

    # -- power ------------------------------------------------------------------------------------

    def power_cut(self) -> None:
        """The controller was reset: motions stop, and only what sensors can see is known afterwards.

        A lift between its switches is known to be cut; a half built set is loose; a half opened lid is
        open; tiles of a half done deal lie on the table.
        """
        self.stop()
        for lane, motion in list(self.cut.items()):
            if motion.op in (Op.RAISE_WALLS, Op.LOWER):
                motion.fails = None
                continue
            if motion.op is Op.START_BUILD:
                self._scatter()
            elif motion.op is Op.DEAL:
                self._tiles_on_table(motion)
            elif motion.op in (Op.OPEN_LID, Op.CLOSE_LID):
                self._lid_stays_open()
            del self.cut[lane]

    def to_json(self) -> dict[str, Any]:
        """What would be known if the power were cut right now; for a file that outlives the process."""
        ghost = copy.deepcopy(self)
        ghost.power_cut()
        cut = next(iter(ghost.cut.values()), None)
        return {"sensors": ghost.sensors.to_json(), "cut": cut.op.name if cut else None}

    def restore(self, data: dict[str, Any]) -> None:
        """Power up with the tiles of `to_json`."""
        self.sensors = Sensors.from_json(data["sensors"])
        if data["cut"]:
            op = Op[data["cut"]]
            surface = Surface.WALLS_UP if op is Op.LOWER else Surface.CLEAR
            self.cut[Lane.SURFACE] = Motion(op, {}, self.profile.seconds[op] / self._speed, surface)


def _tiles(motion: Motion) -> Quad:
    tiles = motion.args["tiles"]
    return _quad(tiles if isinstance(tiles, tuple) else (tiles,) * PLACES)


def _served(tiles: Quad, share: float) -> Quad:
    return _quad([int(n * share) for n in tiles])


def _quad(numbers: list[int] | tuple[int, ...]) -> Quad:
    return (int(numbers[0]), int(numbers[1]), int(numbers[2]), int(numbers[3]))
