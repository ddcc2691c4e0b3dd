"""The data file of a rule set (`engine/rules/<id>.toml`) as typed values. An unknown key is an error."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.claim import How
from engine.errors import EngineError
from engine.melds import MeldKind
from engine.options import OptionSpec, spec_from_table
from engine.tiles import SUIT_SIZES, TILE_IDS, Tile
from engine.verdict import Payers


@dataclass(frozen=True, slots=True)
class TileSet:
    """How many of each kind a set has; index = `Tile`."""

    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many tiles there are in all."""
        return sum(self.counts)

    @property
    def kinds(self) -> tuple[Tile, ...]:
        """The kinds which the set has."""
        return tuple(Tile(kind) for kind, count in enumerate(self.counts) if count)

    @classmethod
    def from_table(cls, table: Mapping[str, int]) -> TileSet:
        """Read copies per suit letter; a tile id overrides its suit.

        Raises:
            EngineError: neither a suit letter nor a tile id.
        """
        counts = [0] * (Tile.BAMBOO + 1)
        for name, copies in sorted(table.items(), key=lambda entry: entry[0] not in SUIT_SIZES):
            kinds = [kind for kind in range(len(counts)) if name in (TILE_IDS[kind], Tile(kind).suit)]
            if not kinds:
                raise EngineError(f"the tile set names {name!r}; use a suit letter or a tile id.")
            for kind in kinds:
                counts[kind] = copies
        return cls(tuple(counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """An entry of the price list. Its amount is an option of the same name."""

    code: str
    section: str
    payers: Payers


@dataclass(frozen=True, slots=True, kw_only=True)
class DealData:
    """Walls and deal: see `engine.wall.DealPattern`."""

    stacks: tuple[int, ...]
    rounds: int
    group: int
    indicators: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleData:
    """A rule set as data. `options` hold the prices too, so that every number can be chosen."""

    id: str
    name: str
    document: str
    players: int
    hand_size: int
    tile_set: TileSet
    deal: DealData
    melds: tuple[MeldKind, ...]
    hows: tuple[How, ...]
    sections: Mapping[str, str]
    prices: Mapping[str, Price]
    options: Mapping[str, OptionSpec]
    digest: str

    def section(self, code: str) -> str:
        """The section of the document that speaks of a reason or a price.

        Raises:
            EngineError: the data file does not say.
        """
        try:
            return self.sections[code] if code in self.sections else self.prices[code].section
        except KeyError:
            raise EngineError(
                f"rule set {self.id} has no section for {code!r}; add it to its file."
            ) from None


_KEYS = frozenset(
    {"id", "name", "document", "players", "hand_size", "tile_set", "deal", "melds", "hows", "sections"}
    | {"prices", "options"}
)


def rule_data(table: Mapping[str, Any]) -> RuleData:
    """Build the data from the parsed file.

    Raises:
        EngineError: a key is missing or unknown, or a value is not allowed.
    """
    if wrong := _KEYS ^ table.keys():
        raise EngineError(f"the rule set's file lacks or has too much: {', '.join(sorted(wrong))}.")
    options = {name: spec_from_table(name, entry) for name, entry in table["options"].items()}
    prices = {code: _price(code, entry) for code, entry in table["prices"].items()}
    options |= {code: _amount(code, entry) for code, entry in table["prices"].items()}
    deal = table["deal"]
    return RuleData(
        id=table["id"],
        name=table["name"],
        document=table["document"],
        players=table["players"],
        hand_size=table["hand_size"],
        tile_set=TileSet.from_table(table["tile_set"]),
        deal=DealData(**{**deal, "stacks": tuple(deal["stacks"])}),
        melds=tuple(map(MeldKind, table["melds"])),
        hows=tuple(map(How, table["hows"])),
        sections=table["sections"],
        prices=prices,
        options=options,
        digest=hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest(),
    )


def _price(code: str, entry: Mapping[str, Any]) -> Price:
    return Price(code=code, section=entry["section"], payers=Payers(entry.get("payers", Payers.EACH)))


def _amount(code: str, entry: Mapping[str, Any]) -> OptionSpec:
    return spec_from_table(
        code,
        {
            "type": "int",
            "default": entry["amount"],
            "source": entry["source"],
            "section": entry["section"],
            "text": entry["text"],
        },
    )
