"""A quarantine ends by a proof: what the receiver answers, and both threads with real sockets."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from station.link.said import Ack, Diverged, Hello, Nack, Resume
from station.link.status import LinkState
from station.link.table_thread import LinkThread
from station.link.wire import NackCode
from station.log import Entry, Log, verify_file
from station.log.chain import ZERO_HEAD
from station.ops.restore import rebuild_from_central
from tests.station.link.test_central_end import LOG, S1, S2, Central, entries, events, hello

S3 = b"session3"
FORKED = Nack(S3, LOG, NackCode.FORK)
EVENT = ("hand.confirmed", b'{"v":1}')


@pytest.fixture
def central(tmp_path: Path) -> Any:
    with Log.open(tmp_path / "central.log") as log:
        yield Central(log)


@pytest.fixture
def told(central: Central) -> list[Entry]:
    """Three of five entries are stored. Then the table came with the first alone."""
    told = entries(5)
    central.t1(hello(), *events(told[:3]))
    assert central.t1(hello(told[0].head, S2)) == Resume(S2, LOG, 4, told[2].hash)
    assert central.t1(Diverged(S2, LOG, told[0].head, "rollback")) == Nack(S2, LOG, NackCode.FORK)
    assert central.log.quarantined(LOG) == "rollback"
    return told


def kinds(log: Log) -> list[str]:
    return [item.entry.kind for item in log.entries() if not item.source]


# ---- the receiver ----


def test_a_table_with_the_same_head_is_let_in_at_once(central: Central, told: list[Entry]) -> None:
    assert central.t1(hello(told[2].head, S3)) == Resume(S3, LOG, 4, told[2].hash)
    assert not central.log.in_quarantine(LOG)
    assert kinds(central.log) == ["link.fork", "link.released"]
    assert central.t1(*events(told[3:], S3)) == Ack(S3, LOG, 5)


def test_a_table_with_more_is_let_in_by_the_first_entry_that_follows(
    central: Central, told: list[Entry]
) -> None:
    assert central.t1(hello(told[4].head, S3)) == Resume(S3, LOG, 4, told[2].hash)
    assert central.log.in_quarantine(LOG)  # a claim alone proves nothing
    assert central.t1(*events(told[3:], S3)) == Ack(S3, LOG, 5)
    assert central.log.entries_of(LOG) == told
    assert kinds(central.log) == ["link.fork", "link.released"]


@pytest.mark.parametrize("seq", [0, 1, 2])
def test_a_table_that_is_still_behind_is_refused_and_nothing_more_is_booked(
    central: Central, told: list[Entry], seq: int
) -> None:
    head = told[seq - 1].head if seq else ZERO_HEAD
    assert central.t1(hello(head, S3)) == FORKED
    assert central.t1(hello(head, S3), *events(told[3:], S3)) == FORKED
    assert kinds(central.log) == ["link.fork"]


@pytest.mark.parametrize("seq", [2, 3])
def test_a_table_that_was_continued_from_its_older_copy_is_a_fork(
    central: Central, told: list[Entry], seq: int
) -> None:
    other = entries(seq, "other")
    assert central.t1(hello(other[-1].head, S3)) == FORKED
    assert central.log.quarantined(LOG) == "fork"
    assert kinds(central.log) == ["link.fork", "link.released", "link.fork"]
    assert central.t1(hello(told[2].head, S1)) == Nack(S1, LOG, NackCode.FORK)
    assert central.t1(hello(told[4].head, S1)) == Nack(S1, LOG, NackCode.FORK)


def test_a_longer_history_that_is_another_one_is_a_fork_and_its_entry_is_kept(
    central: Central, told: list[Entry]
) -> None:
    other = entries(5, "other")
    assert central.t1(hello(other[4].head, S3)) == Resume(S3, LOG, 4, told[2].hash)
    assert central.t1(*events(other[3:], S3)) == FORKED
    assert central.log.entries_of(LOG) == told[:3]
    assert central.log.quarantined(LOG) == "fork"
    assert central.log.verify().ok


def test_a_table_that_finds_the_other_history_itself_is_a_fork(central: Central, told: list[Entry]) -> None:
    other = entries(5, "other")
    assert central.t1(hello(other[4].head, S3)) == Resume(S3, LOG, 4, told[2].hash)
    assert central.t1(Diverged(S3, LOG, other[4].head, "fork")) == FORKED
    assert central.log.quarantined(LOG) == "fork"


def test_a_rollback_that_is_claimed_with_another_history_is_a_fork(central: Central) -> None:
    told = entries(3)
    central.t1(hello(), *events(told))
    central.t1(hello(told[0].head, S2))
    other = entries(2, "other")
    assert central.t1(Diverged(S2, LOG, other[1].head, "rollback")) == Nack(S2, LOG, NackCode.FORK)
    assert central.log.quarantined(LOG) == "fork"


# ---- commands of a station that lost its disk ----


def test_a_station_behind_its_own_commands_begins_another_chain_for_the_table(central: Central) -> None:
    central.t1(hello())
    command = central.end.command("T1", "c", b"{}", 1.0, 1000)
    assert central.poll(1.0) == [Hello(S1, command.log_id, command.head, "T1")]
    answers = central.receive(("p1", "key-1", Resume(S1, command.log_id, 4, b"h" * 32)))["p1"]
    anew = central.log.author("T1")
    assert anew != command.log_id
    assert answers == [
        Diverged(S1, command.log_id, command.head, "rollback"),
        Hello(S1, anew, ZERO_HEAD, "T1"),
    ]
    assert central.t1(Nack(S1, command.log_id, NackCode.FORK)) is None  # of the chain given up
    assert central.t1(Resume(S1, anew, 1, ZERO_HEAD.hash)) is None
    second = central.end.command("T1", "c", b"{}", 2.0, 2000)
    assert (second.log_id, second.seq) == (anew, 1)
    assert central.end.tables.undelivered() == {"T1": 1}
    assert kinds(central.log) == ["log.authored", "c", "link.denied", "log.authored", "c"]
    again = Central(central.log)
    answers = again.receive(("p1", "key-1", hello()))["p1"]
    assert answers[1:] == [Hello(S1, anew, second.head, "T1")]
    assert central.log.verify().ok


def test_a_table_that_refuses_every_chain_makes_the_log_grow_with_the_commands_alone(
    central: Central,
) -> None:
    central.t1(hello())
    command = central.end.command("T1", "c", b"{}", 1.0, 1000)
    central.poll(1.0)
    central.t1(Nack(S1, command.log_id, NackCode.FORK))
    grown = central.log.pos_head
    for now in range(2, 20):
        central.t1(Nack(S1, central.log.author("T1"), NackCode.FORK), now=float(now))
        central.poll(float(now))
    assert central.log.pos_head == grown


def test_a_table_with_a_new_log_is_not_told_what_its_old_one_was(central: Central) -> None:
    new, after = b"N" * 16, b"O" * 16
    first = central.end.command("T1", "c", b"1", 1.0, 1000)  # before the table ever came
    answers = central.receive(("p1", "key-1", hello()))["p1"]
    assert answers[1:] == [Hello(S1, first.log_id, first.head, "T1")]
    central.t1(*events(entries(2)))
    for session in (S2, S3):
        answers = central.receive(("p1", "key-1", hello(session=session, log_id=new)))["p1"]
        anew = central.log.author("T1")
        assert answers[1:] == [Hello(session, anew, ZERO_HEAD, "T1")]
        assert anew != first.log_id
    second = central.end.command("T1", "c", b"2", 2.0, 2000)
    assert (second.log_id, second.seq) == (anew, 1)
    answers = central.receive(("p1", "key-1", hello(session=S1, log_id=new)))["p1"]
    assert answers[1:] == [Hello(S1, anew, second.head, "T1")]
    central.receive(("p1", "key-1", hello(session=S2, log_id=after)))
    assert central.log.author("T1") != anew
    assert kinds(central.log).count("log.authored") == 3
    assert central.log.verify().ok


# ---- real sockets ----


async def goes_on(place: Any, table: LinkThread, seq: int) -> None:
    await place.until(lambda: table.status.state is LinkState.UP and table.status.acked >= seq)


def test_a_table_restored_to_an_older_copy_is_let_in_again_once_it_is_completed(place: Any) -> None:
    home = place.folder / "T1"
    home.mkdir()

    def table_thread(endpoint: str) -> LinkThread:
        return LinkThread(home / "table.db", place.settings(endpoint), on_status=place._told)

    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = table_thread(endpoint)
        await table.start()
        await table.append([EVENT], 1)
        await table.stop()
        shutil.copy(home / "table.db", place.folder / "image.db")
        table = table_thread(endpoint)
        await table.start()
        await table.append([EVENT] * 3, 2)
        await goes_on(place, table, 4)
        await table.stop()

        shutil.copy(place.folder / "image.db", home / "table.db")
        table = table_thread(endpoint)
        await table.start()
        await place.until(lambda: table.status.code == "central.fork")
        await table.stop()

        rebuilt = rebuild_from_central(place.central_log, "T1", home)
        assert (rebuilt.before, rebuilt.now) == (1, 4)
        table = table_thread(endpoint)
        await table.start()
        (entry,) = await table.append([EVENT], 3)
        await goes_on(place, table, entry.seq)
        await table.stop()
        await central.stop()

    asyncio.run(main())
    with Log.open(home / "table.db", read_only=True) as log:
        own = log.entries_of(log.log_id)
    with Log.open(place.central_log, read_only=True) as log:
        assert log.entries_of(own[0].log_id) == own
        assert [k for k in kinds(log) if k != "link.denied"] == ["link.fork", "link.released"]
    assert [entry.kind for entry in own] == [EVENT[0]] * 4 + ["log.rebuilt", EVENT[0]]
    for path in (home / "table.db", place.central_log):
        assert verify_file(path)["ok"] is True


def test_a_table_whose_log_was_moved_away_begins_a_new_one(place: Any) -> None:
    """What is left to do after a true fork: both files are kept, and the table plays on with a new log."""

    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        for n in range(2):
            table = place.table_thread(place.settings(endpoint))
            await table.start()
            await table.append([EVENT], n)
            await goes_on(place, table, 1)
            await table.stop()
            for file in place.folder.glob("T1.log*"):
                file.rename(file.with_name(f"away{n}.{file.name}"))
        await central.stop()

    asyncio.run(main())
    with Log.open(place.central_log) as log:
        assert len(log.chains_of("T1")) == 2


def test_a_station_restored_from_an_older_copy_is_followed_again(place: Any) -> None:
    """The table holds commands that the station does not know any more, and takes new ones."""
    taken: list[Entry] = []

    def took(entry: Entry) -> None:
        taken.append(entry)
        place._tell()

    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        table = LinkThread(
            place.folder / "T1.log", place.settings(endpoint), on_status=place._told, on_command=took
        )
        await table.start()
        table.follow_commands({})
        await central.command("T1", "c", b"1")
        await place.until(lambda: len(taken) == 1)
        await central.stop()
        shutil.copy(place.central_log, place.folder / "image.db")
        central = place.central_thread(endpoint)
        await central.start()
        await central.command("T1", "c", b"2")
        await place.until(lambda: len(taken) == 2)
        await central.stop()
        shutil.copy(place.folder / "image.db", place.central_log)
        central = place.central_thread(endpoint)
        await central.start()
        await place.until(lambda: "log.authored" in kinds_of(place.central_log)[2:])
        await central.command("T1", "c", b"3")
        await place.until(lambda: len(taken) == 3)
        await table.stop()
        await central.stop()

    asyncio.run(main())
    assert [entry.body for entry in taken] == [b"1", b"2", b"3"]
    assert verify_file(place.central_log)["ok"] is True
    assert verify_file(place.folder / "T1.log")["ok"] is True


def kinds_of(path: Path) -> list[str]:
    with Log.open(path, read_only=True) as log:
        return kinds(log)


def test_commands_that_a_table_has_done_are_not_handed_over_again_after_its_log_was_made_anew(
    place: Any,
) -> None:
    """The new file has the table's own events and no commands; the station sends them once more."""
    taken: list[Entry] = []

    def took(entry: Entry) -> None:
        taken.append(entry)
        place._tell()

    async def main() -> None:
        central = place.central_thread()
        endpoint = await central.start()
        first = await central.command("T1", "c", b"1")
        table = LinkThread(
            place.folder / "T1.log", place.settings(endpoint), on_status=place._told, on_command=took
        )
        await table.start()
        table.follow_commands({first.log_id: 1})
        second = await central.command("T1", "c", b"2")
        await place.until(lambda: len(taken) == 1)
        assert taken == [second]
        await table.stop()
        await central.stop()

    asyncio.run(main())
