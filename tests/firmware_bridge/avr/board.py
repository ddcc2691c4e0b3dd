"""The board's compiled program in simavr: building it, running it, and what the tests need around it."""

import asyncio
import contextlib
import json
import os
import queue
import random
import selectors
import shutil
import subprocess
import tempfile
import threading
import time
import tty
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.required import go_without

HERE = Path(__file__).parent
FIRMWARE = HERE.parents[2] / "firmware_bridge" / "firmware"
HERTZ = 16_000_000
FLASH_MAX = 16_384
RAM_MAX = 1_536
TURN_MAX = HERTZ // 200
"""Cycles that one turn of the main loop may take: a fiftieth of what the watchdog bears."""


def need_tools():
    """Leave the test, or fail it, where the board's program can not be built or run."""
    missing = [
        tool for tool in ("avr-gcc", "avr-nm", "avr-size", "gcc", "make") if shutil.which(tool) is None
    ]
    missing += [
        package
        for package, path in (
            ("avr-libc", "/usr/lib/avr/include/avr/io.h"),
            ("libsimavr-dev", "/usr/include/simavr/sim_avr.h"),
        )
        if not Path(path).exists()
    ]
    if missing:
        go_without("avr", f"the board's program can not be built or run: {', '.join(missing)} missing")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Program:
    """A built ELF file: bytes of flash and of variables, and the first address above these.

    `extra`: what it was built with besides; nothing in the program that is flashed.
    """

    elf: Path
    flash: int
    variables: int
    end: int
    extra: str


class Workshop:
    """Builds into one folder, each thing once."""

    def __init__(self, folder):
        self._folder = folder
        self.program = cache(self._program)

    def harness(self):
        binary = self._folder / "harness"
        if not binary.exists():
            sources = [HERE / "harness.c", *sorted((FIRMWARE / "plant").glob("*.c"))]
            flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{FIRMWARE}"]
            run("gcc", *flags, "-o", binary, *sources, "-lsimavr")
        return binary

    def _program(self, extra=""):
        build = self._folder / f"build{len(list(self._folder.iterdir()))}"
        elf = build / "avr" / "quezhuo.elf"
        run("make", "-C", FIRMWARE, "--no-print-directory", f"BUILD={build}", f"AVR_EXTRA={extra}", elf)
        sizes = {}
        for line in run("avr-size", "-A", elf).splitlines():
            words = line.split()
            if len(words) == 3 and words[0].startswith("."):
                sizes[words[0]] = int(words[1])
        symbols = dict(
            reversed(line.split()[::2]) for line in run("avr-nm", elf).splitlines() if len(line.split()) == 3
        )
        return Program(
            elf,
            flash=sizes[".text"] + sizes.get(".data", 0),
            variables=sum(sizes.get(part, 0) for part in (".data", ".bss", ".noinit")),
            end=int(symbols["_end"], 16),
            extra=extra,
        )


class Board:
    """A running board. `edges`: changes of output pins as (pin, level, cycle), in order."""

    def __init__(self, harness, program, *options):
        self.program = program
        self.edges = []
        self._replies = queue.Queue()
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `stop`
        command = [harness, program.elf, "--end", hex(program.end), *map(str, options)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            bufsize=1,
        )
        ready = json.loads(self.process.stdout.readline())
        self.pty = ready["pty"]
        self.url = f"pty:{self.pty}"
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if "--steps" in options:
            self._reply("run")

    def _read(self):
        for line in self.process.stdout:
            said = json.loads(line)
            if "pin" in said:
                self.edges.append((said["pin"], said["level"], said["cycle"]))
            else:
                self._replies.put(said)

    def ask(self, command):
        """Give a command to the harness; its answer."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._reply(command.split()[0])

    def _reply(self, name):
        answer = self._replies.get(timeout=30)
        assert answer.get("reply") == name, answer
        assert "error" not in answer, answer
        return answer

    def pins(self):
        return self.ask("pins")

    def now(self):
        """Cycles since the start."""
        return self.pins()["cycle"]

    def rises(self, pin):
        """How often that output was switched on."""
        return self.pins()["rises"][pin]

    def built(self):
        """Stacks that the sensor of each place has counted, since the start."""
        return tuple(self.ask("counts")["built"])

    def fed(self):
        """Tiles likewise."""
        return tuple(self.ask("counts")["fed"])

    def wait_edge(self, pin, level, after=0, timeout=60):
        """The cycle of the first such edge after that cycle; polls, since pins know no event loop."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            for name, is_level, cycle in list(self.edges):
                if (name, is_level) == (pin, level) and cycle > after:
                    return cycle
            time.sleep(0.002)
        raise AssertionError(f"{pin} did not become {level}; edges: {self.edges[-10:]}")

    async def edge(self, pin, level, after=0):
        """`wait_edge` beside an event loop."""
        return await asyncio.to_thread(self.wait_edge, pin, level, after)

    def check(self):
        """What holds for a board at any time: memory and turns of its loop suffice, and it missed no byte."""
        stack = self.ask("stack")
        assert stack["static"] + stack["stack"] <= RAM_MAX, stack
        if not self.program.extra:
            assert self.pins()["longest"] < TURN_MAX
        self._log.seek(0)
        assert "overrun" not in self._log.read()

    def stop(self):
        """End it: by its own process, and by force when it hangs."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._reader.join(30)
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._log.close()


class BadLine:
    """A pseudo-terminal before another one, between which a share of all frames is damaged.

    A frame has a bit flipped, is lost, or comes twice; each equally often. `rate` may be changed at any time.
    """

    def __init__(self, pty, seed, rate=0.0):
        self.rate = rate
        self.frames = self.damaged = 0
        self._rng = random.Random(seed)
        self._far = os.open(pty, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._near, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._near, False)
        self._slave = slave  # kept open, so that the line outlives those who open and close it
        self.pty = os.ttyname(slave)
        self.url = f"pty:{self.pty}"
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        rest = {self._far: b"", self._near: b""}
        with selectors.DefaultSelector() as selector:
            for end in (*rest, self._wake):
                selector.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fd == self._wake:
                        return
                    try:
                        data = rest[key.fd] + os.read(key.fd, 4096)
                    except OSError:
                        return
                    *frames, rest[key.fd] = data.split(b"\0")
                    other = self._near if key.fd == self._far else self._far
                    for frame in frames:
                        if frame:
                            with contextlib.suppress(BlockingIOError):
                                os.write(other, self._pass(frame))

    def _pass(self, frame):
        self.frames += 1
        good = b"\0" + frame + b"\0"
        if self._rng.random() >= self.rate:
            return good
        self.damaged += 1
        kind = self._rng.randrange(3)
        if kind == 0:
            bad = bytearray(good)
            bad[self._rng.randrange(len(bad))] ^= 1 << self._rng.randrange(8)
            return bytes(bad)
        return b"" if kind == 1 else good + good

    def close(self):
        os.write(self._waker, b".")
        self._thread.join(30)  # it still uses what is closed below
        for fd in (self._far, self._near, self._slave, self._wake, self._waker):
            os.close(fd)
