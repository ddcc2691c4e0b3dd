"""Profiles, plant, fault menu and the simulator's files."""

import json
import random

import pytest

from firmware_bridge import profiles
from firmware_bridge.errors import ProfileError, UsageError
from firmware_bridge.interlock import Fault, Lane, Lid, Magazine, Surface
from firmware_bridge.machine import FaultReport
from firmware_bridge.messages import Command, CommandAck, CommandDone
from firmware_bridge.ops import Op
from firmware_bridge.sim.faults import Accident, parse_faults
from firmware_bridge.sim.files import Pulses, read_json, write_json
from firmware_bridge.sim.plant import FRESH, Plant, Sensors

FULL = (17, 17, 17, 17)


def plant(fresh="ready", seed=1):
    profile = profiles.load("136")
    made = Plant(profile, random.Random(seed), 1.0, FRESH[fresh](profile))
    made.tick(0.0)
    return made


def finish(made, op, start=0.0, **args):
    made.begin(op, args)
    return made.tick(start + 100.0)


def test_every_profile_adds_up():
    assert profiles.ids() == ("102", "136", "144")
    for name in profiles.ids():
        profile = profiles.load(name)
        assert 2 * sum(profile.walls) == profile.tiles == int(profile.id)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("tiles = 136", "tiles = 144"), "136 tiles, not 144"),
        (("[17, 17, 17, 17]", "[17, 17, 17]"), "four places"),
        (("deal = 8.0\n", ""), "every motion"),
        (("deal = 8.0", "deal = 0"), "above 0"),
        (("deal = 8.0", "sing = 8.0"), "can not be read"),
        (("tiles = 136", "tiles = "), "can not be read"),
    ],
)
def test_a_profile_that_does_not_add_up_is_refused(tmp_path, change, says):
    from importlib import resources

    text = (resources.files("firmware_bridge") / "profiles" / "136.toml").read_text()
    assert change[0] in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(*change))
    with pytest.raises(ProfileError, match=says):
        profiles.load(str(path))


def test_a_missing_profile_names_the_known_ones():
    with pytest.raises(ProfileError, match="102, 136, 144"):
        profiles.load("137")


def test_dice_follow_their_seed():
    rolls = [finish(plant(seed=5), Op.ROLL_DICE)[0].result["dice"] for _ in range(2)]
    assert rolls[0] == rolls[1]
    one = plant(seed=9)
    many = {finish(one, Op.ROLL_DICE, start)[0].result["dice"] for start in range(0, 40_000, 200)}
    assert len(many) > 20
    assert all(1 <= a <= 6 and 1 <= b <= 6 for a, b in many)


def test_tiles_are_dealt_little_by_little():
    made = plant()
    made.begin(Op.DEAL, {"tiles": (14, 13, 13, 13)})
    served = []
    for tick in range(1, 82):
        made.tick(tick * 0.1)
        served.append(made.sensors.dealt)
    assert len(set(served)) >= 13
    assert served[-1] == (14, 13, 13, 13)
    assert made.sensors.walls == FULL


def test_a_stopped_lift_is_unknown_and_goes_on():
    made = plant()
    made.begin(Op.RAISE_WALLS, {})
    made.tick(3.0)
    made.stop()
    assert made.sensors.surface is Surface.UNKNOWN
    assert made.sensors.lift == 50
    made.tick(500.0)
    assert made.sensors.lift == 50
    made.resume()
    (ended,) = made.tick(503.1)
    assert ended.fault is None
    assert made.sensors.surface is Surface.WALLS_UP


@pytest.mark.parametrize(
    ("fresh", "op", "surface", "magazine", "lid", "cut"),
    [
        ("ready", Op.RAISE_WALLS, Surface.UNKNOWN, Magazine.READY, Lid.CLOSED, Op.RAISE_WALLS),
        ("loaded", Op.START_BUILD, Surface.CLEAR, Magazine.LOADED, Lid.CLOSED, None),
        ("ready", Op.DEAL, Surface.DEALT, Magazine.LOADED, Lid.CLOSED, None),
        ("dealt", Op.OPEN_LID, Surface.COLLECTING, Magazine.READY, Lid.OPEN, None),
    ],
)
def test_what_is_known_after_a_power_cut_in_mid_motion(fresh, op, surface, magazine, lid, cut):
    made = plant(fresh)
    made.begin(op, {"tiles": (14, 13, 13, 13)} if op is Op.DEAL else {})
    made.tick(0.7)
    kept = json.loads(json.dumps(made.to_json()))
    assert made.motions  # looking does not stop it
    again = plant()
    again.restore(kept)
    s = again.sensors
    assert (s.surface, s.magazine, s.lid) == (surface, magazine, lid)
    assert (again.cut[Lane.SURFACE].op if again.cut else None) is cut


def test_sensors_survive_a_file():
    sensors = Sensors(dice=(2, 5), stacks=FULL, surface=Surface.DEALT)
    assert Sensors.from_json(json.loads(json.dumps(sensors.to_json()))) == sensors


@pytest.mark.parametrize("op", [Op.OPEN_LID, Op.CLOSE_LID])
def test_a_stuck_lid_stays_open(op):
    made = plant("dealt")
    if op is Op.CLOSE_LID:
        finish(made, Op.OPEN_LID)
    made.trouble.append((op, FaultReport(Fault.LID_TIMEOUT)))
    (ended,) = finish(made, op, 100.0)
    assert ended.fault is not None
    assert (made.sensors.lid, made.sensors.surface) == (Lid.OPEN, Surface.COLLECTING)


def test_a_stuck_lift_is_cut_halfway():
    made = plant()
    made.trouble.append((Op.RAISE_WALLS, FaultReport(Fault.LIFT_TIMEOUT)))
    (ended,) = finish(made, Op.RAISE_WALLS)
    assert ended.fault == FaultReport(Fault.LIFT_TIMEOUT)
    assert made.cut[Lane.SURFACE].op is Op.RAISE_WALLS


def test_leaving_a_cut_lid_or_build_to_hands():
    made = plant("loaded")
    made.begin(Op.START_BUILD, {})
    made.tick(5.0)
    made.stop()
    made.leave()
    assert (made.sensors.magazine, made.sensors.drum, made.cut) == (Magazine.LOADED, True, {})
    made = plant("dealt")
    made.begin(Op.OPEN_LID, {})
    made.tick(0.5)
    made.stop()
    made.leave()
    assert (made.sensors.lid, made.sensors.collected) == (Lid.OPEN, True)


# -- the fault menu ---------------------------------------------------------------------------------------


def test_the_fault_menu():
    plan = parse_faults(
        "ack-lost=0.1, done-lost=0.2,cmd-lost=0.3,drop=0.05,dup=0.5,delay=20ms,jam=2@build,missing=1,"
        "stuck@open,stuck@raise,mute=3s@deal,mute=500ms,reboot@deal,reboot,button,"
        "stall=1s@deal,reorder=0.04,echo=0.3,coalesce=16ms"
    )
    assert plan.to_host.kinds == {CommandAck.KIND: 0.1, CommandDone.KIND: 0.2}
    assert plan.to_device.kinds == {Command.KIND: 0.3}
    assert (plan.to_host.drop, plan.to_device.duplicate, plan.delay) == (0.05, 0.5, 0.02)
    assert (plan.to_host.reorder, plan.to_device.echo, plan.coalesce) == (0.04, 0.3, 0.016)
    assert plan.trouble == [
        (Op.START_BUILD, FaultReport(Fault.JAM, 2)),
        (Op.START_BUILD, FaultReport(Fault.TILES_SHORT, None, 1)),
        (Op.OPEN_LID, FaultReport(Fault.LID_TIMEOUT)),
        (Op.RAISE_WALLS, FaultReport(Fault.LIFT_TIMEOUT)),
    ]
    assert plan.accidents == [
        Accident("mute", Op.DEAL, 3.0),
        Accident("mute", None, 0.5),
        Accident("reboot", Op.DEAL),
        Accident("reboot", None),
        Accident("button", None),
        Accident("stall", Op.DEAL, 1.0),
    ]
    assert parse_faults("").accidents == []


@pytest.mark.parametrize(
    "spec", ["fire", "drop=2", "drop=x", "jam=9@build", "jam@build", "mute@deal", "missing=0", "jam=1@moon"]
)
def test_what_is_not_on_the_menu_is_refused(spec):
    with pytest.raises(UsageError):
        parse_faults(spec)


# -- files ------------------------------------------------------------------------------------------------


def test_pulses_are_continued(tmp_path):
    path = tmp_path / "pulses.json"
    Pulses(path)(1, Op.DEAL, 7)
    pulses = Pulses(path)
    pulses(2, Op.DEAL, 8)
    pulses(3, Op.RELEASE_INTAKE, 8)  # no motion
    assert json.loads(path.read_text()) == {
        "motions": [{"cmd_id": 1, "op": "DEAL", "boot_id": 7}, {"cmd_id": 2, "op": "DEAL", "boot_id": 8}],
        "counts": {"DEAL": 2},
    }
    assert [entry.name for entry in tmp_path.iterdir()] == ["pulses.json"]


def test_a_strange_file_is_refused(tmp_path):
    path = tmp_path / "x.json"
    assert read_json(path) is None
    path.write_text("")
    assert read_json(path) is None
    for text in ("[1]", "hello"):
        path.write_text(text)
        with pytest.raises(UsageError, match="no file of a simulated machine"):
            read_json(path)
    write_json(path, {"a": 1}, durable=True)
    assert read_json(path) == {"a": 1}
