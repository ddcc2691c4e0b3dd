"""What the pages say at a machine of which people do a part themselves."""

import pytest

from station.web.catalogue import LANGUAGES
from station.web.pages import render_fragment
from tests.station.table.states import STATES
from tests.station.web.test_pages import text_of


def page(name, view="referee", lang="en"):
    return text_of(render_fragment(view, STATES[name](), lang))


@pytest.mark.parametrize(
    ("name", "says", "never"),
    [
        ("watched_start", "Bring the walls up with the machine’s own button", "nobody has a hand in"),
        ("watched_start", "write /dev/serial/by-path/", "ttyUSB"),
        ("watched_intake", "close it with the machine’s own button", "Keep hands off"),
        ("watched_dice", "Enter what was thrown", "Roll the dice"),
        ("watched_play", "The lock is only advice here", "Locked until"),
        ("watched_play", "The machine was opened before the ruling", "unlocking"),
        ("watched_ruled", "Take the tiles in with the machine’s own button", "will open"),
        ("pressed_build", "Building walls", "stacks"),
        ("pressed_intake", "close it with the machine’s own button", "Keep hands off"),
        ("pressed_dice", "Let the machine roll, then enter what the dice show", "or enter what was thrown"),
        ("pressed_walls_stand", "The walls stand already", "unlocking its intake"),
    ],
)
def test_people_are_told_what_they_do_themselves(name, says, never):
    for view in ("referee", "players"):
        said = page(name, view)
        assert says in said
        assert never not in said


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_advisory_lock_is_said_while_a_hand_waits_and_not_afterwards(lang):
    sentence = {"en": "only advice", "zh-Hans": "只是提醒", "zh-Hant": "只是提醒"}[lang]
    assert sentence in page("watched_play", lang=lang)
    assert sentence not in page("watched_ruled", lang=lang)
    assert sentence not in page("play_xiamen", lang=lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_which_board_answers_where_can_be_read(lang):
    state = STATES["play_xiamen"]()
    state["machine"] |= {"uid": "0123456789abcdef", "port": "/dev/serial/by-path/x"}
    said = text_of(render_fragment("referee", state, lang))
    assert "0123456789abcdef" in said
    assert "/dev/serial/by-path/x" in said
