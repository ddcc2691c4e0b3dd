"""What a table process tells whoever looks after it: health and metrics."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from starlette.routing import BaseRoute

from station.ops.health import Vitals, disk_low, disk_unusable, free_bytes
from station.ops.metrics import Metrics, Sample, stats_samples
from station.ops.routes import operation_routes
from station.ops.traffic import traffic_samples
from station.table.runtime import Table
from station.table.writer import LogWriter

__all__ = ["of_table"]


def of_table(table: Table, writer: LogWriter) -> list[BaseRoute]:
    """Give the routes ``/healthz`` and ``/metrics`` of a table."""
    home = Path(table.config.home)

    def machine() -> str | None:
        code = table.machine.view.code if table.machine is not None else "machine.ok"
        return None if code == "machine.ok" else code

    def camera() -> str | None:
        return None if table.camera_code in ("camera.ok", "camera.none") else table.camera_code

    def central() -> str | None:
        code = writer.status.code
        return None if code in ("central.up", "central.none") else code

    health = Vitals(
        {"process": "table", "table": table.config.table},
        vital={
            "log": lambda: table.disk.code,
            "disk": lambda: disk_unusable(home),
            "link_thread": lambda: None if writer.alive else "ended",
        },
        warnings={"space": lambda: disk_low(home), "machine": machine, "camera": camera, "central": central},
    )
    return operation_routes(
        health, Metrics(lambda: _samples(table, writer, home)), public=table.config.metrics_public
    )


def _samples(table: Table, writer: LogWriter, home: Path) -> Iterator[Sample]:
    session, status, name = table.session, writer.status, table.config.table
    yield Sample("quezhuo_info", 1, (version("quezhuo"), "table", name))
    yield Sample("quezhuo_log_position", status.head)
    yield Sample("quezhuo_log_trouble", int(table.disk.code is not None))
    yield Sample("quezhuo_hands_finished", session.hands_finished, (name,))
    yield Sample("quezhuo_link_state", 1, (status.code,))
    if status.code != "central.none":
        yield Sample("quezhuo_link_unsent_entries", status.unsent)
        yield Sample("quezhuo_link_acked_position", status.acked)
    left = free_bytes(home)
    if left is not None:
        yield Sample("quezhuo_disk_free_bytes", left)
    yield Sample("quezhuo_photos_stored", _photos(home / "photos"))
    yield Sample("quezhuo_photos_unsent", table.photos_unsent)
    if table.machine is not None:
        yield Sample("quezhuo_machine_state", 1, (table.machine.view.code,))
    yield Sample("quezhuo_camera_state", 1, (table.camera_code,))
    yield from stats_samples(writer.stats)
    yield from traffic_samples(table.traffic)


def _photos(folder: Path) -> int:
    with contextlib.suppress(OSError), os.scandir(folder) as files:  # made with the first photo
        return sum(file.name.endswith(".jpg") for file in files)
    return 0
