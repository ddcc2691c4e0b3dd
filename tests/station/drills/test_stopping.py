"""SIGTERM with pages open: a process ends at once and well, whatever hangs on its connections."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.pace import Pace
from tests.station.drills.venue import Venue
from tests.system.running import LEASHED, leash

pytestmark = [pytest.mark.system, pytest.mark.slow]
WITHIN_S = 2.0
READING, DEAF = 30, 5


def _asked(url: str, request: bytes) -> socket.socket:
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    client = socket.create_connection((address.hostname, address.port), timeout=10)
    client.sendall(request)
    return client


def _stream(url: str, view: str) -> bytes:
    return f"GET /events?view={view} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n\r\n".encode()


@pytest.mark.parametrize("kind", ["table", "central"])
def test_a_process_with_open_pages_ends_in_time_and_well(
    tmp_path: Path, kind: str, figure: Callable[[str], None]
) -> None:
    """Pages that read and pages that do not, kept connections, and half a request."""
    venue = Venue(tmp_path, tmp_path / "T1", tmp_path / "central")
    url, view, file = {
        "table": (venue.table_url, "referee", "T1.toml"),
        "central": (venue.central_url, "wall", "central.toml"),
    }[kind]
    with ExitStack() as stack:
        stdin = stack.enter_context(leash())
        errors = stack.enter_context((tmp_path / "stderr").open("wb"))
        process = stack.enter_context(
            subprocess.Popen(
                [*LEASHED, kind, "--config", str(tmp_path / file)],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        )
        stack.callback(process.kill)
        assert process.stdout is not None
        assert b"ready" in process.stdout.readline()
        pages = [stack.enter_context(_asked(url, _stream(url, view))) for _ in range(READING)]
        for page in pages:
            assert b"200" in page.recv(1024)
        for _ in range(DEAF):
            stack.enter_context(_asked(url, _stream(url, view)))
        kept = b"GET /healthz HTTP/1.1\r\nHost: " + urlsplit(url).netloc.encode() + b"\r\n\r\n"
        assert b"200" in stack.enter_context(_asked(url, kept)).recv(4096)
        stack.enter_context(_asked(url, b"POST /api/start HTTP/1.1\r\nContent-Length: 50\r\n\r\n{"))
        stack.enter_context(_asked(url, kept))
        pace = Pace()
        process.send_signal(signal.SIGTERM)
        status = process.wait(30)
        ms, own_ms = 1_000 * pace.took_s, 1_000 * pace.own_s
    figure(f"{READING + DEAF} streams, a kept connection and half a request: ended after {ms:.0f} ms")
    assert status == 0
    assert own_ms < 1_000 * WITHIN_S
    said = (tmp_path / "stderr").read_text()
    assert "Traceback" not in said
    entries = [json.loads(line) for line in said.splitlines()]
    stopping, *_, stopped = [entry for entry in entries if entry["event"] in ("stopping", "stopped")]
    assert (stopping["signal"], stopped["process"]) == ("SIGTERM", kind)
    assert stopped == entries[-1]
    assert stopped["took_s"] < WITHIN_S + (ms - own_ms) / 1_000
