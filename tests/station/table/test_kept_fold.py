"""A table started from its kept fold is in the same state as one that folds its whole log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import structlog.testing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from station import messages as m
from station.clock import Clock
from station.errors import LogError
from station.log import Entry, Log
from station.session import Event, Stage, replay
from station.table.decide import Refused
from station.table.writer import LogWriter
from tests.station.table.test_session import ACTIONS, _do


def writer_of(path: Path) -> LogWriter:
    return LogWriter(path, None, Clock(), lambda: None, signer=bytes(32))


def decoded(entry: Entry) -> Event:
    return Event(entry.seq, entry.at_ms / 1000, m.decode(entry.kind, entry.body))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=ACTIONS, cut=st.floats(0, 1))
def test_a_table_started_from_the_kept_fold_has_the_state_of_its_whole_log(
    steps: list[str], cut: float, new_desk: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def play() -> None:
        desk = await new_desk()
        for step in steps:
            try:
                await _do(desk, step)
            except Refused:
                continue
        path = tmp_path_factory.mktemp("log") / "table.db"
        played = [(entry.kind, entry.body) for entry in desk.writer.entries]
        at = 1 + int(cut * (len(played) - 1))
        with Log.open(path) as log:
            log._database.connection.execute("PRAGMA synchronous = OFF")  # only for speed
            entries = log.append(played[:at], 1000)
            first = writer_of(path)
            first.remember(replay(map(decoded, entries)))
            first._keep()
            entries += log.append(played[at:], 2000)
        with structlog.testing.capture_logs() as lines:
            again = await new_desk(writer=writer_of(path))
        assert lines == []
        assert again.session == replay(map(decoded, entries))

    asyncio.run(play())


def test_a_running_table_keeps_its_fold_at_the_end_and_starts_from_it(
    new_desk: Callable[..., Any], tmp_path: Path
) -> None:
    async def play() -> None:
        writer = writer_of(tmp_path / "table.db")
        await writer.start()
        desk = await new_desk(writer=writer)
        await desk.to_play()
        await desk.claim()
        await desk.do("confirm")
        await writer.stop()
        assert (tmp_path / "table.db.fold").exists()
        second = writer_of(tmp_path / "table.db")
        assert second.remembered() == desk.session
        again = await new_desk(writer=second)
        assert again.session == desk.session

    asyncio.run(play())


def test_a_correction_is_not_stored_when_the_log_cannot_be_read(
    new_desk: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        await desk.do("confirm")
        before, entries = desk.session, list(desk.writer.entries)

        def refused(*_: object) -> list[Entry]:
            raise LogError("The disk is gone.")

        with monkeypatch.context() as patch:
            patch.setattr(desk.writer, "stored", refused)
            with pytest.raises(LogError):
                await desk.do("undo")
        assert (desk.session, desk.writer.entries) == (before, entries)
        await desk.do("undo")
        assert desk.session.stage is Stage.CLAIM

    asyncio.run(play())
