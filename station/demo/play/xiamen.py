"""Xiamen: the turned-up kind is gold and wild, White stands for its face, and 游金 is worth waiting for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine import gold as golden
from engine.calls import Call
from engine.claim import Facts, Seat
from engine.melds import Meld
from engine.tiles import KINDS, Tile
from engine.wincheck import MAX_COPIES, deficiency, every_tile_wins
from station.demo.moves import Chance, Own, Player, Take, Way, without
from station.demo.play.tactics import Tactics, chow_pairs

GOLDS = 3
"""Golds that are in play: the fourth lies turned up."""
DARING = 0.5
"""How often a player lets a win go for 游金, or 游金 for 双游, where he can."""
NONE = KINDS
"""Farther from a win than any hand can be."""


class XiamenTactics(Tactics):
    """Golds are kept; a hand that waits for every tile is claimed at the next draw."""

    self_drawn = "zimo"
    by_discard = "ping"
    asks_worth = False

    def begin(self) -> None:
        """The gold is known."""
        assert self.table.indicator is not None
        self.gold = self.rules.wild_of(self.table.indicator)
        self._free: dict[Seat, str] = {}
        """Whose hand waits for every tile, and the way to win at his next draw."""
        self._konged: set[Seat] = set()
        """Who has laid a concealed kong in this turn."""

    # ---- wins --------------------------------------------------------------------------------------

    def at_start(self, chance: Chance) -> Iterator[tuple[Player, Way]]:
        """天和, then three golds dealt, then ready hands that the turned-up gold completes."""
        dealer, *others = self.table.players
        if self.missing(dealer, chance) <= 0:
            yield dealer, self.laid(dealer, chance, "tianhe")
        for player in (*others, dealer):
            if player.tiles.count(self.gold) + (player is dealer and chance.tile == self.gold) >= GOLDS:
                win = chance.tile if player is dealer else None
                yield player, Way("sanjin_start", tuple(sorted(player.tiles)), win)
        for player in others:
            if self.lacking(player.tiles) <= 1:
                yield player, Way("qiangjin", tuple(sorted(player.tiles)), self.gold)

    def way(self, player: Player, chance: Chance) -> Way | None:
        """游金 before a third gold before any other win; with gold in hand nobody wins on a discard."""
        if chance.source is not None:
            return self._on_anothers(player, chance)
        if chance.dealt:
            return None
        if player.seat in self._free:
            how = self._free[player.seat]
            if how == "youjin" and self._dares(player, chance):
                return None
            return Way(how, tuple(sorted(player.tiles)), None, Facts(drawn=(chance.tile,)))
        if chance.tile == self.gold and player.tiles.count(self.gold) == GOLDS - 1:
            return Way("sanjin_mid", tuple(sorted(player.tiles)), chance.tile)
        way = super().way(player, chance)
        return None if way is not None and self._waits_for_more(player, chance) else way

    def _waits_for_more(self, player: Player, chance: Chance) -> bool:
        """Whether a player lets a self-draw go for 游金: after a discard every tile would win."""
        tiles = [*player.tiles, chance.tile]
        free = any(self._free_without(tiles, tile) for tile in set(tiles) - {self.gold})
        may = player.seat not in self.table.barred and self.table.wall.live > self.rules.players
        return free and may and self.table.rng.random() < DARING

    def _dares(self, player: Player, chance: Chance) -> bool:
        """Whether a player lets 游金 go for 双游: a gold is discarded, and again every tile wins."""
        tiles = [*player.tiles, chance.tile]
        daring = (
            self.gold in tiles
            and player.seat not in self.table.barred
            and self._free_without(tiles, self.gold)
            and self.table.rng.random() < DARING
        )
        if daring:
            self._free[player.seat] = "shuangyou"
        return daring

    def _on_anothers(self, player: Player, chance: Chance) -> Way | None:
        if self.gold in (*player.tiles, chance.tile) or self.missing(player, chance) > 0:
            return None
        if chance.robbed:
            return self.laid(player, chance, "robkong")
        return None if chance.tile in player.passed else self.laid(player, chance, "ping")

    def lacking(
        self,
        tiles: Sequence[Tile],
        claimed: Tile | None = None,
        melds: Sequence[Meld] = (),  # noqa: ARG002
    ) -> int:
        """As in every rule set, with golds as wildcards and White as the gold's face."""
        counts, golds = golden.split(tiles if claimed is None else (*tiles, claimed), self.gold)
        return NONE if max(counts) > MAX_COPIES else deficiency(counts) - golds

    # ---- discards ----------------------------------------------------------------------------------

    def choose(self, player: Player) -> Tile:
        """Discard what leaves the nearest hand; one that waits for every tile comes first."""
        if self._free.get(player.seat) == "shuangyou":
            return self.gold
        options = self.options(player)
        any_tile = [tile for tile in options if self._free_without(player.tiles, tile)]
        return min(any_tile or options, key=lambda tile: self.cost(player, tile))

    def options(self, player: Player) -> list[Tile]:
        """Never a gold; what 跟打 demands comes first."""
        discarded = tuple(self.table.lying)
        kinds = sorted(set(player.tiles) - {self.gold})
        allowed = [
            tile
            for tile in kinds
            if not self.rules.may_call(
                Call(
                    kind="discard",
                    seat=player.seat,
                    tile=tile,
                    indicator=self.gold,
                    hand=tuple(player.tiles),
                    discarded=discarded,
                )
            )
        ]
        return allowed or kinds

    def _free_without(self, tiles: Sequence[Tile], discard: Tile) -> bool:
        """Whether every tile wins after a discard."""
        counts, golds = golden.split(without(tiles, [discard]), self.gold)
        return golds > 0 and max(counts) <= MAX_COPIES and every_tile_wins(counts, golds)

    def discarded(self, player: Player, tile: Tile, after: str) -> None:  # noqa: ARG002
        """Note whether every tile wins now; right after a concealed kong that does not count."""
        free = self._free_without([*player.tiles, tile], tile)
        if self._free.get(player.seat) != "shuangyou":
            self._free.pop(player.seat, None)
        if free and player.seat not in self._konged:
            self._free.setdefault(player.seat, "youjin")
        self._konged.discard(player.seat)

    def closes(self, player: Player) -> bool:
        """双游 leaves everybody one draw."""
        return self._free.get(player.seat) == "shuangyou"

    # ---- calls -------------------------------------------------------------------------------------

    def own(self, player: Player, *, called: bool) -> Own | None:
        """Kongs, unless every tile wins already."""
        own = super().own(player, called=called)
        if own is not None and own.kind == "kong_concealed":
            self._konged.add(player.seat)
        return own

    def wanted(self, player: Player, tile: Tile, source: Seat) -> Take | None:
        """Nothing, when every tile wins already."""
        return None if player.seat in self._free else super().wanted(player, tile, source)

    def takes(self, player: Player, tile: Tile, source: Seat) -> Iterator[Take]:
        """As everywhere; in a chow White stands for the gold's face."""
        face = golden.face(tile, self.gold)
        yield from (take for take in super().takes(player, tile, source) if take.kind != "chow")
        if face.is_suited and player.seat == (source + 1) % self.rules.players:
            for pair in chow_pairs(face):
                own = tuple(golden.PROXY if kind == self.gold else kind for kind in pair)
                if set(own) <= set(player.tiles):
                    yield Take("chow", own)

    def konged(self, tile: Tile) -> bool:
        """Golds are not melded."""
        return tile != self.gold
