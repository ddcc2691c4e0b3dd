"""The training page in a browser: a fault is ordered, met, explained and cleared; the page fits."""

import json
import signal
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.fit import SMALL

pytestmark = [pytest.mark.browser, pytest.mark.system]

SIZES = [(800, 480), (390, 844), (1024, 600)]
LANGS = ["zh-Hans", "zh-Hant", "en"]
WIDE = """() => document.documentElement.scrollWidth > innerWidth
  || [...document.querySelectorAll('.panel')].some(node => node.scrollWidth > node.clientWidth + 1)"""


@pytest.fixture(scope="module")
def machine():
    command = [sys.executable, "-m", "station.cli.main", "machine-sim", "--page", "0", "--speed", "50"]
    process = subprocess.Popen([*command, "--seed", "1"], stdout=subprocess.PIPE, text=True)
    yield json.loads(process.stdout.readline())["http"]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0


@pytest.fixture
def open_training(new_page, machine):
    """Open the page of a machine without faults to come."""

    def open_(size=(800, 480), lang="en"):
        page = new_page(size)
        page.goto(f"{machine}?lang={lang}")
        page.wait_for_selector("body[data-live]")
        page.locator("[data-none]").tap()
        return page

    open_.complaints = new_page.complaints
    return open_


def ready(page):
    """A machine that has been started and whose faults are cleared."""
    for op in ("START", "CLEAR"):
        expect(page.locator(".acts button").first).to_be_visible()
        button = page.locator(f"[data-op={op}]")
        if button.count():
            button.tap()
            expect(button).to_have_count(0)


def order(page, item, value=None, motion=None):
    form = page.locator(f"form[data-item={item}]")
    if not form.is_visible():
        page.locator("details", has=form).locator("summary").tap()
    for name, wish in (("value", value), ("motion", motion)):
        if wish is not None:
            form.locator(f"[name={name}]").select_option(wish)
    form.locator("button").tap()


def test_a_jam_at_place_two_is_ordered_met_explained_and_cleared(open_training, shot):
    page = open_training()
    ready(page)
    order(page, "jam", value="1", motion="build")
    expect(page.locator(".coming")).to_contain_text("The referee will read: A tile is stuck in the machine")
    shot(page, "training-ordered")
    page.locator("[data-op=START_BUILD]").tap()
    screen = page.locator(".screen.ill")
    expect(screen).to_contain_text("A tile is stuck in the machine")
    expect(screen).to_contain_text("side 2")
    expect(page.locator(".do")).to_contain_text("Take the stuck tile out at the side that is named")
    expect(page.locator("[data-op=START_BUILD]")).to_have_count(0)
    shot(page, "training-jam")
    page.locator("[data-op=CLEAR]").tap()
    expect(page.locator(".screen.ok")).to_contain_text("Machine ready")
    page.locator("[data-op=START_BUILD]").tap()
    expect(page.locator(".facts")).to_contain_text("built")
    expect(page.locator(".sides tbody tr").first).to_contain_text("17/17")


def test_a_pressed_stop_is_seen_on_every_open_page(open_training):
    page, other = open_training(), open_training(size=(390, 844))
    ready(page)
    order(page, "estop", motion="now")
    for seen in (page, other):
        expect(seen.locator(".screen.ill")).to_contain_text("Emergency stop pressed")
    other.locator("[data-op=CLEAR]").tap()
    expect(page.locator(".screen.ok")).to_be_visible()


def test_an_order_that_cannot_be_is_told(open_training):
    page = open_training()
    page.locator("form[data-item=jam] [name=value] option").first.evaluate("node => { node.value = '9'; }")
    order(page, "jam")
    expect(page.locator("#notice")).to_contain_text("Write jam=PLACE[@MOTION]")
    assert ["422" in line for line in open_training.complaints] == [True]
    open_training.complaints.clear()


@pytest.mark.slow
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_page_fits_screen_and_phone(open_training, shot, size, lang):
    page = open_training(size, lang)
    ready(page)
    closed = page.locator("details:not([open]) > summary")
    while closed.count():
        closed.first.tap()
    assert page.evaluate(SMALL, 44) == []
    assert not page.evaluate(WIDE)
    assert (
        page.locator("select:visible").evaluate_all("all => Math.min(...all.map(n => n.offsetHeight))") >= 44
    )
    shot(page, f"training-{lang}-{size[0]}")
