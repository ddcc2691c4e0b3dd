"""Pages: what they show, in which language, and that nothing unsafe gets into them."""

import asyncio
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from firmware_bridge.machine import LinkState
from station.web.catalogue import LANGUAGES
from station.web.hall_view import hall
from station.web.pages import (
    STATIC_DIR,
    page_response,
    plain_page,
    render_fragment,
    render_page,
    signed,
    sse,
    static_mount,
    static_url,
    tile_symbol,
)
from station.web.table_view import percent
from station.web.words import Words

SAMPLES = Path(__file__).parent / "samples"
TABLE = sorted(p.stem for p in SAMPLES.glob("*.json") if not p.stem.startswith("wall"))
HALL = sorted(p.stem for p in SAMPLES.glob("wall*.json"))


def sample(name):
    return json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))


def text_of(html):
    parts = []

    class Text(HTMLParser):
        def handle_data(self, data):
            parts.append(data)

    Text().feed(html)
    return " ".join(" ".join(parts).split())


def views_of(name):
    return ("wall", "head") if name.startswith("wall") else ("referee", "players")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", [*TABLE, *HALL])
def test_every_state_renders_in_every_language(name, lang):
    for view in views_of(name):
        html = render_fragment(view, sample(name), lang)
        assert html.startswith('<div id="view"')
        assert "%(" not in html
        assert "None" not in text_of(html).split()


@pytest.mark.parametrize("name", [*TABLE, *HALL])
def test_no_inline_style_and_no_inline_script(name):
    for view in views_of(name):
        html = render_page(view, sample(name), "zh-Hans")
        assert not re.search(r"\sstyle=|\son\w+=|<style", html)
        assert re.findall(r"<script([^>]*)>", html) == [f' type="module" src="{static_url("app.js")}"']


@pytest.mark.parametrize("name", TABLE)
def test_every_drawn_symbol_exists(name):
    html = render_page("referee", sample(name), "en")
    used = set(re.findall(r'href="#(t-[^"]+)"', html))
    assert used <= set(re.findall(r'id="(t-[^"]+)"', html))


def test_sprite_has_the_44_tiles():
    sprite = (STATIC_DIR / "tiles.svg").read_text("utf-8")
    kinds = [f"{n}{suit}" for suit in "mps" for n in range(1, 10)]
    kinds += [f"{n}z" for n in range(1, 8)] + [f"{n}f" for n in range(1, 9)] + ["back", "?"]
    assert len(kinds) == 44
    assert sorted(re.findall(r'id="([^"]+)"', sprite)) == sorted(tile_symbol(kind) for kind in kinds)


@pytest.mark.parametrize("kind", ["", "10m", "xx", "<b>"])
def test_an_unknown_tile_is_drawn_as_unknown(kind):
    assert tile_symbol(kind) == "t-unk"


def test_a_win_says_who_gains_what_and_why():
    html = render_fragment("referee", sample("verdict_win"), "zh-Hans")
    text = text_of(html)
    for words in ("3 号桌", "可以和牌", "有搭杠开 5", "规则 §6", "当 8 万", "确认 李明 +15", "52 → 67", "−5"):
        assert words in text
    confirm = re.search(r'<button[^>]*data-post="confirm"[^>]*>', html)
    assert confirm
    assert "disabled" not in confirm.group()


@pytest.mark.parametrize(("phase", "finished", "number"), [("build", 0, 1), ("play", 4, 5), ("ruled", 5, 5)])
def test_the_hand_is_counted_from_one(phase, finished, number):
    state = sample("play")
    state.update(phase=phase, hand_count=finished)
    assert f"Hand {number} " in text_of(render_fragment("referee", state, "en"))


def test_after_a_ruling_the_next_hand_can_be_started():
    for view in ("referee", "players"):
        html = render_fragment(view, sample("ruled"), "en")
        assert re.search(r'<button class="btn go" data-post="start">.*Next hand', html)


def test_a_machine_that_is_still_locked_starts_no_hand_and_says_so():
    state = sample("ruled")
    state["machine"]["locked"] = True
    html = render_fragment("referee", state, "en")
    assert 'data-post="start"' not in html
    assert "unlocking its intake" in text_of(html)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "code", [*(f"machine.{state.value}" for state in LinkState), "machine.noisy", "machine.overdue"]
)
def test_the_state_of_the_machine_s_line_always_stands_on_the_referee_s_screen(code, lang):
    code = "machine.ok" if code == "machine.up" else code
    state = sample("play")
    state["machine"]["code"] = code
    said = Words.of(lang).sentence(code)
    assert said != code
    assert said in text_of(render_fragment("referee", state, lang))


def test_a_hand_of_an_earlier_session_is_unlocked_before_the_start():
    state = sample("start")
    state["machine"].update(locked=True, hand_no=8)
    state["ruling_options"] = []
    html = render_fragment("referee", state, "en")
    assert 'data-post="start"' not in html
    assert "Unlock the intake under “Ruling…”" in text_of(html)
    assert re.search(r'data-sheet="ruling" >', html)


def test_what_cannot_be_done_is_not_offered():
    state = sample("closed")
    state["ruling_options"] = []
    html = render_fragment("referee", state, "en")
    assert re.search(r'data-sheet="ruling" disabled', html)
    assert re.search(r'data-sheet="penalty" disabled', html)


def test_a_tile_that_no_camera_sees_is_entered_with_the_big_button():
    html = render_fragment("referee", sample("indicator_wait"), "en")
    assert re.search(r'<button class="btn go" data-sheet="indicator">.*Enter the flipped tile', html)
    assert 'data-post="retake"' not in html


def test_a_hand_that_goes_on_after_a_restart_is_not_called_a_new_one():
    state = sample("start")
    state["hand_no"] = state["hand_count"] + 1
    html = render_fragment("referee", state, "en")
    assert "Go on with this hand?" in text_of(html)
    assert 'data-post="close"' not in html


@pytest.mark.parametrize("name", TABLE)
def test_a_session_is_ended_only_between_hands_and_by_the_referee(name):
    html = render_fragment("referee", sample(name), "en")
    assert ('data-hold="1000" data-post="close"' in html) == (name in ("start", "ruled"))
    assert 'data-post="close"' not in render_fragment("players", sample(name), "en")


@pytest.mark.parametrize(
    ("name", "machine", "offered"),
    [
        ("play", {}, True),
        ("verdict_win", {}, True),
        ("indicator_wait", {}, True),
        ("play", {"locked": False}, False),
        ("play", {"hand_no": None}, False),
        ("ruled", {"locked": True}, True),
        ("ruled", {}, False),
        ("start", {"locked": True, "hand_no": 8}, True),
        ("start", {}, False),
        ("recovery", {"locked": True}, False),
    ],
)
def test_the_intake_is_unlocked_by_hand_only_while_a_hand_lies_there(name, machine, offered):
    state = sample(name)
    state["machine"].update(machine)
    assert ('data-action="override"' in render_fragment("referee", state, "en")) == offered
    assert 'data-action="override"' not in render_fragment("players", state, "en")


def test_a_table_without_a_machine_is_not_told_about_one():
    for name in ("start", "ruled"):
        state = sample(name)
        state["machine"] = None
        text = text_of(render_fragment("referee", state, "en"))
        assert "by hand, then start" in text
        assert "opening" not in text
        assert 'data-post="start"' in render_fragment("referee", state, "en")


def test_what_the_discarder_pays_is_not_shown_as_an_extra():
    state = sample("verdict_discard")
    prices = (("discard_other", 2), ("discard_discarder", 4), ("first_wild", 6))
    state["claim"]["verdict"]["items"] = [{"code": c, "amount": n, "section": "6"} for c, n in prices]
    text = text_of(render_fragment("referee", state, "en"))
    assert "Win on a discard 2 · Paid by the discarder 4 · First discard was a wildcard +6" in text


@pytest.mark.parametrize(
    ("score", "text"),
    [(None, ""), (0.0, "0 %"), (0.0004, "<1 %"), (0.712, "71 %"), (0.9999, "99 %"), (1, "100 %")],
)
def test_a_score_is_never_rounded_to_a_certainty(score, text):
    assert percent(score) == text


def test_melds_stand_before_the_decomposition():
    text = text_of(render_fragment("referee", sample("verdict_win"), "en"))
    captions = [text.index(word) for word in ("Pung", "Exposed kong", "Run · as 8 Char", "Pair")]
    assert captions == sorted(captions)


def test_a_doubtful_tile_blocks_confirming_and_says_so():
    html = render_fragment("referee", sample("verdict_doubt"), "en")
    assert re.search(r'data-post="confirm" disabled', html)
    assert "Check the marked tiles first" in text_of(html)
    assert "1 tile to check" in text_of(html)


def test_a_hand_that_does_not_win_offers_the_false_win_only_by_holding():
    html = render_fragment("referee", sample("verdict_no_win"), "en")
    assert 'data-post="confirm"' not in html
    button = re.search(r'<button class="btn go bad" data-hold="1000" data-post="ruling"[^>]*>', html)
    assert button
    assert "&#34;" not in button.group() or "false_win" in button.group()


def test_a_false_win_is_not_offered_when_the_table_does_not():
    state = sample("verdict_no_win")
    state["ruling_options"] = ["redeal", "void"]
    html = render_fragment("referee", state, "en")
    assert "false_win" not in html


def test_a_cannot_be_hand_cannot_be_confirmed():
    html = render_fragment("referee", sample("verdict_inconsistent"), "en")
    assert re.search(r'data-post="confirm" disabled', html)
    assert "The number of tiles is not right" in text_of(html)
    assert "expected 15" in text_of(html)


def test_offline_says_what_is_kept_here():
    text = text_of(render_fragment("referee", sample("offline"), "zh-Hans"))
    assert "3 条结果已保存在本机" in text
    assert "牌机无应答" in text


def test_recovery_waits_for_a_held_choice():
    html = render_fragment("referee", sample("recovery"), "en")
    assert len(re.findall(r'data-hold="1000" data-post="recovery"', html)) == 3
    assert 'data-post="recovery"' not in render_fragment("players", sample("recovery"), "en")


JAMMED = {"fault": "jam", "fault_side": 2, "fault_tiles": 0, "code": "machine.fault.jam", "hold": False}


def test_a_fault_names_the_side_and_what_to_do_there():
    state = sample("recovery")
    state["machine"] |= JAMMED
    text = text_of(render_fragment("referee", state, "en"))
    assert "A tile is stuck in the machine · at the side of 陈建国" in text
    assert "Take the stuck tile out at the side that is named" in text
    state["messages"] = [{"code": "machine.jam"}]
    assert render_fragment("referee", state, "en").count("<li>") == render_fragment(
        "referee", state | {"messages": []}, "en"
    ).count("<li>")
    assert "then build again" not in text  # the choice is a button here
    state["machine"] |= {"fault": "tiles_short", "fault_tiles": 2, "code": "machine.fault.tiles_short"}
    assert "陈建国 一侧 · 2 张" in text_of(render_fragment("referee", state, "zh-Hans"))
    state["machine"] |= {"fault_side": None, "fault_tiles": 0}
    assert " · at the side" not in text_of(render_fragment("referee", state, "en"))


def test_a_press_without_an_answer_is_told_as_such():
    state = sample("recovery")
    state["recovery"] = {"op": "OPEN_LID", "why": "no_feedback", "choices": ["leave"]}
    text = text_of(render_fragment("referee", state, "en"))
    assert "The machine did not answer the press" in text
    assert "press its own button by hand" in text


def test_of_three_players_the_side_is_told_apart_from_the_place():
    state = sample("recovery")
    state["places"] = [dict(p, side=side) for p, side in zip(state["places"][:3], (0, 2, 3), strict=True)]
    state["machine"] |= JAMMED
    assert "at the side of 王芳" in text_of(render_fragment("referee", state, "en"))
    state["machine"]["fault_side"] = 1
    assert "A tile is stuck in the machine · side 2" in text_of(render_fragment("referee", state, "en"))


def test_the_lights_open_a_sheet_with_their_sentences_and_the_board():
    state = sample("play")
    state["machine"] |= {
        "code": "machine.recover",
        "uid": "0123456789abcdef",
        "port": "/dev/serial/by-path/x",
    }
    html = render_fragment("referee", state, "en")
    assert html.count('data-sheet="health"') == 3
    sheet = html[html.index('id="sheet-health"') :]
    assert "Board 0123456789abcdef at /dev/serial/by-path/x" in sheet
    state["machine"]["uid"] = ""
    assert "Port /dev/serial/by-path/x" in render_fragment("referee", state, "en")
    assert 'data-sheet="health"' not in render_fragment("players", state, "en")


def test_players_may_not_rule():
    for name in TABLE:
        html = render_fragment("players", sample(name), "en")
        posts = set(re.findall(r'data-post="(\w+)"', html))
        assert posts <= {"claim", "call", "dice", "start"}, name


def test_a_barred_player_cannot_declare():
    html = render_fragment("players", sample("play"), "en")
    assert re.search(r'data-sheet="claim-2" disabled', html)


def test_names_and_codes_are_escaped():
    state = sample("verdict_win")
    state["places"][0]["name"] = "<img src=x onerror=alert(1)>"
    state["messages"] = [{"code": "<script>", "params": {"a": "<b>"}}]
    for view in ("referee", "players"):
        html = render_fragment(view, state, "en")
        assert "<img src=x" not in html
        assert "<script>" not in html


def test_an_unknown_code_is_shown_as_it_is():
    state = sample("play")
    state["messages"] = [{"code": "brand.new", "params": {"n": 3}}]
    assert "brand.new n=3" in text_of(render_fragment("referee", state, "zh-Hans"))


def test_break_is_told_in_words():
    text = text_of(render_fragment("referee", sample("deal"), "en"))
    assert "Dice 3 + 4 = 7" in text
    assert "Break the wall of 陈建国 at stack 8 from the right" in text


def test_a_table_without_devices_renders():
    state = sample("play")
    state.update(machine=None, camera=None, central=None, indicator=None, last=None, clock=None)
    assert "No machine" in render_fragment("referee", state, "en")


def test_strip_shrinks_with_the_number_of_tiles():
    state = sample("verdict_no_win")
    for count, size in ((15, "tw-l"), (17, "tw-m"), (19, "tw-s"), (21, "tw-xs"), (30, "tw-xxs")):
        tile = state["claim"]["tiles"][0]
        state["claim"].update(tiles=[{**tile, "i": i, "group": "concealed"} for i in range(count)], melds=[])
        assert f'class="groups {size}"' in render_fragment("referee", state, "en")


def test_a_ruled_win_offers_payments_within_the_chips():
    state = sample("verdict_discard")
    state["places"][3]["chips"] = 2
    html = render_fragment("referee", state, "en")
    bodies = re.findall(r'name="_pay"[^>]*data-body="([^"]+)"', html)
    pays = [json.loads(body.replace("&#34;", '"'))["pay"] for body in bodies]
    assert pays[0] == [-2, 8, -4, -2]
    assert all(sum(pay) == 0 for pay in pays)
    assert min(pay[3] for pay in pays) == -2


@pytest.mark.parametrize(("tables", "columns"), [(1, 1), (2, 2), (3, 2), (4, 2), (6, 3), (8, 4), (11, 4)])
def test_wall_grid_fits_the_number_of_tables(tables, columns):
    state = sample("wall_eight")
    table = state["tables"][0]
    state["tables"] = [{**table, "id": f"T{n}"} for n in range(1, tables + 1)]
    html = render_fragment("wall", state, "en")
    assert f"cols-{columns}" in html
    assert html.count("data-page") == (1 if tables <= 8 else 2)


def test_wall_marks_offline_and_called_tables():
    text = text_of(render_fragment("wall", sample("wall_offline"), "en"))
    assert "7 tables online · 1 table offline" in text
    assert "Table 6" in text
    text = text_of(render_fragment("wall", sample("wall_eight"), "en"))
    assert "尤佳 calls the referee" in text


def test_a_table_never_seen_has_no_age():
    state = sample("wall_two")
    state["tables"][0].update(online=False, last_seen_s=None, phase="offline")
    html = render_fragment("wall", state, "en")
    assert "Offline" in html
    assert 'data-clock="None"' not in html


def test_an_offline_table_stands_with_its_age_on_both_pages_of_the_hall():
    state = sample("wall_two")
    state["tables"][0].update(online=False, last_seen_s=85.0)
    for view in ("wall", "head"):
        assert "Offline 1:25" in text_of(render_fragment(view, state, "en"))


def test_a_second_station_offers_no_clock_while_that_of_the_first_counts():
    state = sample("wall_two")
    clock = {"state": "idle", "remaining_s": None, "running": False, "authority": "elsewhere"}
    state["event"]["clock"] = clock
    html = render_fragment("head", state, "en")
    assert "its clock counts" in html
    assert '"action"' not in html
    clock["authority"] = "shared"
    assert "Start the clock" in render_fragment("head", state, "en")


def test_of_equal_leaders_none_is_before_the_other():
    state = sample("wall_two")
    for table, chips in zip(state["tables"], ([50, 70, 70, 10], [70, 90, 0, 60]), strict=True):
        for place, amount in zip(table["places"], chips, strict=True):
            place["chips"] = amount
    ranks = [(player["rank"], player["chips"]) for player in hall(state, Words.of("en"))["leaders"]]
    assert ranks == [(1, 90), (2, 70), (2, 70), (2, 70)]


def test_wall_shows_wins_newest_first_with_their_tiles():
    html = render_fragment("wall", sample("wall_eight"), "zh-Hans")
    won = re.findall(r'<div class="won">.*?<span class="name">([^<]+)', html, re.DOTALL)
    assert won == ["李明", "魏然", "韩磊"]
    assert html.count('class="tile win') == 3


def test_signed_uses_a_real_minus():
    assert [signed(n) for n in (15, 0, -5)] == ["+15", "0", "−5"]


def test_sse_splits_lines():
    told = sse("a\nb", event="fragment", event_id=7, retry_ms=1000)
    assert told == b"retry: 1000\nid: 7\nevent: fragment\ndata: a\ndata: b\n\n"
    assert sse("") == b"data: \n\n"


class Browser:
    """Asks the pages for one visitor, who keeps cookies."""

    def __init__(self) -> None:
        async def page(request: Request) -> Response:
            return page_response(request, "referee", sample("verdict_win"))

        self.app = Starlette(routes=[Route("/", page), static_mount()])
        self.cookies = httpx.Cookies()

    def get(self, path, headers=None):
        async def ask():
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://t", cookies=self.cookies
            ) as client:
                answer = await client.get(path, headers=headers)
                self.cookies = client.cookies
                return answer

        return asyncio.run(ask())


@pytest.fixture
def client():
    return Browser()


def test_language_by_address_cookie_and_header(client):
    assert 'lang="zh-Hans"' in client.get("/").text
    assert 'lang="en"' in client.get("/", headers={"Accept-Language": "fr, en-GB;q=0.8"}).text
    assert 'lang="zh-Hant"' in client.get("/?lang=zh-Hant").text
    assert 'lang="zh-Hant"' in client.get("/").text  # the choice is remembered
    assert 'lang="en"' in client.get("/?lang=en").text


def test_theme_is_remembered(client):
    assert 'data-theme="light"' in client.get("/").text
    assert 'data-theme="dark"' in client.get("/?theme=dark").text
    assert 'data-theme="light"' in client.get("/?theme=evil").text
    assert 'data-theme="dark"' in client.get("/").text


def test_pages_carry_a_strict_policy(client):
    headers = client.get("/").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"


def test_assets_are_there_and_cached_by_their_hash(client):
    html = client.get("/").text
    assets = re.findall(r'(?:href|src)="(/static/[^"]+)"', html)
    assert len(assets) == 4
    for address in assets:
        answer = client.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert client.get("/static/hand.js").headers["cache-control"] == "no-cache"


def test_a_face_down_tile_left_out_of_the_hand_is_told():
    state = sample("claim")
    state["claim"]["why"] = ["stray_back"]
    told = "A face-down tile that belongs to no meld"
    assert told in text_of(render_fragment("referee", state, "en"))


def test_what_keeps_a_zone_from_being_read_is_told_and_can_be_passed_over():
    state = sample("claim")
    problem = {"code": "hand_in_view", "box": [1.0, 2.0, 3.0, 4.0]}
    state["guidance"] = {"place": state["claim"]["place"], "problems": [problem], "anyway": False}
    html = render_fragment("referee", state, "en")
    assert "Take hands and things away from the tiles" in text_of(html)
    assert 'data-post="anyway"' in html
    assert 'data-post="anyway"' not in render_fragment("players", state, "en")
    state["guidance"]["anyway"] = True
    assert 'data-post="anyway"' not in render_fragment("referee", state, "en")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_technicians_pages_differ_in_title_and_work_and_in_nothing_around_them(lang):
    values = {"table": "T1", "camera": True, "free": False, "cloth": 940.0, "sides": [0, 1]}
    shells, titles = [], []
    for name in ("calibrate", "enroll"):
        scope = {"type": "http", "headers": [], "query_string": f"lang={lang}".encode()}
        html = bytes(plain_page(Request(scope), name, values).body).decode()
        title = re.search(r"<title>T1 · (.+)</title>", html)
        assert title is not None
        assert f"<h1>{title[1]}</h1>" in html
        titles.append(title[1])
        assert f"{name}.js" in html
        shell = re.sub(rf"<(link|script)[^>]*{name}\.(js|css)[^>]*>(</script>)?\n?", "", html)
        shell = re.sub(r"(?s)<svg.*?</svg>\n?|<img[^>]*>\n", "", shell).replace(title[1], "…")
        shell = re.sub(r'(?s)(<section class="panel steps">).*(</section>)', r"\1\2", shell)
        shells.append([line for line in shell.splitlines() if line])
    assert titles[0] != titles[1]
    ours = [line for line in shells[0] if "calibrate.css" not in line]
    assert ours == [line for line in shells[1] if "calibrate.css" not in line]
    assert 'href="/referee"' in "".join(ours)


def test_photos_that_wait_for_the_central_station_are_told():
    state = sample("ruled")
    state["central"], state["photos"] = {"code": "central.up", "unsent": 0}, {"unsent": 2}
    assert "2 photos still to be sent" in text_of(render_fragment("referee", state, "en"))
