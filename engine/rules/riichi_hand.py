"""A hand as a counter of han and fu takes it, and its answer (rule set riichi, §3 and §4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.decompose import Decomposition, GroupKind
from engine.melds import Meld, MeldKind
from engine.tiles import Tile

FIRST_TURN = frozenset({"tenhou", "chiihou"})

_KINDS = {GroupKind.CHOW: MeldKind.CHOW, GroupKind.PUNG: MeldKind.PUNG}


@dataclass(frozen=True, slots=True)
class Block:
    """A set whose tiles are fixed; `laid` = with another player's tile."""

    kind: MeldKind
    tiles: tuple[Tile, ...]
    laid: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Which of the usual variants are played: the options of the rule set."""

    open_tanyao: bool
    red_fives: bool
    kiriage: bool
    double_yakuman: bool
    counted_yakuman: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RiichiHand:
    """A complete hand and what its tiles do not tell. Winds count from East = 0; the dealer is East.

    `tiles` are all of them, those of the blocks and the winning one among them.
    """

    tiles: tuple[Tile, ...]
    blocks: tuple[Block, ...]
    win: Tile
    self_drawn: bool
    seat_wind: int
    round_wind: int
    table: Table
    riichi: bool = False
    double_riichi: bool = False
    ippatsu: bool = False
    kong: bool = False
    rob: bool = False
    last: bool = False
    first: bool = False
    dora: tuple[Tile, ...] = ()
    ura: tuple[Tile, ...] = ()
    red: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a hand is worth. `yaku` and `fu_items` are codes with han and fu; `level` is "" below mangan.

    `points`: what the discarder pays; on self-draw the dealer, or everybody when the dealer wins.
    `points_others`: what the other two pay on self-draw.
    """

    han: int
    fu: int
    yaku: tuple[tuple[str, int], ...]
    fu_items: tuple[tuple[str, int], ...]
    yakuman: frozenset[str]
    level: str
    points: int
    points_others: int


CountHan = Callable[[RiichiHand], "Value | str"]
"""Tells what a hand is worth, or the reason code of one that does not win."""


def block_of(meld: Meld) -> Block:
    """A meld as a block."""
    return Block(meld.kind, tuple(sorted(meld.tiles)), meld.kind is not MeldKind.CONCEALED_KONG)


def counted_readings(
    count: CountHan, hand: RiichiHand, readings: Sequence[Decomposition], answer: Value
) -> list[Decomposition]:
    """The readings that are worth the answer, those with exactly its yaku and fu first.

    Each is asked for by itself, with all its sets fixed; a win in the first turn (first=…) would not be
    counted with fixed sets, and is left out on both sides. Nine gates are never seen in fixed sets: then
    every reading is worth the answer.
    """
    if len(readings) < 2:
        return list(readings)
    own = [(reading, count(_fixed(hand, reading))) for reading in readings]
    same = [reading for reading, value in own if isinstance(value, Value) and _same(value, answer)]
    alike = [
        reading
        for reading, value in own
        if isinstance(value, Value)
        and reading not in same
        and (value.points, value.points_others) == (answer.points, answer.points_others)
    ]
    return [*same, *alike] or list(readings)


def _fixed(hand: RiichiHand, reading: Decomposition) -> RiichiHand:
    sets = [group for group in reading.sets if not group.melded]
    done = tuple(Block(_KINDS[group.kind], group.kinds, laid=False) for group in sets)
    return replace(hand, blocks=(*hand.blocks, *done), first=False)


def _same(value: Value, answer: Value) -> bool:
    if answer.yakuman:
        return value.yakuman == answer.yakuman - FIRST_TURN
    return value == answer
