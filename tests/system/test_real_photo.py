"""A photograph of a real winning hand, never trained on: read → check → confirm → central log."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import cv2
import httpx
import pytest

from station import messages as m
from station.demo.client import TableClient
from station.demo.layout import free_port
from station.demo.supervisor import Child
from station.link.keys import generate, write_allow_list
from station.log import Log
from vision.geometry import Calibration, Zone

pytestmark = [pytest.mark.system, pytest.mark.real, pytest.mark.slow]
PHOTOS = Path(__file__).parents[2].parent / "shared" / "data" / "tiles" / "rf_table"
WINNING_HAND = "hand-002-jpg-d70f97"
HELD_OUT = Path(__file__).parents[1] / "real" / "holdout.txt"


def _region(size: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return the labels' bounding box and half a tile around it, in pixels of the photograph."""
    lines = (PHOTOS / "labels" / f"{WINNING_HAND}.txt").read_text().splitlines()
    boxes = [tuple(map(float, line.split()[1:])) for line in lines]
    half = max(max(w, h) for _, _, w, h in boxes) / 2
    x0 = min(x - w / 2 for x, _, w, _ in boxes) - half
    y0 = min(y - h / 2 for _, y, _, h in boxes) - half
    x1 = max(x + w / 2 for x, _, w, _ in boxes) + half
    y1 = max(y + h / 2 for _, y, _, h in boxes) + half
    width, height = size
    return max(0, x0) * width, max(0, y0) * height, min(1, x1) * width, min(1, y1) * height


def _lay_out(home: Path) -> tuple[Path, Path, str]:
    """Write a table with a folder camera and a taught zone, and a central station."""
    photo = PHOTOS / "images" / f"{WINNING_HAND}.jpg"
    image = cv2.imread(str(photo))
    assert image is not None
    size = (image.shape[1], image.shape[0])
    x0, y0, x1, y1 = _region(size)
    zone = Zone(((x0, y0), (x1, y0), (x1, y1), (x0, y1)), (round(x1 - x0), round(y1 - y0)))
    Calibration(size, {"1": zone}).save(home / "calibration.json")
    (home / "frames").mkdir()
    shutil.copy(photo, home / "frames" / "now.jpg")
    generate(home / "keys", "central")
    write_allow_list(home / "tables.toml", {"T1": generate(home / "keys", "T1").public})
    link, http = free_port(), free_port()
    central = home / "central.toml"
    central.write_text(
        f'home = "central"\nlink = "tcp://127.0.0.1:{link}"\n'
        'secret_key = "keys/central.key"\nallow_list = "tables.toml"\n'
    )
    table = home / "table.toml"
    table.write_text(
        f'home = "T1"\nhttp_port = {http}\ndriver = "none"\ncamera = "folder:frames"\n'
        'calibration = "calibration.json"\nsecret_key = "keys/T1.key"\n'
        f'[central]\nendpoint = "tcp://127.0.0.1:{link}"\npublic_key = "keys/central.pub"\n'
    )
    return central, table, f"http://127.0.0.1:{http}/"


@pytest.mark.skipif(not PHOTOS.exists(), reason="the real photographs are not here")
def test_a_held_out_winning_hand_goes_the_whole_way(tmp_path: Path) -> None:
    assert f"rf_table/{WINNING_HAND}.jpg" in HELD_OUT.read_text().splitlines()
    central_config, table_config, http = _lay_out(tmp_path)

    async def play() -> None:
        central = Child("central", ["central", "--config", str(central_config)], tmp_path)
        table = Child("table", ["table", "--config", str(table_config)], tmp_path)
        async with httpx.AsyncClient() as connection:
            client = TableClient(connection, http)
            try:
                await central.start()
                await table.start()
                await client.post("start", {}, None)
                await client.post("indicator", {"tile": "1m"}, None)
                await client.post("claim", {"place": 1, "how": "self"}, None)
                async with asyncio.timeout(60):
                    while (state := await client.state())["phase"] != "verdict":
                        await asyncio.sleep(0.05)
                claim = state["claim"]
                assert claim["verdict"]["outcome"] == "win", claim["line"]
                assert claim["edits"] == 0
                for tile in claim["tiles"]:
                    if tile["doubt"]:
                        await client.post("tile", {"i": tile["i"], "kind": tile["kind"]}, None)
                await client.post("confirm", {}, None)
                async with asyncio.timeout(60):
                    while (await client.state())["central"]["unsent"]:
                        await asyncio.sleep(0.05)
            finally:
                await asyncio.gather(table.stop(), central.stop())

    asyncio.run(play())
    with Log.open(tmp_path / "central" / "central.db", read_only=True) as log:
        confirmed = [i.entry for i in log.entries() if i.entry.kind == "hand.confirmed"]
    assert len(confirmed) == 1
    body = m.decode("hand.confirmed", confirmed[0].body)
    assert isinstance(body, m.HandConfirmed)
    assert body.pay == [-6, 18, -6, -6]
    assert body.photo is not None
    assert (tmp_path / "T1" / "photos" / body.photo).is_file()
    kinds = json.loads(confirmed[0].body)["line"].split(" flip=")[0]
    assert kinds == "666s888m777p6667z +7z"
