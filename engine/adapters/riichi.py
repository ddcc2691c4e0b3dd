"""Han, fu and points of a hand in riichi mahjong, counted by the library mahjong 2.x."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from engine.adapters import library
from engine.errors import EngineError
from engine.melds import MeldKind
from engine.rules.riichi_hand import Block, RiichiHand, Value
from engine.tiles import Tile

REASONS = {"hand_not_winning": "no_decomposition", "no_yaku": "no_yaku"}

COPIES = 4


def load() -> ModuleType:
    """The library.

    Raises:
        MissingExtraError: it is not installed.
    """
    return _module("mahjong")


def _module(name: str) -> ModuleType:
    return library(name, "riichi", "mahjong>=2,<3")


def value(hand: RiichiHand) -> Value | str:
    """What a hand is worth, or the reason code of one that does not win.

    A yaku's code is its name among the library's settings.

    Raises:
        MissingExtraError: the library is not installed.
        EngineError: facts that contradict each other, or tiles that are no hand.
    """
    calculator = _module("mahjong.hand_calculating.hand").HandCalculator
    config = _config(hand)
    ids = _Ids(hand)
    melds = [_meld(block, ids) for block in hand.blocks]
    tiles = [*(tile for meld in melds for tile in meld.tiles), *ids.rest()]
    found = calculator.estimate_hand_value(
        tiles,
        next(tile for tile in tiles if tile // COPIES == hand.win),
        melds=melds,
        dora_indicators=[COPIES * tile for tile in hand.dora],
        ura_dora_indicators=[COPIES * tile for tile in hand.ura],
        config=config,
    )
    if found.error:
        if found.error not in REASONS:
            raise EngineError(f"the library mahjong refuses the hand: {found.error}.")
        return REASONS[found.error]
    names = {id(yaku): name for name, yaku in vars(config.yaku).items()}
    is_open = any(block.laid for block in hand.blocks)
    return Value(
        han=found.han,
        fu=found.fu,
        yaku=tuple((names[id(yaku)], _han(yaku, is_open=is_open)) for yaku in found.yaku),
        fu_items=tuple((f"fu_{detail['reason']}", detail["fu"]) for detail in found.fu_details or ()),
        yakuman=frozenset(names[id(yaku)] for yaku in found.yaku if yaku.is_yakuman),
        level=found.cost["yaku_level"].replace(" ", "_"),
        points=found.cost["main"],
        points_others=found.cost["additional"],
    )


def _config(hand: RiichiHand) -> Any:
    settings = _module("mahjong.hand_calculating.hand_config")
    table = hand.table
    limits = settings.HandConstants
    rules = settings.OptionalRules(
        has_open_tanyao=table.open_tanyao,
        has_aka_dora=table.red_fives,
        has_double_yakuman=table.double_yakuman,
        kiriage=table.kiriage,
        kazoe_limit=limits.KAZOE_LIMITED if table.counted_yakuman else limits.KAZOE_SANBAIMAN,
    )
    return settings.HandConfig(
        is_tsumo=hand.self_drawn,
        is_riichi=hand.riichi,
        is_daburu_riichi=hand.double_riichi,
        is_ippatsu=hand.ippatsu,
        is_rinshan=hand.kong,
        is_chankan=hand.rob,
        is_haitei=hand.last and hand.self_drawn,
        is_houtei=hand.last and not hand.self_drawn,
        is_tenhou=hand.first and hand.seat_wind == 0,
        is_chiihou=hand.first and hand.seat_wind != 0,
        player_wind=Tile.EAST + hand.seat_wind,
        round_wind=Tile.EAST + hand.round_wind,
        options=rules,
    )


def _han(yaku: Any, *, is_open: bool) -> int:
    return int(yaku.han_open or yaku.han_closed) if is_open else int(yaku.han_closed)


def _meld(block: Block, ids: _Ids) -> Any:
    kinds = _module("mahjong.meld").Meld
    names = {MeldKind.CHOW: kinds.CHI, MeldKind.PUNG: kinds.PON}
    kind = names.get(block.kind, kinds.KAN)
    return kinds(meld_type=kind, tiles=ids.take(block.tiles), opened=block.laid)


class _Ids:
    """The library's number of every tile: four of a kind, the first of the fives being the red one."""

    def __init__(self, hand: RiichiHand) -> None:
        fives = sorted((Tile.M5, Tile.P5, Tile.S5), key=hand.tiles.count, reverse=True)
        red = fives[: hand.red]  # with four of a suit one of them must be red
        self._free: dict[Tile, list[int]] = {}
        for tile in hand.tiles:
            if tile not in self._free:
                first, *others = range(COPIES * tile, COPIES * (tile + 1))
                self._free[tile] = [*others, first] if tile in fives and tile not in red else [first, *others]
        self._left = list(hand.tiles)

    def take(self, tiles: Iterable[Tile]) -> list[int]:
        """The numbers of some of the tiles."""
        taken = []
        for tile in tiles:
            self._left.remove(tile)
            taken.append(self._free[tile].pop(0))
        return taken

    def rest(self) -> list[int]:
        """The numbers of those that are left."""
        return self.take(list(self._left))
