"""One hand as simulated players play it by the rules of any rule set. Pure and seeded.

They stand in for the people at the table, so they know their tiles; nothing else of the system does. What a
rule set's players aim for and how they win is `station.demo.play`'s; who may take which tile is the engine's.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from engine.calls import MELDS
from engine.claim import DRAW, Seat
from engine.facts import Facts, FactSpec, FactValue
from engine.melds import Meld, MeldKind
from engine.rulesets import RuleSet
from engine.tiles import Tile
from station.demo.laid import LaidOpen, OpenTiles
from station.demo.moves import Chance, Own, Player, Style, Take, Way, without
from station.demo.wall import Wall

if TYPE_CHECKING:
    from station.demo.play.tactics import Tactics


class _Exhausted(Exception):
    """The wall has nothing more for somebody who has to draw."""


class Round:
    """One hand at the table. Iterate `claims()`: a claim, then what follows if it did not end the hand.

    Args:
        tactics: makes what the players do by, for this hand.
        streak, circle: of the match, where the rule set asks for them.
    """

    def __init__(
        self,
        rules: RuleSet,
        wall: Wall,
        style: Style,
        rng: random.Random,
        tactics: Callable[[Round], Tactics],
        *,
        streak: int = 0,
        circle: int = 1,
    ) -> None:
        self.rules = rules
        self.wall = wall
        self.style = style
        self.rng = rng
        self.players = [Player(Seat(seat), hand) for seat, hand in enumerate(wall.deal())]
        self.indicator: Tile | None = None
        self.lying: list[Tile] = []
        """Discards that nobody took."""
        self.barred: set[Seat] = set()
        self._match = {"streak": streak, "round": (circle - 1) % rules.players}
        self._losers_score = bool(rules.data.seat_facts)
        self._losers_score = bool(rules.data.seat_facts)
        self._bluffed = style is not Style.BLUFF
        self._tactics = tactics(self)

    # ---- before the first discard ------------------------------------------------------------------

    def replace_flowers(self) -> None:
        """Replace the dealt flowers, the dealer first, round by round."""
        while any(tile.is_flower for player in self.players for tile in player.tiles):
            for player in self.players:
                flowers = [tile for tile in player.tiles if tile.is_flower]
                player.flowers += flowers
                player.tiles = [tile for tile in player.tiles if not tile.is_flower]
                player.tiles += [self.wall.replacement() for _ in flowers]

    def open(self, indicator: Tile | None) -> None:
        """The tile that the rule set turns up is known."""
        self.indicator = indicator

    # ---- play --------------------------------------------------------------------------------------

    def claims(self) -> Iterator[LaidOpen]:
        """Play on and yield each claim; the iterator ends when the wall is exhausted."""
        self._tactics.begin()
        player = self.players[0]
        chance = Chance(player.tiles.pop(), dealt=True)
        for winner, way in self._tactics.at_start(chance):
            yield from self._claim(winner, way, None)
        with contextlib.suppress(_Exhausted):
            while True:
                yield from self._turn(player, chance)
                player = yield from self._discards(player)
                player = self.after(player)[0]
                player.passed.clear()
                chance = self._drawn(player)

    def exhausted(self) -> LaidOpen | None:
        """What lies open when the wall is empty, where that is settled; else None."""
        if not self._losers_score:
            return None
        return LaidOpen(None, DRAW, None, Facts(), (), None, self._tables(), everybody=True)

    def after(self, player: Player) -> list[Player]:
        """The other players in turn after one."""
        n = len(self.players)
        return [self.players[(player.seat + step) % n] for step in range(1, n)]

    def open_copies(self, tile: Tile) -> int:
        """How many copies of a kind everybody can see."""
        melds = [meld for player in self.players for meld in player.melds]
        seen = [kind for meld in melds if meld.kind is not MeldKind.SHAO for kind in meld.tiles]
        return self.lying.count(tile) + seen.count(tile)

    def _drawn(self, player: Player, kong: MeldKind | None = None, *, tail: bool = False) -> Chance:
        """Draw for a player, flowers replaced at once; ``kong``: of the kong that needs a replacement."""
        while self.wall.live:
            tile = self.wall.replacement() if tail else self.wall.draw()
            if not tile.is_flower:
                return Chance(tile, kong=kong, last=not self.wall.live)
            player.flowers.append(tile)
            kong, tail = None, True
        raise _Exhausted

    def _turn(self, player: Player, chance: Chance | None) -> Iterator[LaidOpen]:
        """Claim with the tile drawn, keep it, lay what can be laid, and so on with every replacement.

        Without a tile drawn it is the turn after a call.
        """
        called = chance is None
        while True:
            if chance is not None:
                yield from self._with_drawn(player, chance)
                player.tiles.append(chance.tile)
            own = self._tactics.own(player, called=called)
            if own is None:
                return
            chance = yield from self._lay(player, own)

    def _with_drawn(self, player: Player, chance: Chance) -> Iterator[LaidOpen]:
        way = self._tactics.way(player, chance)
        if way is not None:
            yield from self._claim(player, way, None)
        elif not self._bluffed and player.seat not in self.barred:
            bluff = self._tactics.bluff(player, chance)
            if bluff is not None:
                self._bluffed = True
                yield self.laid_open(player, bluff, None)

    def _lay(self, player: Player, own: Own) -> Generator[LaidOpen, None, Chance | None]:
        """Lay down one's own tiles; the value is the replacement with which he may win."""
        player.tiles = without(player.tiles, own.tiles)
        if own.kind == "kong_added":
            yield from self._others_win(player, Chance(own.tiles[0], player.seat, robbed=True))
        self._put_down(player, own)
        chance = None
        for _ in range(own.replaced):
            if chance is not None:
                player.tiles.append(chance.tile)
            chance = self._drawn(player, MELDS.get(own.kind), tail=True)
        return chance

    @staticmethod
    def _put_down(player: Player, own: Own) -> None:
        kind = MELDS.get(own.kind)
        if kind is None and own.joins is None:
            player.spread.append(own.tiles)
        elif kind is None and own.joins is not None:
            player.spread[own.joins] += own.tiles
        elif kind is not None and own.added is None:
            player.melds.append(Meld(kind, own.tiles))
        elif kind is not None and own.added is not None:
            joined = Meld(kind, (*own.added.tiles, *own.tiles))
            player.melds[player.melds.index(own.added)] = joined

    def _discards(self, player: Player) -> Generator[LaidOpen, None, Player]:
        """Discard, and play on as long as somebody calls; the value is who discarded last."""
        after = ""
        while True:
            tile = self._discard(player, after)
            if self._tactics.closes(player):
                yield from self._last_draws(player, tile)
            yield from self._others_win(player, Chance(tile, player.seat, last=not self.wall.live))
            called = self._called(player, tile)
            for other in self.after(player):
                if called is None or other is not called[0]:
                    other.passed.append(tile)
            if called is None:
                self.lying.append(tile)
                return player
            player, take = called
            after = take.kind
            self._meld(player, take, tile)
            chance = self._drawn(player, MeldKind.KONG, tail=True) if take.kind == "kong" else None
            yield from self._turn(player, chance)

    def _last_draws(self, player: Player, tile: Tile) -> Iterator[LaidOpen]:
        """Everybody draws once more and may only win with what he draws (双游): nobody calls or discards."""
        self.lying.append(tile)
        for other in self.after(player):
            if not self.wall.live:
                raise _Exhausted
            drawn = self.wall.draw()
            if drawn.is_flower:
                other.flowers.append(drawn)
                continue
            yield from self._with_drawn(other, Chance(drawn, last=not self.wall.live))
            other.tiles.append(drawn)
        chance = self._drawn(player)
        yield from self._with_drawn(player, chance)
        player.tiles.append(chance.tile)
        raise _Exhausted

    def _discard(self, player: Player, after: str) -> Tile:
        tile = self._tactics.choose(player)
        player.tiles.remove(tile)
        self._tactics.discarded(player, tile, after)
        player.discards.append(tile)
        return tile

    def _others_win(self, player: Player, chance: Chance) -> Iterator[LaidOpen]:
        for other in self.after(player):
            way = self._tactics.way(other, chance)
            if way is not None:
                yield from self._claim(other, way, player.seat)

    def _called(self, player: Player, tile: Tile) -> tuple[Player, Take] | None:
        """Who takes a discard that nobody wins on, by the engine's order of calls."""
        if self.style is Style.SLEEPY:
            return None
        wanted = {other.seat: self._tactics.wanted(other, tile, player.seat) for other in self.after(player)}
        wants = [(seat, take.kind) for seat, take in wanted.items() if take is not None]
        award = self.rules.award(tile, player.seat, wants, indicator=self.indicator)
        take = None if award.seat is None else wanted[award.seat]
        return None if take is None or award.seat is None else (self.players[award.seat], take)

    def _meld(self, player: Player, take: Take, tile: Tile) -> None:
        shao = Meld(MeldKind.SHAO, take.own) if take.kind == "kong" else None
        if shao in player.melds:
            player.melds.remove(shao)
        else:
            for own in take.own:
                player.tiles.remove(own)
        player.melds.append(Meld(MELDS[take.kind], tuple(sorted((*take.own, tile)))))

    # ---- what lies open ----------------------------------------------------------------------------

    def _claim(self, player: Player, way: Way, source: Seat | None) -> Iterator[LaidOpen]:
        if self.style is not Style.SLEEPY and player.seat not in self.barred:
            yield self.laid_open(player, way, source)

    def laid_open(self, player: Player, way: Way, source: Seat | None) -> LaidOpen:
        """What lies open if a player claims now."""
        facts = Facts({**self._known(player), **way.facts})
        return LaidOpen(
            player.seat,
            way.how,
            source,
            facts,
            way.concealed,
            way.win,
            self._tables(),
            everybody=self._losers_score,
        )

    def _tables(self) -> tuple[OpenTiles, ...]:
        """What everybody sees of each player."""
        return tuple(
            OpenTiles(
                tuple(player.melds),
                tuple(player.flowers),
                tuple(player.spread),
                self._tactics.facts(player),
                len(player.tiles),
            )
            for player in self.players
        )

    def _known(self, player: Player) -> Facts:
        """Facts of a claim which the match and the flowers tell."""
        found: dict[str, FactValue] = {}
        for name, spec in self.rules.data.facts.items():
            value = self._value(spec, player)
            if value:
                found[name] = value
        return Facts(found)

    def _value(self, spec: FactSpec, player: Player) -> FactValue:
        if spec.role == "flowers":
            return tuple(player.flowers) if spec.type == "tiles" else len(player.flowers)
        return {**self._match, "seat": int(player.seat)}.get(spec.role, 0)
