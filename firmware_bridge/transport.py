"""The port: opening it with plain words for every refusal, and moving bytes in the asyncio loop.

Addresses: a device path (`/dev/serial/by-path/...`), `pty:PATH` for a simulated machine, or
`socket://HOST:PORT` for one behind a network bridge. pyserial opens and configures serial ports; bytes are
moved on the bare descriptor.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import socket
import stat
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import serial

from firmware_bridge.errors import PortBusyError, PortDeniedError, PortError, PortMissingError, UsageError

BAUD: Final = 115_200

READ_SIZE: Final = 4096

WRITE_DEADLINE: Final = 1.0
"""Seconds for which the other side may refuse to take bytes; then the port counts as lost."""

WRITE_LIMIT: Final = 16_384
"""Bytes that may wait; far more than a second of line. Beyond it the port counts as stuck."""

CONNECT_DEADLINE: Final = 3.0

_PTY_MAJORS: Final = range(136, 144)
"""Device numbers of pseudo-terminals (Linux, admin-guide/devices.txt)."""


class Port(Protocol):
    """An open descriptor that does not block."""

    def fileno(self) -> int:
        """The descriptor."""

    def close(self) -> None:
        """Let it go at once, without waiting for unsent bytes."""


class SocketPort:
    """A TCP connection."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def fileno(self) -> int:
        """The descriptor."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close it."""
        self._sock.close()


class SerialPort:
    """A serial line or a pseudo-terminal, exclusively ours while open."""

    def __init__(self, line: serial.Serial) -> None:
        self._line = line

    def fileno(self) -> int:
        """The descriptor."""
        return int(self._line.fileno())

    def close(self) -> None:
        """Discard what was not sent, so that closing never waits for a dead line, and close."""
        with contextlib.suppress(termios.error, OSError, serial.SerialException):
            termios.tcflush(self._line.fileno(), termios.TCOFLUSH)
        with contextlib.suppress(OSError, serial.SerialException):
            self._line.close()


async def open_port(url: str) -> Port:
    """Open the port of this address.

    Raises:
        UsageError: no such kind of address.
        PortMissingError: no such device, or nobody answers there.
        PortBusyError: another program has it; named if it can be found.
        PortDeniedError: not allowed.
        PortError: anything else.
    """
    if url.startswith("socket://"):
        return await _open_socket(url)
    path = url.removeprefix("pty:")
    if not path.startswith("/"):
        raise UsageError(
            f"{url!r} is no port; use a path like /dev/serial/by-path/..., pty:PATH or socket://HOST:PORT."
        )
    return open_serial(path)


def open_serial(path: str, make: Callable[[], serial.Serial] = serial.Serial) -> SerialPort:
    """Open a serial line or pseudo-terminal; see `open_port` for the errors.

    DTR and RTS are off before the port opens, so that boards which reset on them stay as they are as far as
    the driver allows; that a reset may happen all the same is what boot ids are for.
    """
    line = make()
    line.port = path
    line.baudrate = BAUD
    line.timeout = 0
    line.exclusive = True
    line.dtr = False
    line.rts = False
    try:
        line.open()
    except (OSError, serial.SerialException, termios.error) as error:
        raise explain(path, error) from None
    try:
        _own(line.fileno())
    except OSError as error:
        line.close()
        raise explain(path, error) from None
    _hurry(line)
    return SerialPort(line)


def _own(fd: int) -> None:
    """Keep others out, and keep the board from resetting when we close.

    The exclusive flag of a pseudo-terminal outlives us while its maker holds it open, so there the file lock
    that pyserial took must do.
    """
    info = os.fstat(fd)
    if not (stat.S_ISCHR(info.st_mode) and os.major(info.st_rdev) in _PTY_MAJORS):
        fcntl.ioctl(fd, termios.TIOCEXCL)
    with contextlib.suppress(termios.error):
        settings = termios.tcgetattr(fd)
        settings[2] &= ~termios.HUPCL
        termios.tcsetattr(fd, termios.TCSANOW, settings)


def _hurry(line: serial.Serial) -> None:
    """Ask an adapter not to gather bytes for its 16 ms; many can not, and a pseudo-terminal never can."""
    with contextlib.suppress(OSError, ValueError, termios.error, AttributeError):
        line.set_low_latency_mode(True)


async def _open_socket(url: str) -> SocketPort:
    parts = urlsplit(url)
    if not parts.hostname or not parts.port:
        raise UsageError(f"{url!r} needs a host and a port, as in socket://192.168.1.7:4001.")
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(CONNECT_DEADLINE):
            found = await loop.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)
            family, kind, proto, _, address = found[0]
            sock = socket.socket(family, kind, proto)
            try:
                sock.setblocking(False)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                await loop.sock_connect(sock, address)
            except BaseException:
                sock.close()
                raise
    except (OSError, TimeoutError) as error:
        raise PortMissingError(
            f"Nobody answers at {url} ({error or 'timeout'}); check the network bridge of the machine."
        ) from None
    return SocketPort(sock)


def explain(path: str, error: Exception) -> PortError:
    """The refusal of a port in plain words, with what to do."""
    number = getattr(error, "errno", None)
    if number is None and error.args and isinstance(error.args[0], int):
        number = error.args[0]
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EIO):
        return PortMissingError(f"There is no device at {path}; plug the machine in or correct the path.")
    if number in (errno.EAGAIN, errno.EBUSY, errno.EACCES) and number != errno.EACCES:
        return PortBusyError(f"{path} is in use by {_holders(path)}; end that program first.")
    if number in (errno.EACCES, errno.EPERM):
        return PortDeniedError(
            f"This user may not open {path}; add it to the device's group (dialout or uucp) and log in again."
        )
    return PortError(f"{path} can not be used as a serial port ({error}); check the path.")


def _holders(path: str) -> str:
    names = [f"process {pid} ({name})" for pid, name in holders(path)]
    return " and ".join(names) if names else "another program"


def holders(path: str, proc: Path = Path("/proc")) -> list[tuple[int, str]]:
    """Processes other than this one that have `path` open, as (pid, name); those we may look at."""
    try:
        wanted = os.stat(path).st_rdev  # noqa: PTH116 - the device number, not a file to read
    except OSError:
        return []
    found = []
    for entry in proc.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid() and _has_open(entry / "fd", wanted):
            try:
                name = (entry / "comm").read_text().strip()
            except OSError:
                continue
            found.append((int(entry.name), name))
    return sorted(found)


def _has_open(folder: Path, device: int) -> bool:
    try:
        for link in folder.iterdir():
            with contextlib.suppress(OSError):
                if link.stat().st_rdev == device and stat.S_ISCHR(link.stat().st_mode):
                    return True
    except OSError:
        return False
    return False


class Transport:
    """Moves bytes between an open port and two callbacks, in the running loop.

    `on_lost` is called exactly once, after the descriptor is closed, unless `close` came first.
    """

    def __init__(self, port: Port, on_data: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        self._port = port
        self._fd = port.fileno()
        self._on_data = on_data
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._out = bytearray()
        self._stuck: asyncio.TimerHandle | None = None
        self._open = True
        self._loop.add_reader(self._fd, self._readable)

    def write(self, data: bytes) -> None:
        """Send `data` as soon as the port takes it; never waits."""
        if not self._open or not data:
            return
        if len(self._out) + len(data) > WRITE_LIMIT:
            self._lose("it takes no more bytes")
            return
        idle = not self._out
        self._out += data
        if idle:
            self._writable()

    def overtake(self) -> None:
        """Forget what the port has not taken yet: what comes next goes first."""
        self._out.clear()

    def close(self) -> None:
        """Stop and close; no callback comes afterwards."""
        if not self._open:
            return
        self._open = False
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._calm()
        self._port.close()

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(os.strerror(error.errno or 0))
            return
        if data:
            self._on_data(data)
        else:
            # Readable, but nothing there: the device is gone.
            self._lose("it was unplugged")

    def _writable(self) -> None:
        try:
            sent = os.write(self._fd, self._out)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._lose(os.strerror(error.errno or 0))
            return
        del self._out[:sent]
        if sent:
            self._calm()
        if self._out:
            self._loop.add_writer(self._fd, self._writable)
            if self._stuck is None:
                self._stuck = self._loop.call_later(WRITE_DEADLINE, self._lose, "it takes no bytes")
        else:
            self._calm()
            self._loop.remove_writer(self._fd)

    def _calm(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _lose(self, why: str) -> None:
        if self._open:
            self.close()
            self._on_lost(why)
