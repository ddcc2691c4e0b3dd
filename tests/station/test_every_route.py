"""Every route of every web application: attacked as a foreign page could, and looked at for its headers.

The routes are taken from the applications themselves: one that is added tomorrow is attacked as well.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

import station
from engine import rulesets
from firmware_bridge.sim.process import SimOptions, Simulator
from station.central import api as central_api
from station.central.clock import ClockKeeper
from station.central.feed import Feed
from station.central.fold import Hall
from station.central.view import Surroundings, state_object
from station.clock import Clock
from station.evidence.shelf import Shelf
from station.guarding import MAX_BODY, SAFETY_HEADERS, Guard, Traffic, names_of
from station.log.log import Log
from station.ops.health import Vitals
from station.ops.metrics import Metrics
from station.ops.routes import operation_routes
from station.table import api as table_api
from station.table.config import TableConfig
from station.table.photos import PhotoStore
from station.table.runtime import ACTIONS, Table
from station.training.app import app as training_app
from station.training.desk import Desk
from station.web.catalogue import LANGUAGES
from station.web.pages import render_page
from station.web.words import Words
from tests.station.table.conftest import MemoryWriter

HOST = "127.0.0.1:8081"
OURS = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin", "content-type": "application/json"}
EVIL = "http://evil.example"
FILLED = {
    "action": sorted(ACTIONS),
    "name": ["0123456789abcdef0123456789abcdef.jpg"],
    "path": ["base.css"],
    "table": ["T1"],
}
"""Values for the parameters in paths."""


OPERATION = operation_routes(Vitals({}, {}, {}), Metrics(list), public=True)


class App:
    """One application behind its guard; `reached` is what got through."""

    def __init__(self, inner: Starlette, traffic: Traffic | None = None) -> None:
        self.inner = inner
        self.traffic = traffic or Traffic()
        self.reached: list[str] = []
        self.guard = Guard(self._spy, names_of("127.0.0.1"), self.traffic)

    async def _spy(self, scope: Any, receive: Any, send: Any) -> None:
        self.reached.append(f"{scope['method']} {scope['path']}")
        await self.inner(scope, receive, send)

    def routes(self) -> Iterator[tuple[str, str]]:
        """Give (method, path) of every route, parameters filled in."""
        for path, methods in _walked(self.inner.routes):
            for filled in _filled(path):
                for method in sorted(methods - {"HEAD"}):
                    yield method, filled

    def ask(self, method: str, path: str, headers: dict[str, str], content: bytes = b"{}") -> httpx.Response:
        """Send one request, as from a browser on this computer."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.guard, client=("127.0.0.1", 9))
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as http:
                return await http.request(method, path, headers=headers, content=content)

        return asyncio.run(send())


def _walked(routes: list[BaseRoute], before: str = "") -> Iterator[tuple[str, set[str]]]:
    for route in routes:
        if isinstance(route, Mount):
            inner = list(route.routes)
            if inner:
                yield from _walked(inner, before + route.path)
            else:
                yield f"{before}{route.path}/{{path}}", {"GET"}
        else:
            assert isinstance(route, Route), f"{route}: how is it attacked?"
            yield before + route.path, set(route.methods or ())


def _filled(path: str) -> Iterator[str]:
    named = re.search(r"\{(\w+)(?::\w+)?\}", path)
    if named is None:
        yield path
        return
    for value in FILLED[named[1]]:
        yield from _filled(path[: named.start()] + value + path[named.end() :])


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> App:
    home = tmp_path_factory.mktemp("table")
    config = TableConfig(home=str(home), driver="none", camera="none")
    rules = rulesets.load("zhenjiang")
    table = Table(config, rules, MemoryWriter(), PhotoStore(home / "photos"), None, None, Clock())
    asyncio.run(table.load())
    table._lock = asyncio.Lock()  # bound to the loop that used it first
    return App(Starlette(routes=[*OPERATION, *table_api.routes(table)]), table.traffic)


@pytest.fixture(scope="module")
def central(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    path = tmp_path_factory.mktemp("central") / "central.db"
    Log.open(path).close()

    async def book(*_: Any) -> None:
        """A log that keeps nothing."""

    with Log.open(path, read_only=True) as log:
        feed = Feed(log, Surroundings)
        keeper = ClockKeeper(
            path.with_name("clock.json"), Clock(), None,
            hall=lambda: feed.hall, book=book, tell=lambda _: None,
        )  # fmt: skip
        shelf = Shelf(path.parent / "evidence")
        yield App(Starlette(routes=[*OPERATION, *central_api.routes(feed, shelf, keeper)]))


@pytest.fixture(scope="module")
def training() -> Iterator[App]:
    simulator = Simulator(SimOptions(seed=1))
    try:
        yield App(training_app(Desk(simulator)))
    finally:
        simulator.close()


@pytest.fixture(params=["table", "central", "training"])
def app(request: pytest.FixtureRequest) -> App:
    app: App = request.getfixturevalue(request.param)
    app.reached.clear()
    return app


ATTACKS: dict[str, tuple[dict[str, str | None], bytes, int]] = {
    # headers that differ from those of our own page (None: left out), body, status
    "another site": ({"origin": EVIL, "sec-fetch-site": "cross-site"}, b"{}", 403),
    "another site, old browser": ({"origin": EVIL, "sec-fetch-site": None}, b"{}", 403),
    "another port": ({"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"}, b"{}", 403),
    "a sandboxed frame": ({"origin": "null", "sec-fetch-site": "cross-site"}, b"{}", 403),
    "a null origin, old browser": ({"origin": "null", "sec-fetch-site": None}, b"{}", 403),
    "a rebound name": ({"host": "evil.example:8081", "origin": "http://evil.example:8081"}, b"{}", 403),
    "a rebound name without a port": ({"host": "evil.example", "origin": EVIL}, b"{}", 403),
    "a form": (
        {"origin": EVIL, "sec-fetch-site": "cross-site", "content-type": "application/x-www-form-urlencoded"},
        b"a=1",
        403,
    ),
    "text/plain that holds JSON": ({"content-type": "text/plain"}, b'{"place": 0}', 415),
    "a file form": ({"content-type": "multipart/form-data; boundary=x"}, b"--x--", 415),
    "no type": ({"content-type": None}, b"{}", 415),
    "no origin, with a cookie": (
        {"origin": None, "sec-fetch-site": None, "cookie": "lang=en", "user-agent": "Mozilla/5.0"},
        b"{}",
        403,
    ),
    "no origin, with a referrer": (
        {"origin": None, "sec-fetch-site": None, "referer": f"{EVIL}/"},
        b"{}",
        403,
    ),
    "too long": ({}, b'{"a": "' + b"x" * MAX_BODY + b'"}', 413),
    "another method by header": ({"x-http-method-override": "DELETE"}, b"{}", 403),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_changed_by_a_request_that_is_not_ours(app: App, attack: str) -> None:
    bent, body, status = ATTACKS[attack]
    headers = {k: v for k, v in ({**OURS, **bent}).items() if v is not None}
    for method, path in app.routes():
        if method != "GET":
            before = app.traffic.refused.total()
            answer = app.ask(method, path, headers, body)
            assert answer.status_code == status, (method, path)
            assert answer.text.count("\n") == 1
            assert app.traffic.refused.total() == before + 1
    assert app.reached == []


def test_a_get_does_not_become_another_method(app: App) -> None:
    for method, path in app.routes():
        if method == "GET":
            answer = app.ask(method, path, {"x-http-method-override": "POST"}, b"")
            assert answer.status_code == 403
    assert app.reached == []


def test_our_own_pages_reach_every_route(app: App) -> None:
    """The other way round: what is refused above is not refused for another reason."""
    tried = [(method, path) for method, path in app.routes() if method != "GET"]
    for method, path in tried:
        assert app.ask(method, path, OURS).status_code not in (403, 404, 405, 413, 415, 500), path
    assert len(app.reached) == len(tried)


def test_a_program_on_this_computer_needs_no_origin(table: App) -> None:
    plain = {"content-type": "application/json", "user-agent": "python-httpx/0.28"}
    assert table.ask("POST", "/api/call", plain, b'{"place": 0}').status_code == 200


def test_every_application_has_routes_that_are_tried(table: App, training: App) -> None:
    assert sum(method == "POST" for method, _ in table.routes()) >= len(ACTIONS) + 8
    assert [path for method, path in training.routes() if method == "POST"] == ["/fault", "/do"]


def test_every_answer_carries_the_headers_of_safety(app: App) -> None:
    paths = [path for method, path in app.routes() if method == "GET" and path != "/events"]
    for path in (*paths, "/nothing/here"):
        for headers in ({}, {"host": "evil.example"}):
            answer = app.ask("GET", path, headers, b"")
            for name in SAFETY_HEADERS:
                assert name in answer.headers, (path, name)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'self'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_page_has_a_script_or_style_of_its_own(app: App) -> None:
    for method, path in app.routes():
        if method != "GET" or path == "/events":
            continue
        answer = app.ask("GET", path, {}, b"")
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", answer.text), path


def test_there_is_one_way_to_serve_and_it_is_guarded() -> None:
    room = Path(station.__file__).parent
    users = [
        p.name
        for p in room.rglob("*.py")
        if re.search(r"^\s*(import|from) uvicorn", p.read_text(), re.MULTILINE)
    ]
    assert sorted(users) == ["preview.py", "serving.py"]  # the preview is a designer's tool, with samples
    apps = [
        str(p.relative_to(room)) for p in room.rglob("*.py") if re.search(r"\bStarlette\(", p.read_text())
    ]
    attacked = {"table/process.py", "central/process.py", "training/app.py"}
    assert set(apps) - {"web/preview.py"} == attacked, "add the new application to the fixtures above"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_was_refused_is_seen_by_the_referee(table: App, lang: str) -> None:
    table.ask("POST", "/api/start", {**OURS, "origin": EVIL})
    page = table.ask("GET", f"/referee?lang={lang}", {}, b"").text
    number = table.traffic.refused.total()
    assert Words.of(lang).sentence("requests.refused", {"n": number}) in page


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_was_refused_is_seen_at_the_head_table(lang: str) -> None:
    state = state_object(Hall(), Surroundings(refused_requests=3))
    assert Words.of(lang).sentence("requests.refused", {"n": 3}) in render_page("head", state, lang)
    assert state_object(Hall(), Surroundings())["alarms"] == []
