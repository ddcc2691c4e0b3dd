"""A hand as a counter of fans takes it, and which readings of it were counted (mcr_team_event.md §3).

A counter answers for the whole hand, for the reading that is worth most, and does not say which that was. So
every reading is asked for by itself: all its sets but one are handed over as complete before the winning tile
came. That fixes the reading and changes just those of the wait (边张, 嵌张, 单钓), 和绝张 and 无番和; these
are put back here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.decompose import Decomposition, Group, GroupKind
from engine.melds import Meld, MeldKind
from engine.rules.mcr_shapes import is_seven_pairs
from engine.tiles import HAND_KINDS, Tile
from engine.wincheck import MAX_COPIES, counts_of, sets_deficiency, wins

EDGE, CLOSED, SINGLE = WAITS = ("edge_wait", "closed_wait", "single_wait")
"""At most one of them counts, the first that applies."""

LAST_TILE, CHICKEN, FLOWERS = "last_tile", "chicken_hand", "flower_tiles"

CHICKEN_POINTS = 8

_KINDS = {GroupKind.CHOW: MeldKind.CHOW, GroupKind.PUNG: MeldKind.PUNG}


class Fan(NamedTuple):
    """A fan of a hand: its code, points of one, how often it is there."""

    code: str
    points: int
    times: int


class Pack(NamedTuple):
    """A set that is complete before the winning tile comes; `laid` = with another player's tile."""

    kind: MeldKind
    tiles: tuple[Tile, ...]
    laid: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FanHand:
    """A complete hand and what its tiles do not tell.

    Packs and concealed tiles together are 13, a kong counting as three; no kind occurs five times.
    `fourth`: the other three of the winning tile lie open. `kong`: on the replacement tile of a kong, or
    robbing one. `last`: last tile of the wall, or the discard after it. Winds count from East = 0.
    """

    packs: tuple[Pack, ...]
    concealed: tuple[Tile, ...]
    win: Tile
    self_drawn: bool
    fourth: bool = False
    kong: bool = False
    last: bool = False
    seat_wind: int = 0
    prevailing_wind: int = 0
    flowers: int = 0


CountFans = Callable[[FanHand], Sequence[Fan] | None]
"""Tells the fans of a hand, or None when it does not win."""

Points = Mapping[str, int]
"""Points by the code of the fan, what is there several times taken together."""


def pack_of(meld: Meld) -> Pack:
    """A meld as a pack."""
    return Pack(meld.kind, meld.tiles, meld.kind is not MeldKind.CONCEALED_KONG)


def points_of(fans: Iterable[Fan]) -> dict[str, int]:
    """The fans with their points."""
    return {fan.code: fan.points * fan.times for fan in fans}


def counted_readings(
    count: CountFans, hand: FanHand, readings: Sequence[Decomposition], answer: Points
) -> list[Decomposition]:
    """The readings that are worth what the answer for the whole hand says.

    First those with exactly its fans; then those with other fans of the same sum.
    """
    plain = {code: points for code, points in answer.items() if code != FLOWERS}
    if len(readings) < 2:
        return list(readings)
    unique = any(code in plain for code in WAITS) or _waits_on_one(hand.concealed)
    priced = [(reading, _points(count, hand, reading, plain, unique=unique)) for reading in readings]
    same = [reading for reading, points in priced if points == plain]
    alike = [
        reading
        for reading, points in priced
        if points != plain and sum(points.values()) == sum(plain.values())
    ]
    return [*same, *alike]


def _points(
    count: CountFans, hand: FanHand, reading: Decomposition, answer: Points, *, unique: bool
) -> dict[str, int]:
    """The fans of one reading, without flowers."""
    fans = count(_fixed(hand, reading)) or ()
    points = points_of(fan for fan in fans if fan.code not in (*WAITS, LAST_TILE, CHICKEN, FLOWERS))
    if LAST_TILE in answer:
        points[LAST_TILE] = answer[LAST_TILE]
    if unique and (wait := _wait(reading, hand.win)):
        points[wait] = 1
    return points or {CHICKEN: CHICKEN_POINTS}


def _fixed(hand: FanHand, reading: Decomposition) -> FanHand:
    """The hand with every concealed set but one with the winning tile as a pack; so it reads one way."""
    sets = [group for group in reading.sets if not group.melded]
    holder = next((nth for nth, group in enumerate(sets) if hand.win in group.kinds), None)
    concealed = [*reading.pair.kinds, *(sets.pop(holder).kinds if holder is not None else ())]
    concealed.remove(hand.win)
    done = tuple(Pack(_KINDS[group.kind], group.kinds, laid=False) for group in sets)
    return replace(hand, packs=(*hand.packs, *done), concealed=tuple(concealed))


def _wait(reading: Decomposition, win: Tile) -> str | None:
    """Which wait the winning tile ends, if it is the only tile that does."""
    found = set(_positions([group for group in reading.groups if not group.melded], win))
    return next((wait for wait in WAITS if wait in found), None)


def _positions(groups: Iterable[Group], win: Tile) -> Iterator[str]:
    for group in groups:
        if win not in group.kinds:
            continue
        if group.kind is GroupKind.PAIR:
            yield SINGLE
        elif group.kind is GroupKind.CHOW:
            yield CLOSED if group.kinds[1] == win else EDGE


def _waits_on_one(concealed: Sequence[Tile]) -> bool:
    """Whether a single kind completes the tiles, as sets and a pair or as seven pairs.

    A kind of which the hand has all four counts too: the counter asks for the form of the hand, not for
    what can still come.
    """
    counts = counts_of(concealed)
    return sum(_completes(counts, kind) for kind in HAND_KINDS) == 1


def _completes(counts: Sequence[int], kind: Tile) -> bool:
    def having(copies: int) -> list[int]:
        return [*counts[:kind], copies, *counts[kind + 1 :]]

    if counts[kind] < MAX_COPIES:
        whole = having(counts[kind] + 1)
        return wins(whole) or is_seven_pairs(whole)
    # Of five alike three are a triplet or two the pair, for four sets hold at most four of them in runs.
    return wins(having(2)) or not sets_deficiency(having(3))
