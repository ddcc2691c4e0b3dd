"""The mechanism: two tile sets, a drum, a magazine, a lift, a lid. No protocol and no permission here.

Time is passed in (seconds, any origin); motions advance only in `tick`. What `Plant` holds is what the
sensors of a real machine would tell, so it survives a reset of the controller: see `power_cut`.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from firmware_bridge.interlock import RULES, Fault, Lane, Lid, Magazine, Surface, effect_of
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import PLACES, Args, Op, Quad, Value
from firmware_bridge.profiles import Profile

SETS: Final = (1, 2)
"""Numbers of the two tile sets; 0 is no set."""

EMPTY: Final[Quad] = (0, 0, 0, 0)
LIFTING: Final = frozenset({Op.RAISE_WALLS, Op.DEAL, Op.LOWER})
LIDS: Final = frozenset({Op.OPEN_LID, Op.CLOSE_LID})

LEAVES: Final[Mapping[str, str]] = {
    "START_BUILD fails": "the set lies loose in the drum, magazine LOADED; the stacks that were counted stay "
    "on show until the next build. A jam or a stuck sensor stops it halfway (the heads of that place at a "
    "third of their stacks), missing and surplus tiles show at its end.",
    "START_BUILD without tiles": "fails halfway, TILES_SHORT without place and with the whole set as count "
    "(255 at most); magazine EMPTY, drum empty.",
    "TILES_SHORT": "place: the one place whose stacks are short, none if several are; count: tiles missing.",
    "TILES_OVER": "no place; count: tiles left in the drum after all stacks were full. The stacks do not "
    "count as built: a tile that does not belong to the set may stand among them.",
    "OPEN_LID fails": "the lid counts as open, surface COLLECTING; tiles that lay on the surface are on "
    "their way in. Nothing is cut: CLOSE_LID goes on.",
    "CLOSE_LID fails": "the lid counts as open, the surface is as it was. Nothing is cut: CLOSE_LID goes on.",
    "RAISE_WALLS, DEAL or LOWER fails": "halfway, and counts as cut: surface UNKNOWN, hold. CLEAR first, "
    "where the fault blocks the choice; then RESUME, LOWER or LEAVE.",
    "CLEAR": "a person has removed the cause: every set has its tiles again.",
    "reset": "every motion stops. A lift between its switches is cut, without its fault; a build is loose, "
    "a lid is open, a deal lies on the table. Fault and stop latches are gone, the lock is closed.",
}
"""What each accident leaves behind; simulated machine and firmware are held to it alike."""


@dataclass(slots=True)
class Motion:
    """One motion in progress. `elapsed` and `total` in seconds; `fails` at that share of the way, or None."""

    op: Op
    args: dict[str, Value]
    total: float
    from_surface: Surface
    elapsed: float = 0.0
    fails: FaultReport | None = None
    goal: Quad = EMPTY
    """Stacks that a build will have made when it ends."""

    @property
    def share(self) -> float:
        """Part done, 0..1."""
        return min(1.0, self.elapsed / self.total)

    @property
    def failed(self) -> bool:
        """Whether its fault shows by now: halfway, but a wrong number of tiles only when all are counted."""
        counted = self.fails is not None and self.fails.fault in _COUNTED and self.goal != EMPTY
        return self.fails is not None and self.share >= (1.0 if counted else 0.5)


_COUNTED: Final = frozenset({Fault.TILES_SHORT, Fault.TILES_OVER})


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
    """Where tiles and parts are.

    `in_drum` (loose), `in_tray` (loose under the lid until the drum is free, only in a new machine), `built`
    (in the magazine) and `on_table` hold the number of a set or 0; `outside` those to be put in by hand.
    `tiles` counts the tiles of each set, wherever it is. `collected`: what lay on the table is on its way in.
    """

    surface: Surface = Surface.CLEAR
    magazine: Magazine = Magazine.LOADED
    lid: Lid = Lid.CLOSED
    in_drum: int = 1
    in_tray: int = 2
    built: int = 0
    on_table: int = 0
    outside: tuple[int, ...] = ()
    tiles: tuple[int, int] = (136, 136)
    collected: bool = False
    taken: bool = False
    stacks: Quad = EMPTY
    walls: Quad = EMPTY
    dealt: Quad = EMPTY
    lift: int = 0
    dice: tuple[int, int] | None = None
    indicator_up: bool = False

    @property
    def drum(self) -> bool:
        """Loose tiles lie in the drum."""
        return self.in_drum != 0

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
            in_drum=_set(data["in_drum"]),
            in_tray=_set(data["in_tray"]),
            built=_set(data["built"]),
            on_table=_set(data["on_table"]),
            outside=tuple(_set(number) for number in data["outside"]),
            tiles=(int(data["tiles"][0]), int(data["tiles"][1])),
            collected=bool(data["collected"]),
            taken=bool(data["taken"]),
            lift=int(data["lift"]),
            dice=(int(dice[0]), int(dice[1])) if dice else None,
            indicator_up=bool(data["indicator_up"]),
            **quads,
        )


FRESH: Final[dict[str, Callable[[Profile], Sensors]]] = {
    # A set loose in the drum and the other in the tray: build first.
    "loaded": lambda p: Sensors(tiles=(p.tiles, p.tiles)),
    # As an evening ends: one set built, the other loose beneath.
    "ready": lambda p: Sensors(
        magazine=Magazine.READY, in_drum=2, in_tray=0, built=1, tiles=(p.tiles, p.tiles), stacks=p.walls
    ),
    # Both sets still in their boxes.
    "empty": lambda p: Sensors(
        magazine=Magazine.EMPTY, in_drum=0, in_tray=0, outside=SETS, tiles=(p.tiles, p.tiles)
    ),
    # A set lies on the table as left by the last players.
    "dealt": lambda p: Sensors(
        surface=Surface.DEALT,
        magazine=Magazine.READY,
        in_drum=0,
        in_tray=0,
        built=1,
        on_table=2,
        tiles=(p.tiles, p.tiles),
        stacks=p.walls,
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
        self.sensors = sensors or Sensors(tiles=(profile.tiles, profile.tiles))
        self.motions: dict[Lane, Motion] = {}
        self.cut: dict[Lane, Motion] = {}
        self.service_key = False
        self.trouble: list[tuple[Op, FaultReport]] = []
        """Faults that will hit the next motion of that operation, once each; see `LEAVES`."""
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
            self._count_in(motion)
            s.built, s.in_drum = s.in_drum, 0
            s.magazine, s.stacks = Magazine.BUILDING, EMPTY
        elif motion.op is Op.OPEN_LID:
            s.lid = Lid.OPEN
        elif motion.op is Op.ROLL_DICE:
            s.dice = None
        elif motion.op is Op.DEAL:
            s.dealt = EMPTY

    def _count_in(self, motion: Motion) -> None:
        """What the tiles in the drum will make: all stacks, or fewer, or all with some left over."""
        s, wanted, asked = self.sensors, self.profile.tiles, motion.fails
        if not s.in_drum:
            motion.fails = FaultReport(Fault.TILES_SHORT, None, min(255, wanted))
            return
        motion.goal = self.profile.walls
        if asked is not None and asked.fault not in _COUNTED:
            return
        place = None
        if asked is not None:
            over = asked.fault is Fault.TILES_OVER
            self._set_tiles(s.in_drum, max(0, wanted + (asked.count if over else -asked.count)))
            place = asked.place
        more = s.tiles[s.in_drum - 1] - wanted
        motion.fails = None
        if more > 0:
            motion.fails = FaultReport(Fault.TILES_OVER, None, min(255, more))
        elif more < 0:
            motion.goal = self._short(-more, place)
            gaps = [p for p in range(PLACES) if motion.goal[p] < self.profile.walls[p]]
            motion.fails = FaultReport(
                Fault.TILES_SHORT, gaps[0] if len(gaps) == 1 else None, min(255, -more)
            )

    def _short(self, missing: int, place: int | None) -> Quad:
        """Stacks without so many tiles: of that place (None: the last), then of those before it."""
        stacks = list(self.profile.walls)
        last = max(p for p, n in enumerate(stacks) if n) if place is None else place
        lacking = (missing + 1) // 2
        for step in range(PLACES):
            at = (last - step) % PLACES
            gone = min(stacks[at], lacking)
            stacks[at] -= gone
            lacking -= gone
        return _quad(stacks)

    def _set_tiles(self, number: int, count: int) -> None:
        tiles = self.sensors.tiles
        self.sensors.tiles = (count, tiles[1]) if number == 1 else (tiles[0], count)

    def mend(self) -> None:
        """A person removed the cause: what was missing is back, what did not belong is out."""
        self.sensors.tiles = (self.profile.tiles, self.profile.tiles)

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
            elif motion.op in LIDS:
                self._lid_stays_open(motion.op)
            del self.cut[lane]

    def tick(self, now: float) -> list[Ended]:
        """Advance to `now`; the motions that ended by themselves."""
        step = 0.0 if self._now is None else max(0.0, now - self._now)
        self._now = now
        ended: list[Ended] = []
        for lane, motion in list(self.motions.items()):
            motion.elapsed += step
            self._progress(motion)
            if motion.fails is not None and motion.failed:
                ended.append(self._fail(lane, motion, motion.fails))
            elif motion.share >= 1.0:
                ended.append(self._finish(lane, motion))
        self._tip_tray()
        return ended

    def _progress(self, motion: Motion) -> None:
        s, share = self.sensors, motion.share
        if motion.op is Op.START_BUILD:
            caught = motion.fails is not None and motion.fails.fault not in _COUNTED
            s.stacks = self._rising(
                motion.goal, share, motion.fails.place if motion.fails and caught else None
            )
        elif motion.op is Op.DEAL:
            s.dealt = _served(_tiles(motion), share)
            if motion.from_surface is Surface.CLEAR:
                s.lift = round(100 * share)
        elif motion.op is Op.RAISE_WALLS:
            s.lift = round(100 * share)
        elif motion.op is Op.LOWER:
            s.lift = min(s.lift, round(100 * (1 - share)))

    def _rising(self, goal: Quad, share: float, caught: int | None) -> Quad:
        """Stacks per place: the heads work alike, each a little behind the one before."""
        height = [
            int(n * min(1.0, share * 1.03 - 0.01 * place)) for place, n in enumerate(self.profile.walls)
        ]
        if share >= 1.0:
            height = list(self.profile.walls)
        if caught is not None:
            height[caught] = min(height[caught], self.profile.walls[caught] // 3)
        return _quad([min(most, max(0, n)) for most, n in zip(goal, height, strict=True)])

    def _fail(self, lane: Lane, motion: Motion, report: FaultReport) -> Ended:
        del self.motions[lane]
        if motion.op is Op.START_BUILD:
            counted = self.sensors.stacks
            self._scatter()
            self.sensors.stacks = counted
        elif motion.op in LIDS:
            self._lid_stays_open(motion.op)
        else:
            self.cut[lane] = motion
            motion.fails = None
            if motion.op in LIFTING:
                self.sensors.surface = Surface.UNKNOWN
        return Ended(lane, motion.op, motion.from_surface, report, {})

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
            self._magazine_leaves()
        return Ended(lane, motion.op, motion.from_surface, None, result)

    def _arrive(self, motion: Motion) -> dict[str, Value]:
        """What the sensors show when a motion has reached its goal; its result."""
        s = self.sensors
        match motion.op:
            case Op.OPEN_LID:
                s.collected = motion.from_surface is Surface.DEALT
                self._clear_table()
                if not s.collected and s.outside:
                    s.on_table, s.outside, s.collected = s.outside[0], s.outside[1:], True
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
                s.built, s.on_table = s.built or s.on_table, 0
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
            s.collected, s.in_drum, s.on_table = False, s.on_table, 0
            if s.magazine is Magazine.EMPTY:
                s.magazine = Magazine.LOADED

    def _tip_tray(self) -> None:
        s = self.sensors
        if s.in_tray and not s.drum and Lane.DRUM not in self.motions and Lane.DRUM not in self.cut:
            s.in_tray, s.in_drum = 0, s.in_tray
            if s.magazine is Magazine.EMPTY:
                s.magazine = Magazine.LOADED

    def _scatter(self) -> None:
        """What was being built falls back into the drum."""
        s = self.sensors
        s.stacks, s.in_drum, s.built = EMPTY, s.built, 0
        s.magazine = Magazine.LOADED if s.drum else Magazine.EMPTY

    def _magazine_leaves(self) -> None:
        s = self.sensors
        s.on_table, s.built = s.built, 0
        s.magazine = Magazine.LOADED if s.drum else Magazine.EMPTY

    def _tiles_on_table(self, motion: Motion) -> None:
        s = self.sensors
        s.surface, s.taken, s.lift = Surface.DEALT, True, 100
        if motion.from_surface is Surface.CLEAR:
            s.walls, s.stacks = s.stacks, EMPTY
            self._magazine_leaves()

    def _lid_stays_open(self, op: Op) -> None:
        """A lid that did not close takes nothing in that it did not take in before."""
        s = self.sensors
        if op is Op.OPEN_LID:
            if s.surface is Surface.DEALT:
                s.collected = True
                self._clear_table()
            s.surface = Surface.COLLECTING
        s.lid = Lid.OPEN

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
            elif motion.op in LIDS:
                self._lid_stays_open(motion.op)
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


def _set(number: Any) -> int:
    """A set's number from a file.

    Raises:
        ValueError: there is no such set.
    """
    if number not in (0, *SETS):
        raise ValueError(number)
    return int(number)


def _quad(numbers: list[int] | tuple[int, ...]) -> Quad:
    return (int(numbers[0]), int(numbers[1]), int(numbers[2]), int(numbers[3]))
