"""Pages that stay up to date, and say so when they are not."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS

pytestmark = pytest.mark.browser


def test_the_wall_shows_a_new_win_without_a_reload(open_page, site):
    page = open_page("wall", "wall_two", size=(1920, 1080))
    expect(page.locator(".won")).to_have_count(2)
    state = site.sample("wall_two", pos=600)
    win = {**state["wins"][0], "name": "孙悦", "at": 1796009999, "pay": [-6, 18, -6, -6], "winner": 1}
    state["wins"] = [win, *state["wins"]]
    site.publish(state)
    expect(page.locator(".won .name").first).to_have_text("孙悦")
    expect(page.locator(".won .gain").first).to_have_text("+18")


def test_chips_change_on_the_wall(open_page, site):
    page = open_page("wall", "wall_two", size=(1920, 1080))
    state = site.sample("wall_two", pos=601)
    state["tables"][0]["places"][2]["chips"] = 99
    site.publish(state)
    expect(page.locator(".seat.lead .chips").first).to_have_text("99")


def test_clocks_run_between_updates(open_page):
    page = open_page("wall", "wall_two", before=lambda p: p.clock.install(time=0))
    page.clock.pause_at(5)
    page.clock.run_for(1000)
    before = page.locator(".countdown b").inner_text()
    page.clock.run_for(3000)
    minutes, seconds = page.locator(".countdown b").inner_text().split(":")
    then = [int(part) for part in before.split(":")]
    assert then[0] * 60 + then[1] - int(minutes) * 60 - int(seconds) == 3


def test_silence_is_said_and_ends_by_itself(open_page, site):
    def dumb(page):
        page.clock.install(time=0)
        page.route("**/events*", lambda route: route.abort())

    page = open_page("referee", "play", before=dumb, live=False)
    page.clock.run_for(8000)
    expect(page.locator("#banner")).to_be_hidden()
    page.clock.run_for(6000)
    expect(page.locator("#banner")).to_be_visible()
    page.unroute("**/events*")
    page.clock.run_for(5000)
    expect(page.locator("#banner")).to_be_hidden()
    open_page.complaints.clear()  # the refused streams


def test_beats_keep_a_quiet_page_alive(open_page, site):
    page = open_page("referee", "play")
    with page.expect_event("console", lambda line: line.text == "beat", timeout=PATIENCE_MS):
        page.evaluate(
            "const s = new EventSource('/events?view=referee');"
            "s.addEventListener('beat', () => { console.log('beat'); s.close(); })"
        )


@pytest.mark.slow
def test_the_page_recovers_from_a_restart_of_the_server(open_page, site):
    page = open_page("referee", "verdict_win")
    expect(page.locator("#view")).to_have_attribute("data-rev", "41")
    site.stop()
    site.preview.state = site.sample("play", rev=70)
    site.start()
    expect(page.locator("#view")).to_have_attribute("data-rev", "70")
    expect(page.locator("#banner")).to_be_hidden()
    open_page.complaints.clear()  # Chromium logs the refused connections
