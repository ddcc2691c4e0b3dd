"""Why a table could not be taught: stable codes, each with one plain sentence that says what to do. Pure."""

from __future__ import annotations

from typing import Final

from vision.errors import CalibrationError

__all__ = ["REFUSALS", "TeachError"]

REFUSALS: Final[dict[str, str]] = {
    "calibrate.cloth": ("A cloth of %(cloth)s mm is not possible: measure its side, %(low)s to %(high)s mm."),
    "calibrate.few_markers": (
        "Only %(n)s cards are seen (%(seen)s) and four are needed: lay %(missing)s into the corners "
        "of the cloth, flat, wholly in view and without glare, or tap the corners."
    ),
    "calibrate.mirrored": (
        "The camera's picture is mirrored: switch mirroring off in the camera's settings, then try again."
    ),
    "calibrate.wrong_way": (
        "The cards run around the table the wrong way: lay 0, 1, 2, 3 counter-clockwise, each in the "
        "corner at the left hand of its place."
    ),
    "calibrate.swapped": "The cards %(a)s and %(b)s lie in each other's place: swap them.",
    "calibrate.order": (
        "The cards do not lie around the table in their order: lay 0, 1, 2, 3 counter-clockwise into "
        "the corners."
    ),
    "calibrate.print_scale": (
        "The cards measure %(share)s %% of what they should beside a cloth of %(cloth)s mm: print "
        "them at 100 %% (the printed ruler is 100 mm long), or if they are, give the cloth's side, "
        "about %(real)s mm."
    ),
    "calibrate.marker_off": (
        "Card %(marker)s lies %(off)s mm off: push it into its corner of the cloth (4 to 7: against "
        "the rail in the middle of its side), and try again."
    ),
    "calibrate.no_fit": (
        "The cards do not fit together, by up to %(off)s mm: lay them flat into their places; if they"
        " are, the lens bends straight lines, so calibrate it with a checkerboard."
    ),
    "calibrate.taps_count": "%(n)s corners were given: give each of the four corners of the cloth once.",
    "calibrate.taps_outside": (
        "A tapped corner lies outside the picture: tap the corners of the cloth again."
    ),
    "calibrate.taps_order": (
        "The corners do not go around the table: begin with the left corner of the touchscreen's side, "
        "then its right corner, then on around the table the same way."
    ),
    "calibrate.taps_no_table": (
        "No square cloth looks like the four taps (%(off)s mm off): tap the corners of the cloth again."
    ),
    "calibrate.place_out": (
        "The zone of place %(zone)s is not wholly in the picture: mount the camera higher, or turn it."
    ),
    "calibrate.indicator_out": (
        "The zone of the indicator is not wholly in the picture: mount the camera higher, or turn it."
    ),
    "calibrate.no_camera": (
        "No camera above a table sees these points so: check their order, and that the picture shows "
        "the whole table from above."
    ),
}
"""Sentences in the English of the command line; the pages have their own in every language."""


class TeachError(CalibrationError):
    """The table cannot be taught so.

    ``code``: one of `REFUSALS`; ``params``: what its sentence names, as texts.
    """

    def __init__(self, code: str, **params: object) -> None:
        self.params = {name: str(value) for name, value in params.items()}
        super().__init__(REFUSALS[code] % self.params)
        self.code = code
