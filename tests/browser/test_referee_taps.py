"""What a finger does on the referee page, and what the table hears of it."""

import json
import threading

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def last(site):
    action, body, headers = site.posts[-1]
    return action, body, headers


def answered(page, site, count=1):
    """Wait until the tap was answered and its effect is shown."""
    expect(page.locator("body:not(.busy)")).to_have_count(1)
    assert len(site.posts) == count


def test_two_taps_mend_a_tile(open_page, site):
    page = open_page("referee", "verdict_doubt")
    page.locator("button.tile.low").tap()
    expect(page.locator("#sheet-fix .read")).to_have_text("识别为 7 万")
    page.locator("#sheet-fix .candidate").nth(1).tap()
    expect(page.locator("#sheet-fix")).to_be_hidden()
    answered(page, site)
    action, body, headers = last(site)
    assert (action, body) == ("tile", {"i": 11, "kind": "1m"})
    assert headers["if-match"] == "41"
    assert headers["content-type"] == "application/json"
    assert len(headers["idempotency-key"]) >= 32


def test_any_kind_can_be_chosen_from_the_grid(open_page, site):
    page = open_page("referee", "verdict_win")
    page.locator("button.tile").first.tap()
    page.locator('#sheet-fix .kinds [data-kind="6z"]').tap()
    answered(page, site)
    assert last(site)[:2] == ("tile", {"i": 0, "kind": "6z"})


def test_it_is_right_clears_a_doubt(open_page, site):
    page = open_page("referee", "verdict_doubt", lang="en")
    page.locator("button.tile.low").tap()
    page.locator("#sheet-fix").get_by_text("It is right").tap()
    answered(page, site)
    assert last(site)[:2] == ("tile", {"i": 11, "kind": "7m"})


def test_the_box_in_the_photo_is_the_tile(open_page, site):
    page = open_page("referee", "verdict_doubt")
    page.locator(".box.low rect").tap()
    expect(page.locator("#sheet-fix")).to_be_visible()
    expect(page.locator("button.tile.sel")).to_have_attribute("data-i", "11")
    assert page.locator("svg.cut").get_attribute("viewBox")


def test_another_tile_can_be_tapped_while_the_sheet_is_open(open_page):
    page = open_page("referee", "verdict_win")
    page.locator("button.tile").nth(0).tap()
    page.locator("button.tile").nth(7).tap()
    expect(page.locator("#sheet-fix .read")).to_have_text("识别为 3 条")


def test_confirm_cannot_be_tapped_while_a_tile_is_in_doubt(open_page, site):
    page = open_page("referee", "verdict_doubt")
    expect(page.locator("[data-post=confirm]")).to_be_disabled()
    page.locator("[data-post=confirm]").click(force=True)
    assert not site.posts


def test_a_double_tap_books_once(open_page, site):
    site.preview.gate = threading.Event()
    page = open_page("referee", "verdict_win")
    page.evaluate("for (let n = 0; n < 3; n++) document.querySelector('[data-post=confirm]').click()")
    expect(page.locator("[data-post=confirm]")).to_be_disabled()
    site.publish(site.sample("verdict_win"))  # a new fragment must not bring a fresh button to tap
    expect(page.locator("[data-post=confirm]")).to_be_enabled()
    page.locator("[data-post=confirm]").click()
    site.preview.gate.set()
    answered(page, site)
    expect(page.locator("#view")).to_have_attribute("data-rev", "42")
    page.locator("[data-post=confirm]").tap()
    answered(page, site, 2)
    first, second = (post[2] for post in site.posts)
    assert first["idempotency-key"] != second["idempotency-key"]
    assert second["if-match"] == "42"


def test_a_lost_answer_is_asked_again_under_the_same_key(open_page, site):
    keys = []

    def lossy(route):
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) < 3:
            route.abort()
        else:
            route.continue_()

    page = open_page("referee", "verdict_win")
    page.route("**/api/confirm", lossy)
    page.locator("[data-post=confirm]").tap()
    expect(page.locator("#view")).to_have_attribute("data-rev", "42")
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len(site.posts) == 1
    open_page.complaints.clear()  # the two lost requests


def test_no_answer_is_said_plainly(open_page, site):
    page = open_page("referee", "verdict_win", lang="en")
    page.route("**/api/confirm", lambda route: route.abort())
    page.locator("[data-post=confirm]").tap()
    expect(page.locator("#notice")).to_contain_text("No answer from the table")
    expect(page.locator("[data-post=confirm]")).to_be_enabled()
    open_page.complaints.clear()


def test_a_stale_tap_shows_the_new_state_and_says_so(open_page, site):
    page = open_page("referee", "verdict_win", lang="en", live=False, before=deaf)
    site.preview.state = site.sample("verdict_doubt", rev=50)  # the page has not heard of it
    site.preview.answers.append((409, {"error": {"code": "stale_revision", "message": "", "rev": 50}}))
    page.evaluate("history.replaceState(null, '', '/referee')")
    page.locator("[data-post=confirm]").tap()
    expect(page.locator("#notice")).to_contain_text("The table has moved on")
    expect(page.locator("#view")).to_have_attribute("data-rev", "50")
    open_page.complaints.clear()  # Chromium logs the 409 itself


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (422, "blocked", "The hand cannot be confirmed yet"),
        (503, "log.full", "the disk of the table is full"),
        (422, "brand_new", "A plain sentence of the table."),
    ],
)
def test_a_refusal_is_shown_in_words(open_page, site, status, code, text):
    site.preview.answers.append(
        (status, {"error": {"code": code, "message": "A plain sentence of the table.", "fix": ""}})
    )
    page = open_page("referee", "verdict_win", lang="en")
    page.locator("[data-post=confirm]").tap()
    expect(page.locator("#notice")).to_contain_text(text)
    expect(page.locator("[data-post=confirm]")).to_be_enabled()
    open_page.complaints.clear()


def deaf(page):
    """A page whose stream never comes up."""
    page.route("**/events*", lambda route: route.abort())


def hold(page, selector):
    box = page.locator(selector).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()


def frozen(page):
    page.clock.install(time=0)
    page.clock.pause_at(5)


def test_a_short_hold_does_nothing(open_page, site):
    page = open_page("referee", "verdict_no_win", before=frozen)
    hold(page, ".act .btn.bad")
    page.clock.run_for(900)
    page.mouse.up()
    page.clock.run_for(2000)
    page.locator(".act .btn.bad").tap()
    page.clock.run_for(50)
    assert not site.posts


def test_a_whole_second_rules_a_false_win(open_page, site):
    page = open_page("referee", "verdict_no_win", before=frozen)
    hold(page, ".act .btn.bad")
    with page.expect_response("**/api/ruling"):
        page.clock.run_for(1100)
    page.mouse.up()
    body = {"kind": "false_win", "place": 0, "reason": "claim_does_not_win"}
    assert last(site)[:2] == ("ruling", body)


def test_sliding_off_the_button_ends_the_hold(open_page, site):
    page = open_page("referee", "verdict_no_win", before=frozen)
    hold(page, ".act .btn.bad")
    page.mouse.move(300, 300)
    page.clock.run_for(2000)
    page.mouse.up()
    assert not site.posts


def test_an_update_does_not_break_a_hold(open_page, site):
    page = open_page("referee", "verdict_no_win", before=frozen)
    hold(page, ".act .btn.bad")
    page.clock.run_for(500)
    site.publish(site.sample("verdict_no_win", rev=43))
    with page.expect_response("**/api/ruling"):
        page.clock.run_for(600)
    page.mouse.up()
    assert len(site.posts) == 1


def test_an_open_sheet_survives_an_update(open_page, site):
    page = open_page("referee", "verdict_win")
    page.locator("[data-sheet=penalty]").tap()
    page.locator("#sheet-penalty label").nth(2).tap()
    site.publish(site.sample("verdict_win", rev=44))
    page.wait_for_selector('#view[data-rev="44"]')
    expect(page.locator("#sheet-penalty")).to_be_visible()
    expect(page.locator('#sheet-penalty [name=place][value="2"]')).to_be_checked()


def test_the_fix_sheet_closes_when_its_tile_is_gone(open_page, site):
    page = open_page("referee", "verdict_win")
    page.locator("button.tile").first.tap()
    site.publish(site.sample("play", rev=44))
    page.wait_for_selector('#view[data-rev="44"]')
    expect(page.locator(".sheet:visible")).to_have_count(0)


def test_a_penalty_needs_three_taps(open_page, site):
    page = open_page("referee", "play")
    page.locator("[data-sheet=penalty]").tap()
    page.locator("#sheet-penalty label", has_text="赵雪").tap()
    page.locator("#sheet-penalty label", has_text="−6").tap()
    page.locator("#sheet-penalty [data-submit]").tap()
    answered(page, site)
    assert last(site)[:2] == ("penalty", {"place": 3, "kind": "chips", "amount": 6})


def test_an_unfinished_form_is_not_sent(open_page, site):
    page = open_page("referee", "play")
    page.locator("[data-sheet=penalty]").tap()
    page.locator("#sheet-penalty [data-submit]").tap()
    expect(page.locator("#sheet-penalty")).to_be_visible()
    assert not site.posts


def test_a_ruled_win_carries_what_is_paid(open_page, site):
    page = open_page("referee", "verdict_discard", before=frozen)
    page.locator("[data-sheet=ruling]").tap()
    page.locator("#sheet-ruling label:has([value=win])").tap()
    page.locator("#sheet-ruling label:has([value=judgement])").tap()
    page.locator("#sheet-ruling label:has([name=_pay])").nth(1).tap()
    hold(page, "#sheet-ruling [data-submit]")
    with page.expect_response("**/api/ruling"):
        page.clock.run_for(1100)
    page.mouse.up()
    assert last(site)[:2] == (
        "ruling",
        {"kind": "win", "place": 1, "reason": "judgement", "pay": [-2, 6, -2, -2]},
    )


def test_a_hidden_choice_is_not_sent(open_page, site):
    page = open_page("referee", "verdict_discard", before=frozen)
    page.locator("[data-sheet=ruling]").tap()
    page.locator("#sheet-ruling label:has([value=win])").tap()
    page.locator("#sheet-ruling label:has([name=_pay])").nth(1).tap()
    page.locator("#sheet-ruling label:has([value=void])").tap()
    page.locator("#sheet-ruling label:has([value=misdeal])").tap()
    hold(page, "#sheet-ruling [data-submit]")
    with page.expect_response("**/api/ruling"):
        page.clock.run_for(1100)
    page.mouse.up()
    assert last(site)[1] == {"kind": "void", "reason": "misdeal"}


def test_a_discard_win_is_declared_with_two_taps(open_page, site):
    page = open_page("referee", "play")
    page.locator("[data-sheet=claim-1]").tap()
    page.locator("#sheet-claim-1 .three:not(.low) .choice", has_text="陈建国").tap()
    answered(page, site)
    action, body, _ = last(site)
    assert action == "claim"
    assert body == {"place": 1, "how": "discard", "from": 2}


def test_discarded_wildcards_are_counted_with_the_claim(open_page, site):
    page = open_page("players", "play")
    page.locator("[data-sheet=claim-0]").tap()
    page.locator('#sheet-claim-0 label:has([name="facts.da.shou"][value="2"])').tap()
    page.locator("#sheet-claim-0 .choice").first.tap()
    answered(page, site)
    assert last(site)[1] == {"place": 0, "how": "self", "facts": {"da": {"shou": 2}}}


def test_dice_can_be_typed_or_rolled(open_page, site):
    page = open_page("referee", "dice")
    page.locator(".dice-form .choices").nth(0).locator("label").nth(2).tap()
    page.locator(".dice-form .choices").nth(1).locator("label").nth(3).tap()
    page.locator(".dice-form button").tap()
    answered(page, site)
    assert last(site)[:2] == ("dice", {"dice": [3, 4]})
    page.locator(".act [data-post=dice]").tap()
    answered(page, site, 2)
    assert last(site)[:2] == ("dice", {})


def test_the_flipped_tile_can_be_corrected(open_page, site):
    page = open_page("referee", "verdict_win")
    page.locator("button.pill.wild").tap()
    page.locator('#sheet-indicator [data-kind="9s"]').tap()
    answered(page, site)
    assert last(site)[:2] == ("indicator", {"tile": "9s"})


def test_a_doubtful_flipped_tile_is_confirmed_with_one_tap(open_page, site):
    page = open_page("referee", "indicator_doubt")
    page.locator(".act .go").tap()
    answered(page, site)
    assert last(site)[:2] == ("indicator", {"tile": "1m"})


def test_a_hand_can_be_typed_in(open_page, site):
    page = open_page("referee", "claim")
    page.locator("[data-sheet=hand]").first.tap()
    sheet = page.locator("#sheet-hand")
    expect(sheet.locator("[data-send-hand]")).to_be_disabled()
    for kind in ("3m", "1m", "2m", "5z", "9s"):
        sheet.locator(f'.kinds [data-kind="{kind}"]').tap()
    sheet.locator(".typed .one").last.tap()  # 5z was not there after all
    for slot, kind in (("pung", "7p"), ("concealed_kong", "8s"), ("win", "9s")):
        sheet.locator(f"label:has([value={slot}])").tap()
        sheet.locator(f'.kinds [data-kind="{kind}"]').tap()
    site.publish(site.sample("claim", rev=43))  # what was typed survives an update
    page.wait_for_selector('#view[data-rev="43"]')
    sheet.locator("[data-send-hand]").tap()
    answered(page, site)
    assert last(site)[:2] == ("hand", {"line": "123m9s P:777p A:8888s +9s"})


def test_typing_starts_from_what_was_read(open_page, site):
    page = open_page("referee", "verdict_win")
    page.locator("[data-sheet=hand]").first.tap()
    page.locator("[data-send-hand]").tap()
    answered(page, site)
    assert last(site)[1] == {"line": "267m345s7z P:111z K:7777p +7z"}


def test_the_rest_of_the_buttons_post_what_they_say(open_page, site):
    page = open_page("referee", "verdict_win")
    for count, action in enumerate(("reject", "undo", "retake"), start=1):
        page.locator(f"[data-post={action}]").first.tap()
        answered(page, site, count)
        assert last(site)[:2] == (action, {})


def test_recovery_is_chosen_by_holding(open_page, site):
    page = open_page("referee", "recovery", before=frozen)
    hold(page, ".recover .btn:nth-child(2)")
    with page.expect_response("**/api/recovery"):
        page.clock.run_for(1100)
    page.mouse.up()
    assert last(site)[:2] == ("recovery", {"choice": "lower"})


def test_unlocking_by_hand_needs_a_reason_and_a_whole_second(open_page, site):
    page = open_page("referee", "play", lang="en", before=frozen)
    page.locator("[data-sheet=ruling]").tap()
    page.locator("#sheet-ruling label:has([value=override])").tap()
    button = page.locator("#sheet-ruling [data-submit]")
    expect(button).to_have_text("Hold: unlock the intake", use_inner_text=True)
    hold(page, "#sheet-ruling [data-submit]")
    page.clock.run_for(1100)
    page.mouse.up()
    assert not site.posts  # no reason was chosen
    page.locator("#sheet-ruling label:has([value=machine_fault])").tap()
    hold(page, "#sheet-ruling [data-submit]")
    with page.expect_response("**/api/override"):
        page.clock.run_for(1100)
    page.mouse.up()
    assert last(site)[:2] == ("override", {"reason": "machine_fault"})
    assert len(site.posts) == 1


def test_an_unlocked_machine_offers_no_unlocking(open_page, site):
    page = open_page("referee", "play")
    state = site.sample("play", rev=44)
    state["machine"]["locked"] = False
    site.publish(state)
    page.wait_for_selector('#view[data-rev="44"]')
    page.locator("[data-sheet=ruling]").tap()
    expect(page.locator("#sheet-ruling")).to_be_visible()
    expect(page.locator("[value=override]")).to_have_count(0)


@pytest.mark.parametrize("state", ["start", "ruled"])
def test_the_session_is_ended_by_holding(open_page, site, state):
    page = open_page("referee", state, before=frozen)
    hold(page, "[data-post=close]")
    page.clock.run_for(900)
    page.mouse.up()
    page.clock.run_for(2000)
    assert not site.posts
    hold(page, "[data-post=close]")
    with page.expect_response("**/api/close"):
        page.clock.run_for(1100)
    page.mouse.up()
    assert last(site)[:2] == ("close", {})


@pytest.mark.parametrize("state", ["start", "ruled"])
def test_a_hand_is_started_with_one_tap(open_page, site, state):
    page = open_page("referee", state)
    page.locator(".act [data-post=start]").tap()
    answered(page, site)
    assert last(site)[:2] == ("start", {})


def test_players_call_the_referee(open_page, site):
    page = open_page("players", "play")
    page.locator("[data-post=call]").nth(3).tap()
    answered(page, site)
    assert last(site)[:2] == ("call", {"place": 3})


def test_language_and_theme_are_one_tap_away(open_page):
    page = open_page("referee", "play")
    page.get_by_text("EN", exact=True).tap()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.locator("[data-dark], [data-light]").locator("visible=true").tap()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_sentences_for_answers_are_in_the_page(open_page):
    page = open_page("referee", "play", lang="en")
    words = json.loads(page.locator("body").get_attribute("data-errors"))
    assert words["stale_revision"].startswith("The table has moved on")
