"""Bad surroundings: one plain line, the right exit status, nothing lost, no traceback."""

from __future__ import annotations

import json
import os
import pty
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from tests.required import go_without

pytestmark = [pytest.mark.system, pytest.mark.slow]
QUEZHUO = [sys.executable, "-m", "station.cli.main"]
BASE = 'home = "home"\ncamera = "none"\n'
NO_MACHINE = BASE + 'driver = "none"\n'


def _refusal(config: Path, text: str) -> tuple[int, list[str]]:
    config.write_text(text)
    done = subprocess.run(
        [*QUEZHUO, "table", "--config", str(config)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, [line for line in done.stderr.splitlines() if line.startswith("quezhuo: ")]


@pytest.mark.parametrize(
    ("text", "status", "word"),
    [
        (BASE + 'serial = "/dev/nowhere"\n', 3, "/dev/nowhere"),
        (BASE + 'serial = "nonsense"\n', 2, "nonsense"),
        (BASE + 'serial = "/dev/ttyUSB77"\n', 3, "whichever adapter came first"),
        (BASE + 'driver = "modbus_press"\n[modbus_press]\nport = "/dev/nowhere"\n', 3, "/dev/nowhere"),
        (BASE + 'driver = "modbus_press"\n[modbus_press]\nport = "/dev/x"\npulse_ms = 7\n', 2, "pulse_ms"),
        (BASE + 'driver = "magic"\n', 2, "modbus_press"),
        (NO_MACHINE + 'ruleset = "nowhere"\n', 2, "zhenjiang"),
        (NO_MACHINE + "[options]\npayment = 3\n", 2, "payment"),
        (NO_MACHINE + "tabel = 1\n", 2, "tabel"),
        (NO_MACHINE + 'table = "../x"\n', 2, "../x"),
        (NO_MACHINE + "threads = 0\n", 2, "threads"),
        (NO_MACHINE + "duration_s = -5\n", 2, "duration_s"),
        ("home =", 2, "table.toml"),
        (NO_MACHINE.replace('camera = "none"', 'camera = "folder:nowhere"'), 3, "nowhere"),
        (NO_MACHINE.replace('"none"\n', '"render"\n', 1) + 'model = "nowhere.json"\n', 2, "nowhere.json"),
    ],
    ids=[
        "missing port",
        "no port",
        "passing name",
        "missing board",
        "wiring",
        "driver",
        "rule set",
        "option",
        "unknown key",
        "table name",
        "threads",
        "duration",
        "no TOML",
        "camera",
        "model",
    ],
)
def test_a_table_that_can_not_start_says_why(text: str, status: int, word: str, tmp_path: Path) -> None:
    got, lines = _refusal(tmp_path / "table.toml", text)
    assert (got, len(lines)) == (status, 1), lines
    assert word in lines[0].lower()


def test_a_busy_serial_port_is_told(tmp_path: Path) -> None:
    import fcntl
    import termios

    main, far = pty.openpty()
    try:
        fcntl.ioctl(far, termios.TIOCEXCL)
        fcntl.flock(far, fcntl.LOCK_EX | fcntl.LOCK_NB)
        got, lines = _refusal(tmp_path / "table.toml", BASE + f'serial = "{os.ttyname(far)}"\n')
        assert (got, len(lines)) == (3, 1)
        assert "another" in lines[0] or str(os.getpid()) in lines[0]
        assert f"`quezhuo doctor --config {tmp_path / 'table.toml'}`" in lines[0]
    finally:
        os.close(main)
        os.close(far)


def test_a_busy_http_port_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        got, lines = _refusal(tmp_path / "table.toml", NO_MACHINE + f"http_port = {taken.getsockname()[1]}\n")
    assert (got, len(lines)) == (3, 1)


def test_a_log_in_use_is_told(tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text(NO_MACHINE)
    command = [*QUEZHUO, "table", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as first:
        assert first.stdout is not None
        first.stdout.readline()
        got, lines = _refusal(config, NO_MACHINE)
        first.terminate()
        assert first.wait(30) == 0
    assert (got, len(lines)) == (3, 1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = (
        os.geteuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)], check=False, capture_output=True
        ).returncode
        == 0
    )
    if not mounted:
        go_without("root", "mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _fill(disk: Path) -> Path:
    """Write until nothing more fits."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    return filler


def test_a_full_disk_answers_503_and_loses_nothing(small_disk: Path, tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text(NO_MACHINE.replace('"home"', f'"{small_disk}"') + "http_port = 0\n")
    command = [*QUEZHUO, "table", "--config", str(config)]
    with (
        ExitStack() as stack,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as table,
    ):
        stack.callback(table.kill)
        assert table.stdout is not None
        address = json.loads(table.stdout.readline())["http"]
        http = stack.enter_context(httpx.Client(base_url=address))
        assert http.post("/api/start").status_code == 200
        filler = _fill(small_disk)
        refused = http.post("/api/indicator", json={"tile": "1p"})
        for _ in range(200):  # what SQLite still has in its files may take a few events
            if refused.status_code == 503:
                break
            refused = http.post("/api/call", json={"place": 1})
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "log.full"
        before = http.get("/api/state").json()["log_pos"]
        filler.unlink()
        assert http.post("/api/call", json={"place": 1}).status_code == 200
        assert http.get("/api/state").json()["log_pos"] == before + 1
        table.terminate()
        assert table.wait(30) == 0
        assert table.stderr is not None
        assert "Traceback" not in table.stderr.read()
    checked = subprocess.run([*QUEZHUO, "verify", str(small_disk / "table.db")], check=False)
    assert checked.returncode == 0


def test_a_disk_that_is_full_at_the_start_is_told(small_disk: Path, tmp_path: Path) -> None:
    _fill(small_disk)
    got, lines = _refusal(tmp_path / "table.toml", NO_MACHINE.replace('"home"', f'"{small_disk}"'))
    assert (got, len(lines)) == (3, 1)
