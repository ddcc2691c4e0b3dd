from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import stat
import tomllib
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from engine import rulesets
from station.demo.client import Rejected, TableClient
from station.demo.layout import Settings, machine_profile, players, prepare
from station.demo.supervisor import Child, ChildFailed
from station.errors import ConfigError
from station.table.config import load_config

SETTINGS = Settings(
    tables=2, hands=1, ruleset="zhenjiang", seed=1, mend=True, referee=True, speed=20.0, model=None
)


def test_a_run_gets_keys_of_its_own_and_the_last_run_goes(tmp_path: Path) -> None:
    first = prepare(tmp_path, SETTINGS)
    first.tables[0].log.write_text("old")
    second = prepare(tmp_path, SETTINGS)
    assert not second.tables[0].log.exists()
    for name in ("central", "T1", "T2"):
        assert stat.S_IMODE((second.folder / "keys" / f"{name}.key").stat().st_mode) == 0o600
    allowed = tomllib.loads((second.folder / "keys" / "tables.toml").read_text())["tables"]
    assert set(allowed) == {"T1", "T2"}


def test_nothing_beside_the_demos_own_folder_is_touched(tmp_path: Path) -> None:
    kept = tmp_path / "keys" / "central.key"
    kept.parent.mkdir()
    kept.write_text("the venue's own")
    prepare(tmp_path, SETTINGS)
    assert kept.read_text() == "the venue's own"


@pytest.mark.parametrize(
    ("ruleset", "profile"), [("fengcheng", "102"), ("mcr", "144"), ("xiamen", "144"), ("zhenjiang", "136")]
)
def test_the_machine_builds_the_walls_of_the_rule_set(ruleset: str, profile: str) -> None:
    assert machine_profile(rulesets.load(ruleset)) == profile


def test_no_machine_builds_walls_nobody_has() -> None:
    class Odd:
        deal_pattern = replace(rulesets.load("mcr").deal_pattern, stacks=(20, 20))

    with pytest.raises(ConfigError, match="No machine"):
        machine_profile(Odd())  # type: ignore[arg-type]


def test_what_an_organiser_is_asked_stands_in_the_tables_configuration(tmp_path: Path) -> None:
    layout = prepare(tmp_path, dataclasses.replace(SETTINGS, ruleset="fengcheng"))
    config = load_config(layout.tables[0].config)
    assert config.options == {"lei_per_point": 1}
    assert len(config.players) == 3


def test_no_two_players_of_sixteen_tables_share_a_name() -> None:
    names = [name for table in range(16) for name in players(table)]
    assert len(set(names)) == 64


@pytest.mark.slow
@pytest.mark.system
def test_a_killed_child_is_started_again_and_stopped_by_pid(tmp_path: Path) -> None:
    async def play() -> None:
        child = Child("machine", ["machine-sim"], tmp_path)
        await child.start()
        first = child.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(60):
            while child.pid in (None, first):
                await asyncio.sleep(0.02)
        second = child.pid
        await child.stop()
        assert child.restarts == 1
        assert second is not None
        with pytest.raises(ProcessLookupError):
            os.kill(second, 0)

    asyncio.run(play())


@pytest.mark.slow
@pytest.mark.system
def test_a_child_that_can_not_start_says_its_last_words(tmp_path: Path) -> None:
    async def play() -> None:
        child = Child("table", ["table", "--config", "/nowhere.toml"], tmp_path)
        with pytest.raises(ChildFailed, match="nowhere"):
            await child.start()
        await child.stop()

    asyncio.run(play())


def _client(answers: list[httpx.Response | Exception], seen: list[httpx.Request]) -> TableClient:
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        result = answers.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    return TableClient(httpx.AsyncClient(transport=httpx.MockTransport(answer)), "http://table")


def test_a_lost_answer_is_asked_for_again_with_the_same_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("station.demo.client.RETRY_S", 0)
    seen: list[httpx.Request] = []
    answers = [
        httpx.ConnectError("gone"),
        httpx.Response(503, json={}),
        httpx.Response(200, json={"ok": True}),
    ]

    async def play() -> None:
        assert await _client(answers, seen).post("confirm", {}, 7)

    asyncio.run(play())
    assert len({request.headers["Idempotency-Key"] for request in seen}) == 1
    assert {request.headers["If-Match"] for request in seen} == {"7"}


def test_a_moved_table_and_a_refusal_are_told_apart() -> None:
    refusal = httpx.Response(422, json={"error": {"code": "no_claim", "message": "No claim is pending."}})

    async def play() -> None:
        assert not await _client([httpx.Response(409, json={})], []).post("confirm", {}, 7)
        with pytest.raises(Rejected) as rejected:
            await _client([refusal], []).post("confirm", {}, 7)
        assert rejected.value.code == "no_claim"

    asyncio.run(play())
