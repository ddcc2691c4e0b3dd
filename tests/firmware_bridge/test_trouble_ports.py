"""Trouble with ports: who may open one, what opening does to it, and how it is lost."""

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
import termios
import tty
from pathlib import Path

import pytest

from firmware_bridge import transport
from firmware_bridge.errors import PortBusyError
from firmware_bridge.transport import Transport, open_port, open_serial
from tests.pace import Pace


@pytest.fixture
def pty():
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    for fd in (master, slave):
        with contextlib.suppress(OSError):
            os.close(fd)


def test_a_second_opening_is_refused_even_within_one_process(pty):
    _, path = pty
    line = open_serial(path)
    with pytest.raises(PortBusyError):
        open_serial(path)
    line.close()
    open_serial(path).close()


def test_a_real_port_is_kept_from_careless_openers_too(pty, monkeypatch):
    """A file lock is only a request; a real port has a flag that every opener meets."""
    _, path = pty
    calls = []
    monkeypatch.setattr(transport, "_PTY_MAJORS", ())
    monkeypatch.setattr(transport.fcntl, "ioctl", lambda fd, request, *_: calls.append(request))
    open_serial(path).close()
    assert termios.TIOCEXCL in calls


def test_a_holder_that_was_killed_leaves_no_lock(pty):
    _, path = pty
    code = (
        "import sys\n"
        "from firmware_bridge.transport import open_serial\n"
        "line = open_serial(sys.argv[1])\n"
        "print(1, flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"1\n"
        with pytest.raises(PortBusyError, match=f"process {holder.pid} "):
            open_serial(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait(30)
    open_serial(path).close()


class FakeLine:
    """Records what is done to it, in order; its descriptor is a pseudo-terminal's."""

    def __init__(self, fd, latency=None):
        object.__setattr__(self, "calls", [])
        object.__setattr__(self, "fd", fd)
        object.__setattr__(self, "latency", latency)

    def __setattr__(self, name, value):
        self.calls.append((name, value))

    def open(self):
        self.calls.append("open")

    def close(self):
        self.calls.append("close")

    def fileno(self):
        return self.fd

    def set_low_latency_mode(self, on):
        self.calls.append(("latency", on))
        if self.latency is not None:
            raise self.latency


def test_lines_are_low_before_opening_and_hang_up_on_close_is_off_after(pty, monkeypatch):
    _, path = pty
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    settings = termios.tcgetattr(fd)
    settings[2] |= termios.HUPCL
    termios.tcsetattr(fd, termios.TCSANOW, settings)
    line = FakeLine(fd)
    set_attributes = termios.tcsetattr
    monkeypatch.setattr(
        termios,
        "tcsetattr",
        lambda *args: (line.calls.append("settings"), set_attributes(*args)),
    )
    open_serial("/dev/x", lambda: line)
    order = [
        call
        for call in line.calls
        if call in (("dtr", False), ("rts", False), ("exclusive", True), "open", "settings")
    ]
    assert order == [("exclusive", True), ("dtr", False), ("rts", False), "open", "settings"]
    assert not termios.tcgetattr(fd)[2] & termios.HUPCL
    os.close(fd)


@pytest.mark.parametrize(
    "lack", [None, ValueError("no"), OSError(errno.ENOTTY, "no"), AttributeError("none")]
)
def test_low_latency_is_asked_for_and_its_lack_ignored(pty, lack):
    _, path = pty
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    line = FakeLine(fd, lack)
    assert open_serial("/dev/x", lambda: line).fileno() == fd
    assert ("latency", True) in line.calls
    os.close(fd)


class Heard:
    def __init__(self):
        self.lost = []
        self.change = asyncio.Event()

    def on_lost(self, why):
        self.lost.append(why)
        self.change.set()


def test_a_hang_up_with_bytes_waiting_is_told_once(pty):
    master, path = pty

    async def scene():
        heard = Heard()
        line = Transport(await open_port(path), lambda _: None, heard.on_lost)
        while not line._out:  # until the terminal takes no more
            line.write(b"x" * 1000)
        os.close(master)
        await asyncio.wait_for(heard.change.wait(), 30)
        line.write(b"y")
        line.close()
        await asyncio.sleep(0)
        return heard.lost

    assert len(asyncio.run(scene())) == 1


def test_the_descriptor_is_closed_before_anybody_is_told(pty):
    master, path = pty

    async def scene():
        port = await open_port(path)
        fd = port.fileno()
        told = asyncio.get_running_loop().create_future()

        def on_lost(why):
            try:
                os.fstat(fd)
            except OSError as error:
                told.set_result(error.errno)

        line = Transport(port, lambda _: None, on_lost)
        line.write(b"unsent")
        pace = Pace()
        os.close(master)
        return await asyncio.wait_for(told, 30), pace.own_s

    number, seconds = asyncio.run(scene())
    assert number == errno.EBADF
    assert seconds < 0.2


def test_a_line_that_takes_no_bytes_is_lost_after_one_second(pty):
    """Nobody reads the other end of a pseudo-terminal."""
    _, path = pty

    async def scene():
        heard = Heard()
        line = Transport(await open_port(path), lambda _: None, heard.on_lost)
        pace = Pace()
        while line._stuck is None:
            line.write(b"x" * 1000)
        await asyncio.wait_for(heard.change.wait(), 30)
        return heard.lost, pace.took_s, pace.own_s

    lost, seconds, own = asyncio.run(scene())
    assert lost == ["it takes no bytes"]
    assert seconds > 0.9
    assert own < 1.5


def rights_of_nobody(path):
    """What opening gives to a user without rights, in a process of its own."""
    code = (
        "import os, sys\n"
        "from firmware_bridge.errors import PortError\n"
        "from firmware_bridge.transport import open_serial\n"
        "import serial\n"
        "if os.getuid() == 0:\n"
        "    os.setgroups([])\n"
        "    os.setgid(65534)\n"
        "    os.setuid(65534)\n"
        "try:\n"
        "    open_serial(sys.argv[1])\n"
        "except PortError as error:\n"
        "    print(error.code, error)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True, timeout=30
    ).stdout


def test_a_port_without_rights_is_denied_with_the_group_to_join(pty):
    _, path = pty
    Path(path).chmod(0)
    told = rights_of_nobody(path)
    assert told.startswith("port_denied")
    assert "dialout" in told
