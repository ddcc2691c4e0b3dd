"""Table and station lose their disks and get older images of them back, in any order.

Whatever happens: what the station stores of a chain only grows, unless its own disk is replaced; a quarantine
is open exactly while its last row says so; and as long as a table's log was not continued from an older
image, completing it from the station's copy makes both equal again, without a person.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from station.link.denials import Denials
from station.link.keys import Standing
from station.link.replicate import CENTRAL, CentralEnd, Incoming, SenderState, SenderTimes, TableEnd
from station.link.wire import decode, encode
from station.log import Entry, Log
from station.ops.manifest import BackupError
from station.ops.restore import rebuild_from_central

KEY = "key"


class OldImages(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.home = self.folder / "T1"
        self.home.mkdir()
        self.now = 0.0
        self.sessions = itertools.count(1)
        self.peers = itertools.count(1)
        self.seen: dict[bytes, list[Entry]] = {}
        self.start_station()
        self.start_table()

    # ---- the two sides ----

    def open(self, path: Path) -> Log:
        log = Log.open(path)
        log._database.connection.execute("PRAGMA synchronous = OFF")  # only for speed
        return log

    def start_station(self) -> None:
        self.central = self.open(self.folder / "central.db")
        self.station = CentralEnd(
            self.central,
            lambda key: Standing("T1", "", "T1"),
            Denials(self.central.append),
            clock=lambda: self.now,
        )

    def start_table(self) -> None:
        self.table = self.open(self.home / "table.db")
        self.end = TableEnd(
            "T1",
            self.table,
            lambda: next(self.sessions).to_bytes(8, "big"),
            SenderTimes(),
            clock=lambda: self.now,
            on_stored=lambda _: None,
            on_value=lambda *_: None,
            on_time=lambda *_: None,
        )
        self.reconnect()

    def reconnect(self) -> None:
        self.end.disconnected()
        self.peer = b"peer%d" % next(self.peers)
        self.end.connected(self.now)

    def turn(self) -> None:
        up = self.end.poll(self.now)
        for _ in range(8):
            batch = [Incoming(self.peer, KEY, encode(message)) for message in up]
            down = self.station.receive(batch, self.now, int(1000 * self.now))
            answers = [decode(said.frames) for said in down if said.peer[0] == self.peer]
            up = [*self.end.received(answers, self.now, int(1000 * self.now)), *self.end.poll(self.now)]

    @property
    def goes_on(self) -> bool:
        return self.end.sender.state is SenderState.STREAMING

    # ---- what can happen ----

    @rule(n=st.integers(1, 3))
    def append(self, n: int) -> None:
        self.table.append([("e", b"%d" % next(self.sessions))] * n, int(1000 * self.now))
        self.end.sender.appended(self.table.head)

    @rule()
    def command(self) -> None:
        self.station.command("T1", "c", b"%d" % next(self.sessions), self.now, int(1000 * self.now))

    @rule(wait_s=st.sampled_from([1.6, 40.0]))
    def exchange(self, wait_s: float) -> None:
        for _ in range(3):
            self.now += wait_s
            self.turn()
        if self.goes_on:
            own = self.table.entries_of(self.table.log_id)
            assert self.central.entries_of(self.table.log_id) == own
            commands = self.central.author("T1")
            assert self.table.entries_of(commands) == self.central.entries_of(commands)

    @rule(of_table=st.booleans())
    def keep_image(self, of_table: bool) -> None:
        name = "table" if of_table else "central"
        self.replaced(of_table, lambda path: shutil.copy(path, self.folder / f"{name}.image"))

    @rule(of_table=st.booleans())
    def put_image_back(self, of_table: bool) -> None:
        image = self.folder / ("table.image" if of_table else "central.image")
        if image.exists():
            self.replaced(of_table, lambda path: shutil.copy(image, path))
            if not of_table:
                self.seen = {}

    @rule(of_table=st.booleans(), plays_on=st.booleans())
    def lose_a_disk(self, of_table: bool, plays_on: bool) -> None:
        """What was said since the image is known to the other side; then the image is put back."""
        self.keep_image(of_table)
        self.append(2)
        self.command()
        self.exchange(1.6)
        self.put_image_back(of_table)
        if plays_on:
            self.append(1)
            self.command()
        self.exchange(1.6)

    @rule()
    def complete_and_go_on(self) -> None:
        self.complete_the_table()
        self.append(1)
        self.exchange(1.6)

    def replaced(self, of_table: bool, change: Callable[[Path], object]) -> None:
        if of_table:
            self.table.close()
            change(self.home / "table.db")
            self.start_table()
        else:
            self.central.close()
            change(self.folder / "central.db")
            self.start_station()
            self.reconnect()

    @rule()
    def complete_the_table(self) -> None:
        self.replaced(of_table=True, change=lambda path: self.completed())

    def completed(self) -> bool:
        try:
            rebuild_from_central(self.folder / "central.db", "T1", self.home)
        except BackupError:
            return False
        return True

    @rule()
    def move_the_tables_log_away(self) -> None:
        away = self.folder / f"away{next(self.peers)}"
        self.replaced(of_table=True, change=lambda path: path.rename(away))

    @precondition(lambda self: self.central.in_quarantine(self.table.log_id))
    @rule()
    def release_by_a_person(self) -> None:
        assert self.central.release(self.table.log_id, "person", "why", 1)

    # ---- what must hold ----

    @invariant()
    def what_the_station_stores_only_grows(self) -> None:
        for log_id in self.central.chains_of("T1"):
            stored, before = self.central.entries_of(log_id), self.seen.get(log_id, [])
            assert stored[: len(before)] == before
            self.seen[log_id] = stored

    @invariant()
    def a_quarantine_is_open_while_its_last_row_says_so(self) -> None:
        for log in (self.central, self.table):
            db = log._database.connection
            rows = db.execute(
                "SELECT log_id, id IN (SELECT quarantine FROM release) FROM quarantine ORDER BY id"
            ).fetchall()
            last = dict(rows)
            assert all(log.in_quarantine(log_id) is not bool(released) for log_id, released in last.items())
            still = [log_id for log_id, released in rows if not released]
            assert len(still) == len(set(still))
            own = [item for item in log.entries() if not item.source]
            kinds = [item.entry.kind for item in own if item.entry.kind.startswith("link.")]
            rebuilt = any(item.entry.kind == "log.rebuilt" for item in own)
            assert rebuilt or kinds.count("link.fork") == len(rows)

    def teardown(self) -> None:
        """In the end the table is completed; after a fork it does what the page about the link says."""
        self.exchange(40.0)
        self.table.close()
        log_id = self.table.log_id
        if not self.completed() or self.central.quarantined(log_id) == "fork":
            (self.home / "table.db").rename(self.folder / "forked.db")
            if self.central.head_of(log_id).seq and self.central.pos_head.seq % 2:
                rebuild_from_central(self.folder / "central.db", "T1", self.home, log_id=log_id)
                self.central.release(log_id, "person", "why", 1)
        self.start_table()
        self.append(1)
        self.exchange(40.0)
        self.command()
        self.append(1)
        self.exchange(1.6)
        assert self.goes_on
        assert not self.central.in_quarantine(self.table.log_id)
        assert self.central.entries_of(self.table.log_id) == self.table.entries_of(self.table.log_id)
        assert self.table.chains_of(CENTRAL)
        for log in (self.central, self.table):
            found = log.verify()
            assert found.ok, found.misfits
            log.close()
        self.temporary.cleanup()


TestOldImages = pytest.mark.slow(OldImages.TestCase)
TestOldImages.settings = settings(
    max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)
