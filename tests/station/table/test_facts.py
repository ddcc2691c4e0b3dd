"""Facts of a claim: what people tap, what the table fills in, and what the tiles of others show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine import rulesets
from station import messages as m
from station.session import Stage, replay
from station.table.asking import Refused
from tests.engine.extras import needs
from tests.station.table.booth import Booth
from tests.station.table.states import read

SELF = {"zhenjiang": "self", "xiamen": "zimo", "fengcheng": "self", "mcr": "self"}


def _booth(ruleset: str, options: dict[str, Any] | None = None, chips: int = 100) -> Booth:
    rules = rulesets.load(ruleset, options)
    booth = Booth(rules, [chips] * rules.players)
    booth.to_play("5p" if ruleset == "xiamen" else "1p")
    return booth


def _refused(code: str, act: Callable[[], None]) -> str:
    with pytest.raises(Refused) as refused:
        act()
    assert refused.value.code == code
    return str(refused.value)


@pytest.mark.parametrize(
    ("ruleset", "facts", "says"),
    [
        ("zhenjiang", {"da": {"shou": 10}}, "da: "),
        ("zhenjiang", {"da": {"other": 1}}, "other"),
        ("zhenjiang", {"da": 3}, "da: "),
        ("zhenjiang", {"last": True}, "Known are: da"),
        ("zhenjiang", [], "object"),
        ("mcr", {"last": 1}, "last: "),
        ("mcr", {"flowers": 9}, "flowers"),
        ("xiamen", {"flowers": "1m2"}, "flowers: "),
        ("fengcheng", {"yaoji": "single"}, "Known are: none"),
    ],
)
def test_a_fact_that_cannot_be_is_refused_by_name(ruleset: str, facts: Any, says: str) -> None:
    booth = _booth(ruleset)
    message = _refused("bad_fact", lambda: booth.do("claim", place=1, how=SELF[ruleset], facts=facts))
    assert says in message


@pytest.mark.parametrize(
    "shown",
    [{"3": {}}, {"x": {}}, [], {"1": {"yaoji": "three"}}, {"1": {"flowers": 1}}, {"1": {"honors": -1}}],
)
def test_facts_of_a_player_that_cannot_be_are_refused(shown: Any) -> None:
    booth = _booth("fengcheng")
    _refused("bad_fact", lambda: booth.do("claim", place=1, how="self", shown=shown))


def test_a_rule_set_without_open_tiles_knows_no_facts_of_players() -> None:
    booth = _booth("zhenjiang")
    _refused("bad_fact", lambda: booth.do("claim", place=1, how="self", shown={"1": {"yaoji": "single"}}))


def test_the_old_spelling_of_discarded_wildcards_still_counts() -> None:
    booth = _booth("zhenjiang")
    booth.do("claim", place=1, how="self", da={"shou": 2, "er": 0})
    claim = booth.state()["claim"]
    assert claim["facts"] == claim["tapped"] == {"da": {"shou": 2}}
    assert claim["da"] == {"shou": 2}


def test_what_is_no_fact_of_the_claim_is_not_kept() -> None:
    booth = _booth("mcr")
    booth.do("claim", place=1, how="self", facts={"kong": False, "last": None, "flowers": 0})
    assert booth.session.claim is not None
    assert booth.session.claim.facts == {}


@pytest.mark.parametrize(
    ("how", "giver", "ok"),
    [("ping", None, True), ("ping", 2, True), ("zimo", 2, False), ("ping", 1, False), ("ping", 4, False)],
)
def test_where_the_rules_do_not_ask_whose_tile_it_was_it_may_be_said(
    how: str, giver: int | None, ok: bool
) -> None:
    booth = _booth("xiamen")
    body = {"place": 1, "how": how} | ({} if giver is None else {"from": giver})
    if ok:
        booth.do("claim", **body)
        assert booth.session.claim is not None
        assert booth.session.claim.source == giver
    else:
        with pytest.raises(Refused):
            booth.do("claim", **body)


# what the table fills in


def test_the_streak_is_the_sessions() -> None:
    booth = _booth("xiamen")
    booth.do("ruling", kind="draw")
    booth.to_play("5p")
    booth.do("claim", place=0, how="zimo")
    booth.do("hand", line="123m456m789m123s45s22z +6s")
    claim = booth.state()["claim"]
    assert claim["facts"] == {"streak": 1}
    assert claim["tapped"] == {}
    assert claim["verdict"]["totals"]["base"] == 32
    assert "streak=1" in claim["line"]


@needs("mcr")
def test_the_winds_follow_dealer_and_circle() -> None:
    booth = _booth("mcr", chips=0)
    for _ in range(5):
        booth.do("ruling", kind="draw")
        booth.to_play()
    assert (booth.session.dealer, booth.session.circle) == (1, 2)
    booth.do("claim", place=0, how="self")
    booth.do("hand", line="123456789m12p55s +3p")
    assert booth.state()["claim"]["facts"] == {"wind": 3, "prevailing": 1}


def test_flowers_are_those_that_lie_open() -> None:
    booth = _booth("xiamen")
    booth.do("claim", place=1, how="zimo")
    read(booth, "concealed=1m 2m 3m 4m 5m 6m 7m 8m 9m 1s 2s 3s 4s 5s 2z 2z; win=6s; flower=1f 6f")
    claim = booth.state()["claim"]
    assert claim["facts"] == {"flowers": "16f"}
    assert claim["verdict"]["totals"]["water"] == 2
    assert [tile["group"] for tile in claim["tiles"]][-2:] == ["flower", "flower"]


@needs("mcr")
def test_flowers_are_counted_where_only_their_number_counts_and_can_be_corrected() -> None:
    booth = _booth("mcr", chips=0)
    booth.do("claim", place=1, how="self")
    booth.do("hand", line="123456789m12p55s13f +3p")
    assert booth.state()["claim"]["facts"]["flowers"] == 2
    booth.do("amend", facts={"flowers": 3})
    assert booth.state()["claim"]["facts"]["flowers"] == 3
    booth.do("amend", facts={"flowers": None})
    assert booth.state()["claim"]["facts"]["flowers"] == 2


# corrections


def test_facts_of_a_pending_claim_are_changed_and_the_change_is_taken_back() -> None:
    booth = _booth("zhenjiang", chips=50)
    booth.do("claim", place=1, how="self", facts={"da": {"er": 1}})
    booth.do("hand", line="123m456m789m11z34s +5s")
    assert booth.state()["claim"]["payments"][1]["delta"] == 30
    booth.do("amend", how="discard", **{"from": 3}, facts={"da": None})
    claim = booth.state()["claim"]
    assert (claim["how"], claim["from"], claim["facts"]) == ("discard", 3, {})
    assert claim["payments"][1]["delta"] == 8
    booth.do("undo")
    booth.session = replay(booth.events)
    claim = booth.state()["claim"]
    assert (claim["how"], claim["from"], claim["facts"]) == ("self", None, {"da": {"er": 1}})
    assert claim["tiles"], "the reading stays"


def test_another_giver_of_the_same_win() -> None:
    booth = _booth("zhenjiang")
    booth.do("claim", place=1, how="discard", **{"from": 2})
    booth.do("amend", **{"from": 0})
    assert booth.session.claim is not None
    assert (booth.session.claim.how, booth.session.claim.source) == ("discard", 0)
    _refused("bad_from", lambda: booth.do("amend", **{"from": 1}))
    _refused("bad_how", lambda: booth.do("amend", how="zimo"))


def test_a_correction_that_changes_nothing_is_refused() -> None:
    booth = _booth("zhenjiang")
    _refused("no_claim", lambda: booth.do("amend", facts={}))
    booth.do("claim", place=1, how="self")
    _refused("nothing_changed", lambda: booth.do("amend", facts={"da": {}}))


# what losers show


def _fengcheng(**options: Any) -> Booth:
    booth = _booth("fengcheng", {"lei_per_point": 1, **options})
    booth.do("claim", place=2, how="self")
    booth.do("hand", line="123m456m789m123p45p22z +6p")
    return booth


def test_nothing_is_confirmed_before_every_other_place_was_looked_at() -> None:
    booth = _fengcheng()
    assert booth.state()["claim"]["blocked"] == ["shown_missing"]
    _refused("blocked", lambda: booth.do("confirm"))
    booth.do("hand", place=0, line="")
    assert booth.state()["claim"]["blocked"] == ["shown_missing"]
    booth.do("hand", place=1, line="P:666z")
    claim = booth.state()["claim"]
    assert (claim["blocked"], claim["can_confirm"]) == ([], True)
    assert [entry["nothing"] for entry in claim["shown"]] == [True, False, False]
    assert [entry["read"] for entry in claim["shown"]] == [True, True, True]
    assert claim["totals"]["lei"] == [0, 10, 50]
    booth.do("confirm")
    assert sum(place.chips for place in booth.session.places) == 300 + sum(
        place.loans for place in booth.session.places
    )


def test_a_camera_that_saw_nothing_leaves_it_to_a_person_to_say_so() -> None:
    booth = _fengcheng()
    read(booth, "", place=0)
    booth.do("hand", place=1, line="")
    assert booth.state()["claim"]["blocked"] == ["shown_missing"]
    booth.do("hand", place=0, line="")
    assert booth.state()["claim"]["can_confirm"]


def test_spread_tiles_become_facts_of_their_player_and_a_person_can_say_otherwise() -> None:
    booth = _fengcheng()
    booth.do("hand", place=1, line="")
    read(booth, "meld:0=1p 1p 1p; spread:0=1z 2z 3z 4z 1z; spread:1=1s", place=0)
    shown = booth.state()["claim"]["shown"][0]
    assert shown["facts"] == {"honors": 5, "groups": 1, "yaoji": "single"}
    assert shown["tapped"] == {}
    booth.do("amend", shown={"0": {"honors": 4, "no_honor_start": None}})
    assert booth.state()["claim"]["shown"][0]["facts"]["honors"] == 4
    booth.do("amend", shown={"0": {"honors": None}})
    assert booth.state()["claim"]["shown"][0]["facts"]["honors"] == 5


def test_two_yaoji_wait_until_somebody_says_when_the_second_came() -> None:
    booth = _fengcheng()
    booth.do("hand", place=0, line="11s")
    booth.do("hand", place=1, line="")
    claim = booth.state()["claim"]
    assert (claim["blocked"], claim["shown"][0]["asks"]) == (["fact_open"], ["yaoji"])
    booth.do("amend", shown={"0": {"yaoji": "pair_later"}})
    claim = booth.state()["claim"]
    assert (claim["blocked"], claim["totals"]["lei"]) == ([], [40, 0, 50])


def test_a_groups_of_the_winner_is_a_set_of_his_hand() -> None:
    booth = _booth("fengcheng", {"lei_per_point": 1})
    booth.do("claim", place=0, how="self")
    read(booth, "concealed=1m 2m 3m 4m 5m 6m 7m 8m 9m 4p 5p 2z 2z; win=6p; spread:0=5z 6z 7z")
    for place in (1, 2):
        booth.do("hand", place=place, line="")
    claim = booth.state()["claim"]
    assert claim["verdict"]["outcome"] == "win"
    assert claim["totals"]["lei"] == [80, 0, 0]


def test_an_open_tile_that_belongs_to_nothing_is_looked_at_by_a_person() -> None:
    booth = _fengcheng()
    booth.do("hand", place=1, line="")
    tiles = [
        m.TileRead(
            kind="9m", score=0.9, box=None, alternatives=[("9m", 0.9)], group="loose", why=["loose_tile"]
        )
    ]
    assert booth.session.claim is not None
    booth.book(
        m.HandRead(hand=1, claim=1, place=0, photo="p.jpg", size=(9, 9), tiles=tiles, why=[], expect=None)
    )
    assert booth.state()["claim"]["blocked"] == ["tile_doubt"]
    booth.do("tile", place=0, i=0, kind="9m")
    claim = booth.state()["claim"]
    assert (claim["blocked"], claim["totals"]["lei"]) == ([], [0, 0, 50])


@pytest.mark.parametrize(
    ("action", "body", "code"),
    [
        ("hand", {"place": 0, "line": "P:111m +5s"}, "bad_line"),
        ("hand", {"place": 0, "line": "x"}, "bad_line"),
        ("hand", {"place": 0}, "bad_line"),
        ("hand", {"line": ""}, "bad_line"),
        ("hand", {"place": 7, "line": ""}, "bad_place"),
        ("tile", {"place": 0, "i": 0, "kind": "1m"}, "bad_index"),
        ("retake", {"place": 9}, "bad_place"),
    ],
)
def test_what_cannot_be_typed_of_another_place(action: str, body: dict[str, Any], code: str) -> None:
    booth = _fengcheng()
    _refused(code, lambda: booth.do(action, **body))


def test_where_losers_do_not_score_other_places_are_not_asked_for() -> None:
    booth = _booth("zhenjiang")
    booth.do("claim", place=1, how="self")
    for action in ("hand", "retake"):
        _refused("bad_place", lambda action=action: booth.do(action, place=2, line=""))
    booth.do("hand", place=1, line="123m456m789m11z34s +5s")
    assert booth.state()["claim"]["shown"] == []


def test_a_photo_of_another_place_is_taken_again_without_losing_the_others() -> None:
    booth = _fengcheng()
    read(booth, "meld:0=1p 1p 1p", place=0)
    read(booth, "meld:0=6z 6z 6z", place=1)
    booth.do("retake", place=1)
    claim = booth.state()["claim"]
    assert [len(entry["tiles"]) for entry in claim["shown"]] == [3, 0, 0]
    assert len(claim["tiles"]) == 17


# an exhausted wall


def test_an_exhausted_wall_settles_what_lies_open_where_losers_score() -> None:
    booth = _booth("fengcheng", {"lei_per_point": 1})
    booth.do("ruling", kind="draw")
    assert booth.session.stage is Stage.CLAIM
    claim = booth.state()["claim"]
    assert (claim["place"], claim["how"], claim["blocked"]) == (None, "draw", ["shown_missing"])
    assert booth.state()["phase"] == "verdict"
    assert "win" not in booth.state()["ruling_options"]
    for place, line in enumerate(("A:1111z", "P:111m", "11234z")):
        booth.do("hand", place=place, line=line)
    booth.do("confirm")
    state = booth.state()
    assert state["last"]["outcome"] == "draw"
    assert state["last"]["totals"]["lei"] == [0, 0, 50]
    assert [place["chips"] for place in state["places"]] == [0, 50, 250]
    assert state["dealer"] == 1


def test_a_drawn_hand_that_was_called_by_mistake_goes_on() -> None:
    booth = _booth("fengcheng", {"lei_per_point": 1})
    booth.do("ruling", kind="draw")
    _refused("claim_pending", lambda: booth.do("ruling", kind="draw"))
    _refused("no_claim", lambda: booth.do("ruling", kind="false_win"))
    booth.do("reject")
    assert booth.session.stage is Stage.PLAY


@pytest.mark.parametrize(
    ("ruleset", "dealer", "streak"), [("zhenjiang", 0, 1), ("xiamen", 0, 1), ("mcr", 1, 0)]
)
def test_elsewhere_an_exhausted_wall_is_booked_at_once(ruleset: str, dealer: int, streak: int) -> None:
    booth = _booth(ruleset)
    booth.do("ruling", kind="draw", reason="wall_exhausted")
    assert (booth.session.stage, booth.session.dealer, booth.session.streak) == (Stage.RULED, dealer, streak)


@pytest.mark.parametrize("ruleset", ["zhenjiang", "xiamen", "fengcheng", "mcr"])
@pytest.mark.parametrize("kind", ["redeal", "void"])
def test_a_hand_that_is_void_leaves_dealer_and_streak(ruleset: str, kind: str) -> None:
    booth = _booth(ruleset)
    if ruleset != "fengcheng":
        booth.do("ruling", kind="draw")
        booth.to_play("5p")
    before = (booth.session.dealer, booth.session.streak, booth.session.match_hand)
    booth.do("ruling", kind=kind, reason="misdeal")
    assert (booth.session.dealer, booth.session.streak, booth.session.match_hand) == before
    assert booth.state()["last"]["outcome"] == kind
