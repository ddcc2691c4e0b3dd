"""Logs that an older version of the program wrote can still be read, and mean the same."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from station import messages as m
from station.session import Event, Session, Stage, replay

# Bodies as version 1 wrote them.
TILE = {"kind": "1m", "score": 0.9, "box": [0, 0, 9, 9], "alternatives": [["1m", 0.9]], "group": "concealed"}
OPENED = {
    "v": 1, "key": None, "table": "T1", "ruleset": "zhenjiang", "ruleset_hash": "", "options": {},
    "players": ["A", "B", "C", "D"], "chips": [50, 50, 50, 50], "bank": 0, "dealer": 0, "format": "casual",
    "duration_s": 3600,
}  # fmt: skip
DEALT = [
    ("cycle.started", {"v": 1, "key": None, "hand": 1}),
    ("dice.rolled", {"v": 1, "key": None, "hand": 1, "dice": [3, 4], "source": "machine"}),
    ("wall.dealt", {"v": 1, "key": None, "hand": 1, "machine_hand": 1, "thrower": 2, "wall": 2, "stack": 8}),
]
INDICATOR = {"v": 1, "key": None, "hand": 1, "tile": "1p", "wild": "2p", "score": 0.9, "photo": None}
CLAIMED = {
    "v": 1, "key": None, "hand": 1, "claim": 1, "place": 1, "how": "discard", "source": 2,
    "da": {"shou": 1, "er": 0, "peng": 0},
}  # fmt: skip
READ = {
    "v": 1, "key": None, "hand": 1, "claim": 1, "photo": "p.jpg", "size": [9, 9], "tiles": [TILE], "why": [],
    "expect": 14, "ms": 1.5,
}  # fmt: skip
MENDED = {"v": 1, "key": None, "hand": 1, "claim": 1, "index": 0, "kind": "2m", "was": "1m"}
CONFIRMED = {
    "v": 1, "key": None, "hand": 1, "claim": 1, "winner": 1, "line": "", "cls": "discard", "verdict": {},
    "pay": [-2, 8, -4, -2], "unpaid": [0, 0, 0, 0], "bank": 0, "next_dealer": 1, "photo": "p.jpg",
    "scores": [0.9], "edits": 1, "referee": None, "frame_at": 1.0,
}  # fmt: skip
FALSE_WIN = {
    "v": 1, "key": None, "hand": 1, "ruling": "false_win", "place": 3, "reason": None, "pay": [0, 0, 0, 0],
    "deferred": [0, 0, 0, 6], "bank": 0, "next_dealer": 0, "line": None, "verdict": None, "referee": None,
    "machine_hand": None,
}  # fmt: skip
REDEAL = {**FALSE_WIN, "ruling": "redeal", "place": None, "deferred": [0, 0, 0, 0]}


def _decoded(kind: str, body: dict[str, Any]) -> m.Body:
    decoded = m.decode(kind, json.dumps(body).encode())
    assert decoded is not None
    return decoded


def _replayed(*entries: tuple[str, dict[str, Any]]) -> Session:
    played = [("session.opened", OPENED), *DEALT, *entries]
    return replay(Event(seq, 100.0 + seq, _decoded(*entry)) for seq, entry in enumerate(played, 1))


def test_an_old_claim_has_its_counters_as_a_fact() -> None:
    state = _replayed(("indicator.revealed", INDICATOR), ("hand.claimed", CLAIMED))
    assert state.claim is not None
    assert state.claim.facts == {"da": {"shou": 1}}
    assert (state.claim.others, state.claim.seat_facts) == ({}, {})


def test_an_old_deal_waits_for_its_indicator() -> None:
    assert _replayed().stage is Stage.DEALT
    assert _replayed(("indicator.revealed", INDICATOR)).stage is Stage.PLAY


def test_an_old_hand_is_booked_as_it_was() -> None:
    state = _replayed(
        ("indicator.revealed", INDICATOR),
        ("hand.claimed", {**CLAIMED, "da": {}}),
        ("hand.read", READ),
        ("hand.tile_mended", MENDED),
        ("hand.confirmed", CONFIRMED),
    )
    assert [place.chips for place in state.places] == [48, 58, 46, 48]
    assert (state.dealer, state.circle, state.hands_finished, state.stage) == (1, 1, 1, Stage.RULED)
    assert state.last is not None
    assert (state.last.outside, state.last.totals) == ((), {})


def test_an_old_false_win_bars_its_place_and_the_hand_goes_on() -> None:
    state = _replayed(("indicator.revealed", INDICATOR), ("hand.claimed", CLAIMED), ("hand.ruled", FALSE_WIN))
    assert (state.stage, [place.barred for place in state.places]) == (
        Stage.PLAY,
        [False, False, False, True],
    )
    assert state.places[3].deferred == 6


def test_an_old_circle_is_counted_from_the_dealers() -> None:
    hands = [("hand.ruled", {**REDEAL, "next_dealer": dealer}) for dealer in (1, 2, 3, 0)]
    assert _replayed(*hands).circle == 2
    assert _replayed(*hands[:3]).circle == 1


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("hand.claimed", {**CLAIMED, "v": 3}),
        ("hand.claimed", {**CLAIMED, "v": 0}),
        ("hand.claimed", {**CLAIMED, "da": 5}),
        ("hand.claimed", {**CLAIMED, "place": "1"}),
        ("hand.ruled", {**FALSE_WIN, "place": [3]}),
        ("cycle.started", {"hand": 1, "v": 2}),
        ("cycle.started", {"hand": 1, "v": "1"}),
    ],
)
def test_a_body_that_is_none_of_ours_is_an_error(kind: str, body: dict[str, Any]) -> None:
    with pytest.raises(msgspec.DecodeError):
        _decoded(kind, body)


def test_a_kind_of_a_newer_program_is_passed_over() -> None:
    assert m.decode("table.repainted", b"{}") is None


def test_every_body_comes_back_as_it_was_written() -> None:
    for kind, old in (("hand.claimed", CLAIMED), ("hand.ruled", FALSE_WIN), ("wall.dealt", DEALT[2][1])):
        body = _decoded(kind, old)
        assert m.decode(*m.encode(body)) == body
