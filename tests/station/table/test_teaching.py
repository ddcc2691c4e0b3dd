"""The page `/calibrate`: takes a frame only between hands, teaches, and looks through what it saved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import httpx
import numpy as np
import pytest
from starlette.applications import Starlette

from station.session import Stage
from station.table.api import routes
from station.table.config import TableConfig
from station.table.eyes import eyes_of
from station.table.teaching import BETWEEN_HANDS, calibration_file, may_look
from station.web.calibrate_words import CALIBRATION
from station.web.catalogue import LANGUAGES
from vision.calibration.refusals import REFUSALS
from vision.errors import CameraError
from vision.geometry import Calibration, Lens, default_calibration, pinhole_of
from vision.readings import Image
from vision.render import Scene, render
from vision.render.markers import lay_markers

SIZE = (1280, 960)


class Camera:
    """Eyes that only take frames, and count them."""

    sees_indicator = False
    refused = ()
    tilesets = None

    def __init__(self, image: Image | None) -> None:
        self.image, self.frames, self.used = image, 0, []
        self.before: Callable[[], Awaitable[None]] | None = None

    async def frame(self) -> Image:
        self.frames += 1
        if self.before is not None:
            await self.before()
        if self.image is None:
            raise CameraError("The camera gives no picture: check its cable.")
        return self.image

    async def use(self, calibration: Calibration) -> None:
        self.used.append(calibration)


def marked() -> Image:
    calibration = default_calibration(SIZE)
    return lay_markers(render(Scene(light_seed=3), calibration), pinhole_of(calibration))


def plain() -> Image:
    return np.full((SIZE[1], SIZE[0], 3), 90, np.uint8)


def play(new_desk: Callable[..., Any], camera: Camera | None, steps: Callable[..., Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        desk = await new_desk(eyes=camera)
        transport = httpx.ASGITransport(app=Starlette(routes=routes(desk.table)))
        async with httpx.AsyncClient(transport=transport, base_url="http://table") as http:
            await steps(desk, http)

    asyncio.run(all_of_it())


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_cards_teach_the_table_and_the_new_zones_are_used(new_desk: Callable[..., Any]) -> None:
    camera = Camera(marked())

    async def steps(desk: Any, http: httpx.AsyncClient) -> None:
        looked = await http.post("/calibrate/look")
        assert looked.json() == {"width": 1280, "height": 960}
        shot = await http.get("/calibrate/frame.jpg")
        assert shot.headers["cache-control"] == "no-store"
        assert cv2.imdecode(np.frombuffer(shot.content, np.uint8), 1).shape == (960, 1280, 3)
        tried = await http.post("/calibrate/try", json={"taps": None})
        assert tried.json()["error_mm"] < 2
        assert tried.json()["height_cm"] == pytest.approx(125, abs=3)
        assert (await http.get("/calibrate/zones.jpg")).content != shot.content
        assert not calibration_file(desk.table).exists(), "nothing is saved before it was looked at"
        saved = await http.post("/calibrate/save", json={})
        assert saved.json() == {"file": "calibration.json", "watched": True}
        assert Calibration.load(calibration_file(desk.table)) == camera.used[0]
        assert (await http.get("/calibrate/frame.jpg")).status_code == 404

    play(new_desk, camera, steps)
    assert camera.frames == 1


def test_taps_teach_too(new_desk: Callable[..., Any]) -> None:
    spots = pinhole_of(default_calibration(SIZE)).project(
        np.asarray([[-470, -470, 0], [470, -470, 0], [470, 470, 0], [-470, 470, 0]], np.float64)
    )

    async def steps(_: Any, http: httpx.AsyncClient) -> None:
        await http.post("/calibrate/look")
        tried = await http.post("/calibrate/try", json={"taps": spots.tolist(), "height": 1250, "cloth": 940})
        assert tried.json()["error_mm"] is None
        assert (await http.post("/calibrate/save")).json()["file"] == "calibration.json"

    play(new_desk, Camera(marked()), steps)


def test_while_a_hand_is_in_play_no_frame_is_taken_or_kept(new_desk: Callable[..., Any]) -> None:
    camera = Camera(marked())

    async def steps(desk: Any, http: httpx.AsyncClient) -> None:
        await http.post("/calibrate/look")
        assert (await http.post("/calibrate/try")).status_code == 200
        await desk.to_play()
        for path in ("look", "try", "save"):
            answer = await http.post(f"/calibrate/{path}?lang=en")
            assert code(answer) == (409, "calibrate.hand_running")
            assert "until it is ruled" in answer.json()["error"]["message"]
        assert (await http.get("/calibrate/frame.jpg")).status_code == 404
        assert (await http.get("/calibrate/zones.jpg")).status_code == 404
        assert "until it is ruled" in (await http.get("/calibrate?lang=en")).text
        await desk.claim()
        assert code(await http.post("/calibrate/look")) == (409, "calibrate.hand_running")
        await desk.do("confirm")
        assert (await http.get("/calibrate/frame.jpg")).status_code == 404, "forgotten, not hidden"
        assert (await http.post("/calibrate/look")).status_code == 200

    play(new_desk, camera, steps)
    assert camera.frames == 2


def test_a_hand_that_begins_while_the_camera_looks_is_not_kept(new_desk: Callable[..., Any]) -> None:
    camera = Camera(marked())

    async def steps(desk: Any, http: httpx.AsyncClient) -> None:
        camera.before = desk.to_play
        assert code(await http.post("/calibrate/look")) == (409, "calibrate.hand_running")
        assert (await http.get("/calibrate/frame.jpg")).status_code == 404

    play(new_desk, camera, steps)


def test_what_does_not_work_is_said_in_the_readers_language(new_desk: Callable[..., Any]) -> None:
    async def steps(_: Any, http: httpx.AsyncClient) -> None:
        assert code(await http.post("/calibrate/try")) == (422, "calibrate.no_frame")
        assert code(await http.post("/calibrate/save")) == (422, "calibrate.no_frame")
        await http.post("/calibrate/look")
        answer = await http.post("/calibrate/try?lang=zh-Hant")
        assert code(answer) == (422, "calibrate.few_markers")
        assert answer.json()["error"]["message"].startswith("只看到 0 張卡（–）")
        for body in ('{"taps": [1]}', "{", '{"nonsense": 1}', '{"taps": "x"}', '"' + "x" * 5000 + '"'):
            assert code(await http.post("/calibrate/try", content=body)) == (422, "bad_request")
        assert code(await http.post("/calibrate/try", json={"height": 20})) == (422, "calibrate.height")
        assert code(await http.post("/calibrate/try", json={"cloth": 20})) == (422, "calibrate.cloth")
        assert code(await http.post("/calibrate/try", json={"taps": [[1, 2]]})) == (
            422,
            "calibrate.taps_count",
        )

    play(new_desk, Camera(plain()), steps)


def test_a_camera_without_a_picture_and_a_table_without_a_camera_say_so(new_desk: Callable[..., Any]) -> None:
    async def unplugged(_: Any, http: httpx.AsyncClient) -> None:
        assert code(await http.post("/calibrate/look")) == (503, "vision.camera")

    async def none(_: Any, http: httpx.AsyncClient) -> None:
        assert code(await http.post("/calibrate/look")) == (422, "camera.none")
        assert "No camera at this table" in (await http.get("/calibrate?lang=en")).text

    play(new_desk, Camera(None), unplugged)
    play(new_desk, None, none)


def test_the_lens_of_the_replaced_file_is_kept(new_desk: Callable[..., Any]) -> None:
    lens = Lens((1152.0, 1152.0), (640.0, 480.0), (-0.001, 0.0, 0.0, 0.0, 0.0))

    async def steps(desk: Any, http: httpx.AsyncClient) -> None:
        replace(default_calibration(SIZE), lens=lens).save(calibration_file(desk.table))
        await http.post("/calibrate/look")
        await http.post("/calibrate/try")
        await http.post("/calibrate/save")
        assert Calibration.load(calibration_file(desk.table)).lens == lens

    play(new_desk, Camera(marked()), steps)


def test_a_full_disk_is_told_and_nothing_changes(new_desk: Callable[..., Any], tmp_path: Path) -> None:
    camera = Camera(marked())

    async def steps(desk: Any, http: httpx.AsyncClient) -> None:
        await http.post("/calibrate/look")
        await http.post("/calibrate/try")
        (tmp_path / "calibration.json").mkdir()
        assert code(await http.post("/calibrate/save")) == (503, "calibrate.not_saved")

    play(new_desk, camera, steps)
    assert camera.used == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_is_whole_in_every_language(lang: str, new_desk: Callable[..., Any]) -> None:
    async def steps(_: Any, http: httpx.AsyncClient) -> None:
        page = await http.get(f"/calibrate?lang={lang}")
        assert page.status_code == 200
        assert f'<html lang="{lang}"' in page.text
        assert "script-src" not in page.headers["content-security-policy"]
        assert "style=" not in page.text
        assert "%(" not in page.text

    play(new_desk, Camera(plain()), steps)


def test_what_was_saved_in_the_home_is_used_at_the_next_start(tmp_path: Path, rules: Any) -> None:
    config = TableConfig(home=str(tmp_path), driver="none", camera="render")
    taught = default_calibration(SIZE)
    eyes = eyes_of(config, rules, tmp_path)
    assert eyes is not None
    assert eyes.sees_indicator
    eyes.close()
    places = {name: zone for name, zone in taught.zones.items() if name != "indicator"}
    replace(taught, zones=places).save(tmp_path / "calibration.json")
    again = eyes_of(config, rules, tmp_path)
    assert again is not None
    assert not again.sees_indicator
    (tmp_path / "scene.json").write_text('{"hands": {}}')

    async def look() -> None:
        frame = await again.frame()
        assert frame.shape == (1200, 1600, 3)
        await again.use(taught)
        assert again.sees_indicator

    asyncio.run(look())
    again.close()


def test_only_between_hands_may_one_look(new_desk: Callable[..., Any]) -> None:
    assert {Stage.DEALT, Stage.PLAY, Stage.CLAIM, Stage.FLOWERS, Stage.GOLD}.isdisjoint(BETWEEN_HANDS)

    async def steps(desk: Any, _: httpx.AsyncClient) -> None:
        assert may_look(desk.session)

    play(new_desk, None, steps)


def test_every_refusal_has_a_sentence_for_the_page() -> None:
    assert set(REFUSALS) <= set(CALIBRATION)
