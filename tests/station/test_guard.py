"""What the guard takes and refuses, request by request."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from station.guard import OVERRIDES, Asked, Names, judge
from station.guarding import Guard, Traffic, names_of

LOOPBACK = Names("127.0.0.1", ("till7",))
HALL = Names("192.168.1.2", ("till7",), ("hall.example",))
ANYWHERE = Names("0.0.0.0", ("till7",))
JSON = ("content-type", "application/json")


@pytest.mark.parametrize(
    ("names", "name", "reached", "ours"),
    [
        (LOOPBACK, "127.0.0.1", "127.0.0.1", True),
        (LOOPBACK, "localhost", "127.0.0.1", True),
        (LOOPBACK, "LocalHost.", "127.0.0.1", True),
        (LOOPBACK, "::1", "127.0.0.1", True),
        (LOOPBACK, "till7", "127.0.0.1", False),
        (LOOPBACK, "192.168.1.2", "127.0.0.1", False),
        (LOOPBACK, "evil.example", "127.0.0.1", False),
        (LOOPBACK, "127.0.0.1.evil.example", "127.0.0.1", False),
        (LOOPBACK, "", "127.0.0.1", False),
        (HALL, "192.168.1.2", "192.168.1.2", True),
        (HALL, "till7", "192.168.1.2", True),
        (HALL, "till7.local", "192.168.1.2", True),
        (HALL, "hall.example", "192.168.1.2", True),
        (HALL, "localhost", "192.168.1.2", False),
        (HALL, "192.168.1.3", "192.168.1.2", False),
        (ANYWHERE, "10.0.0.7", "10.0.0.7", True),
        (ANYWHERE, "10.0.0.8", "10.0.0.7", False),
        (ANYWHERE, "localhost", "127.0.0.1", True),
        (ANYWHERE, "evil.example", "10.0.0.7", False),
        (Names("::"), "192.168.1.2", "::ffff:192.168.1.2", True),
        (Names("::"), "192.168.1.3", "::ffff:192.168.1.2", False),
        (Names("::"), "fe80::1", "fe80::1", True),
        (Names("::"), "localhost", "::ffff:127.0.0.1", True),
    ],
)
def test_a_name_is_ours_or_not(names: Names, name: str, reached: str, ours: bool) -> None:
    assert names.include(name, reached) is ours


def asked(*headers: tuple[str, str], method: str = "POST", client: str = "127.0.0.1", **more: str) -> Asked:
    host = () if any(name == "host" for name, _ in headers) else (("host", "localhost:8081"),)
    return Asked(method, (*host, *headers), client=client, **more)


OWN = ("origin", "http://localhost:8081")


@pytest.mark.parametrize(
    "taken",
    [
        asked(OWN, JSON, ("content-length", "2")),
        asked(OWN, ("content-type", "Application/JSON; charset=utf-8")),
        asked(OWN, ("sec-fetch-site", "same-origin"), JSON),
        asked(OWN, client="192.168.1.9"),
        asked(("sec-fetch-site", "same-origin"), client="192.168.1.9"),
        asked(("user-agent", "python-httpx/0.28"), JSON),
        asked(("user-agent", "python-httpx/0.28"), JSON, client="::1"),
        asked(("content-length", "0")),
        asked(method="GET", client="192.168.1.9"),
        asked(("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), method="GET"),
        asked(("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), method="GET"),
        asked(("host", "[::1]:8081"), method="GET"),
        asked(("origin", "https://localhost:8081"), scheme="https"),
    ],
)
def test_what_belongs_to_us_is_taken(taken: Asked) -> None:
    assert judge(taken, LOOPBACK) is None


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        (asked(("origin", "http://evil.example"), JSON), "cross_origin"),
        (asked(("origin", "null"), JSON), "cross_origin"),
        (asked(("origin", "http://localhost:9999"), JSON), "cross_origin"),
        (asked(("origin", "https://localhost:8081"), JSON), "cross_origin"),
        (asked(OWN, ("sec-fetch-site", "cross-site"), JSON), "cross_origin"),
        (asked(OWN, ("sec-fetch-site", "same-site"), JSON), "cross_origin"),
        (asked(OWN, ("sec-fetch-site", "none"), JSON), "cross_origin"),
        (asked(OWN, ("origin", "http://evil.example"), JSON), "cross_origin"),
        (asked(JSON, client="192.168.1.9"), "no_origin"),
        (asked(JSON, client=""), "no_origin"),
        (asked(JSON, ("cookie", "lang=en")), "no_origin"),
        (asked(JSON, ("user-agent", "Mozilla/5.0")), "no_origin"),
        (asked(JSON, ("sec-ch-ua", "x")), "no_origin"),
        (asked(("host", "evil.example:8081"), ("origin", "http://evil.example:8081")), "foreign_host"),
        (asked(("host", "localhost:8081"), ("host", "evil.example")), "foreign_host"),
        (asked(("host", "localhost:8081@evil.example")), "foreign_host"),
        (asked(("host", "[::1"), method="GET"), "foreign_host"),
        (asked(("host", "::1"), method="GET"), "foreign_host"),
        (asked(("host", "evil.example"), method="GET"), "foreign_host"),
        (asked(OWN, ("content-type", "text/plain"), ("content-length", "2")), "content_type"),
        (asked(OWN, ("content-type", "multipart/form-data; boundary=x")), "content_type"),
        (asked(OWN, JSON, ("content-type", "text/plain")), "content_type"),
        (asked(OWN, ("content-length", "2")), "content_type"),
        (asked(OWN, ("transfer-encoding", "chunked")), "content_type"),
        (
            asked(("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), method="GET"),
            "cross_origin",
        ),
        (asked(("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors"), method="GET"), "cross_origin"),
        (asked(OWN, method="BREW"), "method"),
        (asked(("origin", "http://evil.example"), method="OPTIONS"), "cross_origin"),
        *((asked((header, "POST"), method="GET"), "method_override") for header in OVERRIDES),
    ],
)
def test_what_does_not_is_refused_by_name(refused: Asked, code: str) -> None:
    refusal = judge(refused, LOOPBACK)
    assert refusal is not None
    assert refusal.code == code
    assert "\n" not in refusal.sentence


HEADERS = st.sampled_from(["origin", "sec-fetch-site", "cookie", "content-type", "user-agent", "referer"])
VALUES = st.sampled_from(
    ["", "null", "http://evil.example", "http://localhost.evil.example:8081", "cross-site", "same-site",
     "none", "text/plain", "application/json", "Mozilla/5.0", "http://evil.example/http://localhost:8081"]
)  # fmt: skip


@given(st.lists(st.tuples(HEADERS, VALUES)), st.sampled_from(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]))
def test_nothing_that_a_foreign_page_can_send_changes_anything(
    headers: list[tuple[str, str]], method: str
) -> None:
    """A browser adds its own Origin or site to what a page sends; neither can be left out or bent by it."""
    evil = ("origin", "http://evil.example")
    assert judge(asked(*headers, evil, method=method), LOOPBACK) is not None
    assert judge(asked(*headers, ("sec-fetch-site", "cross-site"), method=method), LOOPBACK) is not None


def test_this_computer_is_known_by_its_name() -> None:
    names = names_of("0.0.0.0", ["hall.example"])
    assert names.machine
    assert names.include("hall.example", "")


class Asking:
    """Sends one request to a guarded application, message by message."""

    def __init__(self, *messages: dict[str, Any], **headers: str) -> None:
        self.traffic = Traffic(lambda: self.now)
        self.now = 0.0
        self.sent: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self._messages = list(messages)
        all_headers = {"host": "localhost", "content-type": "application/json"} | headers
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": "/x",
            "headers": [(n.replace("_", "-").encode(), v.encode()) for n, v in all_headers.items()],
            "client": ("127.0.0.1", 1),
        }

    async def __call__(self) -> None:
        await Guard(self._app, LOOPBACK, self.traffic, max_body=10)(self.scope, self._receive, self._send)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def _receive(self) -> dict[str, Any]:
        return self._messages.pop(0)

    async def _send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])


def part(body: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_reaches_the_application_whole() -> None:
    ask = Asking(part(b"01234", more=True), part(b"56789"))
    asyncio.run(ask())
    assert (ask.status, ask.bodies) == (200, [b"0123456789"])


@pytest.mark.parametrize(
    ("ask", "status"),
    [
        (Asking(part(b"0" * 11)), 413),
        (Asking(part(b"0" * 6, more=True), part(b"0" * 6, more=True)), 413),
        (Asking(content_length="11"), 413),
        (Asking(content_length="1e3"), 413),
        (Asking(content_length="-1"), 413),
    ],
)
def test_a_body_that_is_too_long_reaches_nobody(ask: Asking, status: int) -> None:
    asyncio.run(ask())
    assert (ask.status, ask.bodies) == (status, [])
    assert ask.sent[1]["body"].count(b"\n") == 1
    assert ask.traffic.refused == {"too_large": 1}


def test_whoever_hangs_up_before_the_end_is_not_heard() -> None:
    ask = Asking(part(b"0", more=True), {"type": "http.disconnect"})
    asyncio.run(ask())
    assert (ask.sent, ask.bodies) == ([], [])


def test_refusals_are_counted_all_shown_a_while_and_logged_once_a_minute(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ask = Asking(origin="http://evil.example")
    changes: list[None] = []
    ask.traffic.on_refused = lambda: changes.append(None)
    assert ask.traffic.alarm() is None
    for _ in range(5):
        asyncio.run(ask())
    assert ask.traffic.alarm() == 5
    assert ask.traffic.refused == {"cross_origin": 5}
    assert ask.traffic.answers == {"4xx": 5}
    assert len(changes) == 1
    ask.now = 61.0
    asyncio.run(ask())
    said = capsys.readouterr()
    assert (said.out + said.err).count("request refused") == 2
    ask.now = 700.0
    assert ask.traffic.alarm() is None


def test_open_streams_are_counted_until_they_end() -> None:
    traffic, seen = Traffic(), []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        kind = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        seen.append(traffic.streams)

    async def send(_: Any) -> None:
        pass

    async def receive() -> Any:
        raise AssertionError

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"localhost")]}
    asyncio.run(Guard(app, LOOPBACK, traffic)(scope, receive, send))
    assert (seen, traffic.streams) == ([1], 0)


def test_there_are_no_web_sockets() -> None:
    sent: list[Any] = []

    async def nothing(*_: Any) -> None:
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(nothing, LOOPBACK)({"type": "websocket"}, nothing, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
