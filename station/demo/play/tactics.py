"""Playing for sets and a pair: the nearest way to a win, by the cheap win check of the engine.

Every rule set's tactics begin here. Pure; what happens by chance is the table's random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.calls import MELDS, Call
from engine.claim import Seat
from engine.facts import Facts, FactValue
from engine.melds import Meld, MeldKind
from engine.tiles import HAND_KINDS, KINDS, Tile
from engine.verdict import Outcome
from engine.wincheck import MAX_COPIES, deficiency
from station.demo.moves import Chance, Own, Player, Style, Take, Way, without
from station.demo.players import Round

ONE_SHORT = 3
"""Wildcards a hand of 3n + 2 tiles lacks when it waits for one more: they come in threes (15, 17 … tiles)."""

ROB = "rob"
"""The fact that a tile was robbed, in rule sets in which that is no way to win of its own."""
COMPANY = 4
"""What a second tile of a kind is worth to the first, when nothing else tells two discards apart."""


class Tactics:
    """Sets and a pair, without wildcards; self-draw is `self`, another's tile `discard`."""

    self_drawn = "self"
    by_discard = "discard"
    asks_worth = True
    """Whether a complete hand may be worth too little to win, so that the engine is asked before a claim."""
    may_kong = True
    """Whether three in hand and a discard are a kong."""
    adds_kongs = True
    """Whether a fourth tile drawn joins an own pung."""

    def __init__(self, table: Round) -> None:
        self.table = table
        self.rules = table.rules
        self.calls = table.rules.data.calls

    # ---- hooks of the table ------------------------------------------------------------------------

    def begin(self) -> None:
        """The tiles are dealt; dealt flowers are replaced and the indicator lies open."""

    def at_start(self, chance: Chance) -> Iterator[tuple[Player, Way]]:  # noqa: ARG002
        """Yield who wins before the first turn, and how (``chance``: the last of the dealer's tiles)."""
        return iter(())

    def way(self, player: Player, chance: Chance) -> Way | None:
        """How a player wins with a tile; None when he does not."""
        how = self.how(chance)
        if how is None or not self.complete(player, chance):
            return None
        way = self.laid(player, chance, how)
        return way if not self.asks_worth or self._wins(player, way, chance) else None

    def how(self, chance: Chance) -> str | None:
        """The way to win with such a tile; None where nobody can."""
        if chance.source is None:
            return self.self_drawn
        if not chance.robbed:
            return self.by_discard
        robs = [how.name for how in self.rules.data.hows.values() if how.robs]
        return robs[0] if robs else self.by_discard if ROB in self.rules.data.facts else None

    def complete(self, player: Player, chance: Chance) -> bool:
        """Whether a tile completes a hand."""
        return self.missing(player, chance) <= 0

    def _wins(self, player: Player, way: Way, chance: Chance) -> bool:
        laid = self.table.laid_open(player, way, chance.source)
        return self.rules.check(laid.claim(self.rules, self.table.indicator)).outcome is Outcome.WIN

    def bluff(self, player: Player, chance: Chance) -> Way | None:
        """How a player would claim a hand that nearly wins; None when it is far from it."""
        near_enough = self.missing(player, chance) <= ONE_SHORT
        return self.laid(player, chance, self.self_drawn) if near_enough else None

    def own(self, player: Player, *, called: bool) -> Own | None:
        """What a player lays down in his turn; ``called``: it is the turn after a call, nothing was drawn."""
        if called or not self.table.wall.live:
            return None
        return self.concealed_kong(player) or self.added_kong(player)

    def choose(self, player: Player) -> Tile:
        """The tile to discard."""
        if self.table.style is Style.SLEEPY:
            return self.table.rng.choice(sorted(player.tiles))
        return min(self.options(player), key=lambda tile: self.cost(player, tile))

    def discarded(self, player: Player, tile: Tile, after: str) -> None:
        """A tile was discarded, after a call of that name or ("") after a draw."""

    def closes(self, player: Player) -> bool:  # noqa: ARG002
        """Whether a player's discard ends the game but for one last draw of everybody."""
        return False

    def wanted(self, player: Player, tile: Tile, source: Seat) -> Take | None:
        """The call a player makes on a discard nobody wins on."""
        for take in self.takes(player, tile, source):
            if self.may(player, take, tile, source) and self.gains(player, take, tile):
                return take
        return None

    def facts(self, player: Player) -> Facts:  # noqa: ARG002
        """What everybody knows of a player, where losers score."""
        return Facts()

    # ---- distances ---------------------------------------------------------------------------------

    def lacking(
        self,
        tiles: Sequence[Tile],
        claimed: Tile | None = None,
        melds: Sequence[Meld] = (),  # noqa: ARG002
    ) -> int:
        """How many more wildcards the tiles need to win (0 or less: they win).

        ``claimed``: one more tile, another player's. ``melds``: laid down already.
        """
        counts = [0] * KINDS
        for tile in tiles if claimed is None else (*tiles, claimed):
            counts[tile] += 1
        return KINDS if max(counts) > MAX_COPIES else deficiency(counts)

    def missing(self, player: Player, chance: Chance) -> int:
        """How many wildcards a player's hand lacks with a tile drawn or taken."""
        if chance.source is None:
            return self.lacking([*player.tiles, chance.tile], melds=player.melds)
        return self.lacking(player.tiles, chance.tile, player.melds)

    def laid(self, player: Player, chance: Chance, how: str) -> Way:
        """The hand with a tile apart, and what everybody knows of that tile."""
        facts = self.rules.data.facts
        known: dict[str, FactValue] = {
            "kong": chance.kong is not None,
            "last": chance.last,
            ROB: chance.robbed,
            "fourth": self.table.open_copies(chance.tile) == MAX_COPIES - 1 and not chance.robbed,
        }
        told = Facts({name: value for name, value in known.items() if value and name in facts})
        return Way(how, tuple(sorted(player.tiles)), chance.tile, told)

    # ---- discards ----------------------------------------------------------------------------------

    def options(self, player: Player) -> list[Tile]:
        """The kinds a player thinks of discarding."""
        return sorted(set(player.tiles))

    def cost(self, player: Player, tile: Tile) -> tuple[int, int, float]:
        """What a discard costs: distance, company it had, and chance where both are equal."""
        rest = without(player.tiles, [tile])
        company = sum(near(tile, other) for other in rest)
        return self.lacking(rest, melds=player.melds), company, self.table.rng.random()

    # ---- calls -------------------------------------------------------------------------------------

    def takes(self, player: Player, tile: Tile, source: Seat) -> Iterator[Take]:
        """Every call with the player's tiles, best first; whether he may make it is asked later."""
        held = player.tiles.count(tile)
        if held >= 3 and self.may_kong and self.table.wall.live:
            yield Take("kong", (tile,) * 3)
        elif held >= 2 and "pung" in self.calls:
            yield Take("pung", (tile,) * 2)
        if "chow" in self.calls and tile.is_suited and player.seat == (source + 1) % self.rules.players:
            yield from (Take("chow", pair) for pair in chow_pairs(tile) if set(pair) <= set(player.tiles))

    def may(self, player: Player, take: Take, tile: Tile, source: Seat) -> bool:
        """Whether the engine allows a call."""
        return not self.rules.may_call(self.call(player, take, tile, source))

    def call(self, player: Player, take: Take, tile: Tile, source: Seat) -> Call:
        """A call as the engine is asked about it."""
        return Call(
            kind=take.kind,
            seat=player.seat,
            discarder=source,
            tile=tile,
            own=take.own,
            indicator=self.table.indicator,
            passed=tuple(player.passed),
            discarded=tuple(self.table.lying),
        )

    def gains(self, player: Player, take: Take, tile: Tile) -> bool:
        """Whether a call brings the hand nearer to a win."""
        melds = [*player.melds, Meld(MELDS[take.kind], (*take.own, tile))]
        after = self.lacking(without(player.tiles, take.own[:2]), melds=melds)
        return after < self.lacking(player.tiles, melds=player.melds)

    def concealed_kong(self, player: Player) -> Own | None:
        """Four of a kind in hand, where laying them down costs nothing."""
        for tile in sorted(set(player.tiles)):
            if self.konged(tile) and player.tiles.count(tile) == MAX_COPIES:
                own = Own("kong_concealed", (tile,) * MAX_COPIES, replaced=1)
                if self.harmless(player, own):
                    return own
        return None

    def konged(self, tile: Tile) -> bool:  # noqa: ARG002
        """Whether four of a kind are a kong."""
        return True

    def added_kong(self, player: Player) -> Own | None:
        """The fourth tile of an own pung, where laying it down costs nothing."""
        if not self.adds_kongs or "kong_added" not in self.calls:
            return None
        for meld in player.melds:
            tile = meld.tiles[0]
            own = Own("kong_added", (tile,), replaced=1, added=meld)
            if meld.kind is MeldKind.PUNG and tile in player.tiles and self.harmless(player, own):
                return own
        return None

    def harmless(self, player: Player, own: Own) -> bool:
        """Whether the hand is no farther from a win when tiles are laid down."""
        kind = MELDS.get(own.kind)
        melds = list(player.melds)
        if kind is not None and own.added is None:
            melds.append(Meld(kind, own.tiles))
        after = self.lacking(without(player.tiles, own.tiles), melds=melds)
        return after <= self.lacking(player.tiles, melds=player.melds)


def near(tile: Tile, other: Tile) -> int:
    """What a tile is worth to another: 0 where they can never be in one set."""
    if tile == other:
        return COMPANY
    if tile.is_suited and other.is_suited and tile.suit == other.suit:
        return max(0, 3 - abs(tile.rank - other.rank))
    return 0


def chow_pairs(tile: Tile) -> Iterator[tuple[Tile, Tile]]:
    """Yield the pairs of tiles that make a chow with a suited tile."""
    for step, other in ((-2, -1), (-1, 1), (1, 2)):
        pair = [HAND_KINDS[tile + d] for d in (step, other) if 0 <= tile + d < Tile.EAST]
        if len(pair) == 2 and all(t.suit == tile.suit for t in pair):
            yield pair[0], pair[1]
