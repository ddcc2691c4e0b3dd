"""Sender and receiver over a channel that loses, doubles and reorders, with crashes of both sides.

Whatever happens, the central log holds a prefix of the table's log, each entry once and in order; nothing is
acknowledged that is not stored; and once the channel is fair again, everything arrives.
"""

import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from station.link.denials import Denials
from station.link.receiver import Incoming, Receiver
from station.link.sender import Sender, SenderTimes, Source
from station.link.wire import Frames, decode_from_central, encode
from station.log import CentralLog, Entry, chain
from station.log.chain import GENESIS, ZERO_HEAD, Head

LOG = b"L" * 16
PICK = st.integers(0, 10_000)


class Replication(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "central.log"
        self.table: list[Entry] = []
        self.now = 0.0
        self.sessions = itertools.count(1)
        self.peers = itertools.count(1)
        self.peer = b""
        self.up: list[tuple[bytes, Frames]] = []
        self.down: list[Frames] = []
        self.start_central()
        self.start_table()
        self.reconnect()

    # ---- the two sides ----

    def start_central(self) -> None:
        self.central = CentralLog.open(self.path)
        self.central._database.connection.execute("PRAGMA synchronous = OFF")  # only for speed
        self.receiver = Receiver(self.central, {"key": "T1"}.get, Denials(self.central.append_own))

    def start_table(self) -> None:
        self.sender = Sender(
            "T1",
            LOG,
            self.head,
            Source(lambda after, limit: self.table[after : after + limit], self.hash_at),
            lambda: next(self.sessions).to_bytes(8, "big"),
            SenderTimes(window=4),
        )

    @property
    def head(self) -> Head:
        return self.table[-1].head if self.table else ZERO_HEAD

    def hash_at(self, seq: int) -> bytes | None:
        return GENESIS if seq == 0 else self.table[seq - 1].hash if seq <= len(self.table) else None

    def to_central(self, batch: list[tuple[bytes, Frames]]) -> None:
        incoming = [Incoming(peer, "key", frames) for peer, frames in batch]
        answers = self.receiver.receive(incoming, self.now, int(1000 * self.now))
        self.down += [answer.frames for answer in answers if answer.peer == self.peer]

    def to_table(self, frames: Frames) -> None:
        for message in self.sender.received(decode_from_central(frames), self.now):
            self.up.append((self.peer, encode(message)))

    # ---- what can happen ----

    @rule(n=st.integers(1, 6))
    def append(self, n: int) -> None:
        self.table += chain.link(LOG, self.head, [("e", b"%d" % (len(self.table) + i)) for i in range(n)], 1)
        self.sender.appended(self.head)

    @rule(dt=st.sampled_from([0.0, 0.1, 1.6, 40.0]))
    def tick(self, dt: float) -> None:
        self.now += dt
        self.up += [(self.peer, encode(message)) for message in self.sender.poll(self.now)]

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
        for frames in answers:
            self.to_table(frames)

    @rule(pick=PICK, upward=st.booleans())
    def lose(self, pick: int, upward: bool) -> None:
        channel = self.up if upward else self.down
        if channel:
            del channel[pick % len(channel)]

    @rule()
    def reconnect(self) -> None:
        """A new connection is a new peer; what is under way on the old one may still arrive."""
        self.sender.disconnected()
        self.peer = b"peer%d" % next(self.peers)
        self.sender.connected(self.now)

    @rule()
    def crash_table(self) -> None:
        self.start_table()
        self.reconnect()

    @rule(stored=st.booleans())
    def crash_central(self, stored: bool) -> None:
        """Killed before the commit, or between commit and acknowledgement."""
        batch, self.up = self.up, []
        if stored:
            self.receiver.receive([Incoming(p, "key", f) for p, f in batch], self.now, 1)
        self.central.close()
        self.start_central()

    # ---- what must hold ----

    @invariant()
    def central_holds_a_prefix_once_and_in_order(self) -> None:
        stored = [item.entry for item in self.central.entries()]
        assert stored == self.table[: len(stored)]

    @invariant()
    def nothing_is_acknowledged_that_is_not_stored(self) -> None:
        assert self.sender.acked <= self.central.head_of(LOG).seq

    def teardown(self) -> None:
        """The channel becomes fair but for one more loss, of the last entries: everything arrives."""
        for _ in range(3):
            self.tick(1.6)
            self.deliver_all()
        self.append(3)
        self.tick(0.0)
        self.up, self.down = [], []
        for _ in range(10 + 3 * len(self.table)):
            self.tick(1.6)
            self.deliver_all()
        assert self.sender.acked == len(self.table)
        assert [item.entry for item in self.central.entries()] == self.table
        assert self.central.verify().ok
        assert not self.central.in_quarantine(LOG)
        self.central.close()
        self.folder.cleanup()


TestReplication = pytest.mark.slow(Replication.TestCase)
TestReplication.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
