"""Sentences of every stable code that can reach a screen.

The engine, the bridge, the camera and the link say codes with parameters; people read sentences. This table
is the only place where one becomes the other. A code that is not listed is shown as it is: plainly
unknown beats plainly wrong. Parameters are named in ``%(name)s`` form; tiles and places are put into words
before they are filled in.
"""

from __future__ import annotations

from typing import Final

from station.web.calibrate_words import CALIBRATION
from station.web.catalogue import N_
from station.web.enroll_words import ENROLMENT
from station.web.rule_words import CLASSES, HOW, ITEMS, REASONS

__all__ = [
    "ANSWERS",
    "BLOCKED",
    "CAMERA",
    "CENTRAL",
    "CLASSES",
    "DOUBTS",
    "ERRORS",
    "EVENTS",
    "FITNESS",
    "HOW",
    "ITEMS",
    "MACHINE",
    "PENALTIES",
    "PENALTY_REASONS",
    "PHASES",
    "PHOTOS",
    "REASONS",
    "RULINGS",
    "RULING_REASONS",
    "SENTENCES",
]

BLOCKED: Final[dict[str, str]] = {
    # why a hand cannot be confirmed yet
    "no_claim": N_("There is no claim"),
    "no_indicator": N_("The flipped tile is not known yet"),
    "indicator_doubt": N_("Check the flipped tile first"),
    "no_reading": N_("No hand has been read yet"),
    "tile_doubt": N_("Check the marked tiles first"),
    "tile_unknown": N_("A tile could not be recognized"),
    "unreadable_group": N_("The groups are not clear"),
    "shown_missing": N_("Read what lies open before the other players"),
    "fact_open": N_("Say what the tiles do not show"),
}

MACHINE: Final[dict[str, str]] = {
    # state of the line and of the machine
    "machine.ok": N_("Machine ready"),
    "machine.none": N_("No machine at this table"),
    "machine.closed": N_("The machine is switched off here"),
    "machine.connecting": N_("Connecting to the machine"),
    "machine.suspect": N_("The machine does not answer. Asking again"),
    "machine.down": N_("The machine does not answer. Check its cable; the table can be played on by hand"),
    "machine.link_down": N_(
        "The machine does not answer. Check its cable; the table can be played on by hand"
    ),
    "machine.port_missing": N_(
        "The cable of the machine is not plugged in: plug it in, or correct the port in the table's file"
    ),
    "machine.port_busy": N_(
        "Another program uses the port of the machine: quezhuo doctor names it, end that one"
    ),
    "machine.port_denied": N_(
        "No permission to use the port of the machine: quezhuo doctor names the command that helps"
    ),
    "machine.port_ambiguous": N_(
        "The name of the machine's port fits several cables: nothing is moved by it"
    ),
    "machine.unstable_name": N_(
        "The machine's port may have another name after the next start: write %(use)s into the table's file"
    ),
    "machine.record_lost": N_(
        "The machine's line is no longer recorded: the disk refused the file. Everything else goes on"
    ),
    "machine.unwritten": N_(
        "This table's disk is full or refuses: the machine takes no orders until the disk takes entries again"
    ),
    "table.disk_full": N_(
        "This table's disk is full: nothing can be booked until it has room. Nothing is lost"
    ),
    "table.disk_refuses": N_(
        "This table's disk refuses: nothing can be booked until it is mended. Nothing is lost"
    ),
    "machine.advisory": N_("The lock is only advice here: open the machine after the ruling, not before"),
    "machine.no_reply": N_("Perhaps the machine has moved, perhaps not. Look at it first"),
    "machine.no_feedback": N_("Perhaps the machine has moved, perhaps not. Look at it first"),
    "machine.look_first": N_("Perhaps the machine has moved, perhaps not. Look at it first"),
    "machine.not_ready": N_("The tiles in the machine are not ready"),
    "machine.contact_open": N_("The contact at the machine's button does not obey: look at the relay board"),
    "machine.contact_closed": N_(
        "The contact at the machine's button does not obey: look at the relay board"
    ),
    "machine.button_held": N_("A relay keeps a button of the machine pressed: look at the relay board"),
    "machine.board_refused": N_("The relay board refuses: check how it is wired and set"),
    "machine.port_error": N_(
        "The port of the machine fails: pull its plug and put it back, then ask quezhuo doctor"
    ),
    "machine.other_set": N_(
        "The machine is set to another number of tiles than these rules need: set it to the rules' number"
    ),
    "machine.recover": N_("The machine was just switched on. Look at the table first"),
    "machine.uid_mismatch": N_(
        "This is not the machine of this table: swap the cables back, or correct uid in the table's file"
    ),
    "machine.version_mismatch": N_(
        "The machine speaks another protocol version: update its board or this program"
    ),
    "machine.config_mismatch": N_(
        "The machine has other settings than this table. They are set once it rests and the table is clear"
    ),
    "machine.noisy": N_("The line to the machine is disturbed. Check cable and plugs before it fails"),
    "machine.overdue": N_("The machine takes longer than it should. Look at it"),
    "machine.moving": N_("The machine is moving"),
    "machine.hold": N_("A motion was cut off. Nothing moves until somebody chooses"),
    "machine.estop": N_("Emergency stop pressed"),
    "machine.fault": N_("The machine reports a fault"),
    "machine.fault.jam": N_("A tile is stuck in the machine"),
    "machine.fault.tiles_short": N_("Tiles are missing in the machine"),
    "machine.fault.tiles_over": N_("Too many tiles are in the machine"),
    "machine.fault.sensor_stuck": N_(
        "A sensor of the machine does not change. Clean it or have it looked at"
    ),
    "machine.fault.lift_timeout": N_("A lift did not reach its end"),
    "machine.fault.lid_timeout": N_("The lid did not reach its end"),
    "machine.fault.lease_expired": N_("The machine lost its controller in mid-motion"),
    "machine.fault.held": N_("The motion was held"),
    "machine.fault.estopped": N_("Emergency stop pressed"),
    # why it refuses a command
    "machine.jam": N_("A tile is stuck in the machine"),
    "machine.tiles_short": N_("Tiles are missing in the machine"),
    "machine.tiles_over": N_("Too many tiles are in the machine"),
    "machine.sensor_stuck": N_("A sensor of the machine does not change. Clean it or have it looked at"),
    "machine.not_started": N_("The machine was just switched on. Look at the table first"),
    "machine.already_started": N_("The machine has started already"),
    "machine.wrong_hand": N_("The machine counts another hand"),
    "machine.interlock": N_("Locked until the hand is ruled"),
    "machine.busy": N_("The machine is moving"),
    "machine.no_lease": N_("The machine lost its controller in mid-motion"),
    "machine.lid": N_("The lid is in the way"),
    "machine.surface": N_("The table is not clear for this"),
    "machine.magazine": N_("The tiles in the machine are not ready"),
    "machine.tiles_taken": N_("Tiles have been taken already"),
    "machine.counts": N_("The walls do not have the planned number of tiles"),
    "machine.nothing_cut": N_("The machine has gone on already"),
    "machine.nothing_to_clear": N_("The machine has gone on already"),
    "machine.service_key": N_("Only with the service key"),
    "machine.stale_id": N_("The table has moved on. Look again, then tap"),
    "machine.stale_state": N_("The table has moved on. Look again, then tap"),
    "machine.bad_arguments": N_("The machine cannot do this"),
    "machine.unsupported": N_("The machine cannot do this"),
    # how a command ended otherwise than it should
    "machine.lift_timeout": N_("A lift did not reach its end"),
    "machine.lid_timeout": N_("The lid did not reach its end"),
    "machine.lease_expired": N_("The machine lost its controller in mid-motion"),
    "machine.held": N_("The motion was held"),
    "machine.estopped": N_("Emergency stop pressed"),
    "machine.rebooted": N_("Perhaps the machine has moved, perhaps not. Look at it first"),
    "machine.interrupted": N_("Perhaps the machine has moved, perhaps not. Look at it first"),
    "machine.expired": N_("Perhaps the machine has moved, perhaps not. Look at it first"),
    "machine.never_seen": N_("The machine did not move. Look again, then tap"),
}

CAMERA: Final[dict[str, str]] = {
    "camera.ok": N_("Camera ready"),
    "camera.none": N_("No camera at this table"),
    # what its driver did not do as the table's settings want it
    "camera.refused.size": N_("The camera does not give pictures of the size set for this table"),
    "camera.refused.exposure": N_("The camera does not keep the exposure set for this table"),
    "camera.refused.white_balance": N_("The camera does not keep the white balance set for this table"),
    "camera.refused.focus": N_("The camera does not keep the focus set for this table"),
    "indicator.several": N_("More than one tile lies face up where the flipped tile is: leave only that one"),
    "indicator.unsure": N_("The flipped tile can't be read for certain: look at it"),
    "indicator.moving": N_("The flipped tile does not lie still: take your hands away"),
    "vision.camera": N_("The camera gives no picture. Check its cable"),
    "vision.image": N_("The picture cannot be read"),
    "vision.model": N_("The tile recognizer is not usable"),
    "vision.calibration": N_("The camera has to be taught again: open the page /calibrate of this table"),
    "vision.region": N_("The zone of the player lies outside the picture"),
    "vision.scene": N_("The scene that is drawn instead of a camera cannot be read: correct its file"),
    "vision.shape": N_("The picture cannot be read"),
}

FITNESS: Final[dict[str, str]] = {
    # why a zone cannot be read now, and what to do about it
    "camera_moved": N_("The camera was moved. Put it back, or calibrate the camera again"),
    "hand_in_view": N_("Take hands and things away from the tiles"),
    "moving": N_("Waiting until nothing moves"),
    "too_dark": N_("Too dark to read the tiles. Switch more light on"),
    "too_bright": N_("Too bright to read the tiles. Turn the light down or away"),
    "blurred": N_("The picture is blurred. Clean the lens and check its focus"),
    "outside_zone": N_("Push all tiles into the player's zone"),
    "glare": N_("A lamp is mirrored in a tile. Turn the tile a little, or shade the lamp"),
}

DOUBTS: Final[dict[str, str]] = {
    # why a tile, or a whole reading, is in doubt
    "no_tiles": N_("No tiles in the zone yet"),
    "wrong_count": N_("The number of tiles is not the expected one"),
    "low_score": N_("Not sure enough"),
    "frames_differ": N_("Two pictures show different tiles here"),
    "fifth_copy": N_("A tile appears five times"),
    "not_in_set": N_("A tile this set does not have"),
    "other_set": N_("A tile of the other set: take it out"),
    "foreign_tile": N_("A tile of no set of this table: take it out"),
    "cut_at_border": N_("At the edge of the picture"),
    "unsure_box": N_("Perhaps no tile"),
    "extra_tiles": N_("More tiles than expected"),
    "stray_back": N_("A face-down tile that belongs to no meld"),
    "blank_or_back": N_("White dragon, or a tile face down? Look at it"),
    "overlap": N_("Two tiles lie on one another: lay them side by side"),
    "odd_size": N_("Something looks like a tile of another size: take it away"),
    "unseen_tile": N_("Perhaps a tile was overlooked: look at the gaps"),
    "indicator_changed": N_("Another tile lies where the flipped tile was: check it"),
    "indicator_gone": N_("The flipped tile can't be seen any more: check it"),
    "indicator_moved": N_("The flipped tile was moved: check it"),
    "loose_tile": N_("An open tile that belongs to no meld"),
    "red_unsure": N_("A red five, or not? Look at it; correct the number of red fives if it is wrong"),
}

PHOTOS: Final[dict[str, str]] = {
    # why a hand that was read has no photo, or has it no more
    "photo.full": N_("No photo is kept: the disk of the table is full. The reading stands; check the tiles"),
    "photo.not_stored": N_(
        "No photo is kept: the disk of the table does not take it. The reading stands; check the tiles"
    ),
    "photo.zone_not_taught": N_("No photo is kept: the zones of this camera were not taught"),
    "photo.removed": N_("photo removed (rule)"),
    "photo.missing": N_("The photo is not here"),
    "photo.changed": N_("The file of this photo was changed: it is not the one that was taken"),
    "evidence.full": N_("The head table has no space for photos. They stay at the tables; results go on"),
}

CENTRAL: Final[dict[str, str]] = {
    "central.up": N_("Head table connected"),
    "central.none": N_("Playing without a head table"),
    "central.off": N_("Playing without a head table"),
    "central.down": N_("Head table not reachable; everything is kept on this table"),
    "central.standby": N_("Connected to the second head table"),
    "central.expired": N_("This table's key has expired. Renew it at the head table"),
    "central.revoked": N_("This table's key was revoked. Ask the head referee"),
    "central.version": N_("Table and head table run different versions. Update one of them"),
    "central.wrong_table": N_("This table's key is that of another table. Pair it again"),
    "central.denied": N_("The head table does not know this table"),
    "central.refused": N_("The head table takes nothing from this table"),
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
    "hand.amended": N_("Claim corrected"),
    "flowers.replaced": N_("Flowers replaced"),
    "account.moved": N_("Chips borrowed, given back or taken out"),
    "match.match_over": N_("The match is over. End the session, or take the last hand back"),
    "match.two_broke": N_("Two players have no chips: the match is over"),
    "match.time_up": N_("Time is up: the match is over"),
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
    "command.done": N_("Order of the head table carried out"),
    "hand.retake": N_("New photo"),
    "session.closed": N_("Session closed"),
    "clock.unconfirmed": N_("The clock waits for the head referee"),
    "clock.unknown": N_("This second head table does not know the time left. The head referee sets it here"),
    "clock.elsewhere": N_("Second head table: the tables are with the first, and its clock counts"),
    "clock.shared": N_("Second head table: for tables with the first its clock counts. Not here: %(n)s"),
    "clock.not_said": N_(
        "Tables have this head table as their second one, and its settings do not say so (standby = true)"
    ),
    "keys.damaged": N_("The list of tables cannot be read; the last good one stays in force"),
    "link.denied": N_("Table %(table)s was refused: its key is not on the list"),
    "link.denied.expired": N_("Refused: its key has expired"),
    "link.denied.revoked": N_("Refused: its key was revoked"),
    "link.denied.bad_message": N_("Table %(table)s sends messages that cannot be read"),
    "link.denied.flood": N_("Table %(table)s sends too much and is held back"),
    "link.denied.wrong_table": N_("Refused: it gave the name of another table"),
    "link.denied.foreign_log": N_("Refused: it sent the log of another table"),
    "link.denied.broken": N_("Refused: an entry of its log is damaged"),
    "link.denied.version": N_("Refused: it runs another version"),
    "link.denied.no_handshake": N_("A device that did not say who it is tried to connect to the head table"),
    "link.denied.overrun": N_("A connection was cut: more came in over it than can be taken in"),
    "link.denied.not_followed": N_("Table %(table)s takes no commands of this head table"),
    "link.fork": N_("Table %(table)s has two histories"),
    "link.fork.rollback": N_("Table %(table)s has an old copy of its log; complete it from the head table's"),
    "log.authored": N_("Orders to table %(table)s begin anew; give again what it has not carried out"),
    "table.unreadable": N_("Table %(table)s sent events that cannot be read: %(n)s"),
    "requests.refused": N_("Requests from another site were refused: %(n)s"),
    "warn.first_wild": N_("First wildcard must be discarded"),
    "warn.second_wild": N_("Second wildcard must be shown"),
    "offline.kept": N_("Kept on this table"),
}

ERRORS: Final[dict[str, str]] = {
    # answers to a tap; the module on the page shows these as a notice
    "stale_revision": N_("The table has moved on. Look again, then tap"),
    "no_answer": N_("No answer from the table. It may not have been booked: look, then tap again"),
    "log.full": N_("Not stored: the disk of the table is full. Nothing was booked"),
    "log.io": N_("Not stored: the disk of the table cannot write. Nothing was booked"),
    "blocked": N_("The hand cannot be confirmed yet"),
    "no_win": N_("The hand does not win"),
    "claim_pending": N_("Another claim is waiting for its ruling"),
    "no_claim_now": N_("No hand is being played"),
    "no_flowers_now": N_("Not possible at this moment"),
    "match_ended": N_("The match is over"),
    "nothing_changed": N_("Nothing of the claim would change"),
    "nothing_waits": N_("Nothing waits to be read"),
    "no_dice_now": N_("Not possible at this moment"),
    "no_indicator_now": N_("Not possible at this moment"),
    "no_hand": N_("No hand is being played"),
    "hand_running": N_("A hand is not ruled yet"),
    "session_closed": N_("The session is closed"),
    "recovery_needed": N_("Choose first what the machine shall do"),
    "no_recovery": N_("The machine has gone on already"),
    "bad_line": N_("This line is not a hand"),
    "bad_tile": N_("This tile cannot be"),
    "bad_pay": N_("Choose what is paid"),
    "bad_amount": N_("The player does not have that many chips"),
    "reason_needed": N_("Choose a reason"),
    "false_win_needs_no_win": N_("Mend the reading first: only a hand that does not win can be a false win"),
    "nothing_to_undo": N_("There is nothing to undo"),
    "dice_thrown": N_("The dice are thrown: enter what they show"),
    "no_machine": N_("No machine at this table"),
    "no_machine_hand": N_("The machine has dealt no hand"),
    "locked": N_("The machine has not unlocked its intake yet. Wait a moment"),
    "cycle_running": N_("The machine is preparing this hand already"),
    "bad_choice": N_("The table did not understand this tap"),
    "bad_account": N_("The table did not understand this tap"),
    "bad_fact": N_("This cannot be said of a claim"),
    "bad_spoiled": N_("This line is not a winning hand"),
    "bad_dice": N_("The table did not understand this tap"),
    "bad_from": N_("The table did not understand this tap"),
    "bad_how": N_("The table did not understand this tap"),
    "bad_index": N_("The table did not understand this tap"),
    "bad_penalty": N_("The table did not understand this tap"),
    "bad_place": N_("The table did not understand this tap"),
    "bad_reason": N_("The table did not understand this tap"),
    "bad_ruling": N_("The table did not understand this tap"),
    "cross_origin": N_("The table did not understand this tap"),
    "no_action": N_("The table did not understand this tap"),
    "bad_request": N_("The table did not understand this tap"),
    "clock.not_now": N_("The clock has changed meanwhile. Look again, then tap"),
    "clock.not_here": N_("The clock is set at the station's own screen"),
    "clock.elsewhere": N_("The tables are with the first head table: set the clock there"),
    "clock.seconds": N_("So much time cannot be left"),
    "clock.reason": N_("Choose a reason"),
    "clock.no_action": N_("The table did not understand this tap"),
    "403": N_("Only the referee may do this"),
}

PENALTIES: Final[dict[str, str]] = {
    "warning": N_("Warning"),
    "xianggong": N_("Dead hand"),
    "chips": N_("Chip fine"),
}

PENALTY_REASONS: Final[dict[str, str]] = {
    "left_seat": N_("Left seat"),
    "phone": N_("Phone"),
    "language": N_("Language"),
    "smoking": N_("Smoking"),
    "slow_play": N_("Slow play"),
    "other": N_("Other"),
}

RULINGS: Final[dict[str, str]] = {
    "false_win": N_("False win"),
    "redeal": N_("Deal again"),
    "void": N_("Void the hand"),
    "draw": N_("Drawn hand"),
    "win": N_("It is a win"),
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
    "flowers": N_("Replacing flowers"),
    "gold": N_("Dice for the gold"),
    "indicator": N_("Wildcard"),
    "play": N_("Playing"),
    "claim": N_("Reading"),
    "verdict": N_("To confirm"),
    "ruled": N_("Booked"),
    "intake": N_("Clearing"),
    "recovery": N_("Needs a person"),
    "offline": N_("Machine away"),
    "closed": N_("Session closed"),
}

ANSWERS: Final[dict[str, str]] = {**BLOCKED, **CAMERA, **MACHINE, **ERRORS}
"""Codes a tap can be answered with."""

SENTENCES: Final[dict[str, str]] = {
    **EVENTS,
    **REASONS,
    **ITEMS,
    **BLOCKED,
    **MACHINE,
    **CAMERA,
    **CALIBRATION,
    **ENROLMENT,
    **DOUBTS,
    **FITNESS,
    **PHOTOS,
    **CENTRAL,
    **ERRORS,
}
"""Every code that may stand in ``messages``, ``alarms``, ``problems``, ``blocked`` or an ``error``."""
