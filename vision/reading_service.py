"""Whole tasks for the station and the command line: read a photograph, read a zone of a table.

Interface of ``read``: one JSON object per photograph, see `read_photo`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from engine.notation import format_tiles
from engine.tiles import Tile
from vision.errors import RegionError, VisionError
from vision.geometry import Calibration
from vision.hand import HandLayout, HandShape, hand_layout, meld_faces, meld_letter
from vision.pictures import load_image
from vision.readings import Box, Image, Reading
from vision.shapes import BACK

__all__ = [
    "PhotoHint",
    "Reader",
    "hand_line",
    "layout_of",
    "parse_region",
    "parse_regions",
    "read_photo",
    "read_zone",
    "strip_side",
    "to_json",
]


STRIP_ASPECT = 2.5
"""Width by height from which a picture is a strip."""
STRIP_LONG_SIDE = 1280


class Reader(Protocol):
    """What reads tiles: the recognizer, or a stand-in."""

    def read(
        self,
        frame: Image,
        region: Box | None = None,
        expect: int | None = None,
        kinds: frozenset[str] | None = None,
        shape: HandShape | None = None,
        long_side: int | None = None,
    ) -> Reading:
        """Read the tiles of a frame, see `vision.recognizer.Recognizer.read`."""
        ...


@dataclass(frozen=True, slots=True)
class PhotoHint:
    """What is known of a photograph beforehand: the region to search and the number of tiles."""

    region: Box | None = None
    expect: int | None = None


def parse_region(text: str) -> Box:
    """Read ``X0,Y0,X1,Y1`` (pixels of the upright picture); raises RegionError.

    >>> parse_region("10,20,300,200.5")
    (10.0, 20.0, 300.0, 200.5)
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    return _region(numbers, text)


def _region(numbers: Sequence[float], text: object) -> Box:
    if len(numbers) != 4 or not all(abs(n) < 1e6 for n in numbers):
        raise RegionError(f"{text!r} is not a region: write X0,Y0,X1,Y1 in pixels of the upright picture.")
    x0, y0, x1, y1 = numbers
    if x1 <= x0 or y1 <= y0:
        raise RegionError(f"The region {text!r} is empty: write the left top corner first, X0,Y0,X1,Y1.")
    return x0, y0, x1, y1


def parse_regions(path: Path) -> dict[str, PhotoHint]:
    """Read a file of regions: JSON object, file name -> ``[X0, Y0, X1, Y1, expected or null]``.

    The region may be null, the expected number may be left out, and ``{"region": …, "expect": …}``
    is understood as well. Raises RegionError.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise RegionError(f"The regions file {path} cannot be read: check the name.") from error
    except ValueError as error:
        raise RegionError(f'{path.name} is not JSON: write {{"photo.jpg": [X0, Y0, X1, Y1, 14]}}.') from error
    if not isinstance(data, dict):
        raise RegionError(
            f'{path.name} must be an object of file names: write {{"photo.jpg": [X0, Y0, X1, Y1]}}.'
        )
    return {str(name): _hint(str(name), entry) for name, entry in data.items()}


def _hint(name: str, entry: object) -> PhotoHint:
    """Understand one entry of a regions file in any of its forms."""
    region: object = entry
    expect: object = None
    if isinstance(entry, dict):
        region, expect = entry.get("region"), entry.get("expect", entry.get("expected"))
    elif isinstance(entry, list) and len(entry) == 5:
        region, expect = entry[:4], entry[4]
    elif isinstance(entry, list) and len(entry) == 2:
        region, expect = entry
    if expect is not None and (not isinstance(expect, int) or isinstance(expect, bool) or expect < 0):
        raise RegionError(f"The expected number of {name} is {expect!r}: write a whole number or null.")
    if region is None:
        return PhotoHint(None, expect)
    if not isinstance(region, list) or not all(isinstance(n, int | float) for n in region):
        raise RegionError(f"The region of {name} is {region!r}: write [X0, Y0, X1, Y1] or null.")
    return PhotoHint(_region(region, region), expect)


def layout_of(reading: Reading, shape: HandShape | None = None, *, win: bool = True) -> HandLayout:
    """Name the parts of the hand a reading shows (indices of ``reading.tiles``)."""
    return hand_layout(reading.rows, reading.groups, reading.kinds, shape, win=win)


def _meld_text(kinds: Sequence[str]) -> str | None:
    """Notation of a meld as laid on the table, None when it shows none."""
    letter, faces = meld_letter(kinds), meld_faces(kinds)
    return None if faces is None else f"{letter}:{format_tiles(Tile.of(kind) for kind in faces)}"


def hand_line(reading: Reading, shape: HandShape | None = None) -> str | None:
    """Write what was read as the hand part of a claim: ``456m11z C:123m +5s``.

    None when it is no hand: nothing read, a face-down tile outside a meld, or a meld that is none.
    Flowers and spread tiles are left out: each rule set counts them in its own way.
    """
    layout, kinds = layout_of(reading, shape), reading.kinds
    melds = [_meld_text([kinds[i] for i in meld]) for meld in layout.melds]
    concealed = [kinds[i] for i in layout.concealed]
    if layout.win is None or None in melds or BACK in (*concealed, kinds[layout.win]):
        return None
    text = format_tiles(Tile.of(kind) for kind in concealed)
    return " ".join([*([text] if text else []), *(m for m in melds if m), f"+{kinds[layout.win]}"])


def to_json(reading: Reading, shape: HandShape | None = None) -> dict[str, Any]:
    """Return a reading as the object of the command ``read``, without the file name.

    ``shape``: what a hand of the rule set in play may hold.
    """
    return {
        "tiles": [
            {
                "kind": tile.kind,
                "score": round(tile.score, 4),
                "box": list(tile.box),
                "alternatives": [[kind, round(score, 4)] for kind, score in tile.alternatives],
                "doubts": list(tile.doubts),
                **({} if tile.red is None else {"red": tile.red}),
            }
            for tile in reading.tiles
        ],
        "rows": [list(row) for row in reading.rows],
        "hand": hand_line(reading, shape),
        "accept": reading.accept,
        "why": list(reading.why),
        "ms": round(reading.ms, 2),
    }


def strip_side(image: Image) -> int | None:
    """Long side, in pixels, at which to search the picture of a zone; None for the usual one.

    The zone of a place is a strip: at the usual size its tiles would be smaller than they are in the frame,
    and tiles face down among open ones are overlooked first.
    """
    height, width = image.shape[:2]
    return STRIP_LONG_SIDE if width > STRIP_ASPECT * height else None


def read_zone(
    reader: Reader,
    frame: Image,
    calibration: Calibration,
    zone: str | int,
    expect: int | None = None,
    kinds: frozenset[str] | None = None,
    shape: HandShape | None = None,
) -> Reading:
    """Read one zone of a table ("0" to "3", "indicator"), looked at straight on.

    Boxes of the reading are pixels of the frame (uint8 ``(H, W, 3)`` BGR). Raises CalibrationError
    for a zone that was not taught.
    """
    view = calibration.rectify(frame, zone)
    side = strip_side(view.image)
    reading = reader.read(view.image, expect=expect, kinds=kinds, shape=shape, long_side=side)
    return view.reading_in_frame(reading, (frame.shape[1], frame.shape[0]))


def read_photo(
    path: Path,
    reader: Reader,
    hint: PhotoHint | None = None,
    kinds: frozenset[str] | None = None,
    calibration: Calibration | None = None,
    zone: str | int = "0",
    shape: HandShape | None = None,
) -> Mapping[str, Any]:
    """Read one photograph: the object the command ``read`` prints for it.

    With ``calibration`` its ``zone`` is read and the hint's region is not used; ``shape`` as in `to_json`. A
    file that cannot be used gives ``{"file", "error"}`` and raises nothing.
    """
    hint = hint or PhotoHint()
    try:
        image = load_image(path)
        if calibration is not None:
            reading = read_zone(reader, image, calibration, zone, hint.expect, kinds, shape)
        else:
            reading = reader.read(image, hint.region, hint.expect, kinds, shape)
    except VisionError as error:
        return {"file": str(path), "error": str(error)}
    return {"file": str(path), **to_json(reading, shape)}
