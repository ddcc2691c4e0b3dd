"""Reading what players lay open: a claimed hand, what the others show, the tile turned up on a wall.

All take the picture of one zone, looked at straight on (`Calibration.rectify`, `walls.look_at_stack`), uint8
``(H, W, 3)`` BGR; boxes are pixels of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from vision.hand import (
    HandLayout,
    HandShape,
    expected_tiles,
    hand_layout,
    melds_left_out,
    public_layout,
)
from vision.indicator import IndicatorState, indicator_of, shown_tile
from vision.reading_service import Reader, strip_side
from vision.readings import UNSEEN_TILE, Box, Image, Reading, TileReading
from vision.shapes import BACK, is_flower, is_meld
from vision.vote import vote

__all__ = [
    "HandReading",
    "look_indicator",
    "read_claimed",
    "read_shown",
    "read_turned",
    "voted_claimed",
    "voted_shown",
]

LOOKS = 3


@dataclass(frozen=True, slots=True)
class HandReading:
    """What lies before a player. ``layout`` holds indices of ``reading.tiles``; ``expected``: how many tiles
    a whole hand with such melds has, None where nobody can say. ``covered``: boxes of concealed tiles that
    lie face down and were left out of the reading.
    """

    reading: Reading
    layout: HandLayout
    expected: int | None = None
    covered: tuple[Box, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the number of tiles is right, as far as it can be told."""
        return self.expected is None or len(self.reading.tiles) == self.expected

    @property
    def sound(self) -> bool:
        """Whether every group laid as a meld shows one, and no tile outside of these lies face down: else
        a tile was misread, or more lies there.
        """
        kinds, win = self.reading.kinds, self.layout.win
        loose = (*self.layout.concealed, *(() if win is None else (win,)))
        melds = all(is_meld([kinds[i] for i in meld]) for meld in self.layout.melds)
        return melds and all(kinds[i] != BACK for i in loose)


def read_claimed(
    reader: Reader,
    image: Image,
    shape: HandShape,
    kinds: frozenset[str] | None = None,
    *,
    win: bool = True,
) -> HandReading:
    """Read a hand laid open by a claim; ``win``: whether a tile apart completed it.

    How many tiles there must be follows from the melds, flowers and spread tiles. Where another number was
    seen, it is looked at again with that number known, so that tiles hard to see are found; what then lies
    there may tell another number, so this is done a few times at most.
    """
    expect: int | None = None
    for _ in range(LOOKS - 1):
        hand = _claimed(reader, image, shape, kinds, expect, win=win)
        if hand.complete and expect in (None, hand.expected):
            return hand
        expect = hand.expected
    return _claimed(reader, image, shape, kinds, expect, win=win)


def _claimed(
    reader: Reader,
    image: Image,
    shape: HandShape,
    kinds: frozenset[str] | None,
    expect: int | None,
    *,
    win: bool,
) -> HandReading:
    reading = reader.read(image, expect=expect, kinds=kinds, shape=shape, long_side=strip_side(image))
    return _parted(reading, shape, win=win)


def _parted(reading: Reading, shape: HandShape, *, win: bool) -> HandReading:
    """Name the parts of a claimed hand; in doubt where what lies above is cut into melds but for one part."""
    layout = hand_layout(reading.rows, reading.groups, reading.kinds, shape, win=win)
    expected = expected_tiles(layout, reading.kinds, shape, win=win)
    if melds_left_out(layout, reading.rows, reading.groups, reading.kinds, shape):
        reading = reading.doubted(UNSEEN_TILE)
    return HandReading(reading, layout, expected)


def read_shown(
    reader: Reader, image: Image, shape: HandShape, kinds: frozenset[str] | None = None
) -> HandReading:
    """Read what a player without a claim shows: melds, flowers and spread tiles.

    Concealed tiles that lie face down are left out of the reading, where there is 韶 only those in a row of
    their own; open tiles that belong to nothing stay in it as ``layout.concealed``, for a person to look at.
    A player who shows nothing gives an empty reading
    with the doubt ``no_tiles``. What is in doubt beside the tiles, such as one overlooked, stays in doubt.
    """
    shape = replace(shape, covered=True)
    reading = reader.read(image, kinds=kinds, shape=shape, long_side=strip_side(image))
    layout = public_layout(reading.rows, reading.groups, reading.kinds, shape)
    covered = {i for i in layout.concealed if reading.kinds[i] == BACK} - _beside_open(reading, shape)
    shown = reading.only(i for i in range(len(reading.tiles)) if i not in covered)
    boxes = tuple(reading.tiles[i].box for i in sorted(covered))
    return HandReading(shown, public_layout(shown.rows, shown.groups, shown.kinds, shape), covered=boxes)


def _beside_open(reading: Reading, shape: HandShape) -> set[int]:
    """Tiles in a row with open ones: what lies face down there may be left of a 韶, where there are such."""
    if "H" not in shape.melds:
        return set()
    return {i for row in reading.rows if any(reading.kinds[k] != BACK for k in row) for i in row}


def look_indicator(
    reader: Reader, image: Image, kinds: frozenset[str] | None = None, problems: Collection[str] = ()
) -> tuple[IndicatorState, Reading]:
    """Tell what lies at the flipped tile's place, and read that tile alone (nothing where none is meant).

    ``problems``: what makes the frame unfit, see `vision.indicator.indicator_of`.
    """
    reading = reader.read(image, kinds=kinds)
    meant = shown_tile(reading)
    return indicator_of(reading, problems), reading.only([] if meant is None else [meant])


def voted_claimed(hands: Sequence[HandReading], shape: HandShape, *, win: bool = True) -> HandReading:
    """Put readings of a claimed hand in several frames together, see `vision.vote`."""
    return _parted(vote([hand.reading for hand in hands]), shape, win=win)


def voted_shown(hands: Sequence[HandReading], shape: HandShape) -> HandReading:
    """Put readings of what a player shows in several frames together."""
    reading = vote([hand.reading for hand in hands])
    return HandReading(reading, public_layout(reading.rows, reading.groups, reading.kinds, shape))


def read_turned(reader: Reader, image: Image) -> Reading:
    """Read the tile turned up on a wall: one tile, or none where there is none.

    Of several the one nearest to the middle of the picture is meant; an open tile rather than a face-down one
    (which means that none was turned yet), and no flower where another tile was turned after it.
    """
    reading = reader.read(image)
    middle = image.shape[1] / 2, image.shape[0] / 2

    def unlikely(i: int) -> tuple[bool, bool, float]:
        tile = reading.tiles[i]
        return tile.kind == BACK, is_flower(tile.kind), _distance(tile, middle)

    return reading.only(sorted(range(len(reading.tiles)), key=unlikely)[:1])


def _distance(tile: TileReading, point: tuple[float, float]) -> float:
    x0, y0, x1, y1 = tile.box
    return float(((x0 + x1) / 2 - point[0]) ** 2 + ((y0 + y1) / 2 - point[1]) ** 2)
