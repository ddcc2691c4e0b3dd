"""Metrics of a process in the text format of Prometheus: read when asked for, in a registry of their own.

Names follow https://prometheus.io/docs/practices/naming/; `METRICS` lists ours, and docs/operations.md
repeats the list, which a test holds equal. Memory, CPU time and open files come from the library's own
collector under the usual names (``process_resident_memory_bytes``, ``process_open_fds``, …).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from station.counting import Histogram, Stats

__all__ = ["CONTENT_TYPE", "METRICS", "Kind", "Metrics", "Sample", "stats_samples"]

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


@dataclass(frozen=True, slots=True)
class Kind:
    """One metric: its name, type, what it means, its labels, and which processes have it."""

    name: str
    type: str
    help: str
    labels: tuple[str, ...] = ()
    of: str = "both"


@dataclass(frozen=True, slots=True)
class Sample:
    """A value of a metric now; label values in the order of the metric's labels."""

    name: str
    value: float | Histogram
    labels: tuple[str, ...] = ()


METRICS: Final = (
    Kind("quezhuo_info", "gauge", "Always 1; what runs here", ("version", "process", "table")),
    Kind("quezhuo_log_position", "gauge", "Number of the last entry of the log"),
    Kind("quezhuo_log_commit_seconds", "histogram", "How long a batch took until it was on the disk"),
    Kind("quezhuo_log_batch_entries", "histogram", "Entries stored at once"),
    Kind("quezhuo_log_trouble", "gauge", "1 while the log cannot be written, else 0"),
    Kind("quezhuo_disk_free_bytes", "gauge", "Space left where the log lies"),
    Kind("quezhuo_photos_stored", "gauge", "Evidence photographs on the disk", of="table"),
    Kind("quezhuo_photos_unsent", "gauge", "Those of them that the central station lacks", of="table"),
    Kind("quezhuo_hands_finished", "gauge", "Hands confirmed or ruled in the session", ("table",)),
    Kind("quezhuo_link_state", "gauge", "1 for the state of the link, by code", ("code",), of="table"),
    Kind("quezhuo_link_unsent_entries", "gauge", "Entries it has not acknowledged", of="table"),
    Kind(
        "quezhuo_link_acked_position",
        "gauge",
        "Last entry the central station has",
        of="table",
    ),
    Kind("quezhuo_link_connects_total", "counter", "How often the link came up", of="table"),
    Kind("quezhuo_link_acks_total", "counter", "Acknowledgements of the central station", of="table"),
    Kind("quezhuo_link_resent_entries_total", "counter", "Entries that were sent once more", of="table"),
    Kind("quezhuo_link_answers_total", "counter", "Answers to tables, mostly acknowledgements", of="central"),
    Kind("quezhuo_link_messages_total", "counter", "Messages of tables that came in", of="central"),
    Kind("quezhuo_link_denials_total", "counter", "Refusals by reason", ("reason",), of="central"),
    Kind(
        "quezhuo_photos_denials_total",
        "counter",
        "Refusals where photos are brought, by reason",
        ("reason",),
        of="central",
    ),
    Kind("quezhuo_tables_enrolled", "gauge", "Tables of the allow-list", of="central"),
    Kind("quezhuo_table_online", "gauge", "1 while the table is heard, else 0", ("table",), of="central"),
    Kind("quezhuo_table_silence_seconds", "gauge", "How long ago it was heard", ("table",), of="central"),
    Kind("quezhuo_table_entries", "gauge", "Entries stored of a table", ("table",), of="central"),
    Kind(
        "quezhuo_table_refused", "gauge", "1 while its log is in quarantine, else 0", ("table",), of="central"
    ),
    Kind("quezhuo_machine_state", "gauge", "1 for the state of the machine, by code", ("code",), of="table"),
    Kind("quezhuo_camera_state", "gauge", "1 for the state of the camera, by code", ("code",), of="table"),
    Kind("quezhuo_http_open_streams", "gauge", "Pages that follow along"),
    Kind("quezhuo_http_responses_total", "counter", "Answers by class of status", ("status",)),
    Kind("quezhuo_http_refused_total", "counter", "Requests refused by the guard, by reason", ("reason",)),
)
"""Every metric of ours."""
_BY_NAME: Final[Mapping[str, Kind]] = {kind.name: kind for kind in METRICS}

_COUNTED: Final = {
    "answers": "quezhuo_link_answers_total",
    "messages": "quezhuo_link_messages_total",
    "denials": "quezhuo_link_denials_total",
    "photo_denials": "quezhuo_photos_denials_total",
    "connects": "quezhuo_link_connects_total",
    "acks": "quezhuo_link_acks_total",
    "resent": "quezhuo_link_resent_entries_total",
}
_OBSERVED: Final = {
    "commit_seconds": "quezhuo_log_commit_seconds",
    "batch_entries": "quezhuo_log_batch_entries",
}


def stats_samples(stats: Stats) -> Iterator[Sample]:
    """Give what a thread has counted; names that are no metric are left out."""
    for (name, label), value in stats.counts().items():
        if name in _COUNTED:
            yield Sample(_COUNTED[name], value, (label,) if label else ())
    for name, histogram in stats.histograms.items():
        if name in _OBSERVED:
            yield Sample(_OBSERVED[name], histogram)


class Metrics:
    """What ``GET /metrics`` answers.

    Args:
        read: gives all samples of now; called for every answer.
    """

    def __init__(self, read: Callable[[], Iterable[Sample]]) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Reader(read))
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """Give the answer."""
        return generate_latest(self._registry)


class _Reader(Collector):
    def __init__(self, read: Callable[[], Iterable[Sample]]) -> None:
        self._read = read

    def describe(self) -> Iterable[Metric]:
        """Say nothing: asked for at registration, when there is nothing to read yet."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Give one family for each metric that has samples."""
        families: dict[str, Metric] = {}
        for sample in self._read():
            kind = _BY_NAME[sample.name]
            family = families.setdefault(kind.name, _family(kind))
            if isinstance(sample.value, Histogram):
                assert isinstance(family, HistogramMetricFamily)
                told = sample.value.cumulative()
                buckets = [("+Inf" if bound == float("inf") else str(bound), n) for bound, n in told]
                family.add_metric(sample.labels, buckets, sample.value.sum)
            else:
                assert isinstance(family, CounterMetricFamily | GaugeMetricFamily)
                family.add_metric(sample.labels, sample.value)
        yield from families.values()


def _family(kind: Kind) -> Metric:
    if kind.type == "counter":
        return CounterMetricFamily(kind.name, kind.help, labels=kind.labels)
    if kind.type == "gauge":
        return GaugeMetricFamily(kind.name, kind.help, labels=kind.labels)
    return HistogramMetricFamily(kind.name, kind.help, labels=kind.labels)
