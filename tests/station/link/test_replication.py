"""Both ends over a channel that loses, doubles and reorders, both ways, with crashes of both sides.

Whatever happens, each side holds a prefix of what the other wrote, each entry once and in order; nothing is
acknowledged that is not stored; each command takes effect at most once and in order; and once the channel is
fair again, everything arrives and every command has taken effect once.
"""

import itertools
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate import CENTRAL, CentralEnd, Incoming, SenderTimes, TableEnd
from station.link.said import Message
from station.link.wire import Frames, decode, encode
from station.log import Entry, Log

PICK = st.integers(0, 10_000)
KEY = "key"


class Replication(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = 0.0
        self.sessions = itertools.count(1)
        self.peers = itertools.count(1)
        self.peer = b""
        self.up: list[tuple[bytes, Frames]] = []
        self.down: list[Frames] = []
        self.told: dict[str, bytes] = {}
        self.start_central()
        self.start_table()
        self.reconnect()

    # ---- the two sides ----

    def open(self, name: str) -> Log:
        log = Log.open(Path(self.folder.name) / name)
        log._database.connection.execute("PRAGMA synchronous = OFF")  # only for speed
        return log

    def start_central(self) -> None:
        self.central = self.open("central.db")
        self.station = CentralEnd(
            self.central,
            lambda key: Standing("T1", "", "T1"),
            Denials(self.central.append),
            times=SenderTimes(window=3),
            clock=lambda: self.now,
            on_value=lambda table, key, body: self.told.update({key: body}),
        )

    def start_table(self) -> None:
        self.table = self.open("table.db")
        self.end = TableEnd(
            "T1",
            self.table,
            lambda: next(self.sessions).to_bytes(8, "big"),
            SenderTimes(window=4),
            clock=lambda: self.now,
            on_stored=lambda entries: self.waiting.extend(entries),
            on_value=lambda key, body: self.told.update({key: body}),
            on_time=lambda *_: None,
        )
        done = self.done()
        self.waiting: list[Entry] = [
            entry
            for log_id in self.table.chains_of(CENTRAL)
            for entry in self.table.entries_of(log_id, max(done, default=0))
        ]

    def done(self) -> list[int]:
        """The commands that took effect, as the table's own events name them."""
        own = self.table.entries_of(self.table.log_id)
        return [json.loads(entry.body)["seq"] for entry in own if entry.kind == "command.done"]

    @property
    def commands(self) -> bytes:
        return self.central.author("T1")

    def to_central(self, batch: list[tuple[bytes, Frames]]) -> None:
        incoming = [Incoming(peer, KEY, frames) for peer, frames in batch]
        self.send_down(self.station.receive(incoming, self.now, int(1000 * self.now)))

    def send_down(self, answers: list) -> None:
        self.down += [answer.frames for answer in answers if answer.peer[0] == self.peer]

    def to_table(self, *batch: Frames) -> None:
        messages = [decode(frames) for frames in batch]
        self.send_up(self.end.received(messages, self.now, int(1000 * self.now)))

    def send_up(self, messages: list[Message]) -> None:
        self.up += [(self.peer, encode(message)) for message in messages]

    # ---- what can happen ----

    @rule(n=st.integers(1, 6))
    def append(self, n: int) -> None:
        self.table.append([("e", b"{}")] * n, int(1000 * self.now))
        self.end.sender.appended(self.table.head)

    @rule(n=st.integers(1, 3))
    def command(self, n: int) -> None:
        for _ in range(n):
            self.station.command("T1", "c", b"{}", self.now, int(1000 * self.now))

    @rule(upward=st.booleans())
    def set_value(self, upward: bool) -> None:
        body = b"%d" % next(self.sessions)
        if upward:
            self.end.set_value("up", body, 0)
        else:
            self.station.tables.set_value("T1", "down", body, 0)

    @precondition(lambda self: self.waiting)
    @rule()
    def take_effect(self) -> None:
        command = self.waiting.pop(0)
        body = {"log": command.log_id.hex(), "seq": command.seq}
        self.table.append([("effect", b"{}"), ("command.done", json.dumps(body).encode())], 1)
        self.end.sender.appended(self.table.head)

    @rule(dt=st.sampled_from([0.0, 0.1, 1.6, 40.0]))
    def tick(self, dt: float) -> None:
        self.now += dt
        self.send_up(self.end.poll(self.now))
        self.send_down(self.station.poll(self.now))

    @rule(pick=PICK, n=st.integers(1, 5), keep=st.booleans())
    def deliver_up(self, pick: int, n: int, keep: bool) -> None:
        if self.up:
            at = pick % len(self.up)
            batch = self.up[at : at + n]
            if not keep:
                del self.up[at : at + n]
            self.to_central(batch)

    @rule(pick=PICK, keep=st.booleans())
    def deliver_down(self, pick: int, keep: bool) -> None:
        if self.down:
            at = pick % len(self.down)
            frames = self.down[at]
            if not keep:
                del self.down[at]
            self.to_table(frames)

    @rule()
    def deliver_all(self) -> None:
        batch, self.up = self.up, []
        self.to_central(batch)
        answers, self.down = self.down, []
        self.to_table(*answers)

    @rule(pick=PICK, upward=st.booleans())
    def lose(self, pick: int, upward: bool) -> None:
        channel: list = self.up if upward else self.down
        if channel:
            del channel[pick % len(channel)]

    @rule()
    def reconnect(self) -> None:
        """A new connection is a new peer; what is under way on the old one may still arrive."""
        self.end.disconnected()
        self.peer = b"peer%d" % next(self.peers)
        self.end.connected(self.now)

    @rule()
    def crash_table(self) -> None:
        """Commands that have not taken effect are handed over again after the restart."""
        self.table.close()
        self.start_table()
        self.reconnect()

    @rule(stored=st.booleans())
    def crash_central(self, stored: bool) -> None:
        """Killed before the commit, or between commit and acknowledgement."""
        batch, self.up = self.up, []
        if stored:
            self.station.receive([Incoming(p, KEY, f) for p, f in batch], self.now, 1)
        self.central.close()
        self.start_central()

    # ---- what must hold ----

    @invariant()
    def each_side_holds_a_prefix_of_the_other_once_and_in_order(self) -> None:
        own = self.table.entries_of(self.table.log_id)
        stored = self.central.entries_of(self.table.log_id)
        assert stored == own[: len(stored)]
        sent = self.central.entries_of(self.commands)
        copied = self.table.entries_of(self.commands)
        assert copied == sent[: len(copied)]

    @invariant()
    def nothing_is_acknowledged_that_is_not_stored(self) -> None:
        assert self.end.sender.acked <= self.central.head_of(self.table.log_id).seq
        assert self.table.head_of(self.commands).seq <= self.central.head_of(self.commands).seq

    @invariant()
    def commands_take_effect_once_and_in_order(self) -> None:
        done = self.done()
        assert done == list(range(1, len(done) + 1))

    def settled(self) -> bool:
        stored = self.table.head_of(self.commands).seq
        everything = self.end.sender.acked == self.table.head.seq
        return everything and stored == self.central.head_of(self.commands).seq

    def teardown(self) -> None:
        """The channel becomes fair but for one more loss, of the last messages: everything arrives."""
        for _ in range(6):
            self.tick(1.6)
            self.deliver_all()
        self.append(3)
        self.command(1)
        self.set_value(upward=True)
        self.set_value(upward=False)
        self.tick(0.0)
        self.up, self.down = [], []
        self.reconnect()
        for _ in range(400):
            self.tick(1.6)
            self.deliver_all()
            while self.waiting:
                self.take_effect()
            if self.settled():
                break
        self.tick(40.0)
        self.deliver_all()
        assert self.end.sender.acked == self.table.head.seq
        assert self.central.entries_of(self.table.log_id) == self.table.entries_of(self.table.log_id)
        assert self.central.entries_of(self.commands) == self.table.entries_of(self.commands)
        assert self.done() == list(range(1, self.central.head_of(self.commands).seq + 1))
        assert self.told["up"] == self.end._board.values["up"].body
        assert self.told["down"] == self.station.tables._for_one["T1"].values["down"].body
        for log in (self.central, self.table):
            assert log.verify().ok
            assert not any(item.entry.kind == "link.fork" for item in log.entries())
            log.close()
        self.folder.cleanup()


TestReplication = pytest.mark.slow(Replication.TestCase)
TestReplication.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
