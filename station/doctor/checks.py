"""Findings from facts: pure, in the order in which a person would mend what they find."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from firmware_bridge.discovery import Finding
from station.doctor.facts import Facts, LinkFacts
from station.link.register import EXPIRED, REVOKED
from station.ops.health import FULL_BYTES, LOW_BYTES

__all__ = ["CHECKS", "Answer", "Check", "examine", "no_cv2"]

WRITTEN: Final = datetime(2026, 11, 1, tzinfo=UTC).timestamp()
"""No clock that is right shows a time before this program was written."""
BEHIND_S: Final = 120.0
"""By so much a clock may be behind the log's last entry: tables and station differ a little."""
LEAST_PYTHON: Final = (3, 11)
LEAST_SQLITE: Final = (3, 37)
"""STRICT tables (https://www.sqlite.org/stricttables.html)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question: its stable name, the sentence for when all is well, who answers it, and
    whether there is anything to ask about."""

    name: str
    well: str
    look: Callable[[Facts], Iterator[Finding]]
    concerns: Callable[[Facts], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check found; nothing is good."""

    check: Check
    findings: tuple[Finding, ...]


def examine(facts: Facts) -> tuple[Answer, ...]:
    """Ask every check that concerns this process."""
    return tuple(Answer(check, tuple(check.look(facts))) for check in CHECKS if check.concerns(facts))


def _versions(facts: Facts) -> Iterator[Finding]:
    if not facts.wide:
        yield Finding("not_64_bit", "This Python is a 32-bit one.", "Install a 64-bit system.")
    if facts.python < LEAST_PYTHON:
        yield Finding(
            "old_python", f"Python {_dotted(facts.python)} is too old.", "Install Python 3.11 or newer."
        )
    if facts.sqlite[:2] < LEAST_SQLITE:
        yield Finding(
            "old_sqlite",
            f"SQLite {_dotted(facts.sqlite)} is too old for the log.",
            f"Use a Python with SQLite {_dotted(LEAST_SQLITE)} or newer.",
        )
    for library in facts.libraries:
        if library.there is None:
            yield Finding("no_library", f"{library.name} is not installed.", "Run `pip install -e .` anew.")
        elif _numbers(library.there) < _numbers(library.least):
            yield Finding(
                "old_library",
                f"{library.name} {library.there} is older than {library.least}.",
                f"Run `pip install '{library.name}>={library.least}'`.",
            )


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _numbers(version: str) -> tuple[int, ...]:
    numbers = []
    for part in version.split("."):
        digits = part[: next((i for i, sign in enumerate(part) if not sign.isdigit()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def no_cv2(said: str) -> Finding:
    """The finding for an OpenCV whose import failed with these words."""
    lacks = any(name in said for name in ("libGL", "libgthread", "libglib"))
    fix = "sudo apt-get install libgl1 libglib2.0-0" if lacks else "pip install opencv-python-headless"
    return Finding("no_cv2", f"OpenCV does not load: {said}.", f"Run `{fix}`.")


def _recognizer(facts: Facts) -> Iterator[Finding]:
    said = facts.model_error
    if said is not None:
        yield Finding("bad_model", f"{said[:1].upper()}{said[1:]}", "Take the files of the release.")


def _settings(facts: Facts) -> Iterator[Finding]:
    for setting in facts.settings:
        yield Finding("bad_setting", f"{setting.key}: {setting.why}", setting.fix)


def _home(facts: Facts) -> Iterator[Finding]:
    told = {
        "missing": (
            f"There is no folder {facts.home} yet.",
            f"It is made at the first start; or run `mkdir -m 700 {facts.home}`.",
        ),
        "no_folder": (f"{facts.home} is no folder.", "Set another home."),
        "read_only": (
            f"The disk with {facts.home} is read-only.",
            "Look into `dmesg`: a failing card is mounted so; replace it and restore the backup.",
        ),
        "denied": (
            f"The user {facts.user} may not write to {facts.home}.",
            f"Run `sudo chown -R {facts.user} {facts.home}`.",
        ),
    }
    if facts.home_trouble is not None and facts.home_trouble != "missing":
        yield Finding(f"home_{facts.home_trouble}", *told[facts.home_trouble])


def _space(facts: Facts) -> Iterator[Finding]:
    if facts.free is None or facts.free >= LOW_BYTES:
        return
    left = f"{facts.free / 1e6:.0f} MB"
    if facts.free < FULL_BYTES:
        yield Finding(
            "disk_full",
            f"The disk with {facts.home} is full ({left} left); nothing can be stored.",
            "Delete or move files that are not the log.",
        )
    else:
        yield Finding(
            "disk_low",
            f"Only {left} are left on the disk with {facts.home}.",
            "Move old backups and photographs to another disk.",
        )


def _log(facts: Facts) -> Iterator[Finding]:
    log = facts.log
    if log.trouble is not None:
        yield Finding("log_unreadable", *log.trouble)
    elif log.bad is not None:
        yield Finding(
            "log_broken",
            f"Entry {log.bad} of {log.path} does not hold.",
            f"Run `quezhuo verify {log.path}`, keep the file, and restore the last backup.",
        )


def _clock(facts: Facts) -> Iterator[Finding]:
    now, last = facts.clock.now, facts.log.last_at
    if now < WRITTEN:
        yield Finding(
            "clock_in_the_past",
            f"The clock shows {_shown(now)}, which is over.",
            "Set it: `sudo timedatectl set-time`; a computer without a battery forgets it.",
        )
    elif last is not None and last - now > BEHIND_S:
        yield Finding(
            "clock_behind_the_log",
            f"The clock shows {_shown(now)}, but the last entry of the log is of {_shown(last)}.",
            "Set the clock; durations are right all the same, times on the pages are not.",
        )
    if facts.clock.synchronised is False:
        yield Finding(
            "clock_alone",
            "The clock is not kept right by a time server.",
            "Run `sudo timedatectl set-ntp true`, or install chrony and point it to the station."
            if facts.process == "table"
            else "Run `sudo timedatectl set-ntp true`; without the internet set the time by hand before the "
            "event, install chrony with `local stratum 10` and `allow`, and point the tables to it.",
        )


def _shown(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _keys(facts: Facts) -> Iterator[Finding]:
    for key in facts.keys:
        if key.trouble is not None:
            yield Finding("key_unusable", *key.trouble)
        elif key.fits is False:
            yield Finding(
                "key_mismatch",
                f"The two keys in {key.path} do not belong together.",
                "Restore the file from a backup, or make new keys and enrol them.",
            )
        elif key.signs is False:
            yield Finding(
                "key_unsigned",
                f"The keys in {key.path} are of an older version and can not sign the log.",
                f"Run `quezhuo keygen {key.path.stem} --out {key.path.parent} --add-signing`.",
            )
        for table, why in key.refused:
            yield Finding(
                f"key_{why}",
                f"The key of table {table} in {key.path} is {why}.",
                f"Run `quezhuo pair` for {table} anew, or correct the date.",
            )


def _ports(facts: Facts) -> Iterator[Finding]:
    for port in facts.ports:
        if port.error is None or (port.error == errno.EADDRINUSE and facts.running):
            continue
        if port.error == errno.EADDRINUSE:
            who = f" by process {port.holder[0]} ({port.holder[1]})" if port.holder else ""
            fix = f"End that program, or set another {port.setting}."
            yield Finding("port_in_use", f"{port.address} is in use{who}.", fix)
        elif port.error == errno.EADDRNOTAVAIL:
            yield Finding(
                "address_elsewhere",
                f"{port.address} is no address of this computer now.",
                f"Check the network, or set {port.setting} to 0.0.0.0 for every address.",
            )
        else:
            yield Finding(
                "port_refused",
                f"The user {facts.user} may not listen at {port.address}.",
                f"Set a {port.setting} of 1024 or more.",
            )


def _link(facts: Facts) -> Iterator[Finding]:
    if facts.link is not None:
        yield from _way(facts.link)


def _standby(facts: Facts) -> Iterator[Finding]:
    if facts.standby is not None:
        yield from _way(facts.standby)


def _way(link: LinkFacts) -> Iterator[Finding]:
    if link.unreachable is not None:
        yield Finding(
            "central_unreachable",
            f"The central station at {link.endpoint} can't be reached: {link.unreachable}.",
            f"Check that it runs, its address in [{link.section}], and the network; the table plays on "
            "meanwhile.",
        )
    elif link.handshake == "denied":
        yield Finding(
            "not_enrolled",
            f"The central station at {link.endpoint} does not know this table's key.",
            "Run `quezhuo pair` there and here, or add the table's public key to its allow-list.",
        )
    elif link.handshake in (EXPIRED, REVOKED):
        yield Finding(
            f"key_{link.handshake}",
            f"The central station at {link.endpoint} refuses this table's key: it is {link.handshake}.",
            "Ask the head table; it corrects the date in tables.toml."
            if link.handshake == EXPIRED
            else "Move keys/TABLE.key and keys/TABLE.pub away and run `quezhuo pair` there and here.",
        )
    elif link.handshake == "silent":
        yield Finding(
            "other_station",
            f"What answers at {link.endpoint} does not have the key of {link.key_file}.",
            "Pair again, copy the station's central.pub there anew, or correct the address.",
        )


def _camera(facts: Facts) -> Iterator[Finding]:
    camera = facts.camera
    if camera is None:
        return
    if camera.pictures is not None and camera.there:
        if not camera.pictures:
            yield Finding("no_pictures", f"There is no picture in {camera.path}.", "Put a JPEG or PNG there.")
    elif camera.pictures is not None:
        yield Finding(
            "no_folder",
            f"There is no folder {camera.path} with pictures.",
            "Make it, or correct camera in the table's file.",
        )
    elif not camera.there:
        yield Finding(
            "no_camera",
            f"There is no camera at {camera.path}.",
            "Plug it in, and use the name that `ls /dev/v4l/by-id` shows then.",
        )
    elif not camera.readable:
        yield Finding(
            "camera_denied",
            f"The user {facts.user} may not open {camera.path}.",
            f"Run `sudo usermod -aG video {facts.user}`, then log out and in again.",
        )


CHECKS: Final = (
    Check("versions", "Python, SQLite and the libraries are new enough", _versions),
    Check(
        "recognizer",
        "OpenCV and the recognizer's files are right, or not needed",
        _recognizer,
        lambda facts: facts.process == "table",
    ),
    Check("settings", "the configuration is one that the process takes", _settings),
    Check("home", "the home can be written, or is made at the first start", _home),
    Check("space", "there is room on the disk", _space),
    Check("log", "the log's last entries hold, or there is none yet", _log),
    Check("clock", "the clock is right as far as can be told", _clock),
    Check("keys", "the keys can be used, or none are needed", _keys),
    Check("listen", "the addresses are free, or the process itself has them", _ports),
    Check(
        "central",
        "the central station answers and takes this table's key",
        _link,
        lambda facts: facts.link is not None,
    ),
    Check(
        "standby",
        "the second station answers and takes this table's key",
        _standby,
        lambda facts: facts.standby is not None,
    ),
    Check("camera", "the camera can be opened", _camera, lambda facts: facts.camera is not None),
)
"""Every check, in the order of mending."""
