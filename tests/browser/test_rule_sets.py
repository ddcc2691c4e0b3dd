"""Pages of every rule set fit their screen, and their own taps reach the table."""

import pytest
from playwright.sync_api import expect

from tests.browser.fit import CUT, OUTSIDE, SCROLLS, SMALL
from tests.engine.extras import needs
from tests.station.table.states import STATES, flowers

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIZES = [(1024, 600), (800, 480)]
LANGS = ["zh-Hans", "en"]


@pytest.fixture(scope="module")
def states():
    return {name: make() for name, make in STATES.items()}


NARROW = """() => [...document.querySelectorAll('button.tile')]
  .filter(node => node.offsetParent && node.offsetWidth < 32).length"""


def check(page):
    """Tiles of a long hand are narrower than other buttons: a wrong tap there only opens a sheet."""
    assert [what for what in page.evaluate(SMALL, 44) if not what.startswith("tile ")] == []
    assert page.evaluate(NARROW) == 0
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(CUT) == []
    assert not page.evaluate(SCROLLS)


def show(page, site, state, rev):
    site.publish({**state, "rev": rev})
    page.wait_for_selector(f'#view[data-rev="{rev}"]')


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
@pytest.mark.parametrize("view", ["referee", "players"])
def test_every_state_fits(open_page, site, shot, states, view, size, lang):
    page = open_page(view, "play", size=size, lang=lang)
    for rev, (name, state) in enumerate(states.items(), start=1000):
        show(page, site, state, rev)
        shot(page, f"{view}-{name}-{lang}-{size[0]}")
        check(page)


SHEETS = [
    ("play_xiamen", ".player >> nth=0"),
    ("play_mcr", ".player >> nth=1"),
    ("play_fengcheng", ".player >> nth=0"),
    ("xiamen_win", "[data-sheet=amend]"),
    ("xiamen_youjin", "button.pill[data-sheet=hand]"),
    ("xiamen_win", "button.tile >> nth=3"),
    ("gold_waited_for", ".act [data-sheet=indicator]"),
    ("xiamen_win", "button.apart"),
    ("fengcheng_reading", "button.pay >> nth=0"),
    ("fengcheng_reading", "button.pay >> nth=1"),
    ("fengcheng_reading", "button.pay >> nth=2"),
    ("fengcheng_win", "button.pay >> nth=0"),
    ("fengcheng_draw", "button.pay >> nth=2"),
    ("play_fengcheng", "[data-sheet=penalty]"),
]


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
def test_sheets_fit_and_can_be_closed(open_page, site, shot, states, size, lang):
    page = open_page("referee", "play", size=size, lang=lang)
    sheet = page.locator(".sheet:visible")
    wanted = [(name, opener) for name, opener in SHEETS if name in states]
    for rev, (name, opener) in enumerate(wanted, start=1000):
        show(page, site, states[name], rev)
        page.locator(opener).first.tap()
        assert sheet.count() == 1
        shot(page, f"sheet-{name}-{rev}-{lang}-{size[0]}")
        check(page)
        sheet.locator("[data-close]").first.tap()
        assert sheet.count() == 0


def sent(page, site):
    """The last tap, once its answer is in."""
    expect(page.locator("body:not(.busy)")).to_have_count(1)
    return site.posts[-1][:2]


@pytest.fixture
def referee(open_page, site, states):
    """Open the referee's page on a state; its revision is 77."""

    def open_(name, **around):
        page = open_page("referee", "play", lang="en", **around)
        show(page, site, states[name], 77)
        return page

    return open_


def test_a_win_by_a_way_of_its_own_rules_is_declared(referee, site):
    page = referee("play_xiamen")
    page.locator("[data-sheet=claim-0]").tap()
    page.locator("#sheet-claim-0 label", has_text="Discarded gold in this go-round").tap()
    page.locator("#sheet-claim-0 .choice", has_text="Double youjin").tap()
    assert sent(page, site) == (
        "claim",
        {"place": 0, "how": "shuangyou", "facts": {"gold_discarded": True}},
    )


def test_only_the_dealer_can_have_a_heavenly_hand(referee):
    page = referee("play_xiamen")
    assert page.locator("#sheet-claim-0 .choice", has_text="Heavenly hand").count() == 1
    assert page.locator("#sheet-claim-1 .choice", has_text="Heavenly hand").count() == 0


def test_how_a_claim_was_made_is_corrected_with_two_taps(referee, site):
    page = referee("xiamen_win")
    page.locator("[data-sheet=amend]").tap()
    page.locator("#sheet-amend .choice", has_text="Ready as dealt").tap()
    assert sent(page, site) == ("amend", {"how": "tianting"})


@needs("mcr")
def test_a_fact_of_a_claim_is_taken_back(referee, site):
    page = referee("mcr_win")
    page.locator("[data-sheet=amend]").tap()
    page.locator("#sheet-amend label", has_text="Replacement tile of a kong").tap()
    page.locator("#sheet-amend [data-submit]").tap()
    assert sent(page, site) == ("amend", {"facts": {"kong": False}})


def test_the_tile_just_drawn_is_picked(referee, site):
    page = referee("xiamen_youjin")
    page.locator("[data-sheet=amend]").tap()
    page.locator("#sheet-amend .picked", has_text="Tile just drawn").locator("button").tap()
    page.locator('#sheet-picked .kinds [data-kind="5p"]').tap()
    assert sent(page, site) == ("amend", {"facts": {"drawn": "5p"}})
    page.locator("[data-sheet=amend]").tap()
    page.locator("#sheet-amend .picked", has_text="Tiles let pass").locator("button").tap()
    page.locator("#sheet-picked [data-clear]").tap()
    assert sent(page, site) == ("amend", {"facts": {"passed": None}})


def test_what_the_table_cannot_see_is_said_of_the_player(referee, site):
    page = referee("fengcheng_reading")
    page.locator("button.pay").nth(1).tap()
    page.locator("#sheet-shown-1 label", has_text="Pair, dealt").tap()
    page.locator("#sheet-shown-1 [data-submit]").tap()
    assert sent(page, site) == ("amend", {"shown": {"1": {"yaoji": "pair_start"}}})


def test_a_number_is_counted_up_and_never_below_nothing(referee, site):
    page = referee("fengcheng_win")
    page.locator("button.pay").nth(1).tap()
    steps = page.locator("#sheet-shown-1 .stepper").first
    for sign, number in (("−", "0"), ("+", "1"), ("+", "2"), ("−", "1")):
        steps.get_by_text(sign).tap()
        expect(steps.locator("output")).to_have_text(number)
    page.locator("#sheet-shown-1 [data-submit]").tap()
    assert sent(page, site) == ("amend", {"shown": {"1": {"honors": 1}}})


def test_a_number_that_was_counted_survives_an_update(referee, site, states):
    page = referee("fengcheng_win")
    page.locator("button.pay").nth(1).tap()
    page.locator("#sheet-shown-1 .stepper").first.get_by_text("+").tap()
    page.locator("#sheet-shown-1 label", has_text="No honour").tap()
    show(page, site, states["fengcheng_win"], 78)
    expect(page.locator("#sheet-shown-1 .stepper output").first).to_have_text("1")
    assert page.locator("#sheet-shown-1 input[type=checkbox]:checked").count() == 2


def test_nothing_lies_open_before_a_player(referee, site):
    page = referee("fengcheng_reading")
    page.locator("button.pay").nth(0).tap()
    page.locator("#sheet-shown-0").get_by_text("Nothing lies open").tap()
    assert sent(page, site) == ("hand", {"place": 0, "line": ""})


def test_a_tile_before_another_player_is_mended(referee, site):
    page = referee("fengcheng_reading")
    page.locator("button.pay").nth(1).tap()
    page.locator("#sheet-shown-1 button.tile.low").tap()
    page.locator('#sheet-fix .kinds [data-kind="2p"]').tap()
    assert sent(page, site) == ("tile", {"i": 4, "kind": "2p", "place": 1})


def test_what_lies_open_is_typed_in(referee, site):
    page = referee("fengcheng_reading")
    page.locator("button.pay").nth(0).tap()
    page.locator("#sheet-shown-0 [data-sheet=hand]").tap()
    sheet = page.locator("#sheet-hand")
    assert sheet.locator("label:visible", has_text="Winning tile").count() == 0
    sheet.locator('.kinds [data-kind="1s"]').tap()
    sheet.locator("label", has_text="Chow").tap()
    sheet.locator('.kinds [data-kind="3m"]').tap()
    sheet.locator("label", has_text="Shao").tap()
    sheet.locator('.kinds [data-kind="7z"]').tap()
    expect(sheet.locator('.kinds [data-kind="2s"]')).to_be_disabled()
    sheet.locator("[data-send-hand]").tap()
    assert sent(page, site) == ("hand", {"line": "1s C:345m H:777z", "place": 0})


def test_a_photo_of_another_player_is_taken_again(referee, site):
    page = referee("fengcheng_reading")
    page.locator("button.pay").nth(1).tap()
    page.locator("#sheet-shown-1").get_by_text("Retake").tap()
    assert sent(page, site) == ("retake", {"place": 1})


def test_the_draw_of_a_rule_set_in_which_losers_score_is_confirmed(referee, site):
    page = referee("fengcheng_draw")
    page.locator("[data-post=confirm]").tap()
    assert sent(page, site) == ("confirm", {})


def test_chips_are_borrowed(referee, site):
    page = referee("play_fengcheng")
    page.locator(".act [data-sheet=penalty]").tap()
    page.locator("#sheet-penalty label", has_text="王芳").tap()
    page.locator("#sheet-penalty label", has_text="Borrows").tap()
    page.locator("#sheet-penalty [data-submit]").tap()
    assert sent(page, site) == ("account", {"place": 1, "kind": "loan", "amount": 100})


def test_flowers_are_replaced_and_their_time_turns_red(open_page, site):
    page = open_page("players", "play", lang="en", before=lambda p: p.clock.install(time=0))
    show(page, site, flowers(elapsed=20.0), 77)
    expect(page.locator(".figure")).to_have_text("0:10")
    page.clock.run_for(4_000)
    assert page.locator(".figure.late").count() == 0
    page.clock.run_for(2_000)
    expect(page.locator(".figure.late")).to_have_text("0:04")
    page.locator("[data-post=flowers]").tap()
    assert site.posts[-1][:2] == ("flowers", {})


def test_the_second_throw_is_asked_of_who_throws_it(referee, site):
    page = referee("two_throws")
    expect(page.locator("h1")).to_have_text("王芳 rolls the dice")
    expect(page.locator(".lead")).to_contain_text("First throw 10: 王芳 throws second")
