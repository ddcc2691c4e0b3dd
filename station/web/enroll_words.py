"""Sentences of the page on which a table's own tiles are captured, row by row."""

from __future__ import annotations

from typing import Final

from station.web.catalogue import N_

__all__ = ["ENROLMENT"]

ENROLMENT: Final[dict[str, str]] = {
    "enroll.name": N_("Give the set a name of letters and digits, such as green"),
    "enroll.not_begun": N_("Begin a set first"),
    "enroll.all_taken": N_("All rows are taken: save the set"),
    "enroll.missing": N_("Kinds are still missing: capture their rows first"),
    "enroll.other_capture": N_("This set was begun for other tiles or another recognizer: begin it anew"),
    "enroll.sets_full": N_(
        "The sets of this table are %(names)s: capture one of these anew, or take one out first"
    ),
    "vision.tileset": N_("The tile set cannot be used: capture it again"),
    # how to lay a row
    "enroll.lay": N_("Lay these tiles in a row, left to right"),
    "enroll.lay_again": N_("The same row once more, at another place and every tile turned upside down"),
    # what a row lacks; tiles are counted from 1
    "enroll.row.no_tiles": N_("No tile was found: lay the row in the zone, faces up"),
    "enroll.row.missing": N_("%(tile)s is missing in the row: lay it in its place"),
    "enroll.row.extra": N_("Tile %(n)s, it looks like %(kind)s, does not belong in the row: take it away"),
    "enroll.row.out_of_order": N_("%(kind)s lies out of order, as tile %(n)s: put it in its place"),
    "enroll.row.looks_like": N_(
        "Tile %(n)s looks like %(kind)s, %(tile)s is expected: swap it, or confirm the row"
    ),
    "enroll.row.wrong_row": N_("Most tiles look like others: is this the row that was asked for?"),
    "enroll.row.doubtful": N_("Tile %(n)s is hard to tell; it is taken for %(tile)s, as the row says"),
    # why a picture is not taken
    "enroll.unfit.blurred": N_("The picture is blurred: focus the camera, and let the tiles lie still"),
    "enroll.unfit.too_dark": N_("The picture is too dark: switch a lamp on"),
    "enroll.unfit.too_bright": N_("The picture is too bright: dim the lamp"),
    "enroll.unfit.glare": N_("A lamp is mirrored in a tile: move the lamp or the row"),
    "enroll.unfit.hand_in_view": N_("Something covers the zone: take your hands away"),
    "enroll.unfit.outside_zone": N_("A tile lies at the border of the zone: push the row inwards"),
    # whether what was captured makes the reading better
    "enroll.used": N_(
        "Pictures left out: %(right)s of %(n)s tiles right, before %(before)s. The captured tiles count"
    ),
    "enroll.unused": N_("The recognizer reads this set as well without: it stays as it is"),
}
