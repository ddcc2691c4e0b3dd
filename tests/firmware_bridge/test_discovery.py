"""What a look at a system says about its port: made-up trees, no real device."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from firmware_bridge.discovery import ADAPTERS, CHECKS, Device, Facts, Finding, User, examine
from firmware_bridge.discovery_linux import collect
from firmware_bridge.errors import UsageError

TOP = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0"
LOW = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0"
BY_ID = "/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0"
GUEST = User("guest", 64_001, frozenset({64_001}))


class Tree:
    """A system in a folder, with the files that a look reads."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("etc/group", f"root:x:0:\ndialout:x:{os.getgid() or 20}:\n")

    def write(self, name: str, text: str = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def link(self, name: str, target: str) -> None:
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def adapter(self, number: int, by_path: str, *properties: str, by_id: str = BY_ID) -> None:
        name = f"ttyUSB{number}"
        self.write(f"dev/{name}").chmod(0o660)
        self.write(f"sys/class/tty/{name}/dev", f"188:{number}\n")
        told = ["ID_VENDOR_ID=1a86", "ID_MODEL_ID=7523", *properties]
        lines = [f"S:{by_id.removeprefix('/dev/')}", *(f"E:{line}" for line in told)]
        self.write(f"run/udev/data/c188:{number}", "\n".join(lines))
        self.link(by_path, f"../../{name}")

    def process(self, pid: int, program: str, *opened: str) -> None:
        self.write(f"proc/{pid}/comm", f"{program}\n")
        for number, path in enumerate(opened):
            self.link(f"proc/{pid}/fd/{number}", path)

    def found(self, port: str | None = None, user: User | None = None) -> list[Finding]:
        return found(collect(port, self.root, user))


def found(facts: Facts) -> list[Finding]:
    return [finding for answer in examine(facts) for finding in answer.findings]


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_port_by_its_path_with_nothing_in_the_way_is_well(tree: Tree) -> None:
    tree.adapter(0, TOP)
    tree.process(7, "bash", "/dev/null")
    assert tree.found(TOP) == []
    assert tree.found() == []


def test_a_system_without_any_adapter_is_told(tree: Tree) -> None:
    (finding,) = tree.found()
    assert finding.code == "no_adapter"
    assert "cable" in finding.fix


def test_a_port_that_leads_nowhere_is_told_with_the_adapters_that_are_there(tree: Tree) -> None:
    tree.adapter(0, TOP)
    tree.link(LOW, "../../ttyUSB1")
    (finding,) = tree.found(LOW)
    assert (finding.code, finding.fix) == ("port_missing", f"Plug the machine in, or use {TOP}.")


def test_a_link_that_leads_to_itself_and_a_folder_are_no_devices(tree: Tree) -> None:
    tree.adapter(0, TOP)
    tree.link("/dev/circle", "circle")
    (tree.root / "dev/folder").mkdir()
    assert codes(tree.found("/dev/circle")) == ["port_missing"]
    assert codes(tree.found("/dev/folder")) == ["port_missing"]


def test_a_user_without_the_right_is_told_the_group_and_the_command() -> None:
    device = Device("/dev/ttyUSB0", gid=20, group="dialout", mode=0o660)
    (finding,) = found(Facts(GUEST, adapters=(device,)))
    assert finding.code == "port_denied"
    assert "group dialout" in finding.sentence
    assert "`sudo usermod -aG dialout guest`" in finding.fix


def test_owner_group_and_mode_are_read_from_the_file(tree: Tree) -> None:
    tree.adapter(0, TOP)
    path = tree.root / "dev/ttyUSB0"
    target = collect(TOP, tree.root).target
    assert target is not None
    assert (target.uid, target.gid, target.mode) == (path.stat().st_uid, path.stat().st_gid, 0o660)
    assert codes(tree.found(TOP, GUEST)) == ["port_denied"]


def test_a_user_who_was_added_to_the_group_only_has_to_log_in_again() -> None:
    device = Device("/dev/ttyUSB0", gid=20, mode=0o660)
    user = replace(GUEST, listed=frozenset({"dialout"}))
    (finding,) = found(Facts(user, adapters=(device,)))
    assert "Log out and in again" in finding.fix


@pytest.mark.parametrize(
    "device", [Device("/dev/ttyUSB0", gid=0), Device("/dev/ttyUSB0", gid=20, mode=0o600)]
)
def test_nobody_is_sent_into_the_group_root_or_one_without_rights(device: Device) -> None:
    (finding,) = found(Facts(GUEST, adapters=(device,)))
    assert "udev rule" in finding.fix
    assert "usermod" not in finding.fix


@pytest.mark.parametrize(
    ("user", "mode"),
    [
        (replace(GUEST, groups=frozenset({20})), 0o060),
        (replace(GUEST, uid=5), 0o600),
        (replace(GUEST, uid=0), 0o000),
        (GUEST, 0o666),
    ],
    ids=["group", "owner", "root", "all"],
)
def test_whoever_has_the_right_hears_nothing(user: User, mode: int) -> None:
    device = Device("/dev/ttyUSB0", uid=5, gid=20, mode=mode)
    assert found(Facts(user, adapters=(device,))) == []


def test_a_held_port_is_told_with_process_and_program(tree: Tree) -> None:
    tree.adapter(0, TOP)
    tree.process(41, "minicom", "/dev/null", "/dev/ttyUSB0")
    tree.process(os.getpid(), "ourselves", "/dev/ttyUSB0")
    (finding,) = tree.found(TOP)
    assert finding.code == "port_busy"
    assert "process 41 (minicom)" in finding.sentence
    assert "kill 41" in finding.fix


def test_modemmanager_is_told_unless_the_adapter_is_marked(tree: Tree) -> None:
    tree.process(9, "ModemManager")
    tree.adapter(0, TOP)
    (finding,) = tree.found(TOP)
    assert finding.code == "modem_manager"
    assert "udev rule" in finding.fix


@pytest.mark.parametrize("mark", ["ID_MM_DEVICE_IGNORE=1", "ID_MM_PORT_IGNORE=1"])
def test_modemmanager_beside_a_marked_adapter_is_well(tree: Tree, mark: str) -> None:
    tree.process(9, "ModemManager")
    tree.adapter(0, TOP, mark)
    assert tree.found(TOP) == []


def test_a_running_brltty_is_told(tree: Tree) -> None:
    tree.process(9, "brltty")
    tree.adapter(0, TOP)
    (finding,) = tree.found(TOP)
    assert finding.code == "brltty"
    assert "remove brltty" in finding.fix


def test_brltty_that_only_waits_is_told_where_the_adapter_is_gone_or_marked(tree: Tree) -> None:
    tree.write("usr/lib/udev/rules.d/85-brltty.rules")
    assert codes(tree.found()) == ["no_adapter", "brltty"]
    tree.adapter(0, TOP)
    assert tree.found() == []
    tree.adapter(1, LOW, "BRLTTY_BRAILLE_DRIVER=bm", by_id="/dev/serial/by-id/other")
    assert codes(tree.found()) == ["brltty"]


def test_two_adapters_of_one_name_are_told_with_their_paths(tree: Tree) -> None:
    tree.adapter(0, TOP)
    tree.adapter(1, LOW)
    tree.link(BY_ID, "../../ttyUSB1")
    (finding,) = tree.found(TOP)
    assert finding.code == "shared_by_id"
    assert BY_ID in finding.sentence
    assert finding.fix == f"Use {TOP} or {LOW}."


def test_a_name_in_the_order_of_plugging_in_is_told_with_the_lasting_one(tree: Tree) -> None:
    tree.adapter(0, TOP)
    (finding,) = tree.found("/dev/ttyUSB0")
    assert (finding.code, finding.fix) == ("unstable_name", f"Use {TOP}.")


@pytest.mark.parametrize(("word", "when"), [("50005", "now"), ("0x50000", "since it was started")])
def test_undervoltage_is_told_from_the_throttle_word(tree: Tree, word: str, when: str) -> None:
    tree.adapter(0, TOP)
    tree.write("sys/devices/platform/soc/soc:firmware/get_throttled", f"{word}\n")
    (finding,) = tree.found(TOP)
    assert finding.code == "undervoltage"
    assert when in finding.sentence
    assert "power supply" in finding.fix


@pytest.mark.parametrize(("alarm", "told"), [("0", []), ("1", ["undervoltage"])])
def test_undervoltage_is_told_from_the_alarm_of_newer_kernels(
    tree: Tree, alarm: str, told: list[str]
) -> None:
    tree.adapter(0, TOP)
    tree.write("sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
    tree.write("sys/class/hwmon/hwmon1/name", "rpi_volt\n")
    tree.write("sys/class/hwmon/hwmon1/in0_lcrit_alarm", f"{alarm}\n")
    assert codes(tree.found(TOP)) == told


def test_heat_alone_is_no_undervoltage() -> None:
    assert found(Facts(GUEST, port="socket://10.0.0.2:4001", throttled=0xE000E)) == []


def test_a_simulated_machine_and_one_behind_a_bridge_need_no_adapter(tree: Tree) -> None:
    tree.write("dev/pts/4")
    tree.link("/tmp/machine", "/dev/pts/4")
    tree.process(8, "quezhuo", "/dev/pts/4")
    tree.process(9, "ModemManager")
    assert tree.found("pty:/tmp/machine") == []
    assert tree.found("socket://10.0.0.2:4001") == []
    assert codes(tree.found("pty:/tmp/nowhere")) == ["port_missing"]


def test_a_board_on_a_built_in_line_needs_no_adapter(tree: Tree) -> None:
    tree.write("dev/ttyAMA0").chmod(0o660)
    assert tree.found("/dev/ttyAMA0") == []


def test_what_is_no_address_is_refused(tree: Tree) -> None:
    with pytest.raises(UsageError, match="by-path"):
        tree.found("ttyUSB0")


def test_every_finding_is_two_sentences() -> None:
    twins = tuple(Device(f"/dev/ttyUSB{n}", gid=0, holders=((3, "x"),), by_id=("a",)) for n in (0, 1))
    grabbers = frozenset({"ModemManager", "brltty"})
    many = Facts(GUEST, None, None, twins, grabbers, grabbers, 1)
    none = Facts(GUEST, "/dev/ttyUSB0", installed=grabbers)
    told = [*found(many), *found(none)]
    assert len({finding.code for finding in told}) == len(CHECKS)
    assert all(text.endswith(".") for finding in told for text in (finding.sentence, finding.fix))


def test_the_shipped_rule_names_the_adapters_that_are_looked_for() -> None:
    text = (files("firmware_bridge") / "udev/70-quezhuo.rules").read_text("utf-8")
    named = re.findall(r'ATTRS\{idVendor\}=="(\w+)", ATTRS\{idProduct\}=="([\w|]+)"', text)
    assert {(vendor, product) for vendor, many in named for product in many.split("|")} == ADAPTERS
    assert 'ENV{ID_MM_DEVICE_IGNORE}="1"' in text
    assert 'GROUP="dialout"' in text
