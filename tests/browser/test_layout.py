"""Every page in every state fits its screen and can be hit with a finger."""

from pathlib import Path

import pytest

from tests.browser.fit import CUT, OUTSIDE, SCROLLS, SMALL

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAMPLES = Path(__file__).parents[1] / "station" / "web" / "samples"
TABLE_STATES = sorted(p.stem for p in SAMPLES.glob("*.json") if not p.stem.startswith("wall"))
HALL_STATES = sorted(p.stem for p in SAMPLES.glob("wall*.json"))
SIZES = [(1024, 600), (800, 480), (1920, 1080)]
LANGS = ["zh-Hans", "en"]


def check(page, least=44):
    assert page.evaluate(SMALL, least) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(CUT) == []
    assert not page.evaluate(SCROLLS)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_referee_fits_in_every_state(open_page, site, shot, size, lang):
    page = open_page("referee", TABLE_STATES[0], size=size, lang=lang)
    for rev, name in enumerate(TABLE_STATES, start=1000):
        site.publish(site.sample(name, rev=rev))
        page.wait_for_selector(f'#view[data-rev="{rev}"]')
        check(page)
        shot(page, f"referee-{name}-{lang}-{size[0]}")


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES[:2], ids=lambda s: f"{s[0]}x{s[1]}")
def test_a_start_that_has_to_wait_or_goes_on_fits(open_page, site, shot, size, lang):
    page = open_page("referee", "start", size=size, lang=lang)
    for rev, (name, hand, machine) in enumerate(
        [("start", 4, {"locked": True, "hand_no": 8}), ("start", 5, {}), ("ruled", 4, {"locked": True})],
        start=1000,
    ):
        state = site.sample(name, rev=rev, hand_no=hand)
        state["machine"].update(machine)
        site.publish(state)
        page.wait_for_selector(f'#view[data-rev="{rev}"]')
        check(page)
        shot(page, f"waiting-{rev}-{lang}-{size[0]}")


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_actions_are_large(open_page, size, lang):
    page = open_page("referee", "verdict_win", size=size, lang=lang)
    heights = page.locator(".act .btn:visible").evaluate_all("nodes => nodes.map(n => n.offsetHeight)")
    assert min(heights) >= 60
    assert page.locator("button.tile").first.bounding_box()["height"] >= 57


SHEETS = [
    ("verdict_doubt", "button.tile.low"),
    ("verdict_win", "button.pill.wild"),
    ("verdict_win", "button.pill[data-sheet=hand]"),
    ("verdict_discard", "[data-sheet=ruling]"),
    ("play", "[data-sheet=ruling]"),
    ("verdict_win", "[data-sheet=penalty]"),
    ("play", ".player"),
    ("play", ".light"),
    ("fault", ".light"),
]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_sheets_fit_and_can_be_closed(open_page, site, shot, size, lang):
    page = open_page("referee", "play", size=size, lang=lang)
    sheet = page.locator(".sheet:visible")
    for rev, (state, opener) in enumerate(SHEETS, start=1000):
        site.publish(site.sample(state, rev=rev))
        page.wait_for_selector(f'#view[data-rev="{rev}"]')
        page.locator(opener).first.tap()
        assert sheet.count() == 1
        if state == "verdict_discard":  # the longest form: a ruled win says what is paid
            page.locator("#sheet-ruling label:has([value=win])").tap()
            assert page.locator(".win-pay").is_visible()
        check(page)
        shot(page, f"{sheet.get_attribute('id')}-{lang}-{size[0]}")
        sheet.locator("[data-close]").tap()
        assert sheet.count() == 0


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", [(1024, 600), (1920, 1080)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_wall_fits_in_every_state(open_page, site, shot, size, lang):
    page = open_page("wall", "wall_eight", size=size, lang=lang)
    for pos, name in enumerate(HALL_STATES, start=9000):
        site.publish(site.sample(name, pos=pos))
        page.wait_for_selector(f'#view[data-pos="{pos}"]')
        check(page)
        shot(page, f"wall-{name}-{lang}-{size[0]}")


def test_wall_shows_up_to_eight_tables_at_once(open_page, site):
    page = open_page("wall", "wall_eight", size=(1920, 1080))
    for tables in range(1, 9):
        state = site.sample("wall_eight", pos=9000 + tables)
        state["tables"] = state["tables"][:tables]
        site.publish(state)
        page.wait_for_selector(f'#view[data-pos="{9000 + tables}"]')
        assert page.locator(".table:visible").count() == tables
        check(page)


def test_more_tables_are_shown_page_by_page(open_page, site):
    page = open_page("wall", "wall_eight", size=(1920, 1080), before=lambda p: p.clock.install(time=0))
    state = site.sample("wall_eight", pos=9999)
    state["tables"] = [{**state["tables"][n % 8], "id": f"T{n + 1}"} for n in range(12)]
    site.publish(state)
    page.wait_for_selector('#view[data-pos="9999"]')
    seen = set()
    for _ in range(2):
        seen |= set(page.locator(".table:visible").evaluate_all("nodes => nodes.map(n => n.ariaLabel)"))
        assert page.locator(".table:visible").count() in (4, 8)
        check(page)
        page.clock.run_for(12_000)
    assert len(seen) == 12


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES[:2], ids=lambda s: f"{s[0]}x{s[1]}")
def test_players_page_fits_in_every_state(open_page, site, shot, size, lang):
    page = open_page("players", TABLE_STATES[0], size=size, lang=lang)
    for rev, name in enumerate(TABLE_STATES, start=1000):
        site.publish(site.sample(name, rev=rev))
        page.wait_for_selector(f'#view[data-rev="{rev}"]')
        check(page)
        shot(page, f"players-{name}-{lang}-{size[0]}")


@pytest.mark.parametrize("lang", LANGS)
def test_head_table_page_fits(open_page, shot, lang):
    page = open_page("head", "wall_eight", size=(1366, 768), lang=lang)
    check(page)
    shot(page, f"head-{lang}")
