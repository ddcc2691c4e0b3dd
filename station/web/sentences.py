"""Sentences of every stable code that can reach a screen.

The engine, the bridge, the camera and the link say codes with parameters; people read sentences. This table
is the only place where one becomes the other. A code that is not listed is shown as it is: plainly
unknown beats plainly wrong. Parameters are named in ``%(name)s`` form; tiles and places are put into words
before they are filled in.
"""

from __future__ import annotations

from typing import Final

from station.web.catalogue import N_

REASONS: Final[dict[str, str]] = {
    # why a claim does not win, or cannot be (rules/vectors: reason ids)
    "tile_count": N_("The number of tiles is not right"),
    "fifth_copy": N_("A tile appears five times"),
    "unknown_meld": N_("A meld these rules do not know"),
    "unknown_tile": N_("A tile could not be recognized"),
    "tile_not_in_set": N_("A tile this set does not have"),
    "contradictory_facts": N_("The facts of the claim contradict each other"),
    "xianggong": N_("The player is a dead hand and may not win"),
    "barred": N_("The player may not win this hand any more"),
    "chow_not_allowed": N_("Chow is not allowed in these rules"),
    "kong_needs_replacement": N_("No kong was made, so there is no replacement tile"),
    "ron_with_wild_substitution": N_("A discard win may not use a wildcard as another tile"),
    "no_decomposition": N_("The tiles do not make four sets and a pair"),
    "not_any_tile_wait": N_("The hand was not waiting for every tile"),
    "not_three_gold": N_("The hand does not hold three gold tiles"),
    "gold_discard_not_claimable": N_("A discarded gold tile cannot be claimed"),
    "gold_in_hand_no_discard_win": N_("With a gold tile in hand a discard cannot win"),
    "below_minimum": N_("Below the minimum number of points"),
}

CLASSES: Final[dict[str, str]] = {
    # price classes of Zhenjiang
    "discard": N_("Win on a discard"),
    "self_sub": N_("Self-draw with wildcard"),
    "self_nosub": N_("Self-draw without wildcard"),
    "pao": N_("Any-tile wait with wildcard"),
    "pao_nosub": N_("Any-tile wait without wildcard"),
    "gk": N_("Win after a kong"),
    "tianhu": N_("Heavenly hand"),
}

ITEMS: Final[dict[str, str]] = {
    # lines of the price list
    **CLASSES,
    "kong_open_sub": N_("Win after a kong, with wildcard"),
    "kong_open_exposed": N_("Win after an exposed kong, without wildcard"),
    "kong_open_concealed": N_("Win after a concealed kong, without wildcard"),
    "heaven": N_("Heavenly hand"),
    "first_wild": N_("First discard was a wildcard"),
    "later_wild": N_("Wildcard discarded and shown"),
    "wild_after_pung": N_("Wildcard discarded after a pung"),
    "claimed_wild": N_("Won on a discarded wildcard"),
    "discarder": N_("Paid by the discarder"),
    "kong_fee": N_("Kong fee"),
    "false_win": N_("False win"),
}

HOW: Final[dict[str, str]] = {
    "self": N_("Self-draw"),
    "discard": N_("Discard"),
    "robkong": N_("Robbing a kong"),
    "kong_ming": N_("Self-draw after an exposed kong"),
    "kong_an": N_("Self-draw after a concealed kong"),
    "heaven": N_("Dealt hand"),
}

BLOCKED: Final[dict[str, str]] = {
    # why a hand cannot be confirmed yet
    "tile_in_doubt": N_("Check the marked tiles first"),
    "indicator_in_doubt": N_("Check the flipped tile first"),
    "indicator_missing": N_("The flipped tile is not known yet"),
    "not_a_win": N_("The hand does not win"),
    "inconsistent": N_("The tiles do not add up"),
    "no_hand": N_("No hand has been read yet"),
    "no_verdict": N_("There is no verdict yet"),
}

MACHINE: Final[dict[str, str]] = {
    "machine.ok": N_("Machine ready"),
    "machine.none": N_("No machine at this table"),
    "machine.connecting": N_("Connecting to the machine"),
    "machine.link_down": N_(
        "The machine does not answer. Check its cable; the table can be played on by hand"
    ),
    "machine.busy": N_("The machine is moving"),
    "machine.building": N_("The machine is building walls"),
    "machine.locked": N_("Locked until the hand is ruled"),
    "machine.not_adopted": N_("The machine was switched on again. Look at the table, then start"),
    "machine.hold": N_("A motion was cut off. Nothing moves until somebody chooses"),
    "machine.lease_lost": N_("The machine lost its controller in mid-motion"),
    "machine.estop": N_("Emergency stop pressed"),
    "machine.lid_open": N_("The lid is open"),
    "machine.fault": N_("The machine reports a fault: %(fault)s"),
    "machine.tiles_short": N_("Tiles are missing in the machine"),
    "machine.jam": N_("A tile is stuck at %(place)s"),
    "machine.command_unknown": N_("It is not known whether the last motion was done. Look at the table"),
    "machine.wrong_protocol": N_("The machine speaks another protocol version"),
    "TILES_SHORT": N_("Tiles are missing in the machine"),
    "JAM": N_("A tile is stuck in the machine"),
    "ESTOP": N_("Emergency stop pressed"),
}

CAMERA: Final[dict[str, str]] = {
    "camera.ok": N_("Camera ready"),
    "camera.none": N_("No camera at this table"),
    "camera.missing": N_("The camera is not connected"),
    "camera.stale": N_("The camera sends no new picture"),
    "camera.moved": N_("The camera has moved; calibrate it again"),
    "camera.reading": N_("Reading the tiles"),
    "camera.glare": N_("Glare on the tiles: shade the lamp or turn the tiles"),
    "camera.dark": N_("The picture is too dark"),
    "camera.blur": N_("The picture is blurred"),
    "camera.hand_in_view": N_("A hand is in the picture: take it away"),
    "camera.wrong_zone": N_("Lay the tiles into the zone of the player"),
    "camera.no_tiles": N_("No tiles in the zone yet"),
    "camera.count": N_("%(found)s tiles found, %(expected)s expected"),
}

DOUBTS: Final[dict[str, str]] = {
    # why a tile, or a whole reading, is in doubt
    "low_score": N_("Not sure enough"),
    "close_second": N_("Two kinds look alike here"),
    "look_alike": N_("Two kinds look alike here"),
    "count": N_("The number of tiles is not the expected one"),
    "fifth_copy": N_("A tile appears five times"),
    "unknown": N_("Not recognized"),
    "face_down": N_("Face down"),
    "edge": N_("At the edge of the picture"),
    "groups": N_("The groups are not clear"),
}

CENTRAL: Final[dict[str, str]] = {
    "central.up": N_("Head table connected"),
    "central.none": N_("Playing without a head table"),
    "central.connecting": N_("Connecting to the head table"),
    "central.down": N_("Head table not reachable; everything is kept on this table"),
    "central.denied": N_("The head table does not know this table"),
    "central.fork": N_("The head table holds another history of this table. Call the head referee"),
    "central.disk_full": N_("The head table cannot store any more"),
}

EVENTS: Final[dict[str, str]] = {
    "session.opened": N_("Session opened"),
    "dice.rolled": N_("Dice rolled"),
    "wall.dealt": N_("Tiles dealt"),
    "indicator.revealed": N_("Indicator turned up"),
    "indicator.corrected": N_("Indicator corrected"),
    "hand.claimed": N_("Win declared"),
    "hand.tile_mended": N_("Tile corrected"),
    "hand.rejected": N_("Claim rejected; play goes on"),
    "hand.confirmed": N_("Win confirmed"),
    "hand.ruled": N_("Ruling booked"),
    "intake.released": N_("Tiles may go into the machine"),
    "intake.overridden": N_("Machine released by hand"),
    "intake_opened_early": N_("The machine was opened before the ruling"),
    "penalty.applied": N_("Penalty booked"),
    "motion.cut": N_("A motion was cut off"),
    "motion.recovered": N_("Motion recovered"),
    "referee.called": N_("%(place)s calls the referee"),
    "event.corrected": N_("Booking undone"),
    "link.denied": N_("Table %(table)s was refused: its key is not on the list"),
    "link.fork": N_("Table %(table)s has two histories"),
    "warn.first_wild": N_("First wildcard must be discarded"),
    "warn.second_wild": N_("Second wildcard must be shown"),
    "offline.kept": N_("Kept on this table"),
}

ERRORS: Final[dict[str, str]] = {
    # answers to a tap; the module on the page shows these as a notice
    "stale_revision": N_("The table has moved on. Look again, then tap"),
    "cannot_store": N_("Not stored: the disk of the table cannot write. Nothing was booked"),
    "wrong_phase": N_("Not possible at this moment"),
    "not_confirmable": N_("The hand cannot be confirmed yet"),
    "no_claim": N_("There is no claim"),
    "claim_pending": N_("Another claim is waiting for its ruling"),
    "bad_request": N_("The table did not understand this tap"),
    "invalid_notation": N_("This line is not a hand"),
    "illegal_notation": N_("This hand cannot be"),
    "ambiguous_notation": N_("This line can be read in two ways"),
    "unknown_tile": N_("This tile does not exist"),
    "nothing_to_undo": N_("There is nothing to undo"),
    "machine_refused": N_("The machine refuses this now"),
    "machine_down": N_("The machine does not answer"),
    "camera_down": N_("The camera does not answer"),
    "not_allowed": N_("Only the referee may do this"),
    "no_answer": N_("No answer from the table. It may not have been booked: look, then tap again"),
}

PENALTIES: Final[dict[str, str]] = {
    "warning": N_("Warning"),
    "chips": N_("Chip fine"),
    "xianggong": N_("Dead hand"),
    "left_seat": N_("Left seat"),
    "phone": N_("Phone"),
    "language": N_("Language"),
    "smoking": N_("Smoking"),
    "other": N_("Other"),
}

RULINGS: Final[dict[str, str]] = {
    "false_win": N_("False win"),
    "redeal": N_("Deal again"),
    "void": N_("Void the hand"),
    "draw": N_("Drawn hand"),
    "override_win": N_("It is a win"),
    "win": N_("Win"),
}

RULING_REASONS: Final[dict[str, str]] = {
    "claim_does_not_win": N_("Claim does not win"),
    "wall_exhausted": N_("Wall exhausted"),
    "misdeal": N_("Wrong deal"),
    "exposed_tiles": N_("Tiles exposed"),
    "machine_fault": N_("Machine fault"),
    "reading_wrong": N_("Reading is wrong"),
    "time_up": N_("Time is up"),
    "judgement": N_("Referee's judgement"),
}

PHASES: Final[dict[str, str]] = {
    "start": N_("Before the start"),
    "build": N_("Shuffling"),
    "raise": N_("Raising walls"),
    "dice": N_("Dice"),
    "deal": N_("Dealing"),
    "indicator": N_("Wildcard"),
    "play": N_("Playing"),
    "claim": N_("Reading"),
    "verdict": N_("To confirm"),
    "ruled": N_("Booked"),
    "intake": N_("Clearing"),
    "recovery": N_("Needs a person"),
    "offline": N_("Machine away"),
}

SENTENCES: Final[dict[str, str]] = {
    **EVENTS,
    **REASONS,
    **ITEMS,
    **BLOCKED,
    **MACHINE,
    **CAMERA,
    **DOUBTS,
    **CENTRAL,
    **ERRORS,
}
"""Every code that may stand in ``messages``, ``alarms``, ``problems``, ``blocked`` or an ``error``."""
