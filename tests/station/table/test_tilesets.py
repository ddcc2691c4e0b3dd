"""Which tile sets a table reads with, and that its screens say which is in play."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from station.table import tilesets
from station.table.api import routes
from station.table.config import TableConfig
from station.table.eyes import eyes_of
from station.table.tilesets import SetsInUse, file_for, room_for, sets_in_use, tileset_files
from station.web.catalogue import LANGUAGES
from vision.errors import TileSetError


def config(home: Path, *files: str) -> TableConfig:
    return TableConfig(home=str(home), driver="none", tilesets=tuple(str(home / name) for name in files))


def saved(home: Path, *names: str) -> None:
    (home / "tilesets").mkdir(exist_ok=True)
    for name in names:
        (home / "tilesets" / name).write_text("{}")


def test_sets_saved_by_the_page_are_read_with_unless_others_are_named(tmp_path: Path) -> None:
    assert tileset_files(config(tmp_path)) == []
    saved(tmp_path, "green.json", "blue.json", "red.json.capture")
    assert [file.name for file in tileset_files(config(tmp_path))] == ["blue.json", "green.json"]
    assert tileset_files(config(tmp_path, "mine.json")) == [tmp_path / "mine.json"]


def test_more_sets_than_a_table_has_are_refused_by_name(tmp_path: Path) -> None:
    saved(tmp_path, "a.json", "b.json", "c.json")
    with pytest.raises(TileSetError, match=r"a\.json, b\.json, c\.json.* tilesets in the table's file"):
        tileset_files(config(tmp_path))


def test_a_set_that_could_not_be_used_is_not_begun(tmp_path: Path) -> None:
    assert room_for(config(tmp_path), "green") == ()
    saved(tmp_path, "green.json", "blue.json")
    assert room_for(config(tmp_path), "green") == ()
    assert room_for(config(tmp_path), "red") == ("blue", "green")
    assert room_for(config(tmp_path, "mine.json"), "green") == ("mine",)


def test_a_set_named_in_the_file_of_the_table_is_saved_where_it_lies(tmp_path: Path) -> None:
    assert file_for(config(tmp_path, "mine.json"), "mine") == tmp_path / "mine.json"
    assert file_for(config(tmp_path), "green") == tmp_path / "tilesets" / "green.json"


def test_a_broken_set_of_the_home_is_told_at_the_start(tmp_path: Path, rules: Any) -> None:
    saved(tmp_path, "green.json")
    eyes = eyes_of(TableConfig(home=str(tmp_path), driver="none", camera="render"), rules, tmp_path)
    assert eyes is not None
    with pytest.raises(TileSetError, match=r"green\.json is no quezhuo tile set"):
        asyncio.run(eyes.warm_up())
    assert eyes.tilesets is None
    eyes.close()


def test_where_a_set_cannot_be_read_the_table_goes_on_with_what_it_had(tmp_path: Path, rules: Any) -> None:
    eyes = eyes_of(TableConfig(home=str(tmp_path), driver="none", camera="render"), rules, tmp_path)
    assert eyes is not None
    saved(tmp_path, "green.json")

    async def steps() -> None:
        with pytest.raises(TileSetError):
            await eyes.enrolled([tmp_path / "tilesets" / "green.json"])
        await eyes.warm_up()

    asyncio.run(steps())
    assert eyes.tilesets is None
    eyes.close()


def test_the_reader_says_which_set_is_in_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tilesets, "TableReader", SimpleNamespace)
    sets = [SimpleNamespace(provenance=SimpleNamespace(name=name)) for name in ("green", "blue")]
    reader: Any = SimpleNamespace(sets=sets, in_play=None)
    assert sets_in_use(reader) == SetsInUse(("green", "blue"), None)
    reader.in_play = 1
    assert sets_in_use(reader) == SetsInUse(("green", "blue"), "blue")
    assert sets_in_use(None) is None


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_referees_page_shows_the_set_in_play(new_desk: Callable[..., Any], eyes: Any, lang: str) -> None:
    async def steps() -> None:
        desk = await new_desk(eyes=eyes)
        transport = httpx.ASGITransport(app=Starlette(routes=routes(desk.table)))
        async with httpx.AsyncClient(transport=transport, base_url="http://table") as http:

            async def page() -> str:
                return (await http.get(f"/referee?lang={lang}")).text

            assert 'class="set"' not in await page()
            eyes.tilesets = SetsInUse(("green", "blue"), None)
            told = await page()
            assert 'class="set"' in told
            assert "green, blue" in told
            eyes.tilesets = SetsInUse(("green", "blue"), "blue")
            told = await page()
            assert " blue<" in told
            assert "green" not in told

    asyncio.run(steps())


def test_a_third_set_is_not_begun_at_the_page(new_desk: Callable[..., Any], tmp_path: Path) -> None:
    saved(tmp_path, "green.json", "blue.json")

    async def steps() -> None:
        desk = await new_desk()
        transport = httpx.ASGITransport(app=Starlette(routes=routes(desk.table)))
        async with httpx.AsyncClient(transport=transport, base_url="http://table") as http:
            answer = await http.post("/enroll/begin?lang=en", json={"name": "red"})
        assert answer.status_code == 409
        assert "blue, green" in answer.json()["error"]["message"]

    asyncio.run(steps())
