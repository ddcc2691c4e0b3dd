"""The central station as a process: where it takes photos, what it serves, and the sheet it prints."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import httpx
import pytest

from station import messages as m
from station.evidence.address import VALUE_KEY, Target, where
from station.evidence.policy import Rules
from station.evidence.sockets import EvidenceLink
from station.evidence.table_thread import EvidenceSender
from station.link.keys import generate, load_pair, write_allow_list
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from station.log import Log
from station.log.anchor import qr_text
from tests.station.central.conftest import confirmed, dealt, opened
from tests.station.central.test_process import Process
from tests.station.evidence.hands import read
from tests.station.evidence.test_threads import Photos, until

pytestmark = [pytest.mark.system, pytest.mark.slow]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    generate(tmp_path / "keys", "central")
    write_allow_list(tmp_path / "tables.toml", {"T1": generate(tmp_path / "keys", "T1").public})
    path = tmp_path / "central.toml"
    path.write_text('home = "home"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\n')
    return path


def test_a_photo_comes_to_where_the_station_says_and_is_served_beside_the_sheet(config: Path) -> None:
    folder, process = config.parent, Process(config)
    try:
        data = os.urandom(100_000)
        name = asyncio.run(bring(folder, process.ready["link"], process.ready["evidence"], data))
        with httpx.Client(base_url=process.ready["http"]) as hall:
            assert hall.get(f"/photo/{name}").content == data
            assert hall.get(f"/photo/{'0' * 32}.jpg").status_code == 404
            assert hall.get("/sheet/T9").status_code == 404
            sheet = hall.get("/sheet/T1", params={"lang": "en"})
            assert sheet.status_code == 200
        with Log.open(folder / "T1.db", read_only=True) as log:
            assert qr_text(log.log_id, log.head.seq, log.head.hash) in sheet.text
        status, took, _ = process.stop()
        assert status == 0
        assert took < 2
    finally:
        process.child.kill()
        process.child.communicate()


async def bring(folder: Path, link: str, evidence: str, data: bytes) -> str:
    """Play a hand with a photo at table T1; return the photo's name once the station has it."""
    central, keys = (load_pair(folder / "keys" / f"{who}.key") for who in ("central", "T1"))
    photos = Photos(folder / "photos")
    said: list[Target] = []

    def told(key: str, body: bytes) -> None:
        target = where(body, [(link, central.public)])
        if key == VALUE_KEY and target is not None:
            said.append(target)

    table = LinkThread(folder / "T1.db", LinkSettings("T1", link, central.public, keys), on_value=told)
    await table.start()
    sender = EvidenceSender(
        folder / "T1.db", folder / "evidence.db", photos, photos.read,
        EvidenceLink(central.public, keys), Rules(reserve=0), on_due=lambda _: None,
    )  # fmt: skip
    await sender.start()
    name = photos.put(data)
    bodies = [opened(), *dealt(1), read(1, name), confirmed(1)]
    await table.append([m.encode(body) for body in bodies], 1_700_000_000_000)
    await until(lambda: said and said[-1].shelf)  # it may be said once more, with the name of the shelf
    assert (said[-1].endpoint, said[-1].key) == (evidence, central.public)
    sender.use(said[-1])
    stored = folder / "home" / "evidence" / name[:2] / name
    await until(stored.exists)
    await until(lambda: table.status.unsent == 0)
    await sender.stop()
    await table.stop()
    return name
