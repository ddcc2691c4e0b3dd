"""From facts to findings: each sentence with its fix."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from station.doctor.checks import CHECKS, WRITTEN, examine, no_cv2
from station.doctor.facts import (
    CameraFacts,
    ClockFacts,
    Facts,
    KeyFacts,
    LibraryFacts,
    LinkFacts,
    LogFacts,
    PortFacts,
    SettingFacts,
)

NOW = WRITTEN + 1e6
HOME = Path("/srv/T1")
WELL = Facts(
    process="table",
    home=HOME,
    clock=ClockFacts(NOW, True),
    log=LogFacts(HOME / "table.db", 10, NOW - 5),
    free=10 << 30,
    keys=(KeyFacts(Path("T1.key"), fits=True),),
    ports=(PortFacts("http_port", "127.0.0.1:8081"),),
    link=LinkFacts("tcp://10.0.0.1:7700", Path("central.pub"), handshake="up"),
    libraries=(LibraryFacts("pyzmq", "27.3.0", "26.2"),),
    camera=CameraFacts(Path("/dev/video0"), there=True, readable=True),
)


def codes(facts: Facts) -> list[str]:
    return [finding.code for answer in examine(facts) for finding in answer.findings]


def test_nothing_is_found_where_all_is_well() -> None:
    assert codes(WELL) == []
    bare = Facts(
        "central", HOME, ClockFacts(NOW, None), LogFacts(HOME / "central.db"), home_trouble="missing"
    )
    assert codes(bare) == []


LINK = WELL.link
assert LINK is not None
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"settings": (SettingFacts("ruleset", "there is none.", "Correct it."),)}, "bad_setting", "Correct it"),
    ({"process": "central", "clock": ClockFacts(NOW, False)}, "clock_alone", "point the tables to"),
    (
        {"standby": LinkFacts("tcp://b:1", Path("standby.pub"), "refused", None, "central.standby")},
        "central_unreachable",
        "[central.standby]",
    ),
    ({"wide": False}, "not_64_bit", "64-bit system"),
    ({"python": (3, 10)}, "old_python", "Python 3.11"),
    ({"sqlite": (3, 36, 0)}, "old_sqlite", "3.37"),
    ({"libraries": (LibraryFacts("pyzmq", None, "26.2"),)}, "no_library", "pip install"),
    ({"libraries": (LibraryFacts("pyzmq", "9.9", "26.2"),)}, "old_library", "pyzmq>=26.2"),
    ({"model_error": "the classifier is another one."}, "bad_model", "release"),
    ({"home_trouble": "no_folder"}, "home_no_folder", "another home"),
    ({"home_trouble": "read_only"}, "home_read_only", "dmesg"),
    ({"home_trouble": "denied"}, "home_denied", "chown -R quezhuo /srv/T1"),
    ({"free": 1 << 20}, "disk_full", "Delete"),
    ({"free": 500 << 20}, "disk_low", "another disk"),
    ({"log": LogFacts(HOME, trouble=("It is no log.", "Restore it."))}, "log_unreadable", "Restore it."),
    ({"log": LogFacts(HOME / "table.db", 10, NOW, bad=7)}, "log_broken", "quezhuo verify /srv/T1/table.db"),
    ({"clock": ClockFacts(0.0, True)}, "clock_in_the_past", "set-time"),
    ({"clock": ClockFacts(NOW - 3600, True)}, "clock_behind_the_log", "Set the clock"),
    ({"clock": ClockFacts(NOW, False)}, "clock_alone", "set-ntp"),
    ({"keys": (KeyFacts(Path("a"), ("Others may read it.", "chmod 600 a")),)}, "key_unusable", "chmod 600 a"),
    ({"keys": (KeyFacts(Path("a"), fits=False),)}, "key_mismatch", "new keys"),
    ({"keys": (KeyFacts(Path("k/T1.key"), fits=True, signs=False),)}, "key_unsigned", "keygen T1 --out k"),
    ({"keys": (KeyFacts(Path("tables.toml"), refused=(("T3", "expired"),)),)}, "key_expired", "pair"),
    (
        {"ports": (PortFacts("http_port", "127.0.0.1:8081", errno.EADDRINUSE, (42, "nginx")),)},
        "port_in_use",
        "another http_port",
    ),
    ({"ports": (PortFacts("link", "10.0.0.9:7700", errno.EADDRNOTAVAIL),)}, "address_elsewhere", "0.0.0.0"),
    ({"ports": (PortFacts("http_port", "127.0.0.1:80", errno.EACCES),)}, "port_refused", "1024"),
    ({"link": replace(LINK, handshake="expired")}, "key_expired", "tables.toml"),
    ({"link": replace(LINK, handshake="revoked")}, "key_revoked", "quezhuo pair"),
    ({"link": replace(LINK, unreachable="no answer")}, "central_unreachable", "plays on"),
    ({"link": replace(LINK, handshake="denied")}, "not_enrolled", "allow-list"),
    ({"link": replace(LINK, handshake="silent")}, "other_station", "central.pub"),
    ({"camera": CameraFacts(Path("/dev/video0"), there=False, readable=False)}, "no_camera", "by-id"),
    ({"camera": CameraFacts(Path("/dev/video0"), there=True, readable=False)}, "camera_denied", "video"),
    ({"camera": CameraFacts(Path("photos"), there=True, readable=True, pictures=0)}, "no_pictures", "JPEG"),
    ({"camera": CameraFacts(Path("photos"), there=False, readable=False, pictures=0)}, "no_folder", "camera"),
]


@pytest.mark.parametrize(("changes", "code", "fix"), CASES, ids=[case[1] for case in CASES])
def test_each_trouble_is_told_once_with_its_fix(changes: dict[str, Any], code: str, fix: str) -> None:
    facts = replace(WELL, **changes)
    assert codes(facts) == [code]
    finding = next(finding for answer in examine(facts) for finding in answer.findings)
    assert fix in finding.fix
    assert finding.sentence.endswith(".")
    assert "\n" not in finding.sentence + finding.fix


def test_the_holder_of_a_port_is_named() -> None:
    port = PortFacts("http_port", "127.0.0.1:8081", errno.EADDRINUSE, (42, "nginx"))
    finding = next(f for a in examine(replace(WELL, ports=(port,))) for f in a.findings)
    assert "process 42 (nginx)" in finding.sentence


def test_a_running_process_holds_its_own_port() -> None:
    port = PortFacts("http_port", "127.0.0.1:8081", errno.EADDRINUSE, (42, "quezhuo"))
    assert codes(replace(WELL, ports=(port,), running=True)) == []


def test_versions_are_numbers_not_texts() -> None:
    for there, least in (("10.0", "9.2"), ("3.1.6", "3.1.6"), ("2.0rc1", "2.0"), ("1.10.0", "1.9")):
        assert codes(replace(WELL, libraries=(LibraryFacts("x", there, least),))) == []


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("libGL.so.1: cannot open shared object file", "apt-get install libgl1 libglib2.0-0"),
        ("libgthread-2.0.so.0: cannot open shared object file", "apt-get install libgl1 libglib2.0-0"),
        ("No module named 'cv2'", "pip install opencv-python-headless"),
    ],
)
def test_an_opencv_that_does_not_load_is_told_what_it_lacks(said: str, fix: str) -> None:
    assert fix in no_cv2(said).fix


def test_checks_have_names_of_their_own() -> None:
    from firmware_bridge.discovery import CHECKS as OF_THE_PORT

    names = [check.name for check in (*CHECKS, *OF_THE_PORT)]
    assert len(set(names)) == len(names)
