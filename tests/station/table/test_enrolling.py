"""The page `/enroll`: rows laid at a rendered table, asked for and compared over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from station.table.api import routes
from vision.enroll.tileset import TileSet
from vision.geometry import default_calibration
from vision.readings import Image
from vision.render import LaidHand, Scene, render

ROW = [f"{n}m" for n in range(1, 10)]


class LaidEyes:
    """Eyes over a rendered table on which rows are laid at side 0; they count how often they look."""

    sees_indicator = True
    refused = ()
    tilesets = None

    def __init__(self) -> None:
        self.laid: Sequence[str] = ()
        self.looks = 0
        self.read_with: list[str] = []

    async def enrolled(self, files: Sequence[Path]) -> None:
        self.read_with = [file.name for file in files]

    async def view(self, side: int) -> Image:
        self.looks += 1
        calibration = default_calibration()
        hands = {side: LaidHand((), tuple(self.laid))} if self.laid else {}
        frame = render(Scene(hands=hands, light_seed=3), calibration, seed=self.looks)
        return calibration.rectify(frame, str(side)).image


class Page:
    """The page's buttons."""

    def __init__(self, desk: Any) -> None:
        transport = httpx.ASGITransport(app=Starlette(routes=routes(desk.table)))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://table", timeout=600)

    async def tap(self, step: str, **body: Any) -> dict[str, Any]:
        answer = await self.http.post(f"/enroll/{step}?lang=en", json=body)
        told: dict[str, Any] = answer.json()
        return {**told, "status": answer.status_code}


def play(steps: Callable[[], Any]) -> None:
    asyncio.run(steps())


def test_rows_are_asked_for_compared_and_kept(new_desk: Callable[..., Any], tmp_path: Path) -> None:
    async def steps() -> None:
        eyes = LaidEyes()
        page = Page(await new_desk(eyes=eyes))
        told = await page.tap("begin", name="green", side=0)
        assert (told["number"], told["of"], told["row"]["kinds"]) == (1, 10, ROW)
        assert "left to right" in told["row"]["how"]
        eyes.laid = ROW[:-1]
        told = await page.tap("look")
        assert (told["taken"], told["confirm"]) == (False, False)
        assert told["said"] == ["9 Character is missing in the row: lay it in its place"]
        assert (await page.http.get("/enroll/row.jpg")).headers["content-type"] == "image/jpeg"
        eyes.laid = ROW
        told = await page.tap("look")
        assert (told["taken"], told["number"], told["done"]) == (True, 2, 1)
        assert "upside down" in told["row"]["how"]
        assert "1p" in told["missing"]
        assert (tmp_path / "tilesets" / "green.json.capture").exists()
        again = Page(await new_desk(eyes=eyes))
        assert (await again.tap("begin", name="green", side=0))["number"] == 2
        assert (await again.tap("begin", name="green", side=0, fresh=True))["number"] == 1

    play(steps)


def test_a_row_can_be_confirmed_left_out_and_taken_again(new_desk: Callable[..., Any]) -> None:
    async def steps() -> None:
        eyes = LaidEyes()
        page = Page(await new_desk(eyes=eyes))
        await page.tap("begin", name="green", side=0)
        eyes.laid = [*ROW[:2], "7m", *ROW[3:]]
        told = await page.tap("look")
        assert (told["taken"], told["confirm"]) == (False, True)
        assert "looks like 7 Character, 3 Character is expected" in told["said"][0]
        eyes.laid = [f"{n}p" for n in range(1, 10)]
        told = await page.tap("look")
        assert told["said"] == ["Most tiles look like others: is this the row that was asked for?"]
        eyes.laid = [*ROW[:2], "7m", *ROW[3:]]
        assert (await page.tap("look", confirmed=True))["taken"]
        assert (await page.tap("skip"))["number"] == 3
        assert (await page.tap("back"))["number"] == 2

    play(steps)


def test_a_set_with_all_kinds_is_saved_and_one_without_is_not(
    new_desk: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("station.table.enrolling.SHOTS", 1)

    async def steps() -> None:
        eyes = LaidEyes()
        page = Page(await new_desk(eyes=eyes))
        told = await page.tap("begin", name="green", side=0)
        refused = await page.tap("save")
        assert (refused["status"], refused["error"]["code"]) == (422, "enroll.missing")
        while told["row"] is not None:
            eyes.laid = told["row"]["kinds"]
            told = await page.tap("look", confirmed=True)
            assert told["taken"]
        assert told["missing"] == []
        assert (await page.tap("look"))["error"]["code"] == "enroll.all_taken"
        saved = await page.tap("save")
        tiles = TileSet.load(Path(saved["saved"]))
        assert (len(tiles.kinds), tiles.provenance.name, tiles.provenance.table) == (35, "green", "T1")
        assert not list((tmp_path / "tilesets").glob("*.capture"))
        assert eyes.read_with == ["green.json"]

    play(steps)


def test_no_picture_is_taken_while_a_hand_is_in_play(new_desk: Callable[..., Any]) -> None:
    async def steps() -> None:
        eyes = LaidEyes()
        desk = await new_desk(eyes=eyes)
        page = Page(desk)
        await page.tap("begin", name="green", side=0)
        await desk.to_play()
        for step in ("look", "begin"):
            told = await page.tap(step, name="green")
            assert (told["status"], told["error"]["code"]) == (409, "calibrate.hand_running")
            assert told["error"]["message"].startswith("A hand is in play")
        assert eyes.looks == 0
        assert (await page.http.get("/enroll/row.jpg")).status_code == 404

    play(steps)


def test_what_cannot_be_done_is_answered_in_words(new_desk: Callable[..., Any]) -> None:
    async def steps() -> None:
        page = Page(await new_desk())
        for step, body, code in (
            ("look", {}, "enroll.not_begun"),
            ("skip", {}, "enroll.not_begun"),
            ("save", {}, "enroll.not_begun"),
            ("begin", {"name": "../x"}, "enroll.name"),
            ("begin", {"name": "green", "side": 7}, "bad_request"),
            ("begin", {"nonsense": 1}, "bad_request"),
        ):
            told = await page.tap(step, **body)
            assert told["error"]["code"] == code
            assert told["error"]["message"] != code
        await page.tap("begin", name="green")
        assert (await page.tap("look"))["error"]["code"] == "camera.none"

    play(steps)


@pytest.mark.parametrize("lang", ["zh-Hans", "zh-Hant", "en"])
def test_the_page_is_served_in_each_language(new_desk: Callable[..., Any], lang: str) -> None:
    async def steps() -> None:
        page = Page(await new_desk(eyes=LaidEyes()))
        answer = await page.http.get(f"/enroll?lang={lang}")
        assert answer.status_code == 200
        assert f'lang="{lang}"' in answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]

    play(steps)
