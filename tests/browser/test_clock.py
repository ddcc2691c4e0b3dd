"""The head referee and the hall's clock on the head table's page."""

import copy

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture
def hall(open_page, site):
    """Open a page of the hall with this clock."""

    def open_(view, size=(1366, 768), **clock):
        page = open_page(view, "wall_two", size=size)
        state = copy.deepcopy(site.sample("wall_two", pos=700))
        state["event"]["clock"] = {"started_at": None, "duration_s": 3600, "running": True, **clock}
        site.publish(state)
        page.wait_for_selector("[data-pos='700']")
        return page

    return open_


def sent(page, site):
    """Give the one request that the tap made."""
    expect(page.locator("body:not(.busy)")).to_have_count(1)
    assert len(site.posts) == 1
    action, body, headers = site.posts[0]
    assert len(headers["idempotency-key"]) >= 32
    return action, body


def test_after_a_restart_the_head_referee_says_that_the_time_is_right(hall, site, shot):
    page = hall("head", state="unconfirmed", remaining_s=2940)
    expect(page.locator(".clock-panel.doubt strong")).to_contain_text("49:00")
    shot(page, "head-clock-unconfirmed")
    page.get_by_text("对，继续").tap()
    assert sent(page, site) == ("clock", {"action": "confirm"})


def test_after_a_restart_the_head_referee_sets_another_time(hall, site):
    page = hall("head", state="unconfirmed", remaining_s=2940)
    page.locator(".clock-panel input").fill("45")
    page.get_by_text("设定计时").tap()
    assert sent(page, site) == ("clock", {"action": "set", "minutes": 45, "reason": "head table"})


@pytest.mark.parametrize(
    ("clock", "button", "body"),
    [
        (
            {"state": "idle", "remaining_s": None, "running": False},
            "开始计时",
            {"action": "start", "minutes": 60},
        ),
        ({"state": "running", "remaining_s": 600}, "停表", {"action": "pause"}),
        ({"state": "paused", "remaining_s": 600, "running": False}, "继续计时", {"action": "resume"}),
        (
            {"state": "ended", "remaining_s": 0, "running": False},
            "+5 分钟",
            {"action": "extend", "seconds": 300, "reason": "head table"},
        ),
    ],
)
def test_every_state_has_its_buttons(clock, button, body, hall, site):
    page = hall("head", **clock)
    page.get_by_text(button).tap()
    assert sent(page, site) == ("clock", body)


def test_the_wall_tells_that_the_clock_stands(hall, site, shot):
    page = hall("wall", (1920, 1080), state="paused", remaining_s=600, running=False)
    expect(page.locator(".countdown small")).to_have_text("计时已停")
    page.wait_for_timeout(1500)
    expect(page.locator(".countdown b")).to_have_text("10:00")
    shot(page, "wall-clock-paused")
