"""Fengcheng: 么鸡 and honours are spread for 垒, three alike are laid face down as 韶, losers score too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from engine.calls import Call
from engine.claim import Facts, Seat
from engine.facts import FactValue
from engine.melds import Meld, MeldKind
from engine.rules.fengcheng_spread import DRAGONS, HONOURS, WINDS
from engine.tiles import Tile
from station.demo.moves import Own, Player, Take
from station.demo.play.tactics import Tactics

YAOJI = Tile.S1
TRIPLET = 3
SEVEN_LESS_TWO = (3, 2)
"""Kinds of winds and of dragons."""


@dataclass(slots=True)
class _Start:
    """What a player's starting tiles are worth, and what was said of them."""

    groups: tuple[tuple[Tile, ...], ...]
    yaoji: int
    boast: str
    said: dict[str, FactValue] = field(default_factory=dict)


class FengchengTactics(Tactics):
    """Players spread and lay down whatever counts, as soon as it costs them nothing."""

    asks_worth = False
    may_kong = False
    adds_kongs = False

    def begin(self) -> None:
        """Look at the starting tiles."""
        self._starts = [_start(player.tiles) for player in self.table.players]

    def own(self, player: Player, *, called: bool) -> Own | None:
        """Honours before the first discard, 么鸡, 韶 and kongs; a kong needs a tile drawn."""
        live = self.table.wall.live
        for own in self._laid_down(player, called=called):
            if own.replaced <= live:
                if own.kind == "spread":
                    self._note(player, own)
                return own
        return None

    def _laid_down(self, player: Player, *, called: bool) -> Iterator[Own]:
        if not player.discards:
            yield from self._honours(player)
        yaoji = player.tiles.count(YAOJI)
        if yaoji:
            joins = next((n for n, tiles in enumerate(player.spread) if YAOJI in tiles), None)
            yield Own("spread", (YAOJI,) * yaoji, replaced=yaoji, joins=joins)
        if not called and self.table.wall.live:
            yield from self._kongs(player)
        yield from self._shao(player)

    def _honours(self, player: Player) -> Iterator[Own]:
        """Groups of honours, the winds with one replacement; then further honours of a group that lies."""
        start = self._starts[player.seat]
        for group in (WINDS, DRAGONS):
            lying = next((n for n, tiles in enumerate(player.spread) if set(group) <= set(tiles)), None)
            if lying is not None:
                yield from (
                    Own("spread", (tile,), replaced=1, joins=lying)
                    for tile in sorted(player.tiles)
                    if tile in group
                )
            elif set(group) <= set(player.tiles) and (self.rules.flag("smoke") or group in start.groups):
                yield Own("spread", group, replaced=int(group == WINDS))

    def _note(self, player: Player, own: Own) -> None:
        """What has to be said about tiles just spread."""
        start = self._starts[player.seat]
        lying = [tile for tiles in player.spread for tile in tiles]
        if own.tiles[0] is YAOJI and len(own.tiles) + lying.count(YAOJI) > 1:
            start.said["yaoji"] = "pair_start" if start.yaoji > 1 else "pair_later"
        if len(start.groups) > 1 and set(HONOURS) <= {*lying, *own.tiles}:
            start.said["seven_star"] = True

    def _kongs(self, player: Player) -> Iterator[Own]:
        for meld in player.melds:
            if meld.kind is MeldKind.SHAO and meld.tiles[0] in player.tiles:
                yield Own("kong_concealed", meld.tiles[:1], replaced=1, added=meld)
        kong = self.concealed_kong(player)
        if kong is not None:
            yield kong

    def _shao(self, player: Player) -> Iterator[Own]:
        for tile in sorted(set(player.tiles)):
            own = Own("shao", (tile,) * TRIPLET)
            if player.tiles.count(tile) == TRIPLET and self.harmless(player, own):
                yield own

    def discarded(self, player: Player, tile: Tile, after: str) -> None:  # noqa: ARG002
        """无风 and 七缺二 are shown before the first discard."""
        start = self._starts[player.seat]
        if not player.discards and start.boast and (self.rules.flag("smoke") or not player.spread):
            start.said[start.boast] = True

    def takes(self, player: Player, tile: Tile, source: Seat) -> Iterator[Take]:
        """A kong only with an own 韶; else as everywhere."""
        if Meld(MeldKind.SHAO, (tile,) * TRIPLET) in player.melds and self.table.wall.live:
            yield Take("kong", (tile,) * TRIPLET)
        yield from super().takes(player, tile, source)

    def call(self, player: Player, take: Take, tile: Tile, source: Seat) -> Call:
        """The own tiles of a kong lie there as 韶."""
        return replace(super().call(player, take, tile, source), shao=take.kind == "kong")

    def gains(self, player: Player, take: Take, tile: Tile) -> bool:
        """A 韶 can only get better; else as everywhere."""
        return take.kind == "kong" or super().gains(player, take, tile)

    def facts(self, player: Player) -> Facts:
        """What a player's spread tiles show and what was said of his starting hand."""
        said = Facts(self._starts[player.seat].said)
        tiles = [tile for group in player.spread for tile in group]
        return Facts({**self.rules.facts_of_spread(tiles, said), **said})


def _start(tiles: list[Tile]) -> _Start:
    honours = Counter(tile for tile in tiles if tile.is_honour)
    groups = tuple(group for group in (WINDS, DRAGONS) if set(group) <= set(honours))
    kinds = tuple(sum(tile in honours for tile in group) for group in (WINDS, DRAGONS))
    boast = "" if honours else "no_honor_start"
    if kinds == SEVEN_LESS_TWO and honours.total() == sum(SEVEN_LESS_TWO):
        boast = "seven_less_two"
    return _Start(groups, tiles.count(YAOJI), boast)
