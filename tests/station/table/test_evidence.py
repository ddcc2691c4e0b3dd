"""Photos of a table: told where they go, removed by an event, and said to be gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from station import messages as m
from station.errors import LogError
from station.evidence.address import VALUE_KEY, Target, announcement
from station.evidence.index import Index
from station.evidence.policy import Removal
from station.link.keys import KeyPair
from station.link.sockets import LinkSettings
from station.log.anchor import qr_text
from station.table.api import routes
from station.table.config import Central, TableConfig
from station.table.evidence import INDEX, Removals, listen_to

STATION = "S" * 40
LINK = LinkSettings("T1", "tcp://192.168.1.2:7700", STATION, KeyPair("P" * 40, "K" * 40))


class Told:
    """Remembers where photos are to go."""

    def __init__(self) -> None:
        self.targets: list[Target] = []

    def use(self, target: Target) -> None:
        self.targets.append(target)


async def settled(removals: Removals) -> None:
    """Wait until what is due has been booked or refused."""
    async with asyncio.timeout(30):
        while removals._tasks:
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("own", "key", "station", "targets"),
    [
        ("", VALUE_KEY, STATION, [Target("tcp://192.168.1.2:7702", STATION, "shelf")]),
        ("tcp://10.0.0.1:1", VALUE_KEY, STATION, [Target("tcp://10.0.0.1:1", STATION, "shelf")]),
        ("", "clock", STATION, []),
        ("", VALUE_KEY, "X" * 40, []),
    ],
    ids=["told", "set by hand", "another value", "a strange station"],
)
def test_photos_go_where_the_station_says(own: str, key: str, station: str, targets: list[Target]) -> None:
    central = Central(endpoint=LINK.endpoint, public_key="central.pub", evidence_endpoint=own)
    config, told = TableConfig(home="T1", central=central), Told()
    listen_to(told, config, LINK, key, announcement("tcp://0.0.0.0:7702", station, "shelf"))  # type: ignore[arg-type]
    listen_to(told, config, None, key, announcement("tcp://0.0.0.0:7702", station, "shelf"))  # type: ignore[arg-type]
    assert told.targets == targets


def test_a_removal_is_booked_beside_the_hand_and_no_tap_goes_stale_by_it(
    new_desk: Callable[..., Any],
) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        rev, removals = desk.session.rev, Removals()
        removals.due(
            desk.table, [Removal("a" * 32 + ".jpg", "window_over"), Removal("b" * 32 + ".jpg", "thin.clean")]
        )
        await settled(removals)
        bodies = [m.decode(entry.kind, entry.body) for entry in desk.writer.entries]
        assert [(b.photo[0], b.why) for b in bodies if isinstance(b, m.PhotoRemoved)] == [
            ("a", "window_over"),
            ("b", "thin.clean"),
        ]
        assert desk.session.rev == rev
        desk.writer.fail = LogError("The disk is full.")
        removals.due(desk.table, [Removal("c" * 32 + ".jpg", "thin.clean")])
        await settled(removals)  # told in the log of the process, and due again in a minute
        assert len(desk.writer.entries) == len(bodies)

    asyncio.run(play())


def test_the_table_serves_photos_says_what_went_and_prints_its_sheet(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        await desk.do("confirm")
        here, gone = desk.table.photos.put(b"\xff\xd8 here"), "a" * 32 + ".jpg"
        removals = Removals()
        removals.due(desk.table, [Removal(gone, "window_over")])
        await settled(removals)
        folder = desk.table.photos.folder.parent
        with Index.open(folder / INDEX) as index:
            index.catch_up(bytes(16), [(entry.seq, "", entry, entry.hash) for entry in desk.writer.entries])
        transport = httpx.ASGITransport(app=Starlette(routes=routes(desk.table)))
        async with httpx.AsyncClient(transport=transport, base_url="http://table") as client:
            assert (await client.get(f"/photo/{here}")).content == b"\xff\xd8 here"
            removed = await client.get(f"/photo/{gone}", params={"lang": "en"})
            assert (removed.status_code, removed.text) == (410, "photo removed (rule)")
            assert (await client.get("/photo/other.jpg")).status_code == 404
            sheet = await client.get("/sheet", params={"lang": "zh-Hans"})
            last = desk.writer.entries[-1]
            assert qr_text(last.log_id, last.seq, last.hash) in sheet.text
            assert "本场尚未结束，并非最终成绩" in sheet.text

    asyncio.run(play())
