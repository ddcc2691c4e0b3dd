"""The relay driver against pymodbus's own serial server, which counts pulses, over two linked terminals."""

import asyncio
import contextlib
import os
import pty
import struct
import tty

import pytest

from firmware_bridge.drivers.modbus_press import ModbusPress
from firmware_bridge.drivers.wiring import PressSettings
from firmware_bridge.interlock import Lid, Magazine
from firmware_bridge.machine import Status
from tests.firmware_bridge.relay_kit import (
    CONTACT,
    LID,
    LIFT,
    WIRING,
    Kit,
    hurried,
    need_modbus,
    profile_file,
)


def served_by(kit):
    """The requests a board knows, as the server's own classes; what they do is the kit's."""
    from pymodbus.pdu import ModbusPDU
    from pymodbus.pdu.bit_message import (
        ReadCoilsRequest,
        ReadCoilsResponse,
        ReadDiscreteInputsRequest,
        ReadDiscreteInputsResponse,
    )

    class Coil(ModbusPDU):
        """Function 05 with the board's own values: the stock one knows on and off only."""

        function_code = 5
        rtu_frame_size = 8

        def __init__(self, address=0, value=0, dev_id=0):
            super().__init__(dev_id=dev_id, address=address)
            self.value = value

        def encode(self):
            return struct.pack(">HH", self.address, self.value)

        def decode(self, data):
            self.address, self.value = struct.unpack(">HH", data[:4])

        async def datastore_update(self, context, device_id):
            kit.write(self.address, self.value)
            return Coil(self.address, self.value)

    class Relays(ReadCoilsRequest):
        async def datastore_update(self, context, device_id):
            return ReadCoilsResponse(bits=list(kit.relays))

    class Inputs(ReadDiscreteInputsRequest):
        async def datastore_update(self, context, device_id):
            return ReadDiscreteInputsResponse(bits=list(kit.inputs))

    return [Coil, Relays, Inputs]


class Line:
    """Two terminals joined; what the server says may be lost."""

    def __init__(self):
        self.ends = [pty.openpty() for _ in range(2)]
        for master, slave in self.ends:
            tty.setraw(slave)
            os.set_blocking(master, False)
        self.client, self.server = (os.ttyname(slave) for _, slave in self.ends)
        self.loses = lambda: False

    def start(self):
        loop = asyncio.get_running_loop()
        (here, _), (there, _) = self.ends
        loop.add_reader(here, lambda: os.write(there, os.read(here, 256)))
        loop.add_reader(there, self._back, there, here)

    def _back(self, there, here):
        data = os.read(there, 256)
        if not self.loses():
            os.write(here, data)

    def stop(self):
        loop = asyncio.get_running_loop()
        for master, slave in self.ends:
            loop.remove_reader(master)
            os.close(master)
            os.close(slave)


def play(tmp_path, scene):
    """Run `scene(machine, kit, line)` with driver and server on one loop."""
    need_modbus()
    from pymodbus.server import ModbusSerialServer
    from pymodbus.simulator import DataType, SimData, SimDevice

    from firmware_bridge.drivers.relay_board import RelayBoard

    async def run():
        kit, line = Kit(), Line()
        kit.lid_moves = True
        line.start()
        device = SimDevice(1, SimData(0, count=8, values=0, datatype=DataType.REGISTERS))
        server = ModbusSerialServer(device, port=line.server, baudrate=9600, custom_pdu=served_by(kit))
        await server.serve_forever(background=True)
        settings = PressSettings(line.client, reply_s=1.0, profile=profile_file(tmp_path), **WIRING)
        board = RelayBoard(settings.port, settings.address, settings.baud, settings.reply_s)
        machine = ModbusPress(settings, board, tmp_path / "commands.db", **hurried())
        task = asyncio.create_task(machine.run())
        try:
            async with asyncio.timeout(30):
                await machine.wait_ready()
                assert (await machine.execute("START")).done
                await machine.wait_for(lambda view: view.magazine is Magazine.READY)
                return kit, await scene(machine, kit, line)
        finally:
            await machine.close()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await server.shutdown()
            line.stop()

    return asyncio.run(run())


def test_a_press_is_one_pulse(tmp_path):
    async def scene(machine, kit, line):
        outcome = await machine.execute("OPEN_LID")
        return outcome, (await machine.wait_for(lambda view: view.lid is Lid.OPEN)).lid

    kit, (outcome, lid) = play(tmp_path, scene)
    assert (outcome.status, lid) == (Status.DONE, Lid.OPEN)
    assert kit.pulses == [(LIFT, 3)]


@pytest.mark.parametrize("lost", [1, 2, 1000])
def test_lost_replies_make_one_pulse_an_unknown_and_never_a_second(tmp_path, lost):
    """A library that repeats writes makes three of two lost replies."""

    async def scene(machine, kit, line):
        left = [lost]

        def loses():
            if kit.pulses and left[0]:
                left[0] -= 1
                return True
            return False

        line.loses = loses
        outcome = await machine.execute("OPEN_LID")
        left[0] = 0
        await machine.wait_for(lambda view: view.ready)
        refused = await machine.execute("OPEN_LID")
        await asyncio.sleep(0.2)
        return outcome, refused

    kit, (outcome, refused) = play(tmp_path, scene)
    assert (outcome.status, outcome.code) == (Status.UNKNOWN, "no_reply")
    assert refused.status is Status.REJECTED
    assert kit.pulses == [(LIFT, 3)]


def test_the_machine_s_own_button_is_dead_while_locked(tmp_path):
    async def scene(machine, kit, line):
        alive = []
        await machine.execute("OPEN_LID")
        await machine.wait_for(lambda view: view.lid is Lid.OPEN)
        kit.push()
        await machine.wait_for(lambda view: view.locked)
        while kit.relays[CONTACT]:
            await asyncio.sleep(0.01)
        for _ in range(3):
            kit.push()
            alive.append(kit.inputs[LID])
        await machine.execute("RELEASE_INTAKE", hand=1)
        kit.build()
        kit.push()
        return alive, kit.inputs[LID]

    kit, (alive, released) = play(tmp_path, scene)
    assert alive == [False] * 3
    assert released is True
    assert len(kit.pulses) == 1
