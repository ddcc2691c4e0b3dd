"""How the central station's memory grows over a day of play, in virtual time.

    python -m benchmarks.link.day [--tables 100] [--hours 24] [--folder DIR]

Everything but the sockets is the real thing: the central end of the link, the log on the disk, the fold of
the hall and the state that its pages show. Every table plays a hand in four minutes, pings in between,
connects anew every hour and opens a new session every eight. The resident memory of this process, in which
nothing else lives, is read after each virtual hour; the slope is that of a line through the last half.
Prints one JSON object.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from station import messages as m
from station.central.feed import Feed
from station.central.view import Surroundings
from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate import CentralEnd, Incoming
from station.link.said import Event, Hello, Message, Ping
from station.link.wire import encode
from station.log import Entry, Log, chain
from station.log.chain import ZERO_HEAD

HAND_S = 240
SESSION_S = 8 * 3600
RECONNECT_S = 3600
BEGAN_MS = 1_796_000_000_000
LINE = "456m789m11z34s C:123m +5s flip=1p how=discard seat=1 from=2"
PLACES = 4


def opened(table: str) -> m.Body:
    """A session begins."""
    names = [f"{table} {place}" for place in range(PLACES)]
    return m.SessionOpened(
        table=table, ruleset="zhenjiang", ruleset_hash="", options={}, players=names, chips=[50] * PLACES
    )


def hand(number: int) -> list[m.Body]:
    """One hand from the button to the ruling: eight events."""
    winner = number % PLACES
    pay = [-1] * PLACES
    pay[winner] = PLACES - 1
    tiles = [
        m.TileRead(kind="5s", score=0.987, box=(10.0, 20.0, 60.5, 90.5), alternatives=[], group="hand")
        for _ in range(14)
    ]
    return [
        m.CycleStarted(hand=number),
        m.DiceRolled(hand=number, dice=[3, 4], source="machine"),
        m.WallDealt(hand=number, machine_hand=number, thrower=0, wall=1, stack=7, steps=["indicator"]),
        m.IndicatorRevealed(hand=number, tile="1p", wild="2p", score=0.99, photo=None),
        m.HandClaimed(hand=number, claim=1, place=winner, how="discard", source=(winner + 1) % PLACES),
        m.HandRead(hand=number, claim=1, photo=f"{number}.jpg", size=(1600, 1200), tiles=tiles, why=[]),
        m.HandConfirmed(
            hand=number,
            claim=1,
            winner=winner,
            line=LINE,
            cls="discard",
            verdict={},
            pay=pay,
            unpaid=[0] * PLACES,
            bank=0,
            next_dealer=number % PLACES,
            photo=f"{number}.jpg",
            scores=[0.9] * 14,
            edits=0,
        ),
        m.IntakeReleased(hand=number, machine_hand=number),
    ]


class Table:
    """What one table says. It keeps no more than the head of its log."""

    def __init__(self, number: int) -> None:
        self.name = f"T{number}"
        self.log_id = number.to_bytes(16, "big")
        self.head = ZERO_HEAD
        self._connections = 0
        self._hands = 0

    def connect(self) -> Incoming:
        """Greet on a new connection."""
        self._connections += 1
        return self._say(Hello(self._session, self.log_id, self.head, self.name))

    def play(self, now_s: int) -> list[Incoming]:
        """Play one hand; the events of it."""
        bodies = [] if now_s % SESSION_S else [opened(self.name)]
        if bodies:
            self._hands = 0
        self._hands += 1
        bodies += hand(self._hands)
        at_ms = BEGAN_MS + 1000 * now_s
        entries = chain.link(self.log_id, self.head, [m.encode(body) for body in bodies], at_ms)
        self.head = entries[-1].head
        return [self._event(entry) for entry in entries]

    def ping(self) -> Incoming:
        """Say that it is still there."""
        return self._say(Ping(self._session, self.log_id, self.head.seq))

    @property
    def _session(self) -> bytes:
        return self._connections.to_bytes(8, "big")

    def _event(self, entry: Entry) -> Incoming:
        return self._say(Event(self._session, (entry,)))

    def _say(self, message: Message) -> Incoming:
        return Incoming(self.log_id[-4:] + self._session, self.name, encode(message))


def rss_mb() -> float:
    """Give the resident memory of this process, MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def slope(values: Sequence[float]) -> float:
    """Give how much a value grows from one to the next, by least squares."""
    middle = (len(values) - 1) / 2
    spread = sum((n - middle) ** 2 for n in range(len(values)))
    return sum((n - middle) * value for n, value in enumerate(values)) / spread


def live(folder: Path, tables: int, hours: int) -> dict[str, object]:
    """Let so many tables play for so many hours."""
    hall = [Table(number) for number in range(tables)]
    standings = {table.name: Standing(table.name) for table in hall}
    now = 0.0
    began = time.perf_counter()
    memory: list[float] = []
    with Log.open(folder / "central.db") as log, Log.open(folder / "central.db", read_only=True) as reader:
        end = CentralEnd(log, standings.__getitem__, Denials(log.append), clock=lambda: now)
        feed = Feed(reader, lambda: Surroundings(now=BEGAN_MS / 1000 + now, enrolled=frozenset(standings)))
        for now_s in range(0, hours * 3600, HAND_S):
            now = float(now_s)
            wall_ms = BEGAN_MS + 1000 * now_s
            if now_s % RECONNECT_S == 0:
                end.receive([table.connect() for table in hall], now, wall_ms)
            for table in hall:
                end.receive(table.play(now_s), now, wall_ms)
            feed.catch_up()
            feed.state()
            for later in range(60, HAND_S, 60):
                now = float(now_s + later)
                end.receive([table.ping() for table in hall], now, wall_ms + 1000 * later)
            if (now_s + HAND_S) % 3600 == 0:
                memory.append(round(rss_mb(), 2))
        events = log.pos_head.seq
        state = feed.state()
    assert len(state["tables"]) == tables
    return {
        "tables": tables,
        "hours": hours,
        "events": events,
        "log_mb": round((folder / "central.db").stat().st_size / 1e6, 1),
        "took_s": round(time.perf_counter() - began, 1),
        "rss_mb": memory,
        "slope_mb_per_h": round(slope(memory[len(memory) // 2 :]), 3),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--folder", type=Path, help="where the log is to lie; by default a temporary folder")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=a.folder) as place:
        print(json.dumps(live(Path(place), a.tables, a.hours)))


if __name__ == "__main__":
    main()
