"""Eight hours without a network, in virtual time, and clocks at odds: nothing is lost, and times agree again.

Real logs on the disk and both ends of the protocol; time, the network and the clocks are the test's own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate import CentralEnd, Incoming, SenderTimes, TableEnd
from station.link.wire import Frames, decode, encode
from station.log import Log
from tests.station.drills import books

pytestmark = pytest.mark.slow
HOURS = 8
HAND_S = 190.0
"""Seconds of a hand, shuffling included; an evening has some eighteen an hour."""
EVENTS = ("dice.rolled", "wall.dealt", "indicator.revealed", "hand.claimed", "hand.read", "hand.confirmed")
LATENCY_S = 0.004
DRIFT = 60e-6
"""How much faster the table's clock runs than the central station's."""
NAMES = ("T1", "T2", "T3")


class World:
    """Virtual time, and what is on its way."""

    def __init__(self) -> None:
        self.now = 0.0
        """Seconds on the central station's monotonic clock."""
        self.up: list[tuple[float, Incoming]] = []
        self.down: list[tuple[float, bytes, Frames]] = []


class Station:
    """The central station; its wall clock jumps."""

    def __init__(self, world: World, path: Path) -> None:
        self.world = world
        self.log = Log.open(path)
        self.step_s = 0.0
        self.end = CentralEnd(
            self.log,
            lambda key: Standing(key, "", key),
            Denials(self.log.append),
            clock=lambda: world.now,
        )

    @property
    def wall_ms(self) -> int:
        return int(1000 * (1_800_000_000 + self.world.now + self.step_s))

    def turn(self) -> None:
        world = self.world
        arrived = [item for at, item in world.up if at <= world.now]
        world.up = [(at, item) for at, item in world.up if at > world.now]
        out = self.end.receive(arrived, world.now, self.wall_ms) if arrived else self.end.poll(world.now)
        world.down += [(world.now + LATENCY_S, item.peer[0], item.frames) for item in out]


class Table:
    """A table whose monotonic clock began at another time and drifts."""

    def __init__(self, world: World, folder: Path, name: str, seed: int) -> None:
        self.world, self.name, self.path = world, name, folder / f"{name}.log"
        self.rng = random.Random(seed)
        self.epoch = self.rng.uniform(-90_000, 90_000)
        self.peer, self.sessions, self.online = b"", 0, False
        self.step_s = 0.0
        self.stamps: list[tuple[float, float, float, float]] = []
        self.open()

    def open(self) -> None:
        self.log = Log.open(self.path)
        self.end = TableEnd(
            self.name,
            self.log,
            self._session,
            SenderTimes(),
            clock=lambda: self.now,
            on_stored=lambda entries: None,
            on_value=lambda key, body: None,
            on_time=lambda *stamps: self.stamps.append(stamps),
        )

    def _session(self) -> bytes:
        self.sessions += 1
        return self.sessions.to_bytes(8, "big")

    @property
    def now(self) -> float:
        """Seconds on its own monotonic clock."""
        return self.epoch + self.world.now * (1 + DRIFT)

    @property
    def wall_ms(self) -> int:
        return int(1000 * (1_800_000_000 + self.world.now + self.step_s))

    def connect(self) -> None:
        self.peer = f"{self.name}/{self.sessions}".encode()
        self.online = True
        self.end.connected(self.now)

    def lose(self) -> None:
        """The network goes, with everything that is on its way."""
        self.online = False
        self.world.up = [(at, item) for at, item in self.world.up if item.peer != self.peer]
        self.world.down = [item for item in self.world.down if item[1] != self.peer]
        self.end.disconnected()

    def crash(self) -> None:
        """The process is killed and started again."""
        self.log.close()
        self.open()

    def hand(self) -> None:
        """Book a hand: a few commits of one or two events."""
        for kind in EVENTS:
            body = msgspec.json.encode({"v": 1, "hand": 1, "why": "x" * self.rng.randrange(20, 400)})
            self.log.append([(kind, body)] * self.rng.choice((1, 1, 2)), self.wall_ms)
        self.end.sender.appended(self.log.head)

    def up_to_date(self, station: Station) -> bool:
        """Whether both sides know all of each other, and the clocks were compared."""
        commands = station.log.author(self.name)
        got = self.log.head_of(commands) == station.log.head_of(commands)
        return got and bool(self.stamps) and self.end.sender.acked == self.log.head.seq

    def turn(self) -> None:
        world = self.world
        arrived = [frames for at, peer, frames in world.down if peer == self.peer and at <= world.now]
        world.down = [item for item in world.down if item[1] != self.peer or item[0] > world.now]
        out = self.end.received([decode(frames) for frames in arrived], self.now, self.wall_ms)
        out += self.end.poll(self.now)
        if self.online:
            at = world.now + LATENCY_S
            world.up += [(at, Incoming(self.peer, self.name, encode(message))) for message in out]


def _talk(world: World, station: Station, tables: list[Table], until_s: float) -> float:
    """Let time pass until everything is delivered, at most so long; give how long it took."""
    began = world.now
    while world.now < began + until_s:
        for table in tables:
            table.turn()
        station.turn()
        if all(table.up_to_date(station) for table in tables):
            break
        world.now += LATENCY_S / 2
    return world.now - began


@pytest.mark.parametrize("step_h", [-1, 1])
def test_an_evening_without_a_network_is_caught_up_in_order_and_the_clocks_agree(
    folder: Path, step_h: int, figure: Callable[[str], None]
) -> None:
    """The wall clocks step by an hour meanwhile, and each table's process is killed once."""
    world = World()
    station = Station(world, folder / "central.log")
    tables = [Table(world, folder, name, seed) for seed, name in enumerate(NAMES)]
    for table in tables:
        table.connect()
        table.hand()
    assert _talk(world, station, tables, 5.0) < 5.0
    known = sum(table.log.head.seq for table in tables)
    for table in tables:
        table.lose()
        table.stamps.clear()
    commands = 0
    began = world.now
    while world.now < began + HOURS * 3600:
        world.now += HAND_S
        for number, table in enumerate(tables):
            table.turn()
            table.hand()
            if int((world.now - began) / HAND_S) == 40 * (number + 1):
                table.crash()
                table.step_s = 3600.0 * step_h
        if int(world.now / HAND_S) % 30 == 0:
            station.step_s = -3600.0 * step_h
            for name in NAMES:
                station.end.command(name, "announce", b"{}", world.now, station.wall_ms)
                commands += 1
    unsent = sum(table.log.head.seq for table in tables) - known
    for table in tables:
        table.connect()
    took = _talk(world, station, tables, 60.0)
    for table in tables:
        assert table.up_to_date(station)
        t1, t2, t3, t4 = table.stamps[-1]
        offset, truth = ((t2 - t1) + (t3 - t4)) / 2, world.now - table.now
        assert abs(offset - truth) <= (t4 - t1 - (t3 - t2)) / 2 + DRIFT * (took + 1)
        table.log.close()
    station.log.close()
    stored, given = books.of_central(folder / "central.log"), books.commands(folder / "central.log")
    events = 0
    for table in tables:
        entries = books.of_table(table.path)
        assert stored[table.name] == entries
        assert books.by_source(table.path)[books.CENTRAL] == given[table.name]
        events += len(entries)
    assert {entry.kind for entry in stored[books.OWN]} == {"log.authored", "announce"}
    assert sum(map(len, given.values())) == commands > 10
    figure(
        f"{HOURS} h offline, wall clocks {step_h:+d} h: {unsent} of {events} events of {len(NAMES)} tables"
        f" and {commands} commands caught up in {took:.1f} s of virtual time"
    )
