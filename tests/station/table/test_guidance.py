"""A zone that is not fit is not read: the screen says what to do, and a person may have it read anyway."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from station.messages import HandRead, decode
from station.table.acting import Actor
from station.table.camera_worker import Eyes
from station.table.decide import Refused
from station.table.interpret import shape_of
from station.web.rule_texts import RuleTexts
from station.web.sentences import CAMERA
from station.web.table_view import guidance, health, notices
from station.web.words import Words
from tests.station.table.acting_until import acting_until
from vision.camera import DeviceCamera, Wishes

ROW = ["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1z", "1z", "3s", "4s"]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("station.table.looking.LOOK_UNTIL_FIT_S", 0.0)


async def claimed(new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]) -> Any:
    eyes.indicator_reading = reading_of([[["1p"]]])
    eyes.hand_reading = reading_of([[ROW, ["5s"]]])
    desk = await new_desk(eyes=eyes)
    await desk.to_play()
    await desk.do("claim", place=1, how="self")
    return desk


def read(desk: Any) -> HandRead:
    bodies = [decode(entry.kind, entry.body) for entry in desk.writer.entries]
    return next(body for body in reversed(bodies) if isinstance(body, HandRead))


def test_a_hand_is_read_by_itself_as_soon_as_its_zone_is_fit(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.unfit = ["moving", "hand_in_view", "hand_in_view", "glare"]
        desk = await claimed(new_desk, eyes, reading_of)
        seen: list[str] = []

        def done() -> bool:
            waiting = desk.table.state()["guidance"]
            seen.extend(p["code"] for p in (waiting or {}).get("problems", ()))
            return bool(desk.session.claim.tiles)

        await acting_until(done, Actor(desk.table))
        assert list(dict.fromkeys(seen)) == ["moving", "hand_in_view", "glare"]
        assert desk.table.state()["guidance"] is None
        assert read(desk).waited == {"moving": 1, "hand_in_view": 2, "glare": 1}
        assert not read(desk).anyway
        assert desk.table.state()["camera"]["age_s"] is None or desk.table.state()["camera"]["age_s"] >= 0

    asyncio.run(play())


def test_a_person_may_have_it_read_as_it_is(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.unfit, eyes.endless = ["glare"], True
        desk = await claimed(new_desk, eyes, reading_of)
        actor = Actor(desk.table)
        await acting_until(lambda: desk.table.guidance is not None, actor)
        assert desk.table.state()["camera"]["age_s"] == 10
        await desk.do("anyway")
        assert desk.table.state()["guidance"]["anyway"]
        await acting_until(lambda: bool(desk.session.claim.tiles), actor)
        assert read(desk).anyway
        assert set(read(desk).waited) == {"glare"}

    asyncio.run(play())


def test_a_typed_hand_ends_the_waiting(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.unfit, eyes.endless = ["too_dark"], True
        desk = await claimed(new_desk, eyes, reading_of)
        actor = Actor(desk.table)
        await acting_until(lambda: desk.table.guidance is not None, actor)
        await desk.do("hand", line="123m456m789m11z34s +5s")
        await acting_until(lambda: desk.table.guidance is None, actor)
        assert read(desk).photo is None

    asyncio.run(play())


def test_a_new_claim_is_told_anew(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.unfit, eyes.endless = ["blurred"], True
        desk = await claimed(new_desk, eyes, reading_of)
        actor = Actor(desk.table)
        await acting_until(lambda: desk.table.guidance is not None, actor)
        await desk.do("anyway")
        await desk.do("reject")
        await desk.do("claim", place=2, how="self")
        await acting_until(lambda: desk.table.guidance is not None and desk.table.guidance.place == 2, actor)
        assert not desk.table.guidance.anyway

    asyncio.run(play())


def test_nothing_is_read_anyway_where_nothing_waits(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        with pytest.raises(Refused) as refusal:
            await desk.do("anyway")
        assert refusal.value.code == "nothing_waits"

    asyncio.run(play())


def test_what_the_cameras_driver_refused_is_told_between_hands(
    new_desk: Callable[..., Any], eyes: Any, reading_of: Callable[..., Any]
) -> None:
    async def play() -> None:
        eyes.refused = ("exposure", "focus")
        eyes.indicator_reading = reading_of([[["1p"]]])
        desk = await new_desk(eyes=eyes)
        words, texts = Words("en"), RuleTexts.of("zhenjiang", "en")
        told = [
            "The camera does not keep the exposure set for this table",
            "The camera does not keep the focus set for this table",
        ]
        assert desk.table.state()["camera"]["refused"] == ["exposure", "focus"]
        assert notices(desk.table.state(), words, {}, texts) == told
        await desk.to_play()
        assert desk.table.state()["camera"]["refused"] == ["exposure", "focus"]
        assert notices(desk.table.state(), words, {}, texts) == []

    asyncio.run(play())


def test_every_wish_that_a_driver_may_refuse_has_its_sentence() -> None:
    assert all(f"camera.refused.{wish.name}" in CAMERA for wish in fields(Wishes))


def test_the_eyes_say_what_the_driver_of_their_camera_refused(rules: Any) -> None:
    class Unused:
        def read(self, *_: Any, **__: Any) -> Any:
            raise AssertionError

    class Driver:
        def isOpened(self) -> bool:  # noqa: N802
            return True

        def set(self, *_: float) -> bool:
            return False

        def get(self, *_: float) -> float:
            return 0.0

        def release(self) -> None:
            pass

    def camera() -> DeviceCamera:
        return DeviceCamera(0, Wishes(size=(1920, 1080), focus=30), capture=lambda _: Driver())  # type: ignore[arg-type, return-value]

    eyes = Eyes(camera, lambda: Unused(), None, frozenset(), shape_of(rules))
    assert eyes.refused == ()
    eyes.warm_up()
    assert eyes.refused == ("size", "focus")
    eyes.close()
    assert eyes.refused == ()


WAITING = {"place": 1, "problems": [{"code": "hand_in_view", "box": None}], "anyway": False}
STATE: dict[str, Any] = {
    "phase": "claim",
    "claim": {"place": 1},
    "camera": {"code": "camera.ok", "age_s": 3},
    "guidance": WAITING,
}


class TestScreen:
    @pytest.mark.parametrize(
        ("lang", "sentence"),
        [
            ("en", "Take hands and things away from the tiles"),
            ("zh-Hans", "请把手和杂物从牌上拿开"),
            ("zh-Hant", "請把手和雜物從牌上拿開"),
        ],
    )
    def test_the_sentence_comes_first_of_all(self, lang: str, sentence: str) -> None:
        words = Words(lang)
        assert notices(STATE, words, {}, RuleTexts.of("zhenjiang", lang))[0] == sentence

    def test_another_players_zone_is_named(self) -> None:
        other = {**STATE, "guidance": {**WAITING, "place": 2}}
        assert guidance(other, Words("en"), {2: "Li"}) == ["Li: Take hands and things away from the tiles"]

    def test_what_is_read_anyway_is_told_no_more(self) -> None:
        wanted = {**STATE, "guidance": {**WAITING, "anyway": True}}
        assert guidance(wanted, Words("en"), {}) == []

    def test_the_camera_says_how_old_its_picture_is(self) -> None:
        assert health(STATE, Words("en"), {})[1].sentence == "Camera ready. Last picture 3 s ago"
