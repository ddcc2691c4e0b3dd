"""The hall's clock in the running station, and who may set it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from station.central.clock import ClockKeeper
from station.central.clock_api import clock_routes
from station.clock import boot_id, steady
from station.errors import LogError
from station.timing.hall_clock import ClockRefused
from tests.station.central.conftest import Evening, opened
from tests.station.clocks import Hands


class Station:
    """A station's log, clocks and file, over restarts."""

    def __init__(self, folder: Path, duration_s: int | None = None, *, standby: bool = False) -> None:
        self.standby = standby
        self.tables_here = not standby
        self.file = folder / "clock.json"
        self.hands = Hands()
        self.evening = Evening()
        self.duration_s = duration_s
        self.told: list[dict[str, Any]] = []
        self.full = False

    async def book(self, kind: str, body: bytes) -> None:
        if self.full:
            raise LogError("The disk is full.")
        self.evening.own(kind, json.loads(body))

    def keeper(self) -> ClockKeeper:
        return ClockKeeper(
            self.file,
            self.hands.clock,
            self.duration_s,
            hall=lambda: self.evening.hall,
            book=self.book,
            tell=lambda body: self.told.append(json.loads(body)),
            standby=self.standby,
            here=lambda: self.tables_here,
        )

    @property
    def shown(self) -> tuple[str, float]:
        clock = self.evening.hall.clock
        return clock.state, clock.remaining_s(self.hands.steady)


@pytest.fixture
def station(tmp_path: Path) -> Station:
    return Station(tmp_path)


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


def test_a_restart_of_the_machine_asks_the_head_referee_and_tells_the_tables(station: Station) -> None:
    async def work() -> None:
        keeper = station.keeper()
        await keeper.begin()
        await keeper.act("start", 3600, "", "a")
        station.hands.passes(600)
        again = station.keeper()
        await again.begin()  # the program alone was started again
        assert station.shown == ("running", 3000)
        station.hands.boot, station.hands.steady = "second", 5.0
        station.hands.wall += 60
        last = station.keeper()
        await last.begin()
        assert station.shown == ("unconfirmed", 2940)
        assert station.told[-1]["state"] == "unconfirmed"
        await last.act("confirm", None, "", "b")
        assert station.shown == ("running", 2940)

    run(work)


def test_a_clock_that_ran_out_has_ended(station: Station) -> None:
    async def work() -> None:
        keeper = station.keeper()
        await keeper.begin()
        await keeper.act("start", 10, "", "")
        station.hands.passes(11)
        for _ in range(3):
            await keeper.look()
        assert station.shown == ("ended", 0)
        assert [told["state"] for told in station.told] == ["idle", "running", "ended"]

    run(work)


def test_the_first_session_starts_it_where_a_length_is_configured(tmp_path: Path) -> None:
    async def work() -> None:
        station = Station(tmp_path, duration_s=3600)
        keeper = station.keeper()
        await keeper.begin()
        await keeper.look()
        assert station.shown[0] == "idle"
        station.evening.tell(opened())
        for _ in range(2):
            await keeper.look()
        assert station.shown == ("running", 3600)
        assert station.evening.hall.clock.events == 1
        assert [told["n"] for told in station.told] == [0, 1]
        assert keeper.now == station.evening.hall.clock

    run(work)


def test_a_full_disk_keeps_the_doubt_until_there_is_space(station: Station) -> None:
    async def work() -> None:
        keeper = station.keeper()
        await keeper.begin()
        await keeper.act("start", 3600, "", "")
        station.hands.passes(100)
        await keeper.look()
        station.hands.boot, station.hands.steady, station.full = "second", 5.0, True
        station.hands.wall += 50
        again = station.keeper()
        await again.begin()
        with pytest.raises(LogError):
            await again.act("confirm", None, "", "")
        station.full = False
        station.hands.passes(10)
        await again.look()
        assert station.shown == ("unconfirmed", pytest.approx(3440, abs=0.01))

    run(work)


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        station = Station(tmp_path / "nowhere")
        keeper = station.keeper()
        await keeper.begin()
        await keeper.act("start", 10, "", "")
        assert station.shown == ("running", 10)

    run(work)


def test_what_was_booked_counts_at_once_though_the_hall_is_folded_later(station: Station) -> None:
    behind: list[tuple[str, bytes]] = []

    async def book(kind: str, body: bytes) -> None:
        behind.append((kind, body))

    async def work() -> None:
        station.book = book  # type: ignore[method-assign]
        keeper = station.keeper()
        await keeper.begin()
        await keeper.act("start", 3600, "", "a")
        await keeper.act("start", 3600, "", "a")  # the same request
        await keeper.act("pause", None, "", "b")
        assert (keeper.now.state, keeper.now.events, len(behind)) == ("paused", 2, 2)
        for kind, body in behind:
            station.evening.own(kind, json.loads(body))
        assert keeper.now == station.evening.hall.clock

    run(work)


# ---- a second station ----


def test_a_second_station_knows_no_clock_and_starts_none_by_itself(tmp_path: Path) -> None:
    async def work() -> None:
        station = Station(tmp_path, duration_s=3600, standby=True)
        keeper = station.keeper()
        await keeper.begin()
        with pytest.raises(ClockRefused) as refused:
            await keeper.act("start", 60, "", "")
        assert refused.value.code == "clock.elsewhere"
        station.tables_here = True
        station.evening.tell(opened())
        await keeper.look()
        assert station.shown[0] == "idle"
        await keeper.act("start", 1234, "", "")
        assert station.shown == ("running", 1234)
        assert [told["state"] for told in station.told] == ["idle", "running"]

    run(work)


def test_a_second_station_lets_go_of_the_clock_when_its_tables_stay_away(tmp_path: Path) -> None:
    async def work() -> None:
        station = Station(tmp_path, standby=True)
        station.tables_here = True
        keeper = station.keeper()
        await keeper.begin()
        await keeper.act("start", 3600, "", "")
        station.hands.passes(1000)
        await keeper.look()
        station.tables_here = False
        for _ in range(2):  # and a restart of the program
            station.hands.passes(200)
            keeper = station.keeper()
            await keeper.begin()
            await keeper.look()
            assert station.shown[0] == "running"
        station.hands.passes(300)
        for _ in range(2):
            await keeper.look()
        assert station.shown[0] == "idle"
        assert station.evening.hall.clock.events == 2
        assert station.told[-1]["state"] == "idle"

    run(work)


# ---- POST /api/clock ----


def post(
    station: Station,
    body: Any,
    *,
    client: str = "127.0.0.1",
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    async def ask() -> httpx.Response:
        keeper = station.keeper()
        app = Starlette(routes=clock_routes(keeper))
        transport = httpx.ASGITransport(app, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as browser:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return await browser.post("/api/clock", content=content, headers=headers)

    return asyncio.run(ask())


def test_the_head_referee_sets_the_clock(station: Station) -> None:
    assert post(station, {"action": "start", "minutes": 60}).json() == {"ok": True}
    again = {"Idempotency-Key": "a"}
    for _ in range(2):
        sent = post(station, {"action": "extend", "seconds": 300, "reason": "late"}, headers=again)
        assert sent.status_code == 200
    assert station.shown == ("running", 3900)
    own = {"Origin": "http://127.0.0.1:8080"}
    assert post(station, {"action": "pause"}, headers=own).status_code == 200
    assert post(station, {"action": "pause"}).json()["error"]["code"] == "clock.not_now"


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ({"client": "192.168.1.7"}, 403, "clock.not_here"),
        ({"headers": {"Idempotency-Key": "x" * 200}}, 422, "bad_request"),
    ],
)
def test_nobody_else_does(how: dict[str, Any], status: int, code: str, station: Station) -> None:
    answer = post(station, {"action": "start", "seconds": 60}, **how)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert station.shown[0] == "idle"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        {"action": 5},
        {"action": "start", "seconds": "60"},
        {"action": "start", "seconds": True},
        {"action": "start", "seconds": 1.5},
        {"action": "start", "seconds": 60, "minutes": 1},
        {"action": "start", "minutes": 10**30},
        {"action": "start", "hours": 1},
        {"action": "start", "seconds": 60, "reason": 5},
        {"action": "start", "seconds": 60, "reason": "x" * 2000},
    ],
    ids=repr,
)
def test_rubbish_is_refused(body: Any, station: Station) -> None:
    assert post(station, body).status_code == 422
    assert station.shown[0] == "idle"


def test_a_second_station_whose_tables_are_elsewhere_sets_nothing(tmp_path: Path) -> None:
    station = Station(tmp_path, standby=True)
    answer = post(station, {"action": "start", "seconds": 60})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "clock.elsewhere")


def test_a_full_disk_is_said(station: Station) -> None:
    station.full = True
    assert post(station, {"action": "start", "seconds": 60}).status_code == 503


def test_the_machines_own_clocks_are_steady_and_named() -> None:
    assert steady() <= steady()
    assert boot_id() == boot_id() != ""
