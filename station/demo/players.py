"""Simulated players: they draw, discard, pung, kong and claim by real rules. Pure and seeded.

They stand in for the people at the table, so they know their tiles; nothing else of the system does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from engine.claim import Counters, Seat
from engine.melds import Meld, MeldKind
from engine.tiles import KINDS, Tile
from engine.wincheck import deficiency

SEATS = 4
ONE_SHORT = 3
"""Wildcards a hand of 3n + 2 tiles lacks when it waits for one more: they come in threes (15, 17 … tiles)."""


class Style(StrEnum):
    """How a hand is played. BLUFF: somebody claims a hand that does not win. SLEEPY: nobody claims."""

    PLAIN = "plain"
    BLUFF = "bluff"
    SLEEPY = "sleepy"


@dataclass(frozen=True, slots=True)
class LaidOpen:
    """A claim as it really is: what lies on the table, and what everybody saw happen."""

    seat: Seat
    how: str
    source: Seat | None
    da: Counters
    concealed: tuple[Tile, ...]
    melds: tuple[Meld, ...]
    win: Tile


@dataclass(slots=True)
class _Player:
    tiles: list[Tile]
    melds: list[Meld] = field(default_factory=list)
    discards: list[Tile] = field(default_factory=list)
    shou: int = 0
    er: int = 0
    peng: int = 0

    def da(self) -> Counters:
        return Counters(shou=self.shou, er=self.er, peng=self.peng)


def missing(tiles: Sequence[Tile], wild: Tile) -> int:
    """Return how many more wildcards the tiles need to win (0 or less: they win)."""
    counts = [0] * KINDS
    wilds = 0
    for tile in tiles:
        if tile == wild:
            wilds += 1
        else:
            counts[tile] += 1
    return deficiency(counts) - wilds


def _missing_with_face(tiles: Sequence[Tile], claimed: Tile, wild: Tile) -> int:
    """As `missing`, with one more tile that has only its face value (a claimed wildcard)."""
    counts = [0] * KINDS
    counts[claimed] += 1
    wilds = 0
    for tile in tiles:
        if tile == wild:
            wilds += 1
        else:
            counts[tile] += 1
    if counts[claimed] > 4:
        return KINDS
    return deficiency(counts) - wilds


class Round:
    """One hand at the table. Iterate `claims()`: a claim, then what follows if it did not end the hand."""

    def __init__(
        self,
        hands: Sequence[Sequence[Tile]],
        wall: Sequence[Tile],
        wild: Tile,
        style: Style,
        rng: random.Random,
    ) -> None:
        self._players = [_Player(list(hand)) for hand in hands]
        self._wall = list(wall)
        self._wild = wild
        self._style = style
        self._rng = rng
        self._bluffed = style is not Style.BLUFF
        self.barred: set[Seat] = set()

    def claims(self) -> Iterator[LaidOpen]:
        """Play on and yield each claim; the iterator ends when the wall is exhausted."""
        seat, how = Seat(0), "heaven"
        drawn: Tile | None = self._players[0].tiles.pop()
        while True:
            assert drawn is not None
            yield from self._own_turn(seat, drawn, how)
            discard, after_pung = self._discard(seat), False
            while True:
                yield from self._others_win(seat, discard)
                caller = self._caller(seat, discard)
                if caller is None:
                    break
                seat, konged = self._call(caller, discard)
                if konged:
                    if not self._wall:
                        return
                    yield from self._own_turn(seat, self._wall.pop(), "kong_ming")
                after_pung = not konged
                discard = self._discard(seat, after_pung=after_pung)
            if not self._wall:
                return
            seat, how = Seat((seat + 1) % SEATS), "self"
            drawn = self._wall.pop(0)

    def _own_turn(self, seat: Seat, drawn: Tile, how: str) -> Iterator[LaidOpen]:
        """Claim with the tile just drawn, lay concealed kongs, and keep the tile."""
        player = self._players[seat]
        while True:
            yield from self._with_drawn(seat, drawn, how)
            player.tiles.append(drawn)
            kong = self._concealed_kong(player)
            if kong is None or not self._wall:
                return
            player.tiles = [t for t in player.tiles if t != kong]
            player.melds.append(Meld(MeldKind.CONCEALED_KONG, (kong,) * 4))
            drawn, how = self._wall.pop(), "kong_an"

    def _with_drawn(self, seat: Seat, drawn: Tile, how: str) -> Iterator[LaidOpen]:
        player = self._players[seat]
        away = missing([*player.tiles, drawn], self._wild)
        if how == "heaven" and away > 0:
            how = "self"
        if away <= 0:
            yield from self._claim(seat, drawn, how, None)
        elif away <= ONE_SHORT and not self._bluffed and seat not in self.barred:
            self._bluffed = True
            yield self._laid_open(seat, drawn, how, None)

    def _others_win(self, seat: Seat, discard: Tile) -> Iterator[LaidOpen]:
        for step in range(1, SEATS):
            other = Seat((seat + step) % SEATS)
            if _missing_with_face(self._players[other].tiles, discard, self._wild) <= 0:
                yield from self._claim(other, discard, "discard", seat)

    def _claim(self, seat: Seat, win: Tile, how: str, source: Seat | None) -> Iterator[LaidOpen]:
        if self._style is not Style.SLEEPY and seat not in self.barred:
            yield self._laid_open(seat, win, how, source)

    def _laid_open(self, seat: Seat, win: Tile, how: str, source: Seat | None) -> LaidOpen:
        player = self._players[seat]
        concealed = tuple(sorted(player.tiles))
        return LaidOpen(seat, how, source, player.da(), concealed, tuple(player.melds), win)

    def _concealed_kong(self, player: _Player) -> Tile | None:
        for tile in sorted(set(player.tiles)):
            if tile != self._wild and player.tiles.count(tile) == 4:
                rest = [t for t in player.tiles if t != tile]
                if missing(rest, self._wild) <= missing(player.tiles, self._wild):
                    return tile
        return None

    def _discard(self, seat: Seat, *, after_pung: bool = False) -> Tile:
        player = self._players[seat]
        tile = self._choose(player)
        player.tiles.remove(tile)
        if tile == self._wild:
            self._count_wild(player, after_pung)
        player.discards.append(tile)
        return tile

    def _choose(self, player: _Player) -> Tile:
        """Discard what leaves the hand nearest to a win; now and then a wildcard, for its bonus."""
        if self._wild in player.tiles and len(player.discards) < 2 and self._rng.random() < 0.25:
            return self._wild
        if self._style is Style.SLEEPY:
            return self._rng.choice(sorted(player.tiles))
        options = sorted({t for t in player.tiles if t != self._wild}) or [self._wild]
        return min(options, key=lambda tile: self._cost(player, tile))

    def _cost(self, player: _Player, tile: Tile) -> tuple[int, int, float]:
        rest = list(player.tiles)
        rest.remove(tile)
        company = sum(self._near(tile, other) for other in rest)
        return missing(rest, self._wild), company, self._rng.random()

    @staticmethod
    def _near(tile: Tile, other: Tile) -> int:
        if tile == other:
            return 4
        if tile.is_suited and other.is_suited and tile.suit == other.suit:
            return max(0, 3 - abs(tile.rank - other.rank))
        return 0

    def _count_wild(self, player: _Player, after_pung: bool) -> None:
        if after_pung:
            player.peng += 1
        elif all(t == self._wild for t in player.discards):
            player.shou += 1
        else:
            player.er += 1

    def _caller(self, seat: Seat, discard: Tile) -> Seat | None:
        if discard == self._wild or self._style is Style.SLEEPY:
            return None
        for step in range(1, SEATS):
            other = Seat((seat + step) % SEATS)
            tiles = self._players[other].tiles
            if tiles.count(discard) >= 2 and self._gains(tiles, discard):
                return other
        return None

    def _gains(self, tiles: list[Tile], discard: Tile) -> bool:
        rest = list(tiles)
        rest.remove(discard)
        rest.remove(discard)
        return missing(rest, self._wild) < missing(tiles, self._wild)

    def _call(self, caller: Seat, discard: Tile) -> tuple[Seat, bool]:
        """Pung, or kong when three are held; returns who is to move and whether it was a kong."""
        player = self._players[caller]
        konged = player.tiles.count(discard) == 3 and bool(self._wall)
        for _ in range(3 if konged else 2):
            player.tiles.remove(discard)
        kind = MeldKind.KONG if konged else MeldKind.PUNG
        player.melds.append(Meld(kind, (discard,) * (4 if konged else 3)))
        return caller, konged
