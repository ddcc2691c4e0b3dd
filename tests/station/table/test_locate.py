"""A table whose configuration does not say where the station is."""

import asyncio
from pathlib import Path

import pytest
import structlog

from station.errors import LinkError
from station.finding import Found
from station.link.keys import generate
from station.table.config import Central, TableConfig
from station.table.locate import with_endpoint


@pytest.fixture
def config(tmp_path: Path) -> TableConfig:
    generate(tmp_path, "central")
    return TableConfig(home=str(tmp_path), central=Central(public_key=str(tmp_path / "central.pub")))


def located(config: TableConfig, home: Path, *found: Found) -> str:
    async def look(_: str) -> list[Found]:
        return list(found)

    central = asyncio.run(with_endpoint(config, home, look)).central
    assert central is not None
    return central.endpoint


def test_the_address_that_answers_is_taken_and_remembered(config: TableConfig, tmp_path: Path) -> None:
    async def work() -> None:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def look(_: str) -> list[Found]:
            return [Found(("127.0.0.1:1", f"127.0.0.1:{port}"), "")]

        central = (await with_endpoint(config, tmp_path, look)).central
        assert central is not None
        assert central.endpoint == f"tcp://127.0.0.1:{port}"
        server.close()

    asyncio.run(work())
    assert located(config, tmp_path).startswith("tcp://127.0.0.1:")


def test_a_station_that_was_never_found_is_one_plain_sentence(config: TableConfig, tmp_path: Path) -> None:
    (tmp_path / "station-endpoint").write_text("nonsense")
    with pytest.raises(LinkError, match="not found in the network") as caught:
        located(config, tmp_path)
    assert "endpoint" in caught.value.fix


def test_an_address_that_does_not_answer_now_is_tried_by_the_link_itself(
    config: TableConfig, tmp_path: Path
) -> None:
    assert located(config, tmp_path, Found(("127.0.0.1:1",), "")) == "tcp://127.0.0.1:1"


def test_a_configured_address_and_a_table_on_its_own_are_left_alone(tmp_path: Path) -> None:
    alone = TableConfig(home="x")
    said = TableConfig(home="x", central=Central(endpoint="tcp://h:1", public_key="k"))
    for config in (alone, said):
        assert asyncio.run(with_endpoint(config, tmp_path)) is config


def test_an_address_that_can_not_be_remembered_is_used_and_one_line_says_so(
    config: TableConfig, tmp_path: Path
) -> None:
    (tmp_path / "station-endpoint").mkdir()  # in the way
    with structlog.testing.capture_logs() as lines:
        assert located(config, tmp_path, Found(("127.0.0.1:1",), "")) == "tcp://127.0.0.1:1"
    assert [line["event"] for line in lines] == ["the station's address is not remembered"]
    assert sorted(path.name for path in tmp_path.iterdir() if "endpoint" in path.name) == ["station-endpoint"]
