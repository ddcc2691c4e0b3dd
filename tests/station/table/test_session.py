from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from station import messages as m
from station.session import Corrections, Event, Stage, apply, checkpoint_due, replay
from station.table.decide import Refused
from station.table.runtime import StaleRevision

LOSING = "123m456m789m11z39s +5s"
ACTIONS = st.lists(
    st.sampled_from(
        [
            "start",
            "claim self",
            "claim discard",
            "lose",
            "confirm",
            "reject",
            "false win",
            "draw",
            "void",
            "redeal",
            "undo",
            "fine",
            "dead",
            "call",
            "close",
            "ruled win",
        ]
    ),
    min_size=5,
    max_size=40,
)


async def _do(desk: Any, step: str) -> None:
    match step:
        case "start":
            await desk.to_play()
        case "claim self":
            await desk.claim(source=None)
        case "claim discard":
            await desk.claim()
        case "lose":
            await desk.claim(LOSING, place=3)
        case "false win":
            await desk.do("ruling", kind="false_win")
        case "ruled win":
            await desk.do("ruling", kind="win", place=2, reason="seen by all", pay=[-1, -1, 3, -1])
        case "draw" | "void" | "redeal":
            await desk.do("ruling", kind=step)
        case "fine":
            await desk.do("penalty", place=0, kind="chips", amount=2)
        case "dead":
            await desk.do("penalty", place=1, kind="xianggong")
        case "call":
            await desk.do("call", place=1)
        case _:
            await desk.do(step)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=ACTIONS)
def test_chips_and_bank_are_conserved_and_replay_equals_the_running_state(
    steps: list[str], new_desk: Callable[..., Any]
) -> None:
    async def play() -> None:
        desk = await new_desk()
        for step in steps:
            try:
                await _do(desk, step)
            except Refused:
                continue
            session = desk.session
            assert sum(p.chips for p in session.places) + session.bank == 200
            assert all(p.chips >= 0 for p in session.places)
        again = await new_desk(writer=desk.writer)
        assert again.session == desk.session

    asyncio.run(play())


def test_a_confirmed_win_moves_chips_and_ends_the_hand(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        await desk.do("confirm")
        assert [p.chips for p in desk.session.places] == [48, 58, 46, 48]
        assert desk.session.stage is Stage.RULED
        assert desk.session.dealer == 1
        assert desk.session.last is not None
        assert desk.session.last.outcome == "win"

    asyncio.run(play())


def test_the_dealer_stays_after_a_draw_and_after_an_own_win(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.do("ruling", kind="draw")
        assert desk.session.dealer == 0
        await desk.to_play()
        await desk.claim(place=0, source=None)
        await desk.do("confirm")
        assert desk.session.dealer == 0

    asyncio.run(play())


def test_the_circle_advances_when_the_deal_has_gone_round(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        for winner in (1, 2, 3, 0):
            assert desk.session.circle == 1
            await desk.to_play()
            await desk.claim(place=winner, source=None)
            await desk.do("confirm")
        assert (desk.session.dealer, desk.session.circle) == (0, 2)
        assert desk.writer.checkpoints == ["session.opened", "circle"]
        await desk.do("close")
        assert desk.writer.checkpoints[2:] == ["session.closed"]

    asyncio.run(play())


def test_undo_takes_a_confirm_back_and_leaves_both_in_the_log(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        await desk.do("confirm")
        await desk.do("undo", reason="wrong place")
        assert [p.chips for p in desk.session.places] == [50] * 4
        assert desk.session.stage is Stage.CLAIM
        kinds = [e.kind for e in desk.writer.entries]
        assert kinds[-2:] == ["hand.confirmed", "event.corrected"]
        await desk.do("confirm")
        assert desk.session.places[1].chips == 58

    asyncio.run(play())


def test_a_false_win_is_booked_now_and_collected_at_the_close(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim(LOSING, place=3)
        await desk.do("ruling", kind="false_win")
        offender = desk.session.places[3]
        assert (offender.chips, offender.deferred, offender.barred) == (50, 6, True)
        assert desk.session.stage is Stage.PLAY
        await desk.claim(place=3)
        assert desk.table.state()["claim"]["verdict"]["reason"] == "barred"
        await desk.do("reject")
        await desk.do("ruling", kind="draw")
        await desk.do("close")
        assert (desk.session.places[3].chips, desk.session.bank) == (44, 6)

    asyncio.run(play())


def test_a_bar_ends_with_the_hand(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim(LOSING, place=3)
        await desk.do("ruling", kind="false_win")
        await desk.do("ruling", kind="redeal")
        await desk.to_play()
        assert not any(p.barred for p in desk.session.places)

    asyncio.run(play())


def test_a_false_win_needs_a_claim_that_does_not_win(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        with pytest.raises(Refused) as refused:
            await desk.do("ruling", kind="false_win")
        assert refused.value.code == "false_win_needs_no_win"

    asyncio.run(play())


def test_a_request_sent_twice_books_once_also_after_a_restart(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        await desk.do("confirm", key="tap-1")
        booked = len(desk.writer.entries)
        await desk.do("confirm", key="tap-1")
        again = await new_desk(writer=desk.writer)
        await again.do("confirm", key="tap-1")
        assert len(desk.writer.entries) == booked

    asyncio.run(play())


def test_a_key_used_again_for_another_action_is_another_request(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.do("start", key="k")
        await desk.do("call", key="k", place=1)
        assert desk.session.called == (1,)

    asyncio.run(play())


def test_two_requests_with_one_key_at_the_same_time_book_once(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        await asyncio.gather(*(desk.do("confirm", key="tap-2") for _ in range(5)))
        assert [e.kind for e in desk.writer.entries].count("hand.confirmed") == 1

    asyncio.run(play())


def test_a_stale_revision_is_refused_and_a_call_does_not_make_one(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        rev = desk.session.rev
        await desk.do("call", place=0)
        await desk.do("tile", i=0, kind="1m", rev=rev)
        with pytest.raises(StaleRevision) as stale:
            await desk.do("confirm", rev=rev)
        assert stale.value.current == desk.session.rev

    asyncio.run(play())


def test_a_call_or_a_penalty_does_not_let_the_machine_move(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.do("call", place=1)
        await desk.do("penalty", place=0, kind="warning")
        assert not desk.table.acted
        await desk.do("start")
        assert desk.table.acted

    asyncio.run(play())


def test_a_call_stands_until_a_referee_decides(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.do("call", place=2)
        await desk.do("call", place=2)
        assert desk.table.state()["messages"] == [{"code": "referee.called", "params": {"place": 2}}]
        await desk.do("penalty", place=0, kind="warning")
        assert desk.table.state()["messages"] == []

    asyncio.run(play())


def test_nothing_changes_when_the_log_cannot_store(new_desk: Callable[..., Any]) -> None:
    from station.errors import LogFull

    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        before = desk.session
        desk.writer.fail = LogFull("no space")
        with pytest.raises(LogFull):
            await desk.do("confirm")
        assert desk.session == before
        desk.writer.fail = None
        await desk.do("confirm")
        assert desk.session.places[1].chips == 58

    asyncio.run(play())


def test_applying_one_by_one_equals_replaying(new_desk: Callable[..., Any]) -> None:
    from station.session import Session
    from station.table.runtime import _decoded

    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        await desk.claim()
        await desk.do("confirm")
        events = [_decoded(e) for e in desk.writer.entries]
        state = Session()
        for event in events:
            state = apply(state, event)
        assert state == replay(events)

    asyncio.run(play())


# ---- corrections ----


def of(*bodies: m.Body | None) -> list[Event]:
    return [Event(seq, float(seq), body) for seq, body in enumerate(bodies, 1)]


OPENED = m.SessionOpened(
    table="T1", ruleset="zhenjiang", ruleset_hash="", options={}, players=list("abcd"), chips=[50] * 4
)
FINED = m.PenaltyApplied(hand=0, place=1, penalty="chips", amount=5)


def drawn(circle: int) -> m.HandRuled:
    return m.HandRuled(
        hand=1, ruling="draw", place=None, reason=None, pay=[0] * 4, bank=0, next_dealer=0, circle=circle
    )


def corrected(target: int) -> m.EventCorrected:
    return m.EventCorrected(target=target, reason="wrong place")


def test_a_correction_takes_one_event_back_and_a_second_one_of_it_does_nothing() -> None:
    events = of(OPENED, FINED, FINED, corrected(2), corrected(2))
    assert replay(events).places[1].chips == 45
    corrections = Corrections(events)
    assert (corrections.hidden, corrections.ignored) == ({2}, 1)


@pytest.mark.parametrize(
    "target",
    [0, -1, 1, 3, 4, 6, 7, 99],
    ids=["0", "negative", "opening", "not an event of the game", "a correction", "itself", "later", "never"],
)
def test_a_correction_of_what_cannot_be_taken_back_changes_nothing_and_is_counted(target: int) -> None:
    before = of(OPENED, FINED, None, corrected(99), FINED)
    events = of(OPENED, FINED, None, corrected(99), FINED, corrected(target), FINED)
    assert replay(events).places == replay([*before, Event(7, 7.0, FINED)]).places
    assert (Corrections(events).hidden, Corrections(events).ignored) == (set(), 2)


def test_undo_without_a_reason_says_that_it_was_one(new_desk: Callable[..., Any]) -> None:
    async def play() -> None:
        desk = await new_desk()
        await desk.to_play()
        for reason in ("wrong place", None, ""):
            await desk.do("penalty", place=0, kind="chips", amount=2)
            await desk.do("undo", reason=reason)
        reasons = [
            m.decode(e.kind, e.body).reason for e in desk.writer.entries if e.kind == "event.corrected"
        ]
        assert reasons == ["wrong place", "undone", "undone"]

    asyncio.run(play())


def test_a_correction_has_a_reason_and_an_old_one_without_gets_one() -> None:
    assert m.decode("event.corrected", b'{"v":1,"target":3}') == m.EventCorrected(target=3, reason="undone")
    assert m.decode("event.corrected", b'{"v":1,"target":3,"reason":"x"}').reason == "x"
    for reason in (b"", b',"reason":""', b',"reason":null'):
        with pytest.raises(msgspec.DecodeError):
            m.decode("event.corrected", b'{"v":2,"target":3%s}' % reason)


@pytest.mark.parametrize(
    ("bodies", "due"),
    [
        ([], None),
        ([OPENED], "session.opened"),
        ([FINED], None),
        ([m.SessionClosed(fines=[0] * 4, bank=0)], "session.closed"),
        ([drawn(circle=1)], None),
        ([drawn(circle=2)], "circle"),
    ],
    ids=["nothing", "opened", "fine", "closed", "same circle", "next circle"],
)
def test_the_log_is_signed_when_a_session_or_a_circle_begins_or_ends(bodies: list, due: str | None) -> None:
    assert checkpoint_due(replay(of(OPENED)), bodies) == due
