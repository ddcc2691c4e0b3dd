"""The firmware's core and the plant as a C library: built once a session, called through ctypes."""

import ctypes
import shutil
import struct
import subprocess
from pathlib import Path

from firmware_bridge.codec import DecodeErrors, Frame
from tests.required import go_without

FIRMWARE = Path(__file__).parents[3] / "firmware_bridge" / "firmware"
FRESH = {"loaded": 0, "empty": 1}
ROOM = 1 << 24


def build(target, folder):
    """`make target` into `folder`, with warnings as errors."""
    if shutil.which("gcc") is None or shutil.which("make") is None:
        go_without("gcc", "gcc and make build the firmware's core: apt-get install gcc make")
    made = subprocess.run(
        ["make", "-s", "-C", str(FIRMWARE), target, f"BUILD={folder}", "CC=gcc"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr


class Library:
    """`lib.call(name, ...)` with plain integers and bytes."""

    def __init__(self, path):
        self._dll = ctypes.CDLL(str(path))
        rig, u8, u16, u32 = ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32
        text = ctypes.c_char_p
        for name, result, *args in (
            ("qz_lib_new", rig, ctypes.c_uint64, u32, u32, u8),
            ("qz_lib_free", None, rig),
            ("qz_lib_executed", u32, rig),
            ("qz_lib_executed_id", u32, rig, u32),
            ("qz_lib_locked", ctypes.c_bool, rig),
            ("qz_lib_outputs", u8, rig),
            ("qz_lib_estop", ctypes.c_bool, rig),
            ("qz_lib_lease", ctypes.c_bool, rig),
            ("qz_lib_pulses", u32, rig, u8),
            ("qz_lib_tiles", u16, rig),
            ("qz_lib_fault", ctypes.c_bool, rig, text),
            ("qz_lib_decode", u32, text, text, u32, text, u32),
            ("qz_rig_reset", None, rig, u32, u8),
            ("qz_rig_receive", None, rig, text, u32),
            ("qz_rig_pass", None, rig, u32),
            ("qz_lib_hold_memory", None, rig, ctypes.c_bool),
            ("qz_rig_stall", None, rig, u32),
            ("qz_rig_take", u32, rig, text, u32),
        ):
            function = getattr(self._dll, name)
            function.restype, function.argtypes = result, args

    def call(self, name, *args):
        """One C function."""
        return getattr(self._dll, name)(*args)

    def decode(self, strings):
        """Per string: its frames, its errors, how many stops, and where the last of them ended."""
        lengths = struct.pack(f"<{len(strings)}H", *map(len, strings))
        out = ctypes.create_string_buffer(ROOM)
        data = b"".join(strings)
        used = self.call(
            "qz_lib_decode", data, lengths, len(strings), ctypes.cast(out, ctypes.c_char_p), ROOM
        )
        results, raw, at, frames = [], out.raw[:used], 0, []
        while at < used:
            size = raw[at]
            at += 1
            if size:
                kind, seq, session = struct.unpack_from("<BBH", raw, at)
                frames.append(Frame(kind, seq, session, raw[at + 4 : at + size]))
                at += size
            else:
                *errors, stops, end = struct.unpack_from("<6H", raw, at)
                results.append((frames, DecodeErrors(*errors), stops, None if end == 0xFFFF else end))
                frames, at = [], at + 12
        assert len(results) == len(strings), "fewer strings at once, please"
        return results


class Rig:
    """One board in C with its mechanism; time in milliseconds."""

    def __init__(self, library, *, uid=7, boot_id=1, speed=1000, fresh="loaded"):
        self._lib = library
        self._rig = library.call("qz_lib_new", uid, boot_id, speed, FRESH[fresh])
        self._out = ctypes.create_string_buffer(1 << 16)

    def close(self):
        """Frees it."""
        self._lib.call("qz_lib_free", self._rig)

    def _ask(self, name, *args):
        return self._lib.call(name, self._rig, *args)

    def receive(self, data):
        """Bytes from the host."""
        self._ask("qz_rig_receive", data, len(data))

    def take(self):
        """Bytes for the host."""
        buffer = ctypes.cast(self._out, ctypes.c_char_p)
        got = self._ask("qz_rig_take", buffer, len(self._out))
        return self._out.raw[:got]

    def pass_ms(self, ms):
        """Time passes, a millisecond at a time."""
        self._ask("qz_rig_pass", ms)

    def hold_memory(self, held):
        """Whether writing down what must outlive a reset takes for ever."""
        self._ask("qz_lib_hold_memory", held)

    def stall(self, ms):
        """So much time passes before the board is called again."""
        self._ask("qz_rig_stall", ms)

    def reset(self, boot_id, cause):
        """The board starts anew, with what it keeps."""
        self._ask("qz_rig_reset", boot_id, cause)

    def fault(self, line):
        """As in plant.h."""
        assert self._ask("qz_lib_fault", line.encode()), line

    @property
    def executed(self):
        """Commands that took effect, over all resets."""
        return self._ask("qz_lib_executed")

    def executed_id(self, number):
        """The id of the command that took effect as that number, from 0."""
        return self._ask("qz_lib_executed_id", number)

    @property
    def locked(self):
        """Nothing is taken in."""
        return self._ask("qz_lib_locked")

    @property
    def outputs(self):
        """The pins now."""
        return self._ask("qz_lib_outputs")

    @property
    def estop(self):
        """A stop is latched."""
        return self._ask("qz_lib_estop")

    @property
    def lease(self):
        """The board lets itself be moved."""
        return self._ask("qz_lib_lease")

    @property
    def tiles(self):
        """All tiles there are, as the plant counts them."""
        return self._ask("qz_lib_tiles")

    def pulses(self, output):
        """How often that output went high."""
        return self._ask("qz_lib_pulses", output)


class SanitizedRig:
    """The same board as a process that ends at once when C is misused; time is virtual too."""

    def __init__(self, program, *, speed=1000, fresh="loaded"):
        self._process = subprocess.Popen(
            [str(program), "--virtual", "1", "--speed", str(speed), "--fresh", fresh],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._sent = b""
        self.tiles = self.executed = 0

    def _ask(self, letter, data):
        process = self._process
        try:
            process.stdin.write(letter + struct.pack("<H", len(data)) + data)
            process.stdin.flush()
            ok, self.tiles, self.executed, size = struct.unpack("<BHIH", process.stdout.read(9))
        except (OSError, struct.error):
            raise AssertionError(process.stderr.read().decode()) from None
        self._sent += process.stdout.read(size)
        return bool(ok)

    def receive(self, data):
        """Bytes from the host."""
        assert self._ask(b"s", data)

    def take(self):
        """Bytes for the host."""
        sent, self._sent = self._sent, b""
        return sent

    def pass_ms(self, ms):
        """Time passes, a millisecond at a time."""
        assert self._ask(b"p", struct.pack("<I", ms))

    def reset(self, boot_id, cause):
        """The board starts anew, with what it keeps."""
        assert self._ask(b"r", struct.pack("<IB", boot_id, cause))

    def fault(self, line):
        """As in plant.h."""
        assert self._ask(b"f", line.encode()), line

    def close(self):
        """Ends it; the sanitizers have the last word."""
        _, complaint = self._process.communicate(timeout=60)
        assert (self._process.returncode, complaint) == (0, b"")
