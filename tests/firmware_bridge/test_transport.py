"""The port: every refusal in plain words, exclusive use, and bytes through the asyncio loop."""

import asyncio
import contextlib
import errno
import os
import re
import socket
import subprocess
import sys
import termios
import tty
from pathlib import Path

import pytest
import serial

from firmware_bridge import transport
from firmware_bridge.errors import PortBusyError, PortDeniedError, PortError, PortMissingError, UsageError
from firmware_bridge.transport import Transport, explain, holders, open_port, open_serial


@pytest.fixture
def pty():
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    yield master, os.ttyname(slave)
    for fd in (master, slave):
        with contextlib.suppress(OSError):
            os.close(fd)


class Heard:
    def __init__(self):
        self.data = bytearray()
        self.lost = []
        self.change = asyncio.Event()

    def on_data(self, data):
        self.data += data
        self.change.set()

    def on_lost(self, why):
        self.lost.append(why)
        self.change.set()

    async def until(self, reached):
        async with asyncio.timeout(30):
            while not reached():
                self.change.clear()
                await self.change.wait()


def test_bytes_go_both_ways(pty):
    master, path = pty

    async def scene():
        heard = Heard()
        line = Transport(await open_port(f"pty:{path}"), heard.on_data, heard.on_lost)
        line.write(b"\x00hello\x00\xff")
        os.write(master, b"\x00\x11\x13\x03world\x00")  # no flow control, no signals
        await heard.until(lambda: len(heard.data) == 10)
        line.close()
        line.write(b"too late")
        line.close()
        return heard

    heard = asyncio.run(scene())
    assert heard.data == b"\x00\x11\x13\x03world\x00"
    assert os.read(master, 100) == b"\x00hello\x00\xff"
    assert heard.lost == []


def test_a_device_that_vanishes_is_lost_once(pty):
    master, path = pty

    async def scene():
        heard = Heard()
        line = Transport(await open_port(path), heard.on_data, heard.on_lost)
        line.write(b"x")
        os.close(master)
        await heard.until(lambda: heard.lost)
        line.write(b"y")
        await asyncio.sleep(0)
        return heard.lost

    assert len(asyncio.run(scene())) == 1


def test_a_readable_port_without_data_is_lost():
    async def scene():
        ours, theirs = socket.socketpair()
        heard = Heard()
        Transport(transport.SocketPort(ours), heard.on_data, heard.on_lost)
        theirs.close()
        await heard.until(lambda: heard.lost)
        return heard.lost

    assert asyncio.run(scene()) == ["it was unplugged"]


def test_a_port_that_takes_no_bytes_is_lost_after_a_deadline(monkeypatch):
    monkeypatch.setattr(transport, "WRITE_DEADLINE", 0.05)

    async def scene():
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        heard = Heard()
        line = Transport(transport.SocketPort(ours), heard.on_data, heard.on_lost)
        while line._stuck is None:
            line.write(b"x" * 4096)
        await heard.until(lambda: heard.lost)
        theirs.close()
        return heard.lost

    assert asyncio.run(scene()) == ["it takes no bytes"]


def test_a_stop_overtakes_what_the_port_has_not_taken(pty):
    master, path = pty

    async def scene():
        heard = Heard()
        line = Transport(await open_port(path), heard.on_data, heard.on_lost)
        while not line._out:
            line.write(b"x" * 1000)
        line.overtake()
        line.write(b"stop")
        got = bytearray()
        asyncio.get_running_loop().add_reader(master, lambda: got.extend(os.read(master, 65_536)))
        async with asyncio.timeout(30):
            while not got.endswith(b"stop"):
                await asyncio.sleep(0.01)
        assert set(got[:-4]) == set(b"x")
        assert line._stuck is None
        line.close()
        return heard.lost

    assert asyncio.run(scene()) == []


def test_waiting_bytes_are_bounded():
    async def scene():
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        heard = Heard()
        line = Transport(transport.SocketPort(ours), heard.on_data, heard.on_lost)
        while not heard.lost:
            line.write(b"x" * 8000)
            assert len(line._out) <= transport.WRITE_LIMIT
        theirs.close()
        return heard.lost

    assert asyncio.run(scene()) == ["it takes no more bytes"]


def test_a_socket_address_is_accepted():
    async def scene():
        got = asyncio.get_running_loop().create_future()

        async def serve(reader, writer):
            got.set_result(await reader.read(10))
            writer.write(b"back")
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        heard = Heard()
        line = Transport(await open_port(f"socket://127.0.0.1:{port}"), heard.on_data, heard.on_lost)
        line.write(b"there")
        assert await got == b"there"
        await heard.until(lambda: heard.lost)
        server.close()
        return bytes(heard.data)

    assert asyncio.run(scene()) == b"back"


@pytest.mark.parametrize(
    ("url", "error", "says"),
    [
        ("pty:/dev/no-such-port", PortMissingError, "plug the machine in"),
        ("/dev/no-such-port", PortMissingError, "plug the machine in"),
        ("/etc/hostname", PortError, "can not be used as a serial port"),
        ("COM3", UsageError, "is no port"),
        ("socket://nowhere", UsageError, "needs a host and a port"),
        ("socket://127.0.0.1:1", PortMissingError, "Nobody answers"),
    ],
)
def test_each_refusal_has_its_plain_words(url, error, says):
    with pytest.raises(error, match=says):
        asyncio.run(open_port(url))


def test_a_denied_port_names_the_group():
    told = explain("/dev/ttyX", serial.SerialException(errno.EACCES, "no"))
    assert isinstance(told, PortDeniedError)
    assert "dialout" in str(told)
    assert isinstance(explain("/dev/ttyX", OSError(errno.EBUSY, "busy")), PortBusyError)
    assert isinstance(explain("/dev/ttyX", termios.error(errno.EIO, "gone")), PortMissingError)


def test_a_busy_port_names_its_holder(pty):
    _, path = pty
    code = (
        "import sys; from firmware_bridge.transport import open_serial; line = open_serial(sys.argv[1]);"
        "print('open', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(PortBusyError, match=rf"process {other.pid} \(python"):
            open_serial(path)
    finally:
        other.kill()
        other.communicate()
    open_serial(path).close()  # a killed holder leaves nothing behind


def test_holders_are_only_those_we_may_look_at(tmp_path):
    null = Path("/dev/null")
    assert holders(str(tmp_path / "absent")) == []
    fake = tmp_path / "proc"
    for pid, target in (("41", "/dev/null"), ("42", "/dev/zero"), ("43", None)):
        (fake / pid).mkdir(parents=True)
        (fake / pid / "comm").write_text(f"prog{pid}\n")
        if target:
            (fake / pid / "fd").mkdir()
            (fake / pid / "fd" / "3").symlink_to(target)
    (fake / "self").mkdir()
    assert holders(str(null), fake) == [(41, "prog41")]


def test_the_lines_that_may_reset_a_board_are_off_before_opening():
    calls = []

    class Line:
        def __setattr__(self, name, value):
            calls.append((name, value))

        def open(self):
            calls.append("open")
            raise serial.SerialException(errno.ENOENT, "no")

    with pytest.raises(PortMissingError):
        open_serial("/dev/x", Line)
    before = calls[: calls.index("open")]
    assert ("dtr", False) in before
    assert ("rts", False) in before
    assert ("exclusive", True) in before
    assert ("baudrate", 115_200) in before


def test_no_call_waits_for_unsent_bytes():
    source = Path(transport.__file__).read_text("utf-8")
    assert not re.search(r"\.flush\(|tcdrain|\.drain\(", source)
