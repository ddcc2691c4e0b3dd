"""Photographs on a disk that takes no more: the hand goes on, and everybody is told."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from station import messages as m
from station.table.acting import Actor
from station.table.photos import PhotoStore, PhotoStoreError
from station.web.pages import render_page
from tests.station.table.acting_until import acting_until
from tests.tiny import tiny_disk

ROW = ["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1z", "1z", "3s", "4s"]


def test_photos_leave_room_for_events(tmp_path: Path) -> None:
    store = PhotoStore(tmp_path / "photos", room=1 << 60)
    with pytest.raises(PhotoStoreError) as refused:
        store.put(b"jpeg")
    assert refused.value.code == "photo.full"
    assert list((tmp_path / "photos").iterdir()) == []


def test_a_folder_that_cannot_be_is_another_trouble_than_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "photos").write_text("a file")
    with pytest.raises(PhotoStoreError) as refused:
        PhotoStore(tmp_path / "photos").put(b"jpeg")
    assert refused.value.code == "photo.not_stored"


@pytest.fixture(name="tiny_disk")
def _tiny_disk(tmp_path: Path) -> Iterator[Path]:
    with tiny_disk(tmp_path) as disk:
        yield disk


def test_a_disk_that_fills_up_keeps_what_is_there_and_takes_photos_again_later(tiny_disk: Path) -> None:
    store = PhotoStore(tiny_disk / "photos", room=256 * 1024)
    kept: list[str] = []
    with pytest.raises(PhotoStoreError, match="Free some space") as refused:
        kept.extend(store.put(number.to_bytes(1) * 300_000) for number in range(20))
    assert refused.value.code == "photo.full"
    assert 3 <= len(kept) <= 6
    assert shutil.disk_usage(tiny_disk).free >= 256 * 1024
    assert sorted(path.name for path in store.folder.iterdir()) == sorted(kept)
    for name in kept[:2]:
        (store.folder / name).unlink()
    assert store.path(store.put(b"a new one" * 1000)) is not None


def test_a_disk_filled_by_others_leaves_nothing_half_written(tiny_disk: Path) -> None:
    store = PhotoStore(tiny_disk / "photos", room=0)
    (tiny_disk / "others").write_bytes(bytes(1_900_000))
    with pytest.raises(PhotoStoreError) as refused:
        store.put(bytes(1_000_000))
    assert refused.value.code == "photo.full"
    assert list(store.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "the disk of the table is full"), ("zh-Hans", "磁盘已满"), ("zh-Hant", "磁碟已滿")],
)
def test_a_hand_is_read_shown_and_confirmed_although_no_photo_can_be_kept(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any], lang: str, said: str
) -> None:
    async def play() -> None:
        eyes.indicator_reading = reading_of([[["1p"]]])
        eyes.hand_reading = reading_of([[ROW, ["5s"]]])
        desk = await new_desk(eyes=eyes)
        desk.table.photos = PhotoStore(desk.table.photos.folder, room=1 << 60)
        actor = Actor(desk.table)
        await desk.do("start")
        await acting_until(lambda: desk.session.stage == "play", actor)
        await desk.do("claim", place=1, how="discard", source=2)
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        state = desk.table.state()
        assert state["claim"]["photo"] is None
        assert state["claim"]["no_photo"] == "photo.full"
        assert {"code": "photo.full", "params": {}} in state["messages"]
        assert render_page("referee", state, lang).count(said) >= 2, "beside the hand and where the photo is"
        await desk.do("confirm")
        bodies = [m.decode(entry.kind, entry.body) for entry in desk.writer.entries]
        told = [(type(body), body.no_photo) for body in bodies if hasattr(body, "no_photo")]
        assert told == [
            (m.IndicatorRevealed, "photo.full"),
            (m.HandRead, "photo.full"),
            (m.HandConfirmed, "photo.full"),
        ]

    asyncio.run(play())


def test_a_hand_read_without_a_photo_is_not_taken_for_a_typed_one(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.hand_reading = reading_of([[ROW, ["5s"]]])
        desk = await new_desk(eyes=eyes)
        await desk.to_play()
        await desk.do("claim", place=1, how="self")
        await acting_until(lambda: bool(desk.session.claim.tiles), Actor(desk.table))
        first = desk.session.claim.photo
        assert first is not None
        desk.table.photos = PhotoStore(desk.table.photos.folder / "full", room=1 << 60)
        eyes.hand_reading = reading_of([[[*ROW[:-1], "9s"], ["5s"]]])
        await desk.do("retake")
        await acting_until(lambda: bool(desk.session.claim.tiles), Actor(desk.table))
        claim = desk.session.claim
        assert (claim.photo, claim.laid.no_photo, claim.edits) == (None, "photo.full", 0)
        await desk.do("hand", line="123m456m789m11z34s +5s")
        claim = desk.session.claim
        assert (claim.photo, claim.laid.no_photo, claim.edits) == (None, "photo.full", 1)

    asyncio.run(play())


class SlowCard(PhotoStore):
    """A disk that takes its time: it goes on when told to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked, self.goes_on = threading.Event(), threading.Event()

    def put(self, jpeg: bytes) -> str:
        """Store the bytes once the disk goes on."""
        self.asked.set()
        assert self.goes_on.wait(20)
        return super().put(jpeg)


def test_a_slow_card_keeps_no_page_waiting_and_no_event_names_a_photo_before_it_is_there(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.hand_reading = reading_of([[ROW, ["5s"]]])
        desk = await new_desk(eyes=eyes)
        await desk.to_play()
        card = desk.table.photos = SlowCard(desk.table.photos.folder)
        await desk.do("claim", place=1, how="self")
        acting = asyncio.create_task(Actor(desk.table).run())
        try:
            await asyncio.to_thread(card.asked.wait, 20)
            await desk.do("call", place=1)  # the loop serves others meanwhile
            assert desk.session.called
            assert not desk.session.claim.tiles
            card.goes_on.set()
            async with asyncio.timeout(20):
                while not desk.session.claim.tiles:
                    await asyncio.sleep(0.01)
            assert card.path(desk.session.claim.photo) is not None
        finally:
            card.goes_on.set()
            acting.cancel()
            await asyncio.gather(acting, return_exceptions=True)

    asyncio.run(play())


def test_the_same_photo_stored_at_once_by_many_threads_is_one_whole_file(tmp_path: Path) -> None:
    store, jpeg = PhotoStore(tmp_path / "photos", room=0), bytes(range(256)) * 1000

    async def put() -> set[str]:
        return set(await asyncio.gather(*(asyncio.to_thread(store.put, jpeg) for _ in range(16))))

    (name,) = asyncio.run(put())
    assert store.read(name) == jpeg
    assert [path.name for path in store.folder.iterdir()] == [name]
