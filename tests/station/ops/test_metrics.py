from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from engine import rulesets
from station import messages as m
from station.central.config import CentralConfig
from station.central.feed import Feed
from station.central.operation import of_central
from station.central.view import Surroundings
from station.clock import Clock
from station.counting import Histogram, Stats
from station.evidence.central_thread import EvidenceTaker
from station.evidence.policy import Rules
from station.evidence.shelf import Shelf
from station.evidence.sockets import connected_socket
from station.guarding import Traffic
from station.link.central_thread import CentralThread
from station.link.keys import AllowList, generate, write_allow_list
from station.link.sockets import LinkSettings, new_context
from station.link.table_thread import LinkThread
from station.log.log import Log
from station.ops.health import Vitals, disk_unusable
from station.ops.metrics import METRICS, Metrics, Sample, stats_samples
from station.table.config import TableConfig
from station.table.operation import of_table
from station.table.photos import PhotoStore
from station.table.runtime import Table
from station.table.writer import LogWriter
from tests.station.central.conftest import opened

PAGE = Path(__file__).parents[3] / "docs" / "operations.md"


def families(text: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Values by metric and label values; the library names a counter without ``_total``."""
    told: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        name = family.name + ("_total" if family.type == "counter" else "")
        told[name] = {tuple(sample.labels.values()): sample.value for sample in family.samples}
    return told


def ours(told: dict[str, Any]) -> set[str]:
    return {name for name in told if name.startswith("quezhuo_")}


def client(routes: Any, address: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=Starlette(routes=routes), client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


def test_names_follow_the_conventions() -> None:
    names = [kind.name for kind in METRICS]
    assert len(set(names)) == len(names)
    for kind in METRICS:
        assert re.fullmatch(r"quezhuo_[a-z]+(_[a-z]+)*", kind.name)
        assert kind.name.endswith("_total") is (kind.type == "counter")
        assert kind.of in ("both", "table", "central")


def test_the_documentation_lists_every_metric_as_it_is() -> None:
    listed = [line for line in PAGE.read_text().splitlines() if line.startswith("| `quezhuo_")]
    assert listed == [
        f"| `{kind.name}` | {kind.type} | {', '.join(kind.labels) or '–'} | "
        f"{'table, central' if kind.of == 'both' else kind.of} | {kind.help} |"
        for kind in METRICS
    ]


def test_two_processes_in_one_share_nothing() -> None:
    ours, theirs = (Metrics(lambda n=n: [Sample("quezhuo_log_position", n)]) for n in (1, 2))
    assert families(ours.text().decode())["quezhuo_log_position"] == {(): 1}
    assert families(theirs.text().decode())["quezhuo_log_position"] == {(): 2}
    assert families(ours.text().decode())["process_resident_memory_bytes"][()] > 1e6
    assert families(ours.text().decode())["process_open_fds"][()] > 2


def test_what_a_thread_counts_becomes_a_metric() -> None:
    stats = Stats(commit_seconds=(0.1, 1.0))
    stats.count("denials", "fork")
    stats.count("denials", "fork", by=2)
    stats.count("something else")
    for value in (0.05, 0.1, 0.5, 7.0):
        stats.observe("commit_seconds", value)
    told = families(Metrics(lambda: stats_samples(stats)).text().decode())
    assert told["quezhuo_link_denials_total"] == {("fork",): 3}
    assert told["quezhuo_log_commit_seconds"][("0.1",)] == 2
    assert told["quezhuo_log_commit_seconds"][("1.0",)] == 3
    assert told["quezhuo_log_commit_seconds"][("+Inf",)] == 4
    assert "something else" not in str(told)


def test_a_histogram_counts_a_value_once_and_from_its_bound_on() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (1.0, 1.5, 2.5):
        histogram.observe(value)
    assert histogram.cumulative() == [(1.0, 1), (2.0, 2), (float("inf"), 3)]
    assert histogram.sum == 5.0


@contextmanager
def running_table(home: Path, **settings: Any) -> Iterator[tuple[Table, LogWriter]]:
    config = TableConfig(home=str(home), driver="none", camera="none", **settings)
    writer = LogWriter(home / "table.db", None, Clock(), lambda: None)
    rules, photos = rulesets.load("zhenjiang"), PhotoStore(home / "photos")
    yield Table(config, rules, writer, photos, None, None, Clock()), writer


def test_a_table_tells_its_numbers_and_that_it_is_well(tmp_path: Path) -> None:
    async def scene() -> None:
        with running_table(tmp_path) as (table, writer):
            routes = of_table(table, writer)
            await writer.start()
            await table.load()
            table.photos.put(b"jpeg")
            async with client(routes) as http:
                told = families((await http.get("/metrics")).text)
                well = await http.get("/healthz")
                assert (well.status_code, well.json()["ok"], well.json()["table"]) == (200, True, "T1")
                assert set(well.json()["checks"].values()) == {"ok"}
                await writer.stop()
                alive = await http.get("/healthz?live")
                assert (alive.status_code, alive.json()) == (200, {"ok": True})
        assert told["quezhuo_log_position"] == {(): 1}
        assert told["quezhuo_photos_stored"] == {(): 1}
        assert told["quezhuo_link_state"] == {("central.none",): 1}
        assert told["quezhuo_log_commit_seconds"][("+Inf",)] == 1
        assert told["quezhuo_disk_free_bytes"][()] > 0
        names = {kind.name for kind in METRICS if kind.of in ("both", "table")}
        unlinked = {name for name in names if "_link_" in name} - {"quezhuo_link_state"}
        later = {"quezhuo_http_responses_total", "quezhuo_http_refused_total", "quezhuo_machine_state"}
        assert ours(told) == names - unlinked - later

    asyncio.run(scene())


def test_an_ended_thread_and_a_log_that_can_not_be_written_are_named(tmp_path: Path) -> None:
    async def scene() -> None:
        with running_table(tmp_path) as (table, writer):
            table.disk.refused("log.full")
            async with client(of_table(table, writer)) as http:
                answer = await http.get("/healthz")
                assert answer.status_code == 503
                assert answer.json()["failing"] == ["log", "link_thread"]
                assert answer.json()["checks"] == {
                    "log": "table.disk_full",
                    "disk": "ok",
                    "link_thread": "ended",
                }
                assert "quezhuo_log_trouble 1.0" in (await http.get("/metrics")).text

    asyncio.run(scene())


@pytest.mark.parametrize(("public", "status"), [(False, 403), (True, 200)])
def test_other_computers_read_the_metrics_only_where_that_is_wanted(
    tmp_path: Path, public: bool, status: int
) -> None:
    async def scene() -> None:
        with running_table(tmp_path, metrics_public=public) as (table, writer):
            async with client(of_table(table, writer), "192.168.1.9") as http:
                answer = await http.get("/metrics")
                assert answer.status_code == status
                assert status == 200 or answer.text.count("\n") == 1

    asyncio.run(scene())


def test_the_central_station_tells_its_numbers(tmp_path: Path) -> None:
    central, stranger = generate(tmp_path, "central"), generate(tmp_path, "stranger")
    keys = generate(tmp_path, "T1")
    write_allow_list(tmp_path / "tables.toml", {"T1": keys.public})

    async def scene() -> None:
        allowed = AllowList(tmp_path / "tables.toml")
        link = CentralThread(tmp_path / "central.db", "tcp://127.0.0.1:0", central, allowed)
        endpoint = await link.start()
        config = CentralConfig(home=str(tmp_path), allow_list="", secret_key="")
        evidence = EvidenceTaker(
            tmp_path / "central.db", Shelf(tmp_path / "evidence"), "tcp://127.0.0.1:0", central, allowed,
            Rules(), on_due=lambda _: None,
        )  # fmt: skip
        context = new_context()
        knocking = connected_socket(context, stranger, central.public, await evidence.start())
        parts = SimpleNamespace(
            config=config, link=link, traffic=Traffic(), trouble=None, enrolled=allowed.tables,
            evidence=evidence,
        )  # fmt: skip
        parts.traffic.refused["cross_origin"] += 1
        tables = [
            LinkThread(tmp_path / f"{name}.db", LinkSettings(name, endpoint, central.public, pair))
            for name, pair in (("T1", keys), ("T2", stranger))
        ]
        for table in tables:
            await table.start()
            await table.append([m.encode(opened())], 1)
        denied = ("denials", "not_enrolled"), ("photo_denials", "not_enrolled")
        async with asyncio.timeout(60):
            while tables[0].status.unsent or not set(denied) <= {
                *link.stats.counts(),
                *evidence.stats.counts(),
            }:
                await asyncio.sleep(0.01)
        with Log.open(tmp_path / "central.db", read_only=True) as log:
            feed = Feed(log, lambda: Surroundings(silence_s=link.silence_s(), enrolled=allowed.tables))
            feed.catch_up()
            async with client(of_central(parts, feed)) as http:
                told = families((await http.get("/metrics")).text)
                well = (await http.get("/healthz")).json()
        for table in tables:
            await table.stop()
        knocking.close(linger=0)
        context.term()
        await evidence.stop()
        await link.stop()
        assert well["ok"] is True
        assert told["quezhuo_table_entries"] == {("T1",): 1}
        assert told["quezhuo_table_online"] == {("T1",): 1}
        assert told["quezhuo_link_denials_total"][("not_enrolled",)] >= 1
        assert told["quezhuo_photos_denials_total"][("not_enrolled",)] >= 1
        assert told["quezhuo_link_messages_total"][()] >= 2
        assert told["quezhuo_log_commit_seconds"][("+Inf",)] >= 1
        assert told["quezhuo_http_refused_total"] == {("cross_origin",): 1}
        names = {kind.name for kind in METRICS if kind.of in ("both", "central")}
        assert ours(told) == names - {"quezhuo_http_responses_total"}
        assert tables[0].stats.counts()[("connects", "")] == 1
        assert tables[0].stats.counts()[("acks", "")] >= 1

    asyncio.run(scene())


def test_health_is_asked_once_a_second(tmp_path: Path) -> None:
    asked: list[int] = []
    now = [0.0]

    def check() -> str | None:
        asked.append(1)
        return "bad" if len(asked) > 1 else None

    health = Vitals({}, {"x": check}, {}, lambda: now[0])
    assert [health.report()["ok"] for _ in range(5)] == [True] * 5
    now[0] = 1.0
    assert health.report()["failing"] == ["x"]
    assert len(asked) == 2


def test_a_folder_that_is_gone_is_no_place_to_store(tmp_path: Path) -> None:
    assert disk_unusable(tmp_path) is None
    assert disk_unusable(tmp_path / "gone") == "gone"
