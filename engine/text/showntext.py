"""What lies open before each player, as words of a line: `p0=K:1111p,P:666z p1.spread=honors:4,groups:1`.

Only rule sets in which losers score have such words (`RuleData.seat_facts`). The winner's melds stand without
a prefix, like those of every rule set.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby

from engine.claim import Claim, Facts, Shown
from engine.facts import FactSpec, FactValue
from engine.melds import Meld
from engine.ruledata import RuleData
from engine.text import linehints
from engine.text.factcodec import at, fact_from_word, fact_to_word, pieces
from engine.text.tiletext import AmbiguousNotation, IllegalNotation, InvalidNotation, format_meld, parse_meld


class ShownDraft:
    """What has been read of the players' open tiles so far."""

    def __init__(self) -> None:
        self._melds: dict[int, tuple[Meld, ...]] = {}
        self._facts: dict[int, dict[str, FactValue]] = {}

    def read(self, data: RuleData, seat: int, name: str | None, value: str | None, start: int) -> None:
        """Read one word; `value` None = it stands bare, `start` is where the value begins.

        Raises:
            InvalidNotation, IllegalNotation, AmbiguousNotation: with the position in the word.
        """
        if seat >= data.players:
            raise IllegalNotation(f"there is no seat {seat}; seats are 0 to {data.players - 1}", 1)
        if name is None:
            self._read_melds(data, seat, value, start)
            return
        known = {spec.word: spec for spec in data.seat_facts.values()}
        if name in {spec.inside for spec in known.values() if spec.inside}:
            if value is None:
                first = next(spec.word for spec in known.values() if spec.inside == name)
                raise InvalidNotation(f"{name} needs a value; write p{seat}.{name}={first}:…", 0)
            self._read_inside(data, seat, name, value, start)
        elif name not in known:
            raise IllegalNotation(f"a player has no {name!r}; use {', '.join(known)}", 0)
        elif value is None and known[name].type != "bool":
            values = linehints.either([f"p{seat}.{name}={one}" for one in known[name].allowed] or ["…"])
            raise InvalidNotation(f"{name} needs a value; write {values}", 0)
        else:
            spec = known[name]
            text = "true" if value is None else value
            self._put(seat, spec, at(start, partial(fact_from_word, spec), text))

    def _read_melds(self, data: RuleData, seat: int, value: str | None, start: int) -> None:
        if not value:
            raise InvalidNotation(f"p{seat} needs melds; write p{seat}=P:111m", 0)
        if seat in self._melds:
            raise AmbiguousNotation(f"p{seat} is given twice; join the melds by commas", 0)
        melds = []
        for piece in value.split(","):
            name = piece.partition("=")[0]
            if name in {spec.word for spec in data.seat_facts.values()}:
                raise InvalidNotation(f"{piece!r} is not a meld; write p{seat}.{piece}, with a dot", start)
            melds.append(at(start, lambda text: parse_meld(text, data.melds), piece))
            start += len(piece) + 1
        self._melds[seat] = tuple(melds)

    def _read_inside(self, data: RuleData, seat: int, inside: str, value: str, start: int) -> None:
        known = {spec.word: spec for spec in data.seat_facts.values() if spec.inside == inside}
        for offset, name, text in pieces(value):
            if name not in known:
                hint = linehints.of_spread(seat, inside, name, [*known.values()])
                known_words = ", ".join(known)
                raise IllegalNotation(f"{inside} has no {name!r}; use {known_words}{hint}", start + offset)
            spec = known[name]
            begin = start + offset + len(name) + 1
            text = text or ("true" if spec.type == "bool" else "")
            self._put(seat, spec, at(begin, partial(fact_from_word, spec), text))

    def _put(self, seat: int, spec: FactSpec, value: FactValue) -> None:
        facts = self._facts.setdefault(seat, {})
        if spec.name in facts:
            raise AmbiguousNotation(f"p{seat}.{spec.word} is given twice; keep one", 0)
        facts[spec.name] = value

    def finished(self, data: RuleData) -> tuple[Shown, ...]:
        """One entry per seat, or () when nothing lies open."""
        return shown_or_none(
            tuple(
                Shown(self._melds.get(seat, ()), seat_facts_in_order(data, self._facts.get(seat, {})))
                for seat in range(data.players)
            )
        )


def shown_or_none(shown: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The entries, or () when nothing lies open: one form for one thing."""
    return shown if any(entry.melds or entry.facts for entry in shown) else ()


def seat_facts_in_order(data: RuleData, facts: dict[str, FactValue]) -> Facts:
    """Facts of one player that differ from the default, in the order in which they are declared."""
    return Facts(
        {
            name: facts[name]
            for name, spec in data.seat_facts.items()
            if name in facts and facts[name] != spec.default
        }
    )


def shown_words(claim: Claim, data: RuleData) -> Iterator[str]:
    """The words for what lies open before each player."""
    for seat, entry in enumerate(claim.shown):
        if entry.melds:
            yield f"p{seat}=" + ",".join(map(format_meld, entry.melds))
        given = [spec for name, spec in data.seat_facts.items() if name in entry.facts]
        for as_group, specs in groupby(given, key=_group_of):
            facts = [(spec, entry.facts[spec.name]) for spec in specs]
            if as_group:
                inner = ",".join(f"{spec.word}:{fact_to_word(value)}" for spec, value in facts)
                yield f"p{seat}.{as_group}={inner}"
            else:
                yield from (_alone(seat, spec, value) for spec, value in facts)


def _group_of(spec: FactSpec) -> str:
    """Numbers that belong together are one word; anything else stands alone."""
    return spec.inside if spec.type == "int" else ""


def _alone(seat: int, spec: FactSpec, value: FactValue) -> str:
    word = f"p{seat}.{spec.word}"
    return word if value is True else f"{word}={fact_to_word(value)}"
