"""A real table with a simulated machine, refereed with taps in Chromium until the wall shows the win."""

import asyncio
import contextlib

import pytest

from station.demo.laid import shown
from station.demo.layout import Settings
from station.demo.run import Demo
from tests.browser.conftest import PATIENCE_MS
from tests.browser.fit import CUT, OUTSIDE, SCROLLS, SMALL
from tests.pace import Pace

pytestmark = [pytest.mark.browser, pytest.mark.system, pytest.mark.slow]

SHOWN_WITHIN_S = 2.0


def settings():
    return Settings(
        tables=1,
        hands=None,
        ruleset="zhenjiang",
        seed=1,
        mend=True,
        referee=False,
        speed=50,
        model=None,
        think_s=0.1,
    )


async def open_page(browser, url, size, complaints):
    context = await browser.new_context(viewport={"width": size[0], "height": size[1]}, has_touch=True)
    context.set_default_timeout(PATIENCE_MS)
    page = await context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    await page.goto(url)
    await page.wait_for_selector("body[data-live]")
    return page


async def fits(page):
    assert await page.evaluate(SMALL, 44) == []
    assert await page.evaluate(OUTSIDE) == []
    assert await page.evaluate(CUT) == []
    assert not await page.evaluate(SCROLLS)


async def mend(page, index, kind):
    """Set one tile of the hand, as a referee does it: tap the tile, tap the kind."""
    await page.locator(f'.strip button.tile[data-i="{index}"]').tap()
    await page.locator(f'#sheet-fix .kinds [data-kind="{kind}"]').tap()
    await page.wait_for_selector(f'.strip button.tile[data-i="{index}"][data-is="{kind}"]:not(.low)')
    await page.wait_for_selector("body:not(.busy)")


async def to_the_verdict(page):
    await page.locator(".act [data-post=start]").tap()
    await page.locator(".phase-dice .act [data-post=dice]").tap()
    await page.wait_for_selector(".phase-verdict")


async def judge(page, truth):
    """Mend what the camera read wrong or was unsure of, after one tile was mended wrongly and back again."""
    read = await page.evaluate("fetch('/api/state').then(answer => answer.json())")
    tiles = read["claim"]["tiles"]
    assert [tile["group"] for tile in tiles] == [group for group, _ in truth]
    for index, (tile, (_, true)) in enumerate(zip(tiles, truth, strict=True)):
        if tile["doubt"] or tile["kind"] != true.id:
            await mend(page, index, true.id)
    first = truth[0][1].id
    await mend(page, 0, "9p" if first != "9p" else "1m")
    await mend(page, 0, first)
    await page.wait_for_selector(".act [data-post=confirm]:not([disabled])")


async def referee_one_hand(demo, browser, complaints):
    referee = await open_page(
        browser, f"{demo.layout.tables[0].http}referee?lang=en", (1024, 600), complaints
    )
    wall = await open_page(browser, f"{demo.layout.central_http}wall?lang=en", (1920, 1080), complaints)
    assert await wall.locator(".won").count() == 0
    await to_the_verdict(referee)
    await judge(referee, shown(demo.scripts[0].laid_open))
    assert await referee.locator(".verdict .title").inner_text() == "Valid win"
    await fits(referee)
    winner = await referee.locator(".mid .pay.winner .name").inner_text()
    gain = await referee.locator(".mid .pay.winner .delta").inner_text()
    await referee.locator("[data-post=confirm]").tap()
    pace = Pace()
    await wall.wait_for_selector(".won")
    assert pace.own_s < SHOWN_WITHIN_S
    assert winner.split("\n")[0] in await wall.locator(".won .name").inner_text()
    assert (await wall.locator(".won .gain").inner_text()).lstrip("+") in gain
    await fits(wall)
    await referee.wait_for_selector(".phase-ruled .act [data-post=start]")
    await fits(referee)


def test_a_referee_takes_a_hand_from_the_start_to_the_wall(tmp_path, launch):
    from playwright.async_api import async_playwright

    async def run():
        complaints = []
        async with Demo(tmp_path, settings()) as demo, async_playwright() as playwright:
            playing = asyncio.create_task(demo.play())
            browser = await playwright.chromium.launch(**launch)
            try:
                await referee_one_hand(demo, browser, complaints)
                await demo.delivered()
            finally:
                await browser.close()
                playing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await playing
        result = demo.summary()
        assert (result["wins"], result["verdicts_agree"]) == (1, True)
        assert result["tables"][0]["chain_ok"]
        assert not complaints

    asyncio.run(run())
