"""The machines that the one suite holds to the same behaviour."""

import random

from firmware_bridge import messages as m
from firmware_bridge import profiles
from firmware_bridge.interlock import Fault
from firmware_bridge.machine import FaultReport
from firmware_bridge.ops import Op
from firmware_bridge.sim.device import Device
from firmware_bridge.sim.plant import Plant
from tests.firmware_bridge.conformance.bench import Bench

FAULTS = {
    "jam": Fault.JAM,
    "stuck": Fault.SENSOR_STUCK,
    "missing": Fault.TILES_SHORT,
    "surplus": Fault.TILES_OVER,
    "lift": Fault.LIFT_TIMEOUT,
    "lid": Fault.LID_TIMEOUT,
}


class SimBench(Bench):
    """The simulated machine, in virtual time."""

    def __init__(self):
        self.now = 10.0
        self.boot_id = 1
        self.plant = Plant(profiles.load("136"), random.Random(1), 10.0)
        self.device = Device(self.plant, uid=7, boot_id=1, now=self.now)

    def send(self, data):
        self.device.feed(data, self.now)

    def receive(self):
        return b"".join(self.device.take())

    def pass_time(self, seconds):
        self.now += seconds
        self.device.tick(self.now)

    def fault(self, what, op, number=0):
        code = FAULTS[what]
        place = number if what in ("jam", "stuck") else 3 if what == "missing" else None
        count = number if what in ("missing", "surplus") else 0
        self.plant.trouble.append((op, FaultReport(code, place, count)))

    def repair(self):
        pass  # what hits one motion is put right when it has ended

    def service_key(self, held):
        self.plant.service_key = held

    def reset(self):
        self.boot_id += 1
        self.device.reset(self.boot_id, m.ResetCause.WATCHDOG, self.now)


class LibBench(Bench):
    """The firmware's core in C over the plant in C, in virtual time: a `Rig` or a `SanitizedRig`."""

    def __init__(self, rig):
        self.boot_id = 1
        self.rig = rig
        self.ahead = 0.0

    def send(self, data):
        self.rig.receive(data)

    def receive(self):
        return self.rig.take()

    def pass_time(self, seconds):
        self.ahead += seconds * 1000
        whole = int(self.ahead)
        self.ahead -= whole
        self.rig.pass_ms(whole)

    def fault(self, what, op, number=0):
        self.rig.fault(plant_line(what, op, number))

    def repair(self):
        self.rig.fault("repair")

    def service_key(self, held):
        self.rig.fault(f"key {int(held)}")

    def reset(self):
        self.boot_id += 1
        self.rig.reset(self.boot_id, m.ResetCause.WATCHDOG)

    def close(self):
        self.rig.pass_ms(1)
        assert self.rig.tiles == 2 * 136
        self.rig.close()


def plant_line(what, op, number):
    """A fault in the words of plant.h."""
    if what == "stuck":
        return f"high COUNT{number}" if op in (Op.START_BUILD, Op.DEAL) else "high LIFT_BOTTOM"
    return what if what in ("lift", "lid") else f"{what} {number}"
