"""What the central station tells whoever looks after it: health and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from starlette.routing import BaseRoute

from station.central.config import CentralConfig
from station.central.feed import Feed
from station.errors import LogError
from station.evidence.central_thread import EvidenceTaker
from station.guarding import Traffic
from station.link.central_thread import CentralThread
from station.ops.health import Vitals, disk_low, disk_unusable, free_bytes
from station.ops.metrics import Metrics, Sample, stats_samples
from station.ops.routes import operation_routes
from station.ops.traffic import traffic_samples

__all__ = ["Parts", "of_central"]


class Parts(Protocol):
    """The parts of the running process that are looked at."""

    config: CentralConfig
    link: CentralThread
    evidence: EvidenceTaker
    traffic: Traffic
    trouble: LogError | None

    @property
    def enrolled(self) -> frozenset[str]:
        """The tables that may connect."""


def of_central(parts: Parts, feed: Feed) -> list[BaseRoute]:
    """Give the routes ``/healthz`` and ``/metrics`` of the central station."""
    home = Path(parts.config.home)
    health = Vitals(
        {"process": "central"},
        vital={
            "log": lambda: parts.trouble.code if parts.trouble is not None else None,
            "disk": lambda: disk_unusable(home),
            "link_thread": lambda: None if parts.link.alive else "ended",
        },
        warnings={"space": lambda: disk_low(home), "tables": lambda: _offline(feed)},
    )
    metrics = Metrics(lambda: _samples(parts, feed, home))
    return operation_routes(health, metrics, public=parts.config.metrics_public)


def _offline(feed: Feed) -> str | None:
    """Which tables that have played are not heard."""
    away = [table for table in feed.state()["tables"] if table["events"] and not table["online"]]
    return f"offline: {', '.join(map(_told, away))}" if away else None


def _told(table: Mapping[str, Any]) -> str:
    silence = table["last_seen_s"]
    return table["id"] if silence is None else f"{table['id']} (not heard for {silence:.0f} s)"


def _samples(parts: Parts, feed: Feed, home: Path) -> Iterator[Sample]:
    state = feed.state()
    yield Sample("quezhuo_info", 1, (version("quezhuo"), "central", ""))
    yield Sample("quezhuo_log_position", state["pos"])
    yield Sample("quezhuo_log_trouble", int(parts.trouble is not None))
    left = free_bytes(home)
    if left is not None:
        yield Sample("quezhuo_disk_free_bytes", left)
    yield Sample("quezhuo_tables_enrolled", len(parts.enrolled))
    for table in state["tables"]:
        name = (table["id"],)
        yield Sample("quezhuo_table_online", int(table["online"]), name)
        if table["last_seen_s"] is not None:
            yield Sample("quezhuo_table_silence_seconds", table["last_seen_s"], name)
        yield Sample("quezhuo_table_entries", table["events"], name)
        yield Sample("quezhuo_table_refused", int(not table["chain_ok"]), name)
        yield Sample("quezhuo_hands_finished", table["hand_count"], name)
    yield from stats_samples(parts.link.stats)
    yield from stats_samples(parts.evidence.stats)
    yield from traffic_samples(parts.traffic)
