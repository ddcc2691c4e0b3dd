"""The HTTP surface of the central station, without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from station import messages as m
from station.central import api
from station.central.feed import Feed
from station.central.view import Surroundings
from station.log import CentralLog, chain
from station.log.chain import ZERO_HEAD
from tests.station.central.conftest import opened

LOG = b"A" * 16


@pytest.fixture
def log(tmp_path: Path) -> Iterator[CentralLog]:
    with CentralLog.open(tmp_path / "central.db") as log:
        yield log


@pytest.fixture
def feed(log: CentralLog) -> Iterator[Feed]:
    with CentralLog.open(log.path, read_only=True) as reader:
        feed = Feed(reader, lambda: Surroundings(event="Spring cup"))
        feed.catch_up()
        yield feed


def book(log: CentralLog, *bodies: m.Body) -> None:
    entries = chain.link(LOG, log.head_of(LOG), [m.encode(body) for body in bodies], 1000)
    log.accept([("T1", entry) for entry in entries], 2000)


def get(feed: Feed, path: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        app = Starlette(routes=api.routes(feed))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://hall") as client:
            return await client.get(path)

    return asyncio.run(ask())


def test_the_state_follows_the_log(feed: Feed, log: CentralLog) -> None:
    assert get(feed, "/api/state").json()["tables"] == []
    book(log, opened())
    feed.catch_up()
    state = get(feed, "/api/state").json()
    assert (state["pos"], state["tables"][0]["places"][0]["name"]) == (1, "甲")


@pytest.mark.parametrize(("path", "view"), [("/", "head"), ("/wall", "wall"), ("/wall?lang=en", "wall")])
def test_the_pages_show_the_state(feed: Feed, log: CentralLog, path: str, view: str) -> None:
    book(log, opened())
    feed.catch_up()
    page = get(feed, path)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert f'data-view="{view}"' in page.text
    assert "Spring cup" in page.text
    assert "甲" in page.text


def test_health_and_static_files_are_served(feed: Feed) -> None:
    assert get(feed, "/healthz").json() == {"ok": True}
    assert get(feed, "/static/tiles.svg").status_code == 200


def test_nothing_can_be_posted(feed: Feed) -> None:
    async def ask() -> int:
        app = Starlette(routes=api.routes(feed))
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
    feed: Feed, log: CentralLog, view: str | None, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_PAUSE_S", 0)
    surface = api._Surface(feed)
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
        stream = api._Surface(feed).stream(None, "en")
        await anext(stream)
        assert b"event: beat" in await anext(stream)
        await stream.aclose()

    asyncio.run(follow())


def test_catching_up_reads_a_long_log_in_pieces(feed: Feed, log: CentralLog) -> None:
    bodies = [m.RefereeCalled(place=i % 4) for i in range(2500)]
    book(log, opened(), *bodies)
    feed.catch_up()
    assert feed.state()["pos"] == 2501
    assert log.head_of(LOG) != ZERO_HEAD
