from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from station.table.decide import Refused


async def _at(stage: str, desk: Any) -> None:
    if stage in ("play", "claim", "ruled"):
        await desk.to_play()
    if stage == "claim":
        await desk.claim()
    if stage == "ruled":
        await desk.do("ruling", kind="draw")


@pytest.mark.parametrize(
    ("stage", "action", "body", "code"),
    [
        ("start", "confirm", {}, "no_claim"),
        ("start", "claim", {"place": 1, "how": "self"}, "no_claim_now"),
        ("start", "ruling", {"kind": "draw"}, "no_hand"),
        ("start", "undo", {}, "nothing_to_undo"),
        ("start", "recovery", {"choice": "finish"}, "no_recovery"),
        ("start", "override", {"reason": "x"}, "no_machine_hand"),
        ("play", "start", {}, "hand_running"),
        ("play", "dice", {"dice": [1, 2]}, "no_dice_now"),
        ("play", "indicator", {"tile": "1f"}, "bad_tile"),
        ("play", "indicator", {"tile": "xx"}, "bad_tile"),
        ("play", "claim", {"place": 4, "how": "self"}, "bad_place"),
        ("play", "claim", {"place": True, "how": "self"}, "bad_place"),
        ("play", "claim", {"place": 1, "how": "magic"}, "bad_how"),
        ("play", "claim", {"place": 1, "how": "draw"}, "bad_how"),
        ("play", "claim", {"place": 1, "how": "discard"}, "bad_place"),
        ("play", "claim", {"place": 1, "how": "discard", "from": 1}, "bad_from"),
        ("play", "claim", {"place": 1, "how": "self", "from": 2}, "bad_from"),
        ("play", "claim", {"place": 1, "how": "self", "da": {"shou": 10}}, "bad_fact"),
        ("play", "claim", {"place": 1, "how": "self", "da": {"other": 1}}, "bad_fact"),
        ("play", "penalty", {"place": 0, "kind": "chips", "amount": 51}, "bad_amount"),
        ("play", "penalty", {"place": 0, "kind": "warning", "amount": 1}, "bad_amount"),
        ("play", "penalty", {"place": 0, "kind": "jail"}, "bad_penalty"),
        ("play", "ruling", {"kind": "false_win"}, "no_claim"),
        ("play", "ruling", {"kind": "nonsense"}, "bad_ruling"),
        ("play", "close", {}, "hand_running"),
        ("play", "call", {"place": -1}, "bad_place"),
        ("claim", "claim", {"place": 1, "how": "self"}, "claim_pending"),
        ("claim", "ruling", {"kind": "draw"}, "claim_pending"),
        ("claim", "ruling", {"kind": "win", "place": 1}, "reason_needed"),
        ("claim", "ruling", {"kind": "win", "place": 1, "reason": "r", "pay": [1, 1, 1, 1]}, "bad_pay"),
        ("claim", "ruling", {"kind": "win", "place": 1, "reason": "r", "pay": [-51, 51, 0, 0]}, "bad_pay"),
        ("claim", "tile", {"i": 14, "kind": "1m"}, "bad_index"),
        ("claim", "tile", {"i": 0, "kind": "?"}, "bad_tile"),
        ("claim", "tile", {"i": 0, "kind": "10m"}, "bad_tile"),
        ("claim", "hand", {"line": "12x"}, "bad_line"),
        ("ruled", "confirm", {}, "no_claim"),
        ("ruled", "tile", {"i": 0, "kind": "1m"}, "no_claim"),
    ],
)
def test_what_can_not_be_done_now_is_refused_with_its_code(
    stage: str, action: str, body: dict[str, Any], code: str, new_desk: Callable[..., Any]
) -> None:
    async def play() -> None:
        desk = await new_desk()
        await _at(stage, desk)
        booked = len(desk.writer.entries)
        with pytest.raises(Refused) as refused:
            await desk.table.act(action, body, None, None)
        assert refused.value.code == code
        assert len(desk.writer.entries) == booked

    asyncio.run(play())
