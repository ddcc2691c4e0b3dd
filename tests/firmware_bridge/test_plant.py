"""Profiles, plant and the simulator's files."""

import json
import random
from dataclasses import replace
from importlib import resources

import pytest

from firmware_bridge import profiles
from firmware_bridge.errors import ProfileError, UsageError
from firmware_bridge.interlock import Allowed, Fault, Lane, Lid, Magazine, State, Surface, may_move
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import Op
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.files import Pulses, read_json, write_json
from firmware_bridge.sim.plant import FRESH, Plant, Sensors

FULL = (17, 17, 17, 17)
LAMP = '[[lamps]]\nshows = "{}"\nwhen = {{ {} = "{}" }}\n[seconds]\n'


def plant(fresh="ready", seed=1):
    profile = profiles.load("136")
    made = Plant(profile, random.Random(seed), 1.0, FRESH[fresh](profile))
    made.tick(0.0)
    return made


def finish(made, op, start=0.0, **args):
    made.begin(op, args)
    return made.tick(start + 100.0)


def test_every_profile_adds_up():
    assert profiles.ids() == ("102", "108", "112", "124", "136", "136-dealt", "144")
    for name in profiles.ids():
        profile = profiles.load(name)
        held = 2 * sum(profile.walls) + sum(profile.dealt)
        assert held == profile.tiles == int(profile.id.partition("-")[0])
        assert (profile.empty is None) == all(profile.walls)


def test_a_direct_deal_leaves_lower_walls():
    profile = profiles.load("136-dealt")
    assert (profile.walls, profile.dealt) == ((10, 10, 11, 11), (13, 13, 13, 13))
    assert profile.deals_directly
    assert profiles.with_walls(profile.walls) is None


@pytest.mark.parametrize("empty", range(4))
def test_three_can_sit_at_any_three_sides(empty):
    profile = profiles.load(f"102@{empty}")
    assert profile.walls == tuple(0 if side == empty else 17 for side in range(4))
    assert profile.tiles == 102
    assert profiles.load(str(profiles.with_walls(profile.walls))).walls == profile.walls
    assert profiles.is_known(profile.id)
    # The last side is the one of the file, and needs no name of its own.
    assert profile.id == ("102" if empty == 3 else f"102@{empty}")


def test_what_stands_next_to_the_empty_side_moves_with_it(tmp_path):
    path = tmp_path / "mine.toml"
    text = packaged("102").replace("[17, 17, 17, 0]", "[18, 17, 16, 0]")
    path.write_text(text)
    mine = profiles.load(str(path))
    assert mine.without(1).walls == (16, 0, 18, 17)
    assert mine.without(3) is mine
    with pytest.raises(ProfileError, match="empty side 4"):
        mine.without(4)


@pytest.mark.parametrize("name", ["136@1", "102@4", "102@", "102@x", "x" * 5000, "x\0y"])
def test_only_a_three_sided_setting_has_an_empty_side(name):
    assert not profiles.is_known(name)
    with pytest.raises(ProfileError, match="no machine profile"):
        profiles.load(name)


def packaged(name):
    return (resources.files("firmware_bridge") / "profiles" / f"{name}.toml").read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("tiles = 136", "tiles = 144"), "tiles: .* hold 136 tiles, not 144"),
        (("tiles = 136", "tiles = 136.0"), "tiles: a whole number"),
        (("[17, 17, 17, 17]", "[17, 17, 17]"), "walls: the numbers of four places"),
        (("[17, 17, 17, 17]", "[17, 17, 13, 21]"), "walls: .* 0 to 20 each"),
        (("[17, 17, 17, 17]", "[20, 20, 0, 28]"), "walls: .* 0 to 20 each"),
        (("[17, 17, 17, 17]", "[20, 20, 20, 8]\nempty = 3"), "empty: names the one side without a wall"),
        (("[17, 17, 17, 17]", "[19, 20, 20, 0]\ndealt = [6, 6, 6, 0]"), "empty: names the one side"),
        (("deal = 8.0\n", ""), "seconds.deal is missing"),
        (("deal = 8.0", "deal = 0"), "seconds.deal: seconds above 0"),
        (("deal = 8.0", "deal = nan"), "seconds.deal: seconds above 0"),
        (("deal = 8.0", "sing = 8.0"), "seconds.sing is no motion"),
        (("deal = 8.0", "lamp = 8.0"), "seconds.lamp is no motion"),
        (("tiles = 136", "tiles = "), "can not be read"),
        (("tiles = 136", "tiles = 136\nwall = 1"), "wall is no key"),
        (('id = "136"', 'id = "a far too long id"'), "id: a text of 1 to 12"),
        (('name = "Four', 'nome = "Four'), "nome is no key"),
        (("[seconds]", "[timeouts]\ndeal = 7\n[seconds]"), "timeouts.deal: is shorter"),
        (("[seconds]", "[timeouts]\nfly = 7\n[seconds]"), "timeouts.fly is no motion"),
        (("[seconds]", "[timeouts]\ndeal = 700\n[seconds]"), "timeouts.deal: seconds above 0, at most 655"),
        (("[seconds]", "lamps = []\n[seconds]"), "lamps: at least one"),
        (("[seconds]", LAMP.format("sings", "ready", "on")), r"lamps\[0\].shows: use one of"),
        (("[seconds]", LAMP.format("jam", "green", "on")), r"lamps\[0\].when.green is no lamp"),
        (("[seconds]", LAMP.format("jam", "ready", "dim")), r"lamps\[0\].when.ready: use on, off, blink"),
        (("[seconds]", LAMP.format("jam", "ready", "on") + "x = 1"), r"seconds.x is no motion"),
        (("[seconds]", "blink_s = 0\n[seconds]"), "blink_s: seconds above 0"),
        (
            ("[seconds]", LAMP.format("jam", "ready", "on").replace('"on"', "[1]")),
            r"lamps\[0\].when.ready: use",
        ),
        (("[seconds]", LAMP.format("jam", '"a\\nb"', "on")), r"lamps\[0\].when.'a\\nb' is no lamp"),
        (("deal = 8.0", '"a\\nb" = 8.0'), r"seconds.'a\\nb' is no motion"),
        (("tiles = 136", '"a\\nb" = 1'), r"'a\\nb' is no key"),
        (('id = "136"', 'id = "a\\nb"'), "id: a text of 1 to 12 ASCII characters is needed, on one line"),
        (("tiles = 136", "tiles = " + "9" * 5000), "can not be read"),
        (("tiles = 136", "tiles = " + "[" * 20_000), "nested too deep"),
    ],
)
def test_a_profile_that_does_not_add_up_is_refused_and_its_key_named(tmp_path, change, says):
    text = packaged("136")
    assert change[0] in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(*change))
    with pytest.raises(ProfileError, match=says) as refused:
        profiles.load(str(path))
    assert str(refused.value).isprintable(), "one line"


def test_timeouts_and_lamps_are_data(tmp_path):
    path = tmp_path / "mine.toml"
    more = "blink_s = 0.7\n" + LAMP.format("tiles_short", "ready", "blink").replace(
        "[seconds]", "[timeouts]\ndeal = 12\n[seconds]"
    )
    path.write_text(packaged("136").replace("[seconds]", more))
    mine = profiles.load(str(path))
    assert mine.timeouts == {Op.DEAL: 12.0}
    (rule,) = mine.lamps
    assert (rule.fault, dict(rule.when)) == (Fault.TILES_SHORT, {"ready": "blink"})
    assert mine.blink_s == 0.7


def test_a_missing_profile_names_the_known_ones():
    with pytest.raises(ProfileError, match="102, 108, 112"):
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


# -- two sets, each with its own tiles -----------------------------------------------------------------------


def sets_of(made):
    s = made.sensors
    return sorted(n for n in (s.in_drum, s.in_tray, s.built, s.on_table, *s.outside) if n)


def test_the_two_sets_change_places():
    made = plant("loaded")
    finish(made, Op.START_BUILD)
    assert (made.sensors.built, made.sensors.in_drum) == (1, 2)
    finish(made, Op.RAISE_WALLS, 100)
    assert (made.sensors.on_table, made.sensors.magazine) == (1, Magazine.LOADED)
    finish(made, Op.START_BUILD, 200)
    finish(made, Op.DEAL, 300, tiles=(14, 13, 13, 13))
    finish(made, Op.OPEN_LID, 400)
    finish(made, Op.CLOSE_LID, 500)
    assert (made.sensors.built, made.sensors.in_drum, made.sensors.on_table) == (2, 1, 0)
    assert sets_of(made) == [1, 2]


@pytest.mark.parametrize("fresh", FRESH)
def test_no_set_is_ever_lost_or_doubled(fresh):
    rng = random.Random(fresh)
    made = plant(fresh)
    ops = [Op.START_BUILD, Op.RAISE_WALLS, Op.DEAL, Op.LOWER, Op.OPEN_LID, Op.CLOSE_LID]
    state = State(hand_no=0, locked=False, lease=True)
    now = 0.0
    for _ in range(400):
        s = made.sensors
        op, now = rng.choice(ops), now + rng.choice([0.5, 3.0, 20.0, 100.0])
        made.tick(now)
        here = replace(
            state, surface=s.surface, magazine=s.magazine, lid=s.lid, stacks=s.stacks, walls=s.walls,
            drum=s.drum, taken=s.taken, hold=bool(made.cut), cut=frozenset(m.op for m in made.cut.values()),
            running=frozenset(m.op for m in made.motions.values()),
        )  # fmt: skip
        args = {"tiles": (14, 13, 13, 13)} if op is Op.DEAL else {}
        if rng.random() < 0.1:
            rng.choice([made.stop, made.power_cut, made.leave])()
        elif isinstance(may_move(here, op, args), Allowed):
            if rng.random() < 0.2:
                place = rng.randrange(4)
                fault = rng.choice([Fault.JAM, Fault.TILES_SHORT, Fault.TILES_OVER, Fault.SENSOR_STUCK])
                made.trouble.append((op, FaultReport(fault, place, 1)))
            made.begin(op, args)
        elif not made.motions and made.cut:
            made.resume()
        made.tick(now)
        made.mend()
        assert sets_of(made) == [1, 2]
        assert s.drum == (s.in_drum != 0)


@pytest.mark.parametrize(
    ("missing", "place", "stacks", "told"),
    [
        (1, 2, (17, 17, 16, 17), FaultReport(Fault.TILES_SHORT, 2, 1)),
        (2, 0, (16, 17, 17, 17), FaultReport(Fault.TILES_SHORT, 0, 2)),
        (1, None, (17, 17, 17, 16), FaultReport(Fault.TILES_SHORT, 3, 1)),
        (40, 1, (14, 0, 17, 17), FaultReport(Fault.TILES_SHORT, None, 40)),  # two places are short
    ],
)
def test_missing_tiles_show_at_the_end_of_a_build(missing, place, stacks, told):
    made = plant("loaded")
    made.trouble.append((Op.START_BUILD, FaultReport(Fault.TILES_SHORT, place, missing)))
    made.begin(Op.START_BUILD, {})
    assert made.tick(20.0) == []  # not before all are counted
    (ended,) = made.tick(60.0)
    assert ended.fault == told
    assert made.sensors.stacks == stacks
    assert (made.sensors.magazine, made.sensors.in_drum) == (Magazine.LOADED, 1)
    assert made.sensors.tiles == (136 - missing, 136)


def test_surplus_tiles_show_when_all_stacks_are_full():
    made = plant("loaded")
    made.trouble.append((Op.START_BUILD, FaultReport(Fault.TILES_OVER, None, 3)))
    (ended,) = finish(made, Op.START_BUILD)
    assert ended.fault == FaultReport(Fault.TILES_OVER, None, 3)
    assert (made.sensors.stacks, made.sensors.magazine) == (FULL, Magazine.LOADED)
    (again,) = finish(made, Op.START_BUILD, 100)  # nobody has taken them out
    assert again.fault == ended.fault
    made.mend()
    (ended,) = finish(made, Op.START_BUILD, 200)
    assert ended.fault is None
    assert made.sensors.magazine is Magazine.READY


def test_a_set_of_another_game_is_told_by_its_count():
    made = plant("loaded")
    made.sensors.tiles = (144, 136)
    (ended,) = finish(made, Op.START_BUILD)
    assert ended.fault == FaultReport(Fault.TILES_OVER, None, 8)


def test_a_machine_that_deals_directly_has_more_tiles_than_its_walls():
    profile = profiles.load("136-dealt")
    made = Plant(profile, random.Random(1), 1.0, FRESH["loaded"](profile))
    Device(made, uid=1, boot_id=1, now=0.0)
    (ended,) = finish(made, Op.START_BUILD)
    assert (ended.fault, made.sensors.stacks) == (None, (10, 10, 11, 11))


@pytest.mark.parametrize(("fault", "least"), [(Fault.JAM, 5), (Fault.SENSOR_STUCK, 5)])
def test_a_place_that_is_caught_stays_behind(fault, least):
    made = plant("loaded")
    made.trouble.append((Op.START_BUILD, FaultReport(fault, 1)))
    (ended,) = finish(made, Op.START_BUILD)
    assert ended.fault == FaultReport(fault, 1)
    assert made.sensors.stacks[1] == least
    assert made.sensors.stacks[2] > least


@pytest.mark.parametrize("op", [Op.RAISE_WALLS, Op.DEAL])
def test_a_stuck_sensor_leaves_a_lift_halfway(op):
    made = plant()
    made.trouble.append((op, FaultReport(Fault.SENSOR_STUCK)))
    (ended,) = finish(made, op, tiles=(14, 13, 13, 13))
    assert ended.fault == FaultReport(Fault.SENSOR_STUCK)
    assert made.cut[Lane.SURFACE].op is op
    assert made.sensors.surface is Surface.UNKNOWN


def test_the_tiles_of_both_sets_survive_a_file():
    made = plant("loaded")
    made.trouble.append((Op.START_BUILD, FaultReport(Fault.TILES_SHORT, 2, 1)))
    made.begin(Op.START_BUILD, {})
    made.tick(5.0)
    again = plant()
    again.restore(json.loads(json.dumps(made.to_json())))
    assert again.sensors.tiles == (135, 136)
    (ended,) = finish(again, Op.START_BUILD)
    assert ended.fault == FaultReport(Fault.TILES_SHORT, 3, 1)


@pytest.mark.parametrize("change", [{"in_drum": 3}, {"outside": [1, 7]}, {"tiles": [136]}, {"built": "x"}])
def test_a_spoiled_file_is_not_believed(change):
    data = plant("loaded").to_json()
    data["sensors"].update(change)
    with pytest.raises((ValueError, IndexError)):
        plant().restore(data)


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
