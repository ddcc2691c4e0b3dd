"""Short recorded sessions of a simulated machine, as both sides saw them.

They hold the bytes of the present protocol. After a wanted change of protocol, board or host, write them anew
and look at what differs:

    python -m tests.firmware_bridge.sessions --write
"""

import argparse
from pathlib import Path

from firmware_bridge.ops import Op
from firmware_bridge.sim.faulty import Rates
from firmware_bridge.sim.rig import Rig

FOLDER = Path(__file__).parents[1] / "golden" / "machine"
DEALT = (14, 13, 13, 13)


def begun(seed, fresh="ready"):
    rig = Rig(seed, speed=20.0, fresh=fresh, record=True)
    rig.ready()
    rig.execute(Op.START)
    return rig


def clean_hand():
    rig = begun(1, "loaded")
    rig.execute(Op.START_BUILD)
    rig.execute(Op.RAISE_WALLS)
    rig.execute(Op.ROLL_DICE)
    rig.execute(Op.DEAL, tiles=DEALT)
    rig.execute(Op.START_BUILD)
    rig.execute(Op.FLIP_INDICATOR)
    rig.execute(Op.RELEASE_INTAKE, hand=1)
    rig.execute(Op.OPEN_LID)
    rig.execute(Op.CLOSE_LID)
    return rig


def jam():
    rig = begun(2, "loaded")
    rig.order("jam=2@build")
    rig.execute(Op.START_BUILD)
    rig.execute(Op.RAISE_WALLS)  # refused
    rig.execute(Op.CLEAR)
    rig.execute(Op.START_BUILD)
    return rig


def reboot_in_motion():
    rig = begun(3)
    rig.order("brownout@raise")
    rig.execute(Op.RAISE_WALLS)
    rig.ready()
    rig.execute(Op.START)
    rig.execute(Op.LOWER)
    return rig


def estop():
    rig = begun(4)
    asked = rig.submit(Op.RAISE_WALLS)
    rig.run(0.1)
    rig.host.estop()
    rig.run_until(lambda: asked in rig.outcomes)
    rig.execute(Op.RESUME)  # refused
    rig.execute(Op.CLEAR)
    rig.execute(Op.RESUME)
    return rig


def lossy_line():
    rig = begun(5)
    rig.to_device.rates = Rates(drop=0.15, flip=0.1, duplicate=0.1)
    rig.to_host.rates = Rates(drop=0.15, reorder=0.1, echo=0.1, garbage=0.1)
    rig.execute(Op.RAISE_WALLS)
    rig.execute(Op.ROLL_DICE)
    rig.execute(Op.DEAL, tiles=DEALT)
    return rig


SESSIONS = {play.__name__: play for play in (clean_hand, jam, reboot_in_motion, estop, lossy_line)}


def played(name):
    """The finished rig of a session, with what follows its last command on the line."""
    rig = SESSIONS[name]()
    rig.run(1)
    return rig


def texts(rig):
    """File name's ending and content of both sides."""
    return {"host": rig.host_side.text(), "device": rig.device_side.text()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", required=True, help="write all of them anew")
    parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for name in SESSIONS:
        for side, text in texts(played(name)).items():
            (FOLDER / f"{name}.{side}.jsonl").write_text(text)


if __name__ == "__main__":
    main()
