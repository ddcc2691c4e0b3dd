"""The compiled board as a bench of the conformance suite: simavr, whose time passes only when told to."""

from tests.firmware_bridge.avr.board import Board
from tests.firmware_bridge.conformance.bench import Bench
from tests.firmware_bridge.conformance.benches import plant_line

BOOT = 0.3
"""Seconds within which a board that starts has written this down and listens."""


class AvrBench(Bench):
    """The firmware on its chip over the plant in C."""

    remembers = 0.4  # a byte of EEPROM takes four milliseconds

    def __init__(self, workshop, *options, extra=""):
        board = Board(
            workshop.harness(),
            workshop.program(extra),
            "--uid",
            "7",
            "--speed",
            "1000",
            "--steps",
            "1",
            *options,
        )
        self.board = board
        self._to_send = b""
        self._received = b""
        self._ahead = 0.0
        self.pass_time(BOOT)

    def send(self, data):
        self._to_send += data

    def receive(self):
        received, self._received = self._received, b""
        return received

    def pass_time(self, seconds):
        self._ahead += seconds * 1000
        whole = int(self._ahead + 1e-6)
        self._ahead -= whole
        if whole == 0:
            return
        said = self.board.ask(f"run {whole} {self._to_send.hex()}")
        self._to_send = b""
        self._received += bytes.fromhex(said["sent"])

    def fault(self, what, op, number=0):
        self.board.ask(plant_line(what, op, number))

    def repair(self):
        self.board.ask("repair")

    def service_key(self, held):
        self.board.ask(f"key {int(held)}")

    def reset(self, cause="watchdog"):
        self.board.ask(cause)
        self._to_send = self._received = b""
        self.pass_time(BOOT)

    def close(self):
        try:
            assert self.board.ask("counts")["tiles"] == 2 * 136
            self.board.check()
        finally:
            self.board.stop()
