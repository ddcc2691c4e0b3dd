"""The data file of a rule set (`engine/rules/<id>.toml`) as typed values. An unknown key is an error."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import EngineError
from engine.facts import FactSpec, fact_spec
from engine.melds import MeldKind
from engine.options import OptionSpec, spec_from_table
from engine.reasons import COMMON, ReasonText
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
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemText:
    """An item of a bill whose amount a library tells; `amount` is what it is worth once, 0 = it varies."""

    code: str
    amount: int = 0
    section: str
    text: str
    zh: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HowSpec:
    """A way to win.

    `claimed`: the winning tile is another player's (a discard, or the tile of a robbed kong, then `robs`).
    `tile` and `discarder`: whether there is one: "required", "optional" or "none".
    `meld`: the letter of a meld the winner must have, "" = none. `dealer`: only he can win so.
    """

    name: str
    claimed: bool = False
    robs: bool = False
    tile: str = "required"
    discarder: str = "none"
    meld: str = ""
    dealer: bool = False
    section: str
    text: str
    zh: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSpec:
    """A call, "win" among them (`engine.calls`).

    Of calls on another player's tile a lower `rank` comes first; of equal ones the nearest seat
    counter-clockwise from the discarder. `next_only`: only the player after the discarder may call.
    `suits_only`: only suited tiles.
    """

    name: str
    rank: int = 9
    next_only: bool = False
    suits_only: bool = False
    section: str
    text: str
    zh: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DealData:
    """Walls and deal: see `engine.wall.DealPattern`. `dead` tiles at the tail are never drawn."""

    stacks: tuple[int, ...]
    rounds: int
    group: int
    indicators: int
    jump: bool = False
    singles: bool = True
    dice_throws: int = 1
    dead: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """One section of the page for referees: number in the document, heading and text in both languages.

    `tables` are those of a score sheet that stand there.
    """

    section: str
    title: str
    title_zh: str
    text: str
    zh: str
    tables: tuple[str, ...] = ()


def page_sections(entries: Sequence[Mapping[str, Any]]) -> tuple[PageSection, ...]:
    """The sections of a page from the data file.

    Raises:
        EngineError: a key is missing or unknown.
    """
    try:
        return tuple(PageSection(**{**entry, "tables": tuple(entry.get("tables", ()))}) for entry in entries)
    except TypeError as error:
        raise EngineError(f"the page of the rule set's file is wrong: {error}.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleData:
    """A rule set as data. `options` hold the prices too, so that every number can be chosen.

    `name` is Chinese, `title` English. `keys` are the fields of a claim it uses besides hand, winning tile,
    how, winner and options. `seat_facts` are facts of every player; a rule set which has any tells every
    player's melds apart. `stake` are the chips a player starts with. `items` name what stands on a bill
    besides prices, `reasons` say what every reason code means.
    """

    id: str
    name: str
    title: str
    document: str
    players: int
    stake: int
    hand_size: int
    keys: tuple[str, ...]
    indicator_key: str
    tile_set: TileSet
    deal: DealData
    melds: tuple[MeldKind, ...]
    hows: Mapping[str, HowSpec]
    calls: Mapping[str, CallSpec]
    facts: Mapping[str, FactSpec]
    seat_facts: Mapping[str, FactSpec]
    sections: Mapping[str, str]
    reasons: Mapping[str, ReasonText]
    prices: Mapping[str, Price]
    items: Mapping[str, ItemText]
    options: Mapping[str, OptionSpec]
    page: tuple[PageSection, ...]
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

    def words(self, code: str, lang: str = "en") -> str:
        """What a reason, a price or another item of a bill means, in "en" or "zh"; "" = it says itself."""
        if code in self.reasons:
            return self.reasons[code].in_language(lang)
        spec = self.items.get(code) or self.options.get(code)
        if spec is None:
            return ""
        return spec.zh or spec.text if lang == "zh" else spec.text


CLAIM_KEYS = ("indicator", "melds", "discarder", "chips", "xianggong")
"""What a rule set's `keys` may name."""

_NEEDED = frozenset(
    {"id", "name", "title", "document", "players", "stake", "hand_size", "keys", "tile_set", "deal"}
    | {"melds", "hows", "sections", "prices", "options", "calls", "page"}
)
_OPTIONAL = frozenset({"indicator_key", "facts", "seat_facts", "items", "reasons"})


def rule_data(table: Mapping[str, Any]) -> RuleData:
    """Build the data from the parsed file.

    Raises:
        EngineError: a key is missing or unknown, or a value is not allowed.
    """
    if wrong := (_NEEDED - table.keys()) | (table.keys() - _NEEDED - _OPTIONAL):
        raise EngineError(f"the rule set's file lacks or has too much: {', '.join(sorted(wrong))}.")
    if unknown := set(table["keys"]) - set(CLAIM_KEYS):
        raise EngineError(f"the rule set's keys name {min(unknown)!r}; use {', '.join(CLAIM_KEYS)}.")
    options = {name: spec_from_table(name, entry) for name, entry in table["options"].items()}
    options |= {code: _amount(code, entry) for code, entry in table["prices"].items()}
    facts = {name: fact_spec(name, entry) for name, entry in table.get("facts", {}).items()}
    if both := {spec.word for spec in facts.values()} & options.keys():
        raise EngineError(f"{min(both)!r} is a fact and an option of the rule set; rename one.")
    deal = table["deal"]
    return RuleData(
        **{key: table[key] for key in ("id", "name", "title", "document", "players", "stake", "hand_size")},
        keys=tuple(table["keys"]),
        indicator_key=table.get("indicator_key", "indicator"),
        tile_set=TileSet.from_table(table["tile_set"]),
        deal=DealData(**{**deal, "stacks": tuple(deal["stacks"])}),
        melds=tuple(map(MeldKind, table["melds"])),
        hows={name: HowSpec(name=name, **entry) for name, entry in table["hows"].items()},
        calls={name: CallSpec(name=name, **entry) for name, entry in table["calls"].items()},
        facts=facts,
        seat_facts={name: fact_spec(name, entry) for name, entry in table.get("seat_facts", {}).items()},
        sections=table["sections"],
        reasons={**COMMON, **{code: ReasonText(**entry) for code, entry in table.get("reasons", {}).items()}},
        prices={code: _price(code, entry) for code, entry in table["prices"].items()},
        items={code: ItemText(code=code, **entry) for code, entry in table.get("items", {}).items()},
        options=options,
        page=page_sections(table["page"]),
        digest=digest_of(table),
    )


def digest_of(table: Mapping[str, Any]) -> str:
    """SHA-256 over a rule set's file as data, without the page and whatever else is only text to read."""
    content = {key: value for key, value in table.items() if key != "page"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _price(code: str, entry: Mapping[str, Any]) -> Price:
    return Price(
        code=code,
        section=entry["section"],
        payers=Payers(entry.get("payers", Payers.EACH)),
        unit=entry.get("unit", "chips"),
    )


def _amount(code: str, entry: Mapping[str, Any]) -> OptionSpec:
    """The amount of a price as an option; a price has `amount`, `payers`, `unit` besides an option's keys."""
    spec = {key: value for key, value in entry.items() if key not in ("amount", "payers", "unit")}
    return spec_from_table(code, {**spec, "type": "int", "default": entry["amount"]})
