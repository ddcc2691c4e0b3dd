"""What truly lies on the table when somebody claims a win, or when the wall is exhausted and settled."""

from __future__ import annotations

from dataclasses import dataclass

from engine.claim import DRAW, Claim, Seat, Shown
from engine.facts import Facts
from engine.melds import Meld
from engine.rulesets import RuleSet
from engine.tiles import Tile
from vision.shapes import lay_meld


@dataclass(frozen=True, slots=True)
class OpenTiles:
    """What lies open before one player, and what everybody knows of him (facts of the rule set).

    ``hidden``: how many tiles he keeps to himself; they lie face down when everybody lays open.
    """

    melds: tuple[Meld, ...] = ()
    flowers: tuple[Tile, ...] = ()
    spread: tuple[tuple[Tile, ...], ...] = ()
    facts: Facts = Facts()
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class LaidOpen:
    """A claim as it really is: what lies on the table, and what everybody saw happen.

    ``seat`` None: nobody won, the wall is exhausted, and what lies open is settled. ``tables`` per seat;
    ``everybody``: the others' count too.
    """

    seat: Seat | None
    how: str
    source: Seat | None
    facts: Facts
    concealed: tuple[Tile, ...]
    win: Tile | None
    tables: tuple[OpenTiles, ...]
    everybody: bool = False

    @property
    def seats(self) -> tuple[Seat, ...]:
        """Whose open tiles count: the claimant's, or everybody's."""
        return tuple(Seat(seat) for seat in range(len(self.tables)) if self.everybody or seat == self.seat)

    @property
    def own(self) -> OpenTiles:
        """What lies open before the claimant beside his hand."""
        return OpenTiles() if self.seat is None else self.tables[self.seat]

    @property
    def melds(self) -> tuple[Meld, ...]:
        """The claimant's melds."""
        return self.own.melds

    def claim(self, rules: RuleSet, indicator: Tile | None, chips: tuple[int, ...] | None = None) -> Claim:
        """Return the true claim (``chips`` by seat; left out where the rules do not ask for them)."""
        shown = tuple(
            Shown(() if seat == self.seat else table.melds, table.facts)
            for seat, table in enumerate(self.tables)
        )
        return Claim(
            indicator=indicator,
            concealed=self.concealed,
            melds=self.melds,
            win=self.win,
            how=self.how,
            winner=self.seat,
            discarder=self.source,
            facts=self.facts,
            chips=chips if "chips" in rules.data.keys and self.how != DRAW else None,
            shown=shown if rules.data.seat_facts else (),
        )


def shown(laid: LaidOpen) -> list[tuple[str, Tile]]:
    """Return the tiles of the claimed hand with their group, in the order of the table's claim."""
    win = [] if laid.win is None else [("win", laid.win)]
    return [*(("concealed", tile) for tile in laid.concealed), *win, *shown_open(laid.own)]


def shown_open(table: OpenTiles) -> list[tuple[str, Tile]]:
    """Return what lies open before a player as it lies, in the order of the table: melds, spread, flowers."""
    melds = [(f"meld:{number}", face) for number, meld in enumerate(table.melds) for face in faces_of(meld)]
    spread = [(f"spread:{number}", tile) for number, tiles in enumerate(table.spread) for tile in tiles]
    return [*melds, *spread, *(("flower", tile) for tile in table.flowers)]


def faces_of(meld: Meld) -> list[Tile]:
    """Return a meld as it lies: the outer tiles of a concealed kong and the middle one of a 韶 face down."""
    return [Tile.of(face) for face in lay_meld(meld.kind.value, [tile.id for tile in meld.tiles])]
