from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
from starlette.applications import Starlette

from station.errors import LogFull
from station.table.api import routes


def _client(desk: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=Starlette(routes=routes(desk.table)))
    return httpx.AsyncClient(transport=transport, base_url="http://table")


async def _verdict(desk: Any) -> None:
    await desk.to_play()
    await desk.claim()


def test_a_confirm_sent_twice_books_once(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await _verdict(desk)
        headers = {"Idempotency-Key": "k1", "If-Match": str(desk.session.rev)}
        async with _client(desk) as http:
            first = await http.post("/api/confirm", headers=headers)
            second = await http.post("/api/confirm", headers=headers)
        assert (first.status_code, second.status_code) == (200, 200)
        assert first.json()["rev"] == second.json()["rev"]
        assert [e.kind for e in desk.writer.entries].count("hand.confirmed") == 1

    asyncio.run(play())


def test_a_stale_revision_gets_409_with_the_present_one(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await _verdict(desk)
        async with _client(desk) as http:
            answer = await http.post("/api/confirm", headers={"If-Match": str(desk.session.rev - 1)})
        assert answer.status_code == 409
        assert answer.json()["error"]["code"] == "stale_revision"
        assert answer.json()["rev"] == desk.session.rev

    asyncio.run(play())


def test_a_full_disk_gets_503_and_books_nothing(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await _verdict(desk)
        desk.writer.fail = LogFull("No space is left.", fix="Free some.")
        async with _client(desk) as http:
            answer = await http.post("/api/confirm")
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "log.full"

    asyncio.run(play())


def test_bad_requests_get_422_with_a_code(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        async with _client(desk) as http:
            for body in (b"{", b"[1]", b"\xff", b"x" * 70_000):
                answer = await http.post("/api/claim", content=body)
                assert answer.status_code == 422
                assert answer.json()["error"]["code"] == "bad_request"
            answer = await http.post("/api/claim", headers={"If-Match": "latest"})
            assert answer.json()["error"]["code"] == "bad_request"
            assert (await http.post("/api/nothing")).status_code == 404
            assert (await http.get("/photo/..%2f..%2fetc%2fpasswd")).status_code == 404
            assert (await http.get("/photo/0123456789abcdef0123456789abcdef.jpg")).status_code == 404

    asyncio.run(play())


def test_state_and_pages_are_served(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await _verdict(desk)
        async with _client(desk) as http:
            assert (await http.get("/api/state")).json()["phase"] == "verdict"
            for page in ("/", "/referee", "/referee?lang=en"):
                answer = await http.get(page)
                assert answer.status_code == 200
                assert "default-src 'self'" in answer.headers["content-security-policy"]
            assert (await http.get("/events?view=nothing")).status_code == 422

    asyncio.run(play())


def test_the_stream_begins_with_a_snapshot_and_follows(new_desk: Callable[..., Any]) -> None:
    from station.table.api import _Surface

    async def play() -> None:
        desk = await new_desk()
        stream = _Surface(desk.table).stream(None, "en")
        first = (await anext(stream)).decode()
        assert first.startswith("retry: 1000\nid: 1\nevent: state\n")
        await desk.do("start")
        assert (await anext(stream)).decode().startswith("retry: 1000\nid: 3\n")
        await stream.aclose()

    asyncio.run(play())
