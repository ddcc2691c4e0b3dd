"""The fault menu: how it is read, what it refuses, and what each item does to a machine."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import Fault, Lid, Magazine, Surface
from firmware_bridge.machine import FaultReport, LinkState, Status
from firmware_bridge.messages import Command, CommandAck, CommandDone
from firmware_bridge.ops import Op
from firmware_bridge.sim.faults import Accident, parse_faults
from firmware_bridge.sim.menu import MENU, Takes, When, help_text
from firmware_bridge.sim.rig import Rig

DEALT = (14, 13, 13, 13)


def test_the_fault_menu():
    plan = parse_faults(
        "ack-lost=0.1, done-lost=0.2,cmd-lost=0.3,drop=0.05,dup=0.5,delay=20ms,jam=2@build,missing=1,"
        "stuck@open,stuck@raise,mute=3s@deal,mute=500ms,reboot@deal,reboot,button,"
        "stall=1s@deal,reorder=0.04,echo=0.3,coalesce=16ms,extra=2@build,sensor=3,sensor@raise,taken,"
        "power=2s@lower,estop@now"
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
        (Op.START_BUILD, FaultReport(Fault.TILES_OVER, None, 2)),
        (Op.START_BUILD, FaultReport(Fault.SENSOR_STUCK, 3)),
        (Op.RAISE_WALLS, FaultReport(Fault.SENSOR_STUCK)),
    ]
    assert plan.accidents == [
        Accident("mute", Op.DEAL, 3.0),
        Accident("mute", None, 0.5),
        Accident("reboot", Op.DEAL),
        Accident("reboot", None),
        Accident("button", None),
        Accident("stall", Op.DEAL, 1.0),
        Accident("taken", None),
        Accident("power", Op.LOWER, 2.0),
        Accident("estop", None, now=True),
    ]
    assert parse_faults("").accidents == []
    assert parse_faults("missing=3:1").trouble == [(Op.START_BUILD, FaultReport(Fault.TILES_SHORT, 1, 3))]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("fire", "'fire' is no fault"),
        ("drop=2", "no CHANCE"),
        ("drop=x", "no CHANCE"),
        ("drop=nan", "no CHANCE"),
        ("drop", "lacks its value"),
        ("drop=", "lacks its value"),
        ("drop=0.1@build", "takes no motion"),
        ("drop=0.1@", "takes no motion"),
        ("jam=9@build", "no PLACE"),
        ("jam=-1", "no PLACE"),
        ("jam=２", "no PLACE"),
        ("jam@build", "lacks its value"),
        ("jam=2@", "names no motion after @"),
        ("jam=1@moon", "none of build, raise, deal, lower, open, close, dice, flip"),
        ("jam=1@now", "none of build"),
        ("jam=1@build@deal", "none of build"),
        ("jam=1=2", "no PLACE"),
        ("mute@deal", "lacks its value"),
        ("mute=3s@", "names no motion after @"),
        ("mute=-1s", "no SECONDS"),
        ("mute=inf", "no SECONDS"),
        ("missing=0", "no TILES"),
        ("missing=1:4", "no TILES"),
        ("missing=1:", "no TILES"),
        ("missing=1@raise", "none of build"),
        ("extra=101", "no TILES"),
        ("stuck=1@open", "takes no value"),
        ("stuck=@open", "takes no value"),
        ("stuck@moon", "none of raise"),
        ("sensor=@build", "lacks its value"),
        ("button=1", "takes no value"),
        ("button@", "names no motion after @"),
        ("taken@deal", "none of now"),
        ("reboot=3", "takes no value"),
        ("jam=2@build,jam=1@build", "stands there twice"),
        ("jam=2,jam=1@build", "stands there twice"),
        ("drop=0.1,drop=0.2", "stands there twice"),
        ("reboot,reboot", "stands there twice"),
        ("@build", "is no fault"),
        ("=2", "is no fault"),
    ],
)
def test_what_is_not_on_the_menu_is_refused_in_one_line(spec, says):
    with pytest.raises(UsageError, match=re.escape(says)) as caught:
        parse_faults(f"drop=0.01,{spec}" if "drop" not in spec else spec)
    message = str(caught.value)
    assert "\n" not in message
    bad = spec.rpartition(",")[2]
    assert message.startswith(repr(bad))
    if bad.partition("@")[0].partition("=")[0] in MENU:
        shown = re.search(r"Write (\S+), such as (\S+)\.$", message)
        assert shown, message
        assert parse_faults(shown[2])


@pytest.mark.parametrize("item", MENU.values(), ids=lambda item: item.name)
def test_the_example_of_every_item_is_right_and_the_help_shows_its_form(item):
    assert parse_faults(item.example).named == {item.name}
    assert f"    {item.form} " in help_text()
    for motion in (*item.motions, *item.odd):
        value = "" if item.takes.example is None else f"={item.takes.example}"
        parse_faults(f"{item.name}{value}@{motion}")


def test_the_page_for_staff_shows_the_menu_as_it_is():
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    assert f"```text\n{help_text()}\n```" in text, "copy what `quezhuo machine-sim --help` prints"


def test_items_without_a_value_have_no_example_of_one():
    assert all((item.takes is Takes.NOTHING) == (item.takes.form == "") for item in MENU.values())


# -- what they do -------------------------------------------------------------------------------------------


def machine(fresh="loaded"):
    rig = Rig(4, speed=20.0, fresh=fresh)
    rig.ready()
    done(rig, Op.START)
    return rig


def done(rig, op, **args):
    outcome = rig.execute(op, **args)
    assert outcome.status is Status.DONE, outcome


@pytest.mark.parametrize(
    ("words", "code", "report"),
    [
        ("jam=2@build", "jam", FaultReport(Fault.JAM, 2)),
        ("missing=1:2", "tiles_short", FaultReport(Fault.TILES_SHORT, 2, 1)),
        ("extra=2", "tiles_over", FaultReport(Fault.TILES_OVER, None, 2)),
        ("sensor=1", "sensor_stuck", FaultReport(Fault.SENSOR_STUCK, 1)),
    ],
)
def test_a_build_that_fails_is_told_cleared_and_built_again(words, code, report):
    rig = machine()
    rig.order(words)
    outcome = rig.execute(Op.START_BUILD)
    assert (outcome.status, outcome.code) == (Status.FAILED, code)
    assert rig.view.faults == (report,)
    assert rig.view.code == f"machine.fault.{code}"
    assert rig.view.magazine is Magazine.LOADED
    assert rig.execute(Op.START_BUILD).code == "fault"
    done(rig, Op.CLEAR)
    done(rig, Op.START_BUILD)
    assert rig.view.progress == (17, 17, 17, 17)


@pytest.mark.parametrize(
    ("words", "code"),
    [("stuck", "lift_timeout"), ("jam=1@raise", "jam"), ("sensor@raise", "sensor_stuck")],
)
def test_a_raise_that_fails_hangs_halfway_until_a_person_chooses(words, code):
    rig = machine("ready")
    rig.order(words)
    assert rig.execute(Op.RAISE_WALLS).code == code
    assert (rig.view.hold, rig.view.surface) == (True, Surface.UNKNOWN)
    assert 50 <= rig.view.lift < 60
    assert rig.execute(Op.RESUME).code == "fault"
    done(rig, Op.CLEAR)
    done(rig, Op.RESUME)
    assert rig.view.surface is Surface.WALLS_UP


def test_a_lid_that_stays_open_is_closed_after_a_look():
    rig = machine("dealt")
    rig.order("stuck@open")
    assert rig.execute(Op.OPEN_LID).code == "lid_timeout"
    assert (rig.view.lid, rig.view.surface) == (Lid.OPEN, Surface.COLLECTING)
    assert rig.execute(Op.CLOSE_LID).code == "fault"
    done(rig, Op.CLEAR)
    done(rig, Op.CLOSE_LID)
    assert rig.view.drum


@pytest.mark.parametrize(
    ("words", "cause"),
    [("reboot@deal", "watchdog"), ("brownout@deal", "brown_out"), ("power=5s@deal", "power_on")],
)
def test_a_board_that_stops_in_mid_deal_says_why_it_was_reset(words, cause):
    rig = machine("ready")
    rig.order(words)
    outcome = rig.execute(Op.DEAL, tiles=DEALT)
    assert (outcome.status, outcome.code) == (Status.UNKNOWN, "rebooted")
    rig.ready()
    assert rig.view.reset_cause == cause
    assert (rig.view.link, rig.view.locked, rig.view.surface) == (LinkState.RECOVER, True, Surface.DEALT)


def test_a_board_without_power_is_silent_for_as_long():
    rig = machine("ready")
    before = rig.view.boot_id
    rig.order("power=5s@now")
    rig.run(4.5)
    assert not rig.view.ready
    rig.ready(limit=3.0)
    assert rig.view.boot_id != before


def test_a_pressed_stop_is_latched_in_mid_motion():
    rig = machine("ready")
    rig.order("estop@raise")
    assert rig.execute(Op.RAISE_WALLS).code == "estopped"
    assert rig.view.code == "machine.estop"
    done(rig, Op.CLEAR)
    done(rig, Op.LOWER)


def test_a_tile_is_taken_as_soon_as_walls_stand():
    rig = machine("ready")
    rig.order("taken")
    rig.run(1)
    assert rig.view.surface is Surface.CLEAR
    done(rig, Op.RAISE_WALLS)
    rig.run(0.5)
    assert (rig.view.surface, rig.view.taken) == (Surface.DEALT, True)
    assert rig.execute(Op.LOWER).code in ("surface", "tiles_taken")


def test_the_button_can_be_pressed_at_once():
    rig = machine("ready")
    rig.order("button@now")
    rig.run(0.5)
    assert rig.host.events[-1].code == "intake_opened_early"


def test_orders_are_not_doubled_and_can_be_taken_back():
    rig = machine()
    for _ in range(2):
        rig.order("jam=2,reboot,drop=0.5,delay=1s")
    assert len(rig.device.plant.trouble) == len(rig.mishaps.waiting) == 1
    assert (rig.to_host.rates.drop, rig.to_device.delay) == (0.5, 1.0)
    rig.order("echo=0.1")
    assert (rig.to_host.rates.drop, rig.to_host.rates.echo) == (0.5, 0.1)
    rig.order("none")
    assert (rig.to_host.rates.drop, rig.to_device.delay) == (0.0, 0.0)
    done(rig, Op.START_BUILD)


def test_a_line_of_orders_is_taken_whole_or_not_at_all():
    rig = machine()
    with pytest.raises(UsageError):
        rig.order("jam=2,fire")
    done(rig, Op.START_BUILD)


def test_every_item_that_happens_by_itself_happens():
    for item in MENU.values():
        if item.when is When.HALFWAY:
            rig = machine("ready")
            rig.order(item.example.partition("@")[0])
            rig.submit(Op.RAISE_WALLS)
            rig.run(1.0)
            assert rig.mishaps.waiting == [], item.name


@pytest.mark.system
def test_a_running_machine_obeys_its_control_line(tmp_path):
    record = tmp_path / "session.jsonl"
    command = [sys.executable, "-m", "firmware_bridge.sim", "--control", "--record", str(record)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.readline())["ready"]
        answers = []
        for words in ("jam=2@build", "jam=2@", "", "none", "drop=0.5,reboot@now"):
            process.stdin.write(f"{words}\n")
            process.stdin.flush()
            if words:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()  # whoever gave orders leaves; the machine goes on
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert answers[0] == {"ok": True, "faults": "jam=2@build"}
    assert "Write jam=PLACE[@MOTION], such as jam=2@build." in answers[1]["error"]["message"]
    assert [answer.get("faults") for answer in answers[2:]] == ["none", "drop=0.5,reboot@now"]
    rows = [json.loads(row) for row in record.read_text().splitlines()]
    assert rows[0]["side"] == "device"
    assert [row["faults"] for row in rows if "faults" in row] == [
        "jam=2@build",
        "none",
        "drop=0.5,reboot@now",
    ]
