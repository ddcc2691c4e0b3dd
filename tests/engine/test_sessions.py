"""Whole matches worked out by hand: every step, and the accounts after it, must come out as written."""

import json
from pathlib import Path

import pytest

from engine import rulesets
from engine.claim import Seat
from engine.match import Match
from engine.notation import claim_from_object
from engine.text.callobject import call_from_object
from engine.tiles import Tile
from engine.vectors import describe_settlement, describe_verdict
from tests.engine.extras import marks

GOLDEN = Path(__file__).parents[1] / "golden" / "sessions"
FILES = [path for path in sorted(GOLDEN.glob("*.json")) if path.stem in rulesets.ids()]
SESSIONS = [
    (path.stem, session) for path in FILES for session in json.loads(path.read_text(encoding="utf-8"))
]
AFTER = {
    "dealer", "streak", "circle", "hand", "chips", "outside", "deferred", "loans", "carried", "bank",
    "forfeited", "unpaid", "barred", "dead", "ended",
}  # fmt: skip


def claimed(match, obj):
    played = match.claim(claim_from_object(obj, match.rules.id))
    answer = describe_verdict(played.verdict)
    if played.settlement is not None:
        answer |= describe_settlement(played.settlement)
    return played.match, answer


def drawn(match, obj):
    return claimed(match, {**obj, "draw": True})


def false_win(match, obj):
    wins = [claim_from_object(win, match.rules.id) for win in obj.get("youjin", ())]
    assert obj.keys() <= {"offender", "youjin"}
    played = match.false_win(Seat(obj["offender"]), wins)
    return played.match, describe_settlement(played.settlement)


def awarded(match, obj):
    wants = [(Seat(seat), call) for seat, call in obj["wants"]]
    indicator = obj.get(match.rules.data.indicator_key)
    award = match.award(
        Tile.of(obj["tile"]),
        Seat(obj["discarder"]),
        wants,
        indicator=None if indicator is None else Tile.of(indicator),
    )
    return match, {"seat": award.seat, "call": award.call, "section": award.section}


def called(match, obj):
    problems = match.rules.may_call(call_from_object(obj, match.rules.id))
    reason = problems[0].code if problems else None
    return match, {"allowed": not problems, "reason": reason}


ACTIONS = {
    "claim": claimed,
    "draw": drawn,
    "false_win": false_win,
    "award": awarded,
    "call": called,
    "xianggong": lambda match, seat: (match.xianggong(Seat(seat)), {}),
    "redeal": lambda match, _: (match.redeal(), {}),
    "loan": lambda match, obj: (match.loan(obj["player"], obj["amount"]), {}),
    "repay": lambda match, obj: (match.repay(obj["player"], obj["amount"]), {}),
    "forfeit": lambda match, obj: (match.forfeit(obj["player"], obj["amount"]), {}),
    "time_up": lambda match, running: (match.time_up(running=running), {}),
    "close": lambda match, _: ((closed := match.close()), {"result": list(closed.result)}),
}


def state(match):
    values = {name: getattr(match, name) for name in AFTER}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@pytest.mark.parametrize(
    ("ruleset", "session"),
    [
        pytest.param(ruleset, session, id=f"{ruleset}-{session['id']}", marks=marks(ruleset))
        for ruleset, session in SESSIONS
    ],
)
def test_session(ruleset, session):
    rules = rulesets.load(ruleset, session.get("options") or {})
    match = Match.start(rules, session["chips"])
    for number, step in enumerate(session["steps"], 1):
        words = f"{session['id']} step {number}: {step.get('note', '')}"
        [action] = step.keys() - {"note", "expect", "after"}
        match, answer = ACTIONS[action](match, step[action])
        expect = step.get("expect", {})
        assert {key: answer.get(key) for key in expect} == expect, words
        after = step.get("after", {})
        assert after.keys() <= AFTER, words
        assert {name: state(match)[name] for name in after} == after, words


def test_every_rule_set_with_sessions_has_at_least_a_dozen():
    for path in FILES:
        sessions = json.loads(path.read_text(encoding="utf-8"))
        assert len(sessions) >= 12
        assert len({session["id"] for session in sessions}) == len(sessions)
