"""docs/operations.md against what runs: limits, units, commands."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from station.central.view import ONLINE_S
from station.cli.main import build_parser, main
from station.guard import REFUSALS
from station.guarding import BODY_S, MAX_BODY, SHOWN_S
from station.link.holding import EACH_BYTES, TOGETHER_BYTES
from station.link.replicate import Limits, SenderTimes
from station.link.said import MAX_VALUE
from station.log import chain
from station.messages import MAX_DEPTH, MAX_NUMBER
from station.ops.health import FULL_BYTES, LOW_BYTES
from station.serving import BACKLOG, HEAD_S, MANY_FILES
from tests.required import go_without

PAGE = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
UNITS = dict(re.findall(r"`/etc/systemd/system/([\w-]+\.service)`:\n\n```ini\n(.*?)```", PAGE, re.DOTALL))


RATES, TIMES = Limits(), SenderTimes()


def _size(number: int) -> str:
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= step:
            return f"{number / step:g} {unit}"
    return f"{number} bytes"


LIMITS = (
    ("body of an event", _size(chain.MAX_BODY), "422 `bad_request`; nothing is booked"),
    (
        "integer in an event",
        f"2^{MAX_NUMBER.bit_length() - 1} either way; {MAX_DEPTH} levels of nesting",
        "422 `bad_request`; of a table at the station: `table.unreadable`",
    ),
    ("kind of an event", f"{chain.MAX_KIND} bytes", "never, kinds are ours"),
    (
        "entries of one table",
        f"{RATES.events_per_s:g} a second, {RATES.burst:g} at once",
        "acknowledged later; beyond that dropped and sent again, denial `flood`",
    ),
    (
        "bytes of entries of one table",
        f"{_size(int(RATES.bytes_per_s))} a second, {_size(int(RATES.byte_burst))} at once",
        "the same",
    ),
    (
        "other messages of one table",
        f"{RATES.messages_per_s:g} a second, {RATES.message_burst:g} at once",
        "dropped, denial `flood`",
    ),
    (
        "greetings of one table",
        f"{RATES.greetings_per_s:g} a second, {RATES.greeting_burst:g} at once",
        "dropped, denial `flood`",
    ),
    ("entries of a chain under way", str(TIMES.window), "never, the sender waits"),
    (
        "wait for an acknowledgement",
        f"{TIMES.resend_s:g} s, doubled up to {TIMES.resend_most_s:g} s",
        "the entries are sent again",
    ),
    ("silence after which a table is offline", f"{ONLINE_S:g} s", "wall and head table"),
    ("latest value of a key", _size(MAX_VALUE), "never, values are ours"),
    ("body of a request", _size(MAX_BODY), "413 `too_large`"),
    ("time for a request's head", f"{HEAD_S:g} s", "the connection ends"),
    ("time for a request's body", f"{BODY_S:g} s", "408 `too_slow`"),
    (
        "what came in of one connection and is not handed over",
        f"{_size(EACH_BYTES)}, {_size(TOGETHER_BYTES)} of all",
        "the connection is cut, denial `overrun`",
    ),
    ("connections that wait to be accepted", str(BACKLOG), "the browser tries again"),
    (
        "open files, and so open pages",
        str(MANY_FILES),
        "`too many connections` in the log; at most what the system allows",
    ),
    ("refusals are shown for", f"{SHOWN_S / 60:g} min", "referee's and head table's page"),
    ("space left that counts as full", _size(FULL_BYTES), "`/healthz` 503, `disk`"),
    ("space left that counts as low", _size(LOW_BYTES), "`/healthz` warning, `quezhuo doctor`"),
)


def test_every_limit_is_listed_as_it_is() -> None:
    section = PAGE[PAGE.index("## 8. Limits") :]
    listed = [line for line in section.splitlines() if line.startswith("| ") and "---" not in line]
    assert listed[1:] == [f"| {what} | {value} | {shows} |" for what, value, shows in LIMITS]


def test_every_refusal_is_named() -> None:
    for refusal in REFUSALS:
        assert f"`{refusal.code}`" in PAGE or refusal.code == "method", refusal.code


@pytest.mark.parametrize("name", ["quezhuo-table.service", "quezhuo-central.service"])
def test_the_units_start_again_and_call_commands_that_there_are(name: str) -> None:
    unit = UNITS[name]
    assert "Restart=always" in unit
    assert "NoNewPrivileges=yes" in unit
    command = re.search(r"bin/quezhuo (\S+) --config", unit)
    assert command is not None
    with pytest.raises(SystemExit) as left:
        main([command[1], "--help"])
    assert left.value.code == 0
    assert build_parser()


@pytest.mark.parametrize("name", ["quezhuo-table.service", "quezhuo-central.service"])
def test_the_units_are_understood_by_systemd(name: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        go_without("systemd", "systemd-analyze is not here")
    path = tmp_path / name
    path.write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", UNITS[name]))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if name in line]
    assert said == []
