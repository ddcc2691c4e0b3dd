"""Sentences of the page on which the camera is taught: why it cannot be, and what to do."""

from __future__ import annotations

from typing import Final

from station.web.catalogue import N_

__all__ = ["CALIBRATION"]

CALIBRATION: Final[dict[str, str]] = {
    "calibrate.hand_running": N_("A hand is in play: no picture is taken until it is ruled"),
    "calibrate.no_frame": N_("Take a picture first"),
    "calibrate.not_saved": N_("Not stored: the disk of the table cannot write"),
    "calibrate.height": N_(
        "A camera does not hang at this height: give millimetres, 300 to 3000, or leave it out"
    ),
    "calibrate.cloth": N_(
        "A cloth of %(cloth)s mm is not possible: measure its side, %(low)s to %(high)s mm"
    ),
    "calibrate.few_markers": N_(
        "Only %(n)s cards are seen (%(seen)s), four are needed: lay %(missing)s into the corners of the"
        " cloth, flat, wholly in view and without glare, or tap the corners"
    ),
    "calibrate.mirrored": N_("The picture is mirrored: switch mirroring off in the camera's settings"),
    "calibrate.wrong_way": N_(
        "The cards run around the table the wrong way: lay 0, 1, 2, 3 counter-clockwise, each in the "
        "corner at the left hand of its place"
    ),
    "calibrate.swapped": N_("The cards %(a)s and %(b)s lie in each other's place: swap them"),
    "calibrate.order": N_(
        "The cards do not lie around the table in their order: lay 0, 1, 2, 3 counter-clockwise into "
        "the corners"
    ),
    "calibrate.print_scale": N_(
        "The cards measure %(share)s %% of what they should beside a cloth of %(cloth)s mm: print them "
        "at 100 %% (the printed ruler is 100 mm long), or if they are, set the cloth's side to about "
        "%(real)s mm"
    ),
    "calibrate.marker_off": N_(
        "Card %(marker)s lies %(off)s mm off: push it into its corner of the cloth (4 to 7: against the"
        " rail in the middle of its side), then take a new picture"
    ),
    "calibrate.no_fit": N_(
        "The cards do not fit together, by up to %(off)s mm: lay them flat into their places; if they "
        "are, the lens bends straight lines and has to be measured with a checkerboard"
    ),
    "calibrate.taps_count": N_("Tap each of the four corners of the cloth once"),
    "calibrate.taps_outside": N_("A tapped corner lies outside the picture: tap the corners again"),
    "calibrate.taps_order": N_(
        "The corners do not go around the table: begin with the left corner at the touchscreen, then "
        "its right one, then on around the table the same way"
    ),
    "calibrate.taps_no_table": N_("No square cloth looks like these four taps: tap the corners again"),
    "calibrate.place_out": N_(
        "The zone of place %(zone)s is not wholly in the picture: mount the camera higher, or turn it"
    ),
    "calibrate.indicator_out": N_(
        "The zone of the flipped tile is not wholly in the picture: mount the camera higher, or turn it"
    ),
    "calibrate.no_camera": N_(
        "No camera above a table sees these points so: check their order, and that the picture shows "
        "the whole table"
    ),
}
"""By code: those of `vision.calibration.refusals`, and the page's own."""
