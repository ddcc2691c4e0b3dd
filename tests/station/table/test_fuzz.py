"""Whatever a screen sends in whatever phase: an answer with a reason, never a broken table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request

from station import messages as m
from station.log.chain import MAX_BODY
from station.session import Event, replay
from station.table.api import _Surface, routes
from station.table.decide import Refused
from station.table.runtime import ACTIONS

ANSWERS = {200, 403, 404, 409, 422}
LINES = (
    "123m456m789m11z34s +5s",
    "123m456m789m11z39s +5s",
    "11z +1z",
    "back +1f",
    "",
    "xx",
    "111m +1m flip=2p",
    "P:777z 1234z1s",
    "H:777m K:1111p 11s",
    "123m456m789m123p45p22z +6p",
    "123m456m789m123s45s22z12f +6s",
)
KINDS = ("1m", "5s", "7z", "back", "?", "1f", "", "0m", "１m")

odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 60),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["\x00", "\U0001f004", "𐀀", "a" * 1000]),
)
value = st.one_of(
    odd,
    st.lists(odd, max_size=4),
    st.dictionaries(st.sampled_from(["shou", "er", "peng", "x"]), odd, max_size=3),
)
place = st.one_of(st.integers(0, 3), value)


def _body(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return bodies with all, some or none of the fields, each right or odd."""
    return st.fixed_dictionaries({}, optional={name: st.one_of(s, s, s, value) for name, s in fields.items()})


fact = st.one_of(st.booleans(), st.integers(-1, 9), st.sampled_from(["", "single", "pair_start", "x"]))
shown = st.dictionaries(
    st.sampled_from(["0", "1", "2", "3", "x"]),
    st.dictionaries(st.sampled_from(["yaoji", "honors", "groups", "seven_star", "x"]), fact, max_size=3),
    max_size=2,
)
four = st.lists(st.one_of(st.integers(-60, 60), st.booleans()), min_size=4, max_size=4)
zero_sum = st.tuples(st.integers(0, 60), st.integers(0, 3), st.integers(0, 3)).map(
    lambda t: [t[0] * ((i == t[1]) - (i == t[2])) for i in range(4)]
)
BODIES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "start": _body(),
    "anyway": _body(),
    "dice": st.one_of(
        st.fixed_dictionaries({"dice": st.lists(st.one_of(st.integers(1, 6), st.booleans()), max_size=3)}),
        _body(dice=value),
    ),
    "claim": _body(
        place=place,
        how=st.sampled_from(["self", "discard", "robkong", "draw", "zimo", "youjin"]),
        **{"from": place},
        da=st.one_of(st.none(), st.dictionaries(st.sampled_from(["shou", "er", "peng"]), st.integers(0, 5))),
        facts=st.one_of(value, st.fixed_dictionaries({"da": value})),
        first=st.booleans(),
    ),
    "hand": _body(line=st.sampled_from(LINES), place=place),
    "tile": _body(place=place, i=st.integers(0, 13), kind=st.sampled_from(KINDS)),
    "retake": _body(place=place),
    "flowers": _body(),
    "amend": _body(
        how=st.sampled_from(["self", "discard", "heaven", "draw"]),
        **{"from": place},
        facts=st.one_of(value, st.fixed_dictionaries({"da": value})),
        shown=st.one_of(value, shown),
    ),
    "account": _body(
        place=place,
        kind=st.sampled_from(["loan", "repay", "forfeit"]),
        amount=st.one_of(st.integers(-1, 60), st.booleans()),
        reason=value,
    ),
    "indicator": _body(tile=st.sampled_from(KINDS)),
    "confirm": _body(),
    "reject": _body(reason=value),
    "ruling": _body(
        kind=st.sampled_from(["false_win", "draw", "redeal", "void", "win"]),
        place=place,
        reason=st.just("r"),
        pay=st.one_of(zero_sum, four),
    ),
    "recovery": _body(choice=st.sampled_from(["finish", "lower", "leave", "adopt", "clear"])),
    "undo": _body(reason=value),
    "penalty": _body(
        place=place,
        kind=st.sampled_from(["warning", "chips", "xianggong"]),
        amount=st.one_of(st.integers(-1, 60), st.booleans()),
        reason=value,
    ),
    "call": _body(place=place),
    "override": _body(reason=value),
    "close": _body(),
}
LIKELY = ("start", "flowers", "amend", "indicator", "claim", "hand", "tile", "confirm", "ruling")
requests = st.one_of(
    *(
        st.tuples(st.just(action), body)
        for action, body in [*BODIES.items(), *((a, BODIES[a]) for a in LIKELY)]
        if action != "close"
    )
)
GOOD: dict[str, dict[str, Any]] = {
    "start": {},
    "indicator": {"tile": "1p"},
    "claim": {"place": 1, "how": "self"},
    "hand": {"line": LINES[0]},
}


def _client(desk: Any) -> httpx.AsyncClient:
    app = Starlette(routes=routes(desk.table))
    # An exception in a handler would be a 500 with a traceback in the log: here it fails the test.
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url="http://table")


def _whole(desk: Any) -> None:
    """The screens can be drawn, money is constant, and a restart finds the very same state."""
    state = desk.table.state()
    json.dumps(state)
    stake = desk.table.rules.data.stake
    held = sum(p["chips"] + p["carried"] - p["loans"] for p in state["places"])
    assert held + state["bank"] + state["forfeited"] == stake * len(state["places"])
    assert sum(p["outside"] for p in state["places"]) == 0
    assert state["below_zero"] or all(p["chips"] >= 0 for p in state["places"])
    events = [Event(e.seq, e.at_ms / 1000, m.decode(e.kind, e.body)) for e in desk.writer.entries]
    assert replay(events) == desk.session


async def _posted(desk: Any, upto: int, action: str, content: bytes) -> httpx.Response:
    async with _client(desk) as http:
        for name in list(GOOD)[:upto]:
            assert (await http.post(f"/api/{name}", json=GOOD[name])).status_code == 200
        return await http.post(f"/api/{action}", content=content)


@pytest.mark.parametrize(
    ("upto", "action", "body", "code"),
    [
        (3, "penalty", {"place": 1, "kind": "chips", "amount": True}, "bad_amount"),
        (2, "penalty", {"place": True, "kind": "warning"}, "bad_place"),
        (3, "ruling", {"kind": "win", "place": 1, "reason": "x", "pay": [True, -1, 0, 0]}, "bad_pay"),
        (3, "ruling", {"kind": "void", "reason": {"a": 1}}, "bad_reason"),
        (3, "reject", {"reason": "x" * 501}, "bad_reason"),
        (3, "hand", {"line": "1" * 5000 + "m +1m"}, "bad_line"),
        (3, "hand", {"line": ["123m"]}, "bad_line"),
        (4, "tile", {"i": True, "kind": "1m"}, "bad_index"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused_before_it_is_stored(
    new_desk: Callable[..., Any], upto: int, action: str, body: dict[str, Any], code: str
) -> None:
    async def play() -> None:
        desk = await new_desk()
        answer = await _posted(desk, upto, action, json.dumps(body).encode())
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
        _whole(desk)

    asyncio.run(play())


def test_an_event_that_could_not_be_read_back_is_never_stored(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        wrong = m.DiceRolled(hand=1, dice=[True, True], source="players")
        huge = m.HandRejected(hand=1, claim=1, reason="x" * MAX_BODY)
        for body in (wrong, huge):
            with pytest.raises(Refused):
                await desk.table.book(body)
        assert [e.kind for e in desk.writer.entries] == ["session.opened"]
        _whole(desk)

    asyncio.run(play())


@pytest.mark.parametrize("content", [b'{"a":' * 5000, b"[" * 60_000], ids=["objects", "lists"])
def test_a_body_nested_too_deep_is_a_bad_request(new_desk: Callable[..., Any], content: bytes) -> None:
    async def play() -> None:
        answer = await _posted(await new_desk(), 0, "start", content)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_request")

    asyncio.run(play())


def test_an_endless_body_is_given_up_early(new_desk: Callable[..., Any]) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 200:
            sent += 1
            yield b"x" * 4096

    async def play() -> None:
        desk = await new_desk()
        surface = _Surface(desk.table)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": await anext(chunks), "more_body": True}

        chunks = endless()
        scope = {"type": "http", "method": "POST", "headers": [], "path_params": {"action": "start"}}
        answer = await surface.act(Request(scope, receive))
        assert answer.status_code == 422
        assert sent < 20

    asyncio.run(play())


def test_a_request_cut_off_in_the_middle_books_nothing(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        scope = {"type": "http", "method": "POST", "headers": [], "path_params": {"action": "start"}}
        answer = await _Surface(desk.table).act(Request(scope, receive))
        assert answer.status_code == 400
        assert len(desk.writer.entries) == 1

    asyncio.run(play())


def test_every_action_has_its_bodies() -> None:
    assert set(BODIES) == set(ACTIONS)


@pytest.mark.parametrize("upto", range(len(GOOD) + 1))
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(asked=st.lists(requests, min_size=4, max_size=12))
def test_no_request_breaks_the_table(
    new_desk: Callable[..., Any], upto: int, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    async def play() -> None:
        await _asked(await new_desk(), list(GOOD.items())[:upto], asked)

    asyncio.run(play())


async def _asked(
    desk: Any, good: list[tuple[str, dict[str, Any]]], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    """Send requests that are right, then whatever comes; the table stays whole."""
    async with _client(desk) as http:
        for action, body in good:
            assert (await http.post(f"/api/{action}", json=body)).status_code == 200
        for action, body in asked:
            before = len(desk.writer.entries)
            answer = await http.post(f"/api/{action}", content=json.dumps(body).encode())
            assert answer.status_code in ANSWERS, answer.text
            if answer.status_code != 200:
                assert len(desk.writer.entries) == before
                assert answer.json()["error"]["code"]
            _whole(desk)


OTHERS: dict[str, tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]] = {
    "fengcheng": (
        {"lei_per_point": 1},
        [
            ("start", {}),
            ("claim", {"place": 1, "how": "self"}),
            ("hand", {"line": "123m456m789m123p45p22z +6p"}),
            ("hand", {"place": 0, "line": "11234z"}),
        ],
    ),
    "xiamen": (
        {"hand_size": 16},
        [
            ("start", {}),
            ("flowers", {}),
            ("indicator", {"tile": "5p"}),
            ("claim", {"place": 1, "how": "zimo"}),
            ("hand", {"line": "123m456m789m123s45s22z12f +6s"}),
        ],
    ),
}


@pytest.mark.parametrize(("ruleset", "upto"), [(name, n) for name in OTHERS for n in (1, 3, 5)])
@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(asked=st.lists(requests, min_size=4, max_size=12))
def test_no_request_breaks_a_table_of_another_rule_set(
    new_desk: Callable[..., Any], ruleset: str, upto: int, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    options, good = OTHERS[ruleset]

    async def play() -> None:
        await _asked(await new_desk(ruleset, options), good[:upto], asked)

    asyncio.run(play())
