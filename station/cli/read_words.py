"""Words of `read`: what is in doubt about a picture, and at which tiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from vision.readings import (
    BLANK_OR_BACK,
    CUT_AT_BORDER,
    EXTRA_TILES,
    FIFTH_COPY,
    FOREIGN_TILE,
    FRAMES_DIFFER,
    LOW_SCORE,
    NO_TILES,
    NOT_IN_SET,
    ODD_SIZE,
    OTHER_SET,
    OVERLAP,
    STRAY_BACK,
    UNSEEN_TILE,
    UNSURE_BOX,
    WRONG_COUNT,
)

__all__ = ["OF_THE_WHOLE", "OF_TILES", "reading_words"]

OF_THE_WHOLE: Final = {
    NO_TILES: "no tiles found",
    WRONG_COUNT: "not the expected number of tiles",
    EXTRA_TILES: "more open tiles than expected",
    ODD_SIZE: "something of another size was left out",
    UNSEEN_TILE: "perhaps a tile was overlooked, look at gaps and ends of rows",
}
"""What is in doubt about the picture, by code."""
OF_TILES: Final = {
    LOW_SCORE: "not certain",
    FRAMES_DIFFER: "read otherwise in another picture",
    FIFTH_COPY: "more of the kind than a set holds",
    NOT_IN_SET: "not of this tile set",
    OTHER_SET: "of the table's other set",
    FOREIGN_TILE: "of no set of this table",
    STRAY_BACK: "face down outside a meld",
    BLANK_OR_BACK: "white dragon or face down",
    CUT_AT_BORDER: "cut off at the edge",
    UNSURE_BOX: "perhaps no tile",
    OVERLAP: "lying on one another",
}
"""What is in doubt about some of its tiles, by code."""


def reading_words(result: Mapping[str, Any]) -> str:
    """One line for the object of a picture that was read, see `vision.reading_service.read_photo`.

    >>> tiles = [{"kind": "5p", "doubts": ["low_score"]}, {"kind": "1z", "doubts": []}]
    >>> reading_words({"file": "a.jpg", "tiles": tiles, "accept": False, "why": ["wrong_count", "low_score"]})
    'a.jpg: 5p 1z  (look again: not the expected number of tiles; tile 1 (5p) not certain)'
    """
    kinds = " ".join(tile["kind"] for tile in result["tiles"])
    if result["accept"]:
        return f"{result['file']}: {kinds}"
    doubts = "; ".join(_doubt(code, result["tiles"]) for code in result["why"])
    return f"{result['file']}: {kinds}  (look again: {doubts})" if kinds else f"{result['file']}: {doubts}"


def _doubt(code: str, tiles: list[Mapping[str, Any]]) -> str:
    """A phrase for a code, led by the tiles that have it: counted from 1, as they are printed."""
    places = [f"{place} ({tile['kind']})" for place, tile in enumerate(tiles, 1) if code in tile["doubts"]]
    if code in OF_THE_WHOLE or not places:
        return OF_THE_WHOLE.get(code) or OF_TILES[code]
    return f"{'tile' if len(places) == 1 else 'tiles'} {', '.join(places)} {OF_TILES[code]}"
