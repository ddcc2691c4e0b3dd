"""Photos over real sockets, beside the events and never on their line."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import zmq
from structlog.testing import capture_logs

from station import messages as m
from station.evidence.address import Target
from station.evidence.central_thread import EvidenceTaker
from station.evidence.keeping import Stored, stored_below
from station.evidence.policy import Removal, Rules
from station.evidence.sending import SendTimes
from station.evidence.shelf import Shelf
from station.evidence.sockets import EvidenceLink, connected_socket
from station.evidence.table_thread import EvidenceSender
from station.evidence.wire import Offer, encode, name_of
from station.link.central_thread import CentralThread
from station.link.keys import AllowList, KeyPair, generate, write_allow_list
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from tests.station.evidence.hands import closed, confirmed, indicator, read

DEADLINE_S = 60.0
FAST = SendTimes(answer_s=1.0, retry_s=0.2, full_s=0.5, look_s=0.1, bytes_per_s=1e9)
# A photo of 3 MB takes a second at least, however fast the machine is.
UNHURRIED = SendTimes(answer_s=1.0, retry_s=0.2, full_s=0.5, look_s=0.1, bytes_per_s=3e6)
ROOMY = Rules(reserve=0)


class Photos:
    """A table's folder of photos."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def put(self, data: bytes) -> str:
        name = name_of(data)
        (self.folder / name).write_bytes(data)
        return name

    def read(self, name: str) -> bytes | None:
        path = self.folder / name
        return path.read_bytes() if path.exists() else None

    def stored(self) -> dict[str, Stored]:
        return stored_below(self.folder, "*.jpg")

    def remove(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def free(self) -> int:
        return 1 << 40


class Hall:
    """A central station and tables in one process, each with both of its threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.central = generate(folder / "keys", "central")
        self.keys = {name: generate(folder / "keys", name) for name in ("T1", "T2", "stranger")}
        self.allow_path = folder / "tables.toml"
        write_allow_list(self.allow_path, {name: self.keys[name].public for name in ("T1", "T2")})
        self.photos = {name: Photos(folder / name) for name in ("T1", "T2")}
        self.shelf = Shelf(folder / "evidence", 0)
        self.due: dict[str, list[Removal]] = {}
        self.events = self.evidence = ""
        self._threads: list[Any] = []
        self._takers: list[EvidenceTaker] = []

    async def open(self) -> None:
        """Start the central station's threads."""
        self.link = CentralThread(
            self.folder / "central.db", "tcp://127.0.0.1:0", self.central, AllowList(self.allow_path)
        )
        self.events = await self._started(self.link)
        await self.take()

    async def take(
        self, rules: Rules = ROOMY, endpoint: str = "tcp://127.0.0.1:0", **more: Any
    ) -> EvidenceTaker:
        taker = EvidenceTaker(
            self.folder / "central.db",
            self.shelf,
            endpoint,
            self.central,
            AllowList(self.allow_path),
            rules,
            on_due=lambda due: self.due.setdefault("central", []).extend(due),
            **more,
        )
        self.evidence = await self._started(taker)
        return taker

    async def table(
        self, name: str, times: SendTimes = FAST, rules: Rules = ROOMY, told: bool = True, **more: Any
    ) -> Any:
        """Start a table's threads; return the one of its log and the one of its photos."""
        keys = self.keys[name]
        link = LinkThread(
            self.folder / f"{name}.db", LinkSettings(name, self.events, self.central.public, keys)
        )
        await self._started(link)
        sender = EvidenceSender(
            self.folder / f"{name}.db",
            self.folder / f"{name}-evidence.db",
            self.photos[name],
            self.photos[name].read,
            EvidenceLink(self.central.public, keys, self.evidence if told else None),
            rules,
            on_due=lambda due: self.due.setdefault(name, []).extend(due),
            times=times,
            **more,
        )
        await self._started(sender)
        return link, sender

    async def _started(self, thread: Any) -> Any:
        self._threads.append(thread)
        return await thread.start()

    async def stop(self, thread: Any) -> None:
        self._threads.remove(thread)
        await thread.stop()

    async def close(self) -> None:
        for thread in reversed(self._threads):
            await thread.stop()

    def stored(self, data: bytes) -> bool:
        path = self.shelf.path(name_of(data))
        return path is not None and path.read_bytes() == data


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await asyncio.sleep(0.02)


def booked(*bodies: m.Body) -> list[tuple[str, bytes]]:
    return [m.encode(body) for body in bodies]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Hall], Any]], None]:
    monkeypatch.setattr("station.evidence.worker.SWEEP_S", 0.2)
    monkeypatch.setattr("station.evidence.worker.LOOK_S", 0.1)

    def run(scene: Callable[[Hall], Any]) -> None:
        async def whole() -> None:
            hall = Hall(tmp_path)
            try:
                await hall.open()
                await scene(hall)
            finally:
                await hall.close()

        asyncio.run(whole())

    return run


def test_photos_named_by_events_come_to_the_station_and_nothing_is_asked_of_a_restart(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        first, second = os.urandom(200_000), os.urandom(300)
        link, sender = await hall.table("T1")
        await link.append(booked(read(1, hall.photos["T1"].put(first))), 1000)
        sender.poke()
        await until(lambda: hall.stored(first))
        await hall.stop(sender)
        await link.append(booked(indicator(2, hall.photos["T1"].put(second))), 2000)
        await hall.stop(link)
        await hall.table("T1")
        await until(lambda: hall.stored(second))

    play(scene)


def test_an_address_told_later_is_used_from_then_on(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        data = os.urandom(1000)
        link, sender = await hall.table("T1", told=False)
        await link.append(booked(read(1, hall.photos["T1"].put(data))), 1000)
        sender.use(Target("tcp://127.0.0.1:1", hall.central.public))
        await asyncio.sleep(0.1)
        assert not hall.stored(data)
        sender.use(Target(hall.evidence, hall.central.public))
        await until(lambda: hall.stored(data))

    play(scene)


def test_a_station_with_a_new_shelf_gets_what_its_tables_still_have(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        data, shelves = os.urandom(1000), []
        await hall.stop(hall._threads[1])
        taker = await hall.take(on_open=shelves.append)
        await until(lambda: shelves)
        link, sender = await hall.table("T1", told=False)
        sender.use(Target(hall.evidence, hall.central.public, shelves[0]))
        await link.append(booked(read(1, hall.photos["T1"].put(data))), 1000)
        await until(lambda: hall.stored(data))
        await hall.stop(taker)
        shutil.rmtree(hall.shelf.folder)  # restored without its photos: the same keys, and the same log
        hall.shelf = Shelf(hall.shelf.folder, 0)
        await hall.take(endpoint=hall.evidence, on_open=shelves.append)
        await until(lambda: len(shelves) == 2)
        assert shelves[0] != shelves[1]
        sender.use(Target(hall.evidence, hall.central.public, shelves[1]))
        await until(lambda: hall.stored(data))

    play(scene)


def test_a_photo_that_is_gone_at_the_table_is_told_once_and_not_waited_for(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        counts: list[int] = []
        link, sender = await hall.table("T1", on_unsent=counts.append)
        await link.append(booked(read(1, "a" * 32 + ".jpg"), read(2, "b" * 32 + ".jpg")), 1000)
        with capture_logs() as lines:
            sender.poke()
            await until(lambda: sum(line["event"] == "photo not sent" for line in lines) == 2)
            await until(lambda: not counts or counts[-1] == 0)
        assert {(line["photo"][0], line["why"]) for line in lines if line["event"] == "photo not sent"} == {
            ("a", "gone"),
            ("b", "gone"),
        }

    play(scene)


def test_a_station_that_stops_in_the_middle_goes_on_where_it_was(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        data = os.urandom(800_000)
        slow = SendTimes(answer_s=0.5, retry_s=0.2, look_s=0.1, bytes_per_s=200_000.0)
        link, _ = await hall.table("T1", slow)
        await link.append(booked(read(1, hall.photos["T1"].put(data))), 1000)
        parts = hall.shelf.folder / "parts"
        await until(lambda: parts.exists() and any(part.stat().st_size > 200_000 for part in parts.iterdir()))
        await hall.stop(hall._threads[1])
        (part,) = parts.iterdir()
        assert 0 < part.stat().st_size < len(data)
        await hall.take(endpoint=hall.evidence)
        await until(lambda: hall.stored(data))

    play(scene)


def test_neither_a_stranger_nor_another_table_can_put_a_photo(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        data = os.urandom(1000)
        link, _ = await hall.table("T1", told=False)
        await link.append(booked(read(1, name_of(data))), 1000)
        context: zmq.Context[Any] = zmq.Context()
        try:
            for name, answer in (("stranger", None), ("T2", b"unknown"), ("T1", b"want")):
                assert await asyncio.to_thread(_answer, context, hall, hall.keys[name], data) == answer
        finally:
            context.term()
        assert not hall.stored(data)

    play(scene)


def _answer(context: zmq.Context[Any], hall: Hall, keys: KeyPair, data: bytes) -> bytes | None:
    """Offer a photo under a key; return the word of the answer, None when there is none."""
    socket = connected_socket(context, keys, hall.central.public, hall.evidence)
    socket.set(zmq.IMMEDIATE, 0)
    try:
        deadline = time.monotonic() + (2 if keys is hall.keys["stranger"] else DEADLINE_S)
        while time.monotonic() < deadline:
            with suppress(zmq.Again):  # nobody lets a stranger in, and only so much waits
                socket.send(encode(Offer(name_of(data), size=len(data))), zmq.NOBLOCK)
            if socket.poll(300):
                frame = socket.recv()
                # The event that names it may still be on its way.
                if keys is hall.keys["T1"] and b"unknown" in frame:
                    continue
                return next(word for word in (b"unknown", b"want") if word in frame)
        return None
    finally:
        socket.close(linger=0)


def test_rubbish_on_the_line_does_no_harm(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        context: zmq.Context[Any] = zmq.Context()
        socket = connected_socket(context, hall.keys["T2"], hall.central.public, hall.evidence)
        socket.set(zmq.IMMEDIATE, 0)
        for frames in ([b"rubbish"], [b""], [b"a", b"b"], [bytes(60_000)]):
            socket.send_multipart(frames)
        data = os.urandom(5000)
        table, _ = await hall.table("T1")
        await table.append(booked(read(1, hall.photos["T1"].put(data))), 1000)
        await until(lambda: hall.stored(data))
        socket.close(linger=0)
        context.term()

    play(scene)


def test_events_have_a_line_of_their_own_and_do_not_wait_for_a_photo(play: Any) -> None:
    async def scene(hall: Hall) -> None:
        assert hall.events != hall.evidence
        link, _ = await hall.table("T1", UNHURRIED)
        sizes = [3_000_000] * 2
        photos = [os.urandom(size) for size in sizes]
        await link.append(booked(*(read(n, hall.photos["T1"].put(p)) for n, p in enumerate(photos))), 1000)
        await until(lambda: link.status.unsent == 0)
        waits = []
        while not hall.stored(photos[-1]):
            began = time.monotonic()
            await link.append(booked(m.RefereeCalled(place=0)), 1000)
            await until(lambda: link.status.unsent == 0)
            waits.append(time.monotonic() - began)
        assert len(waits) >= 5, "the photos take their time"
        assert sorted(waits)[len(waits) // 2] < 0.5, "less than one photo takes"

    play(scene)


def test_a_photo_goes_after_the_log_says_so_and_not_before(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("station.evidence.worker.SWEEP_S", 0.1)

    async def scene(hall: Hall) -> None:
        data = os.urandom(3000)
        rules = Rules(appeal_window_s=0.1, reserve=0)
        link, sender = await hall.table("T1", rules=rules)
        name = hall.photos["T1"].put(data)
        # By the clock of these events the session ended in 1970.
        await link.append(booked(read(1, name), confirmed(1), closed()), 1000)
        await until(lambda: hall.due.get("T1"))
        assert hall.stored(data), "the station has it before the table lets it go"
        assert hall.due["T1"] == [Removal(name, "window_over")]
        assert hall.photos["T1"].read(name) == data
        await link.append(booked(m.PhotoRemoved(photo=name, why="window_over")), 2000)
        sender.poke()
        await until(lambda: hall.photos["T1"].read(name) is None)
        await until(lambda: link.status.unsent == 0)
        assert hall.stored(data), "what the table let go the station still has"

    play(scene)


def test_the_station_applies_its_own_rules_and_takes_nothing_back(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("station.evidence.worker.SWEEP_S", 0.1)

    async def scene(hall: Hall) -> None:
        data = os.urandom(3000)
        link, _ = await hall.table("T1")
        await link.append(booked(read(1, hall.photos["T1"].put(data)), confirmed(1), closed()), 1000)
        await until(lambda: hall.stored(data))
        await hall.stop(hall._threads[1])
        taker = await hall.take(Rules(appeal_window_s=0.1, reserve=0), hall.evidence)
        await until(lambda: hall.due.get("central"))
        (removal,) = hall.due["central"][:1]
        await hall.link.book(*m.encode(m.PhotoRemoved(photo=removal.name, why=removal.why)))
        taker.poke()
        await until(lambda: not hall.stored(data))
        (hall.folder / "T1-evidence.db").unlink()
        await hall.table("T2")  # time passes
        assert not hall.stored(data)

    play(scene)


def test_an_index_that_cannot_be_made_is_tried_again_and_keeps_nobody_waiting(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("station.evidence.worker.TROUBLE_S", 0.1)

    async def scene(hall: Hall) -> None:
        data, in_the_way = os.urandom(1000), hall.folder / "T1-evidence.db"
        in_the_way.mkdir()
        link, _ = await hall.table("T1")
        await link.append(booked(read(1, hall.photos["T1"].put(data))), 1000)
        await until(lambda: link.status.unsent == 0)
        await asyncio.sleep(0.3)
        assert not hall.stored(data)
        in_the_way.rmdir()
        await until(lambda: hall.stored(data))

    play(scene)
