"""Words of the training page: the fault menu in the language of a hall, and what staff does about each."""

from __future__ import annotations

from typing import Final

from station.web.catalogue import N_

__all__ = ["ACTIONS", "GROUPS", "ITEMS", "LIDS", "MAGAZINES", "MOTIONS", "STARTS", "STEPS", "SURFACES"]

GROUPS: Final[dict[str, str]] = {
    "MACHINE": N_("Mechanism"),
    "BOARD": N_("Board and power"),
    "PEOPLE": N_("People"),
    "LINE": N_("Cable"),
}

ITEMS: Final[dict[str, str]] = {
    # the fault menu of the simulated machine, by the names of its items
    "jam": N_("Tiles jam"),
    "missing": N_("Tiles are missing"),
    "extra": N_("Too many tiles"),
    "stuck": N_("Lift or lid sticks"),
    "sensor": N_("A sensor sticks"),
    "reboot": N_("The board resets"),
    "brownout": N_("The voltage drops"),
    "power": N_("The power fails"),
    "estop": N_("Emergency stop"),
    "button": N_("A player presses “open”"),
    "taken": N_("A player takes a tile of the walls"),
    "mute": N_("The cable is dead"),
    "stall": N_("The cable stalls"),
    "drop": N_("Messages get lost"),
    "flip": N_("Messages arrive spoiled"),
    "dup": N_("Messages arrive twice"),
    "garbage": N_("Noise on the cable"),
    "reorder": N_("Messages overtake each other"),
    "echo": N_("The cable echoes"),
    "cmd-lost": N_("Commands get lost"),
    "ack-lost": N_("Confirmations get lost"),
    "done-lost": N_("Reports get lost"),
    "delay": N_("Everything arrives late"),
    "coalesce": N_("Messages arrive in lumps"),
}

MOTIONS: Final[dict[str, str]] = {
    "now": N_("at once"),
    "open": N_("while the lid opens"),
    "close": N_("while the lid closes"),
    "build": N_("while it builds"),
    "raise": N_("while walls come up"),
    "deal": N_("while it deals"),
    "lower": N_("while walls go down"),
    "dice": N_("while the dice roll"),
    "flip": N_("while a tile is turned up"),
}

ACTIONS: Final[dict[str, str]] = {
    # what the practising person can ask of the machine, by operation
    "CLEAR": N_("Cause removed, go on"),
    "START": N_("Looked: no hand in play, start"),
    "ADOPT": N_("Looked: the hand goes on"),
    "RESUME": N_("Finish the motion"),
    "LEAVE": N_("Leave it, go on by hand"),
    "LOWER": N_("Lower the walls"),
    "START_BUILD": N_("Build walls"),
    "RAISE_WALLS": N_("Raise the walls"),
    "ROLL_DICE": N_("Roll the dice"),
    "DEAL": N_("Deal"),
    "FLIP_INDICATOR": N_("Turn up a tile"),
    "RELEASE_INTAKE": N_("The hand is ruled"),
    "OPEN_LID": N_("Open the lid"),
    "CLOSE_LID": N_("Close the lid"),
    "HOLD": N_("Hold"),
    "HOME": N_("Move to the start position"),
    "JOG": N_("Move a little"),
    "LAMP": N_("Lamp"),
}

SURFACES: Final[dict[str, str]] = {
    "UNKNOWN": N_("not known"),
    "CLEAR": N_("clear"),
    "WALLS_UP": N_("walls stand"),
    "DEALT": N_("tiles in play"),
    "COLLECTING": N_("tiles go in"),
}

MAGAZINES: Final[dict[str, str]] = {
    "UNKNOWN": N_("not known"),
    "EMPTY": N_("empty"),
    "LOADED": N_("tiles loose"),
    "BUILDING": N_("being built"),
    "READY": N_("built"),
}

STARTS: Final[dict[str, str]] = {
    # why the board began its present run
    "POWER_ON": N_("power came"),
    "WATCHDOG": N_("reset by its watchdog"),
    "BROWN_OUT": N_("voltage had dropped"),
    "EXTERNAL": N_("reset from outside"),
}

LIDS: Final[dict[str, str]] = {"OPEN": N_("open"), "CLOSED": N_("closed")}

STEPS: Final[dict[str, tuple[str, ...]]] = {
    # what staff does, by the code that the table says
    "machine.fault.jam": (
        N_("Hands on the table. Take the stuck tile out at the side that is named; look for a second one"),
        N_("Tap “Cause removed”, then build again"),
    ),
    "machine.fault.tiles_short": (
        N_("Look for the tiles: on the floor, in laps, in the opening, at the side that is named"),
        N_("Lay them into the machine. Not found: call the head referee, no wall is raised"),
        N_("Tap “Cause removed”, then build again"),
    ),
    "machine.fault.tiles_over": (
        N_("Take the set out and count it: a tile of the other set or of the box is among it"),
        N_("Take out what does not belong and lay the rest back"),
        N_("Tap “Cause removed”, then build again"),
    ),
    "machine.fault.sensor_stuck": (
        N_("Wipe the sensor at the side that is named; look for a tile that covers it"),
        N_("Tap “Cause removed”, then try again. It comes back: call the technician"),
    ),
    "machine.fault.lift_timeout": (
        N_("Look under the edge of the lift: a tile, a cable? Take it out; do not push the lift"),
        N_("Tap “Cause removed”, then choose how to go on"),
    ),
    "machine.fault.lid_timeout": (
        N_("Look at the rim of the lid: take out the tile that is caught"),
        N_("Tap “Cause removed”, then close the lid"),
    ),
    "machine.hold": (
        N_("Nobody reaches in. Look: is a tile caught, is a hand in the machine?"),
        N_("Choose: finish the motion, lower the walls, or leave it and go on by hand"),
    ),
    "machine.estop": (
        N_("Ask who pressed it, and why. Nobody touches the machine before that is clear"),
        N_("Release the stop button, tap “Cause removed”, then choose how to go on"),
    ),
    "machine.recover": (
        N_("Look at the table: does a hand lie there that is not ruled?"),
        N_("Yes: “the hand goes on”. No: “no hand in play”. Nothing moves before"),
    ),
    "machine.suspect": (N_("Wait some seconds: the table asks again by itself"),),
    "machine.connecting": (N_("Wait some seconds: the table asks again by itself"),),
    "machine.down": (
        N_("Check the plug of the cable and the power of the machine"),
        N_("It stays so: play on by hand, and call the technician"),
    ),
    "intake_opened_early": (
        N_("Tell the players: the lid opens when the hand is ruled, not before"),
        N_("A claim is pending: keep the tiles where they are, the referee looks at the last picture"),
    ),
}
