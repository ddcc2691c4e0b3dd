"""The result sheet says what the log says, and binds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
import segno
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from station import messages as m
from station.log import Log, verify_file
from station.sheet import Sheet, sheet_of
from station.web.sheet_page import sheet_response
from station.web.sheet_view import grouped, sheet_values
from station.web.words import Words
from tests.station.central.conftest import claimed, confirmed, dealt, opened

PHOTO, GONE = "a" * 32 + ".jpg", "b" * 32 + ".jpg"
LANGS = ["zh-Hans", "zh-Hant", "en"]


def reading(photo: str) -> m.HandRead:
    return m.HandRead(hand=1, claim=1, photo=photo, size=(9, 9), tiles=[], why=[])


def evening() -> list[m.Body]:
    ruled = m.HandRuled(
        hand=2, ruling="win", place=3, reason="judgement", pay=[-2, -2, -2, 6], outside=[0, -4, 0, 4],
        bank=0, next_dealer=3,
    )  # fmt: skip
    return [
        opened(),
        *dealt(1),
        claimed(1),
        reading(PHOTO),
        reading(GONE),
        confirmed(1),  # 9
        m.EventCorrected(target=9, reason="reading_wrong"),
        confirmed(1, winner=2),
        m.PhotoRemoved(photo=GONE, why="thin.clean"),
        *dealt(2),
        claimed(2),
        m.HandRejected(hand=2, claim=1, reason=None),
        m.PenaltyApplied(hand=2, place=0, penalty="chips", amount=6, reason="phone"),
        m.AccountMoved(hand=2, place=1, account="loan", amount=10),
        ruled,
        m.SessionClosed(fines=[0] * 4, bank=0),
    ]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    with Log.open(tmp_path / "T1.db", signer=b"s" * 32) as log:
        log.append([m.encode(body) for body in evening()], 1_700_000_000_000)
        yield log


@pytest.fixture
def sheet(log: Log) -> Sheet:
    made = sheet_of(log.entries_of(log.log_id))
    assert made is not None
    return made


def test_the_sheet_has_what_the_session_has(sheet: Sheet) -> None:
    assert [p.chips for p in sheet.session.places] == [
        50 - 1 - 6 - 2,
        50 - 1 + 10 - 2,
        50 + 3 - 2,
        50 - 1 + 6,
    ]
    assert [(line.hand, line.what, line.struck) for line in sheet.lines] == [
        (1, "win", "reading_wrong"),
        (1, "win", None),
        (2, "rejected", None),
        (2, "chips", None),
        (2, "loan", None),
        (2, "win", None),
    ]
    assert sheet.closed_at == 1_700_000_000


def test_won_and_lost_add_up_with_the_bank(sheet: Sheet) -> None:
    shown = sheet_values(sheet, Words.of("en"), "T1.db")
    assert [p["net"] for p in shown["players"]] == [-9, -3, 1, 5]
    assert sum(p["net"] for p in shown["players"]) + shown["bank"] == 0


def test_the_head_on_the_sheet_is_the_head_of_the_log_and_verify_takes_it(log: Log, sheet: Sheet) -> None:
    assert (sheet.head, sheet.log_id) == (log.head, log.log_id)
    found = verify_file(log.path, expect=sheet.code)
    assert (found["ok"], found["expected"]) == (True, True)
    wrong = sheet.code[:-1] + ("0" if sheet.code[-1] != "0" else "1")
    assert verify_file(log.path, expect=wrong)["ok"] is False
    shown = sheet_values(sheet, Words.of("en"), "T1.db")
    assert shown["head"].replace(" ", "").lower() == log.head.hash.hex()
    assert grouped("abcdef") == "ABCD EF"


def test_a_sheet_still_binds_the_log_after_more_was_booked(log: Log, sheet: Sheet) -> None:
    log.append([m.encode(m.RefereeCalled(place=0))], 1_700_000_001_000)
    assert verify_file(log.path, expect=sheet.code)["ok"] is True


def _decoded(svg: str) -> str:
    """Draw the path of a QR code and read it as a phone would."""
    side = int(re.findall(r'viewBox="0 0 (\d+) ', svg)[0])
    picture = np.full((side, side), 255, np.uint8)
    path = re.findall(r' d="([^"]*)"', svg)[0]
    x, y = 0.0, 0.0
    for letter, numbers in re.findall(r"([Mmh])([-\d. ]+)", path):
        values = [float(n) for n in numbers.split()]
        if letter == "M":
            x, y = values
        elif letter == "m":
            x, y = x + values[0], y + values[1]
        else:
            picture[int(y), int(x) : int(x + values[0])] = 0
            x += values[0]
    large = cv2.resize(picture, None, fx=8, fy=8, interpolation=cv2.INTER_NEAREST)
    return str(cv2.QRCodeDetectorAruco().detectAndDecode(large)[0])


def test_the_qr_code_reads_as_the_text_and_is_alphanumeric(sheet: Sheet) -> None:
    shown = sheet_values(sheet, Words.of("en"), "T1.db")
    assert _decoded(str(shown["qr"])) == sheet.code
    assert sheet.code == sheet.code.upper()
    assert sheet.code.startswith(f"QZ1:{sheet.log_id.hex().upper()}:{sheet.head.seq}:")
    assert segno.make(sheet.code, error="m").mode == "alphanumeric"
    assert "style=" not in str(shown["qr"])


def test_the_last_signed_checkpoint_is_shown(log: Log, sheet: Sheet) -> None:
    assert sheet.signed is None
    log.checkpoint("session.closed", 1_700_000_002_000)
    made = sheet_of(log.entries_of(log.log_id))
    assert made is not None
    assert made.signed is not None
    assert made.signed.checkpoint.why == "session.closed"
    assert "Signed at entry" in page(log)


def page(log: Log, lang: str = "en", status: int = 200) -> str:
    """Ask for the sheet as a browser does."""

    async def sheet(request: Request) -> object:
        return sheet_response(request, log.entries_of(log.log_id), "T1.db")

    async def ask() -> str:
        transport = httpx.ASGITransport(app=Starlette(routes=[Route("/sheet", sheet)]))
        async with httpx.AsyncClient(transport=transport, base_url="http://table") as client:
            answer = await client.get("/sheet", params={"lang": lang})
            assert answer.status_code == status
            if status == 200:
                assert "default-src 'self'" in answer.headers["content-security-policy"]
            return answer.text

    import asyncio

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        (
            "en",
            ["Result sheet", "Taken back at", "Reading is wrong", "photo removed (rule)", "Phone", "Borrows"],
        ),
        ("zh-Hans", ["成绩单", "撤销", "照片已按规则删除", "磁盘将满"]),
        ("zh-Hant", ["成績單", "撤銷", "照片已按規則刪除", "磁碟將滿"]),
    ],
)
def test_the_page_tells_all_of_it_without_script(log: Log, sheet: Sheet, lang: str, words: list[str]) -> None:
    html = page(log, lang)
    for word in [*words, f"/photo/{PHOTO}", sheet.code, "quezhuo verify T1.db --expect"]:
        assert word in html, word
    assert f"/photo/{GONE}" not in html
    assert "<script" not in html
    assert "style=" not in html
    assert html.count("<s>") >= 2


def test_without_a_session_and_with_a_broken_one_it_says_so(tmp_path: Path) -> None:
    with Log.open(tmp_path / "empty.db") as log:
        assert "No session" in page(log, status=404)
        log.append([m.encode(opened()), ("hand.confirmed", b"no json")], 1)
        assert "left out: 1" in page(log)
        log.append([m.encode(m.SessionClosed(fines=[1], bank=0))], 1)
        assert "cannot be read" in page(log, status=503)
