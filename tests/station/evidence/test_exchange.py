"""Both ends of the evidence channel without a network: what is lost, doubled and restarted on the way."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from station.errors import WireError
from station.evidence import wire
from station.evidence.sending import Sender, SendTimes
from station.evidence.shelf import Shelf
from station.evidence.taking import Taker
from station.evidence.wire import CHUNK_BYTES, LONGEST_BYTES, Chunk, Done, No, Offer, Want
from tests.station.evidence.hands import name, photo
from tests.tiny import tiny_disk

TIMES = SendTimes(answer_s=5.0, retry_s=10.0, full_s=60.0, look_s=2.0, bytes_per_s=1e9)
SIZE = 150_000


class Both:
    """A table with photos and a central station, on a clock of their own."""

    def __init__(self, folder: Path, photos: list[bytes], times: SendTimes = TIMES, room: int = 0) -> None:
        self.photos = {wire.name_of(data): data for data in photos}
        self.named = {("T1", name) for name in self.photos}
        self.removed: set[str] = set()
        self.acknowledged: list[str] = []
        self.given_up: list[tuple[str, str]] = []
        self.shelf = Shelf(folder / "evidence", room)
        self.times, self.now = times, 0.0
        self.chunks: list[tuple[float, int]] = []
        self.restart_table()
        self.restart_station()

    def restart_table(self) -> None:
        self.sender = Sender(
            lambda: [name for name in self.photos if name not in self.acknowledged],
            self.photos.get,
            self.acknowledged.append,
            self.times,
            lambda name, why: self.given_up.append((name, why)),
        )

    def restart_station(self) -> None:
        self.taker = Taker(
            self.shelf, lambda table, name: (table, name) in self.named, self.removed.__contains__
        )

    def step(self, *, lost: bool = False, answer_lost: bool = False) -> None:
        """Send what is due, over a line that may lose either direction; else let time pass."""
        message = self.sender.step(self.now)
        if message is None:
            self.now += max(0.001, self.sender.wait_s(self.now))
            return
        if isinstance(message, Chunk):
            self.chunks.append((self.now, len(message.data)))
        if lost:
            return
        answer = self.taker.receive("T1", wire.from_table(wire.encode(message)))
        if not answer_lost:
            self.sender.receive(wire.from_station(wire.encode(answer)), self.now)

    def run(self, steps: int = 60) -> None:
        for _ in range(steps):
            self.step()

    def bytes_of(self, name: str) -> bytes | None:
        path = self.shelf.path(name)
        return None if path is None else path.read_bytes()


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path, [photo(1, SIZE), photo(2, 10), photo(3, CHUNK_BYTES)])


def test_photos_arrive_whole_under_their_hash_one_after_the_other(both: Both) -> None:
    both.run()
    assert both.acknowledged == list(both.photos)
    assert {name: both.bytes_of(name) for name in both.photos} == both.photos
    path = both.shelf.path(both.acknowledged[0])
    assert path is not None
    assert path.parent.name == path.name[:2]
    assert path.stat().st_mode & 0o777 == 0o600
    assert list((both.shelf.folder / "parts").iterdir()) == []


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_whatever_is_lost_or_restarted_every_photo_arrives_once_and_whole(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = Random(seed)
    both = Both(tmp_path_factory.mktemp("both"), [photo(n, chance.randrange(1, 200_000)) for n in range(3)])
    for _ in range(120):
        both.step(lost=chance.random() < 0.2, answer_lost=chance.random() < 0.2)
        if chance.random() < 0.05:
            both.restart_table()
        if chance.random() < 0.05:
            both.restart_station()
    both.run(120)
    assert sorted(both.acknowledged) == sorted(both.photos)
    assert {name: both.bytes_of(name) for name in both.photos} == both.photos


def test_after_a_break_the_upload_goes_on_where_it_was(both: Both) -> None:
    while len(both.chunks) < 2:
        both.step()
    both.restart_table()
    both.restart_station()
    while len(both.chunks) < 3:
        both.step()
    assert [size for _, size in both.chunks[:3]] == [CHUNK_BYTES, CHUNK_BYTES, SIZE - 2 * CHUNK_BYTES]


def test_pieces_keep_the_pace(tmp_path: Path) -> None:
    both = Both(tmp_path, [photo(1, 10 * CHUNK_BYTES)], SendTimes(bytes_per_s=CHUNK_BYTES * 4))
    both.run()
    times = [at for at, _ in both.chunks]
    assert len(times) == 10
    assert all(later - earlier >= 0.25 - 1e-6 for earlier, later in pairwise(times))


def test_only_what_an_event_of_that_table_names_is_taken(both: Both) -> None:
    secret = next(iter(both.photos))
    both.named.discard(("T1", secret))
    both.named.add(("T2", secret))
    both.run()
    assert secret not in both.acknowledged
    assert both.bytes_of(secret) is None
    assert len(both.acknowledged) == 2, "the others do not wait for it"
    both.named.add(("T1", secret))  # the event came later than its photo
    both.run()
    assert both.bytes_of(secret) == both.photos[secret]


def test_what_was_removed_by_rule_is_not_sent_again(both: Both) -> None:
    first = next(iter(both.photos))
    both.removed.add(first)
    both.run()
    assert first in both.acknowledged
    assert both.bytes_of(first) is None


def test_bytes_with_another_hash_are_thrown_away(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "evidence", 0)
    taker = Taker(shelf, lambda *_: True, lambda _: False)
    assert taker.receive("T1", Offer(name(1), size=4)) == Want(name(1), at=0)
    assert taker.receive("T1", Chunk(name(1), at=0, data=b"evil")) == No(name(1), why="damaged")
    assert shelf.path(name(1)) is None
    assert list((shelf.folder / "parts").iterdir()) == []


def test_sizes_are_bounded_and_pieces_beyond_the_end_refused(tmp_path: Path) -> None:
    taker = Taker(Shelf(tmp_path / "evidence", 0), lambda *_: True, lambda _: False)
    for size in (0, -1, LONGEST_BYTES + 1, 1 << 60):
        assert taker.receive("T1", Offer(name(1), size=size)) == No(name(1), why="too_large")
    assert taker.receive("T1", Offer(name(1), size=4)) == Want(name(1), at=0)
    assert taker.receive("T1", Chunk(name(1), at=0, data=b"12345")) == No(name(1), why="damaged")
    assert taker.receive("T1", Chunk(name(1), at=0, data=b"1234")) == No(name(1), why="not_offered")


def test_pieces_out_of_place_and_of_another_photo_change_nothing(tmp_path: Path) -> None:
    taker = Taker(Shelf(tmp_path / "evidence", 0), lambda *_: True, lambda _: False)
    whole = photo(1, 10)
    file = wire.name_of(whole)
    assert taker.receive("T1", Offer(file, size=10)) == Want(file, at=0)
    assert taker.receive("T1", Chunk(file, at=3, data=b"x")) == Want(file, at=0)
    assert taker.receive("T1", Chunk(name(2), at=0, data=b"x")) == No(name(2), why="not_offered")
    assert taker.receive("T2", Chunk(file, at=0, data=b"x")) == No(file, why="not_offered")
    assert taker.receive("T1", Chunk(file, at=0, data=whole[:6])) == Want(file, at=6)
    assert taker.receive("T1", Chunk(file, at=0, data=whole[:6])) == Want(file, at=6), "sent twice"
    assert taker.receive("T1", Chunk(file, at=6, data=whole[6:])) == Done(file)


def test_a_table_keeps_one_begun_photo_on_the_disk_of_the_station(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "evidence", 0)
    taker = Taker(shelf, lambda *_: True, lambda _: False)
    for number in range(5):
        taker.receive("T1", Offer(name(number), size=1000))
        taker.receive("T1", Chunk(name(number), at=0, data=b"begun"))
    taker.receive("../T2", Offer(name(1), size=1000))
    taker.receive("../T2", Chunk(name(1), at=0, data=b"begun"))
    assert len(list((shelf.folder / "parts").iterdir())) == 2


def test_a_full_disk_is_told_and_tried_again_later(tmp_path: Path) -> None:
    both = Both(tmp_path, [photo(1, SIZE), photo(2, 10)], room=1 << 60)
    both.run(2)
    assert both.sender.station_full
    assert both.taker.full
    assert both.acknowledged == []
    assert both.sender.wait_s(both.now) > 59
    both.shelf = Shelf(tmp_path / "evidence", 0)
    both.restart_station()
    both.run()
    assert len(both.acknowledged) == 2
    assert both.now >= 60
    assert not both.sender.station_full
    assert not both.taker.full


def test_a_photo_that_is_damaged_or_gone_on_the_table_keeps_nobody_waiting(both: Both) -> None:
    first, second, third = both.photos
    both.photos[first] = b"rotten"
    both.photos[second] = None  # type: ignore[assignment]
    both.run()
    assert both.acknowledged == [third]
    assert both.given_up == [(first, "damaged"), (second, "gone")]


@given(st.binary(max_size=200))
def test_rubbish_is_refused_with_a_plain_error(frame: bytes) -> None:
    for decode in (wire.from_table, wire.from_station):
        with suppress(WireError):
            decode(frame)


def test_a_photo_that_cannot_be_read_for_a_while_is_sent_later(both: Both) -> None:
    first, *_ = both.photos
    tries = []

    def read(name: str) -> bytes | None:
        tries.append(name)
        if name == first and tries.count(first) < 3:
            raise OSError(24, "Too many open files")
        return both.photos.get(name)

    both.sender._read = read
    both.run(120)
    assert sorted(both.acknowledged) == sorted(both.photos)
    assert both.given_up == []


@pytest.mark.parametrize(
    "message",
    [
        Offer("../../etc/passwd", size=1),
        Offer("A" * 32 + ".jpg", size=1),
        Chunk(name(1), at=-1, data=b"x"),
        Chunk(name(1), at=0, data=b""),
        Chunk(name(1), at=0, data=os.urandom(CHUNK_BYTES + 1)),
    ],
)
def test_messages_that_no_table_sends_are_refused(message: wire.ToStation) -> None:
    with pytest.raises(WireError):
        wire.from_table(wire.encode(message))


def test_a_disk_that_fills_up_in_the_middle_loses_no_byte_of_what_it_has(tmp_path: Path) -> None:
    with tiny_disk(tmp_path) as disk:
        both = Both(disk, [photo(1, SIZE), photo(2, 10)], room=0)
        (disk / "others").write_bytes(bytes(2 * 1024 * 1024 - 100_000))
        both.run(8)
        assert both.taker.full
        (part,) = (both.shelf.folder / "parts").iterdir()
        first = next(iter(both.photos.values()))
        assert part.read_bytes() == first[: part.stat().st_size]
        (disk / "others").unlink()
        both.run()
        assert {name: both.bytes_of(name) for name in both.photos} == both.photos
