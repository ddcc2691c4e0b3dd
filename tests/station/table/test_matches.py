"""Whole matches worked out by hand, played through the table's own requests: its books equal the match's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine import rulesets
from engine.claim import Seat
from station import messages as m
from station.places import Place, place_of, seat_of
from station.session import Stage, replay
from tests.engine.extras import needs
from tests.station.table.booth import Booth

GOLDEN = Path(__file__).parents[2] / "golden" / "sessions"
MATCHES = [
    pytest.param(
        path.stem, match, id=f"{path.stem}-{match['id']}", marks=[needs("mcr")] if path.stem == "mcr" else []
    )
    for path in sorted(GOLDEN.glob("*.json"))
    if path.stem in rulesets.ids()
    for match in json.loads(path.read_text(encoding="utf-8"))
]
PASSED_OVER = {"award", "call"}
"""Questions about single tiles: a table does not ask them."""

STEPS = {
    "claim": Booth.claim,
    "draw": Booth.draw,
    "false_win": Booth.false_win,
    "xianggong": Booth.xianggong,
    "redeal": Booth.redeal,
    "close": Booth.close,
    "loan": lambda booth, obj: booth.account("loan", obj),
    "repay": lambda booth, obj: booth.account("repay", obj),
    "forfeit": lambda booth, obj: booth.account("forfeit", obj),
}


@pytest.mark.parametrize(("ruleset", "match"), MATCHES)
def test_a_match_is_booked_as_it_was_worked_out(ruleset: str, match: dict[str, Any]) -> None:
    booth = Booth(rulesets.load(ruleset, match.get("options") or {}), match["chips"])
    for number, step in enumerate(match["steps"], 1):
        words = f"step {number}: {step.get('note', '')}"
        [action] = step.keys() - {"note", "expect", "after"}
        if action in PASSED_OVER:
            continue
        dealer = booth.session.dealer
        STEPS[action](booth, step[action])
        _compare(booth, dealer, step, words)
    assert replay(booth.events) == booth.session


def _compare(booth: Booth, dealer: Place, step: dict[str, Any], words: str) -> None:
    expect = {**step.get("expect", {})}
    outcome, reason = expect.pop("outcome", None), expect.pop("reason", None)
    if outcome in ("no_win", "inconsistent"):
        assert booth.proposal.outcome == outcome, words
        assert reason in (None, booth.proposal.reason), words
        expect.clear()
    told = {**booth.paid(dealer), **booth.standing()}
    assert {key: told.get(key) for key in expect} == expect, words
    after = {**step.get("after", {})}
    if after.get("unpaid") and not isinstance(booth.events[-1].body, m.SessionClosed):
        del after["unpaid"]
    if booth.session.stage is Stage.CLOSED:
        after.pop("ended", None)
    standing = booth.standing()
    assert {name: standing[name] for name in after} == after, words


def test_seats_and_places_are_inverse() -> None:
    assert all(seat_of(place_of(Seat(2), Place(dealer), 3), Place(dealer), 3) == 2 for dealer in range(3))
