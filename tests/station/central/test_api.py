"""The HTTP surface of the central station, without a socket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response

from station import messages as m
from station.central import api
from station.central.feed import Feed
from station.central.view import Surroundings
from station.evidence.index import Index
from station.evidence.shelf import Shelf
from station.evidence.wire import name_of
from station.log import Log, chain
from station.log.chain import ZERO_HEAD
from tests.station.central.conftest import opened

LOG = b"A" * 16


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log.open(tmp_path / "central.db") as log:
        yield log


@pytest.fixture
def feed(log: Log) -> Iterator[Feed]:
    with Log.open(log.path, read_only=True) as reader:
        feed = Feed(reader, lambda: Surroundings(event="Spring cup"))
        feed.catch_up()
        yield feed


def book(log: Log, *bodies: m.Body) -> None:
    entries = chain.link(LOG, log.head_of(LOG), [m.encode(body) for body in bodies], 1000)
    log.accept([("T1", entry) for entry in entries], 2000)


def get(feed: Feed, path: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        app = Starlette(routes=api.routes(feed, Shelf(Path("nowhere"))))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://hall") as client:
            return await client.get(path)

    return asyncio.run(ask())


def test_the_state_follows_the_log(feed: Feed, log: Log) -> None:
    assert get(feed, "/api/state").json()["tables"] == []
    book(log, opened())
    feed.catch_up()
    state = get(feed, "/api/state").json()
    assert (state["pos"], state["tables"][0]["places"][0]["name"]) == (1, "甲")


@pytest.mark.parametrize(("path", "view"), [("/", "head"), ("/wall", "wall"), ("/wall?lang=en", "wall")])
def test_the_pages_show_the_state(feed: Feed, log: Log, path: str, view: str) -> None:
    book(log, opened())
    feed.catch_up()
    page = get(feed, path)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert f'data-view="{view}"' in page.text
    assert "Spring cup" in page.text
    assert "甲" in page.text


def test_static_files_are_served(feed: Feed) -> None:
    assert get(feed, "/static/tiles.svg").status_code == 200


def test_nothing_can_be_posted(feed: Feed) -> None:
    async def ask() -> int:
        app = Starlette(routes=api.routes(feed, Shelf(Path("nowhere"))))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://hall") as client:
            return (await client.post("/api/state")).status_code

    assert asyncio.run(ask()) == 405


def test_a_view_that_is_none_is_refused_with_the_fix(feed: Feed) -> None:
    answer = get(feed, "/events?view=kitchen")
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "bad_view"


def parsed(message: bytes) -> dict[str, str]:
    lines = [line for line in message.decode().split("\n") if line and not line.startswith(":")]
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        fields[name] = fields[name] + "\n" + value if name in fields else value
    return fields


@pytest.mark.parametrize(("view", "event"), [(None, "state"), ("wall", "fragment"), ("head", "fragment")])
def test_the_stream_starts_with_now_and_tells_every_change(
    feed: Feed, log: Log, view: str | None, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_PAUSE_S", 0)
    surface = api._Surface(feed, Shelf(Path("nowhere")))
    book(log, opened())
    feed.catch_up()

    async def follow() -> None:
        stream = surface.stream(view, "en")
        first = parsed(await anext(stream))
        assert (first["event"], first["id"]) == (event, "1")
        assert "甲" in first["data"]
        book(log, m.CycleStarted(hand=1), m.DiceRolled(hand=1, dice=[1, 2], source="players"))
        feed.catch_up()
        second = parsed(await anext(stream))
        assert second["id"] == "3"
        if view is None:
            assert json.loads(second["data"])["tables"][0]["phase"] == "deal"
        feed.stop()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        await stream.aclose()

    asyncio.run(follow())
    assert feed._watches == set()


def test_a_quiet_stream_gives_signs_of_life(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_BEAT_S", 0.01)

    async def follow() -> None:
        stream = api._Surface(feed, Shelf(Path("nowhere"))).stream(None, "en")
        await anext(stream)
        assert b"event: beat" in await anext(stream)
        await stream.aclose()

    asyncio.run(follow())


def test_catching_up_reads_a_long_log_in_pieces(feed: Feed, log: Log) -> None:
    bodies = [m.RefereeCalled(place=i % 4) for i in range(2500)]
    book(log, opened(), *bodies)
    feed.catch_up()
    assert feed.state()["pos"] == 2501
    assert log.head_of(LOG) != ZERO_HEAD


def test_a_photo_is_served_and_a_missing_one_said_to_be_removed_or_not_here(
    feed: Feed, tmp_path: Path
) -> None:
    shelf = Shelf(tmp_path / "evidence", 0)
    here, gone, never = (name_of(data) for data in (b"here", b"gone", b"never"))
    shelf.append("T1", here, b"here")
    assert shelf.finish("T1", here)
    with Index.open(shelf.index) as index:
        body = m.PhotoRemoved(photo=gone, why="window_over")
        (entry,) = chain.link(LOG, ZERO_HEAD, [m.encode(body)], 1)
        index.catch_up(LOG, [(1, "", entry, entry.hash)])

    async def ask() -> None:
        transport = httpx.ASGITransport(app=Starlette(routes=api.routes(feed, shelf)))
        async with httpx.AsyncClient(transport=transport, base_url="http://hall") as client:
            found = await client.get(f"/photo/{here}")
            assert (found.content, found.headers["content-type"]) == (b"here", "image/jpeg")
            for lang, said in (("en", "photo removed (rule)"), ("zh-Hans", "照片已按规则删除")):
                removed = await client.get(f"/photo/{gone}", params={"lang": lang})
                assert (removed.status_code, removed.text) == (410, said)
            assert (await client.get(f"/photo/{never}")).status_code == 404
            assert (await client.get("/photo/..%2Fcentral.db")).status_code == 404

    asyncio.run(ask())


def test_a_sheet_that_takes_long_holds_up_no_page(
    feed: Feed, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    book(log, opened())
    feed.catch_up()
    begun, shown, at_once = threading.Event(), threading.Event(), []

    def slow(*_: object) -> Response:
        at_once.append(begun.is_set())
        begun.set()
        assert shown.wait(5), "the pages wait for the sheet"
        begun.clear()
        return PlainTextResponse("sheet")

    async def ask() -> list[int]:
        app = Starlette(routes=api.routes(feed, Shelf(Path("nowhere"))))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://hall") as client:
            sheets = [asyncio.create_task(client.get("/sheet/T1")) for _ in range(3)]
            await asyncio.to_thread(begun.wait, 5)
            page = await client.get("/")
            shown.set()
            return [page.status_code, *[(await sheet).status_code for sheet in sheets]]

    monkeypatch.setattr(api, "sheet_response", slow)
    assert asyncio.run(ask()) == [200] * 4
    assert at_once == [False] * 3
