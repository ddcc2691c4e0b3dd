"""Who connects to the pages and does not ask is cut off; who asks is not."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from structlog.testing import capture_logs

from station import serving
from station.guarding import Traffic
from station.serving import HttpServer

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 0.2)


async def slow(_: object) -> PlainTextResponse:
    await asyncio.sleep(0.5)
    return PlainTextResponse("whole")


async def answer(*pieces: bytes, traffic: Traffic | None = None) -> bytes:
    """Send pieces, a tenth of a second apart; give what comes until the other side ends."""
    server = HttpServer.bind(Starlette(routes=[Route("/", slow)]), "127.0.0.1", 0, traffic=traffic)
    serving_it = asyncio.create_task(server.serve())
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.address.rsplit(":", 1)[1][:-1]))
    try:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.1)
        async with asyncio.timeout(30):
            return await reader.read()
    finally:
        writer.close()
        server.stop()
        await serving_it


@pytest.mark.parametrize(
    "pieces", [(), (HEAD,), (HEAD, b"X: 1\r\n"), (HEAD + b"\r\n", b"", b"", b"", b"", b"", b"", b"GET")],
    ids=["nothing", "half a head", "drop by drop", "half a second one"],
)  # fmt: skip
def test_a_head_that_does_not_come_to_its_end_ends_the_connection(pieces: tuple[bytes, ...]) -> None:
    told = asyncio.run(answer(*pieces))
    assert told.count(b"HTTP/1.1") == (1 if len(pieces) > 3 else 0)


def test_an_answer_may_take_longer_than_a_head() -> None:
    assert asyncio.run(answer(HEAD + b"Connection: close\r\n\r\n")).endswith(b"whole")


def test_what_is_no_request_is_counted_each_time_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    traffic = Traffic()

    async def ask() -> list[bytes]:
        return [await answer(b"\x16\x03\x01 rubbish\r\n\r\n", traffic=traffic) for _ in range(3)]

    with capture_logs() as lines:
        told = asyncio.run(ask())
    assert all(line.startswith(b"HTTP/1.1 400") for line in told)
    assert traffic.refused == {"malformed": 3}
    assert [line["reason"] for line in lines] == ["malformed"]
    assert not caplog.records
