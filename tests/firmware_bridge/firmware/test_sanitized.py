"""The firmware under the compiler's sanitizers: any bytes in any state, and a session as a process.

The scenarios of `conformance` run under them too.
"""

import json
import os
import random
import select
import struct
import subprocess
import time

import pytest

from firmware_bridge import messages as m
from firmware_bridge.ops import ARGUMENTS, Op, pack_args
from tests.firmware_bridge.conformance.bench import Talk
from tests.firmware_bridge.conformance.benches import LibBench
from tests.firmware_bridge.firmware.board_library import SanitizedRig
from tests.firmware_bridge.firmware.corpus import string


def anything(rng, talk):
    """A message that may well be understood, with figures that may well be wrong."""
    op = rng.choice(list(Op))
    args = rng.choice((rng.randbytes(rng.randint(0, 9)), None))
    if args is None:
        size = struct.calcsize("<" + "".join(f"{f.count}{f.code}" for f in ARGUMENTS.get(op, ())))
        args = rng.choice((bytes(size), rng.randbytes(size)))
    talk.cmd_id += rng.choice((0, 1, 1, 1, 7))
    return rng.choice(
        (
            m.Command(talk.cmd_id, op, rng.choice((m.ANY_REV, rng.randrange(50))), args),
            m.Command(talk.cmd_id, op, m.ANY_REV, args),
            m.Command(talk.cmd_id, Op.START, m.ANY_REV, pack_args(Op.START, {})),
            m.Query(rng.randrange(60), bool(rng.randrange(2))),
            m.EventAck(rng.choice((0, 5, 1 << 31))),
            m.Hold(),
            m.Abort(talk.cmd_id),
            m.Ping(1, rng.choice((0, 50, 2000, 65535))),
            m.Hello(1, 1, 5),
            m.ConfigGet(),
            m.ConfigSet(
                m.BoardConfig("x" * 12, tuple(rng.choices(range(22), k=4)), (0,) * 10, rng.choice((0, 52)))
            ),
        )
    )


@pytest.mark.parametrize("seed", range(4))
def test_no_bytes_misuse_memory(firmware_host, seed):
    rng = random.Random(seed)
    talk = Talk(LibBench(SanitizedRig(firmware_host)))
    rig = talk.bench.rig
    talk.hello()
    for _ in range(400):
        for _ in range(3):
            talk.post(anything(rng, talk))
        rig.receive(string(rng))
        rig.pass_ms(rng.choice((0, 1, 5, 40, 700)))
        if rng.random() < 0.1:
            rig.fault(rng.choice(("jam 1", "lift", "lid", "high COUNT0", "low DRUM", "key 1", "repair")))
        if rng.random() < 0.02:
            talk.reset()
        rig.take()
    rig.fault("repair")
    assert talk.hello(session=99).proto == 1
    rig.close()


@pytest.mark.system
def test_the_process_speaks_on_its_pseudo_terminal(firmware_host):
    process = subprocess.Popen(
        [str(firmware_host), "--speed", "3000", "--uid", "00000000000000aa"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        ready = json.loads(process.stdout.readline())
        assert ready["ready"]
        talk = Talk(Line(ready["pty"]))
        assert talk.hello().uid == 0xAA
        talk.start()
        assert talk.do(Op.START_BUILD) == {"stacks": (17, 17, 17, 17)}
        process.stdin.write("jam 2\nnonsense\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["ok"]
        told = json.loads(process.stdout.readline())
        assert (told["ok"], told["executed"], told["tiles"]) == (False, 2, 272)
        talk.bench.close()
    finally:
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        process.stdout.close()


class Line:
    """A pseudo-terminal, in real time."""

    def __init__(self, path):
        self._file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

    def send(self, data):
        os.write(self._file, data)

    def receive(self):
        ready, _, _ = select.select([self._file], [], [], 0)
        return os.read(self._file, 4096) if ready else b""

    def pass_time(self, seconds):
        time.sleep(seconds)

    def close(self):
        os.close(self._file)
