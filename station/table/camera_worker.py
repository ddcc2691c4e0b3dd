"""The one thread that owns the camera and the recognizer; asked, never polling.

Between deal and claim nothing is grabbed: a frame is taken only inside `Eyes.indicator`,
`Eyes.hand` and `Eyes.shown`, which the process calls when a tile was flipped or a hand was laid open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from station.table.cropping import around, cut_hand, encode_jpeg, on_one_sheet
from station.table.tilesets import SetsInUse, sets_in_use
from station.table.zone_watch import RESTLESS, ZoneWatch
from vision.camera import Camera, DeviceCamera, Frame
from vision.fitness import Fitness
from vision.geometry import Calibration, Rectified
from vision.hand import HandShape
from vision.hand_reading import (
    HandReading,
    look_indicator,
    read_claimed,
    read_shown,
    voted_claimed,
    voted_shown,
)
from vision.indicator import ONE, UNSURE, Change, IndicatorState, IndicatorWatch
from vision.reading_service import Reader
from vision.readings import Image, Reading
from vision.shapes import BACK
from vision.walls import STACKS_BESIDE, look_at_stack

FRAMES = 4
"""Frames taken at most until a zone rests; frames whose readings are put together where one left doubts."""
VOTES = 3
_Spot = str | tuple[int, int]
"""Where the flipped tile lies: a zone, or side and stack."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The flipped tile's reading with the part of the frame that is its evidence (JPEG bytes, pixels).

    ``reading``: that tile alone; ``state``: what lies at its place, None where nobody asked.
    """

    reading: Reading
    jpeg: bytes
    size: tuple[int, int]
    state: IndicatorState | None = None


@dataclass(frozen=True, slots=True)
class SeenHand:
    """What lies open before a player, with the picture of its zone alone (JPEG bytes, size in pixels).

    ``indicator``: what became of the flipped tile since it was read, None where that was not looked at;
    ``taken_at``: Unix seconds of the frame.
    """

    hand: HandReading
    jpeg: bytes
    size: tuple[int, int]
    indicator: Change | None = None
    taken_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Unfit:
    """A zone that was not read, and why; ``taken_at``: Unix seconds of the frame."""

    fitness: Fitness
    taken_at: float


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """A zone of a frame, and what was read there."""

    frame: Frame
    view: Rectified
    hand: HandReading


ReadView = Callable[[Image], HandReading]
PutTogether = Callable[[Sequence[HandReading]], HandReading]


class Eyes:
    """Camera, geometry and recognizer of one table. Not thread-safe: call from one worker thread.

    Sides are those of the table, 0 to 3. ``shape``: what a hand of the rule set may hold; ``ignored``: what
    of `vision.fitness` does not keep this table from reading.
    """

    def __init__(
        self,
        open_camera: Callable[[], Camera],
        load_recognizer: Callable[[], Reader],
        calibration: Calibration | None,
        kinds: frozenset[str],
        shape: HandShape,
        ignored: Collection[str] = (),
    ) -> None:
        self._ignored = ignored
        self._watch = ZoneWatch(calibration, ignored)
        self._open = open_camera
        self._load = load_recognizer
        self._calibration = calibration
        self._kinds = kinds | {BACK}
        self._shape = shape
        self._camera: Camera | None = None
        self._recognizer: Reader | None = None
        self._flipped: tuple[_Spot, IndicatorWatch] | None = None

    def warm_up(self) -> None:
        """Open the camera and load the networks, so that the first claim is not the slow one."""
        self._recognizer = self._recognizer or self._load()
        self._camera = self._camera or self._open()

    @property
    def refused(self) -> tuple[str, ...]:
        """Names of the wishes that the driver of the open camera did not follow."""
        return self._camera.refused if isinstance(self._camera, DeviceCamera) else ()

    def indicator(self, stacks: Sequence[tuple[int, int]] = ()) -> Seen:
        """Read the flipped tile (at most one is expected), in two frames: it must lie still.

        ``stacks``: side and stack on which it may lie turned up; none: it lies in its own zone.
        """
        taken, recognizer = self._frame()
        frame = taken.image
        self._flipped = None
        spots: list[_Spot] = list(_windows(stacks)) if stacks and self._calibration else ["indicator"]
        looks = [self._look(recognizer, frame, spot) for spot in spots]
        spot, seen = next(
            ((s, look) for s, look in zip(spots, looks, strict=True) if look.reading.tiles),
            (spots[0], looks[0]),
        )
        if seen.state is None or seen.state.status != ONE:
            return seen
        watch = IndicatorWatch(seen.state)
        again = self._look(recognizer, self._frame()[0].image, spot)
        if again.state is None or not watch.same(again.state):
            return replace(seen, state=replace(seen.state, status=UNSURE, reasons=("moving",)))
        if self._shows_apart(spot):
            self._flipped = spot, watch
        return seen

    def _look(self, recognizer: Reader, frame: Image, spot: _Spot) -> Seen:
        image = self._zone(frame, spot) if isinstance(spot, str) else self._stack(frame, spot)
        state, reading = look_indicator(recognizer, image, self._kinds)
        # Beside a wall, and in a picture of everything, there is more to see than this tile.
        kept = image if self._is_apart(spot) else around(image, [tile.box for tile in reading.tiles])[0]
        return Seen(reading, encode_jpeg(kept), _size(kept), state)

    def _is_apart(self, spot: _Spot) -> bool:
        """Tell whether a spot is a taught zone, of which no other zone is the same picture."""
        return isinstance(spot, str) and self._watch.judges(spot)

    def _stack(self, frame: Image, stack: tuple[int, int]) -> Image:
        assert self._calibration is not None
        return look_at_stack(self._calibration, frame, *stack).image

    def _shows_apart(self, spot: _Spot) -> bool:
        """Tell whether the flipped tile's place is another picture than the hands'."""
        if self._calibration is None:
            return False
        zone = self._calibration.zone("indicator") if isinstance(spot, str) else None
        quads = [zone.quad for name, zone in self._calibration.zones.items() if name.isdigit()]
        return zone.quad not in quads if zone is not None else len(set(quads)) == len(quads)

    def _became(self, recognizer: Reader, frame: Image) -> Change | None:
        """Look at the flipped tile again in the frame of a claim."""
        if self._flipped is None:
            return None
        spot, watch = self._flipped
        state = self._look(recognizer, frame, spot).state
        return None if state is None else watch.change(state)

    def hand(self, side: int, *, win: bool, anyway: bool = False) -> SeenHand | Unfit:
        """Read the hand laid open at a side; ``win``: whether a tile apart completed it.

        ``anyway``: a person wants it read as it is.
        """

        def read(image: Image) -> HandReading:
            assert self._recognizer is not None
            return read_claimed(self._recognizer, image, self._shape, self._kinds, win=win)

        return self._read(side, read, lambda hands: voted_claimed(hands, self._shape, win=win), anyway)

    def shown(self, side: int, *, anyway: bool = False) -> SeenHand | Unfit:
        """Read what lies open at a side of a player who claims nothing; ``anyway`` as in `hand`."""

        def read(image: Image) -> HandReading:
            assert self._recognizer is not None
            return read_shown(self._recognizer, image, self._shape, self._kinds)

        return self._read(side, read, lambda hands: voted_shown(hands, self._shape), anyway)

    def _read(self, side: int, read: ReadView, put: PutTogether, anyway: bool) -> SeenHand | Unfit:
        """Read a zone that is fit and rests; a reading with doubts is checked in two more frames."""
        zone = str(side)
        look = self._fit_look(zone, read, anyway)
        if isinstance(look, Unfit):
            return look
        hands = [look.hand]
        clear = look.hand.reading.accept and look.hand.sound
        while not anyway and not clear and len(hands) < VOTES and self._watch.judges(zone):
            again = self._fit_look(zone, read, anyway)
            if isinstance(again, Unfit):
                return again
            hands.append(again.hand)
        hand = hands[0] if len(hands) == 1 else put(hands)
        self._watch.forget(zone)
        assert self._recognizer is not None
        became = self._became(self._recognizer, look.frame.image)
        kept = look.view.image
        if not self._is_apart(zone):
            kept, hand = cut_hand(kept, hand)
        return SeenHand(hand, encode_jpeg(kept), _size(kept), became, look.frame.taken_at)

    def _fit_look(self, zone: str, read: ReadView, anyway: bool) -> _Look | Unfit:
        """Take frames until the zone rests, and read it if it is fit."""
        if anyway:
            frame, _ = self._frame()
            view = self._view(frame.image, zone)
            return _Look(frame, view, read(view.image))
        frame, view, fitness = self._settled(zone)
        if not fitness.fit:
            return Unfit(fitness, frame.taken_at)
        look = _Look(frame, view, read(view.image))
        fitness = self._watch.after(zone, frame, view, look.hand.reading, look.hand.covered)
        return look if fitness.fit else Unfit(fitness, frame.taken_at)

    def _settled(self, zone: str) -> tuple[Frame, Rectified, Fitness]:
        """Take frames until the zone rests or something moved in it, and judge the last one.

        Of the others nothing is read, so nothing but motion is looked for in them.
        """
        for _ in range(FRAMES):
            frame, _ = self._frame()
            view = self._view(frame.image, zone)
            moved = self._watch.see(zone, frame, view.image)
            if moved or self._watch.rests(zone):
                break
        fitness = self._watch.before(zone, frame, view.image, moved)
        if fitness.fit and not self._watch.rests(zone):
            fitness = RESTLESS
        return frame, view, fitness

    def frame(self) -> Image:
        """Take a frame as it is, for teaching; needs no recognizer."""
        self._camera = self._camera or self._open()
        return self._camera.grab().image

    def zones(self, sides: Sequence[int]) -> bytes | None:
        """Photograph the zones of some sides and nothing else (JPEG, one under another); needs no recognizer.

        None where these zones were not taught: then nobody can say what else a picture shows.
        """
        if not sides or not all(self._is_apart(str(side)) for side in sides):
            return None
        frame = self.frame()
        return encode_jpeg(on_one_sheet([self._zone(frame, str(side)) for side in sides]))

    def view(self, side: int) -> Image:
        """Look straight at the zone of a side, for capturing tiles; needs no recognizer."""
        return self._zone(self.frame(), str(side))

    def use(self, calibration: Calibration) -> None:
        """Look through another calibration from now on."""
        self._calibration = calibration
        self._watch = ZoneWatch(calibration, self._ignored)

    @property
    def tilesets(self) -> SetsInUse | None:
        """The tile sets it reads with, and which is in play; may be asked from any thread."""
        return sets_in_use(self._recognizer)

    def read_with(self, load_recognizer: Callable[[], Reader]) -> None:
        """Read with another recognizer from now on; where it cannot be loaded, the old one stays."""
        self._recognizer, self._load = load_recognizer(), load_recognizer

    def _frame(self) -> tuple[Frame, Reader]:
        self.warm_up()
        assert self._camera is not None
        assert self._recognizer is not None
        return self._camera.grab(), self._recognizer

    def _zone(self, frame: Image, zone: str) -> Image:
        return self._view(frame, zone).image

    def _view(self, frame: Image, zone: str) -> Rectified:
        if self._calibration is None:
            return Rectified(frame, np.eye(3))
        return self._calibration.rectify(frame, zone)

    def close(self) -> None:
        """Release the camera."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None


def _size(image: Image) -> tuple[int, int]:
    return image.shape[1], image.shape[0]


def _windows(stacks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stacks to look at so that each of the given ones is in sight: one look sees some on either side."""
    windows: list[tuple[int, int]] = []
    left = list(stacks)
    while left:
        side, _ = left[0]
        near = sorted(stack for other, stack in left if other == side)
        middle = near[0] + min(STACKS_BESIDE, near[-1] - near[0])
        windows.append((side, middle))
        left = [(s, k) for s, k in left if s != side or abs(k - middle) > STACKS_BESIDE]
    return windows
