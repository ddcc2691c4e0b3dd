"""A table's evening as events, and a central log made of them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from station import messages as m
from station.central.fold import Hall
from station.log import Entry, chain
from station.log.chain import ZERO_HEAD, Head, Stored

LINE = "456m789m11z34s C:123m +5s flip=1p how=discard seat=1 from=2"


def opened(table: str = "T1", names: Sequence[str] = ("甲", "乙", "丙", "丁")) -> m.SessionOpened:
    return m.SessionOpened(
        table=table, ruleset="zhenjiang", ruleset_hash="", options={}, players=list(names), chips=[50] * 4
    )


def dealt(hand: int) -> list[m.Body]:
    return [
        m.CycleStarted(hand=hand),
        m.DiceRolled(hand=hand, dice=[3, 4], source="machine"),
        m.WallDealt(hand=hand, machine_hand=hand, thrower=0, wall=1, stack=7, steps=["indicator"]),
        m.IndicatorRevealed(hand=hand, tile="1p", wild="2p", score=0.99, photo=None),
    ]


def claimed(hand: int) -> m.HandClaimed:
    return m.HandClaimed(hand=hand, claim=1, place=1, how="discard", source=2)


def confirmed(hand: int, line: str = LINE, winner: int = 1) -> m.HandConfirmed:
    pay = [-1] * 4
    pay[winner] = 3
    return m.HandConfirmed(
        hand=hand,
        claim=1,
        winner=winner,
        line=line,
        cls="discard",
        verdict={},
        pay=pay,
        unpaid=[0] * 4,
        bank=0,
        next_dealer=1,
        photo=None,
        scores=[],
        edits=0,
    )


class Evening:
    """Feeds the hall what a central log would hold."""

    def __init__(self) -> None:
        self.hall = Hall()
        self._heads: dict[bytes, Head] = {}
        self._chains: dict[bytes, list[Entry]] = {}
        self._pos = 0

    def tell(self, *bodies: m.Body, table: str = "T1", log_id: bytes = b"A" * 16, at_s: int = 1000) -> None:
        self.tell_raw([m.encode(body) for body in bodies], table, log_id, at_s)

    def tell_raw(
        self, events: list[tuple[str, bytes]], table: str = "T1", log_id: bytes = b"A" * 16, at_s: int = 1000
    ) -> None:
        for entry in chain.link(log_id, self._heads.get(log_id, ZERO_HEAD), events, 1000 * at_s):
            self._heads[log_id] = entry.head
            self.tell_entry(table, entry)

    def own(self, kind: str, params: dict[str, object]) -> None:
        self.tell_raw([(kind, json.dumps(params).encode())], table="", log_id=b"C" * 16)

    def tell_entry(self, table: str, entry: Entry) -> None:
        self._pos += 1
        self._chains.setdefault(entry.log_id, []).append(entry)
        self.hall.apply(Stored(self._pos, table, 0, bytes(32), bytes(32), entry))
        self.hall.settle(self._chains.__getitem__)


@pytest.fixture
def evening() -> Evening:
    return Evening()
