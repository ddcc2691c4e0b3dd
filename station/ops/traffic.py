"""What the pages' server was asked, as metrics."""

from __future__ import annotations

from collections.abc import Iterator

from station.guarding import Traffic
from station.ops.metrics import Sample

__all__ = ["traffic_samples"]


def traffic_samples(traffic: Traffic) -> Iterator[Sample]:
    """Give open streams, answers and refusals."""
    yield Sample("quezhuo_http_open_streams", traffic.streams)
    for status, count in traffic.answers.items():
        yield Sample("quezhuo_http_responses_total", count, (status,))
    for reason, count in traffic.refused.items():
        yield Sample("quezhuo_http_refused_total", count, (reason,))
