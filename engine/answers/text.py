"""An answer in words: verdict, reading, bill and payments of a claim, as a referee reads them.

Lines of plain text, English or Chinese; the JSON form with the same content is `engine.vectors`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from engine.answers.about import INSTEAD, sentence
from engine.answers.notes import notes, winds_text
from engine.answers.words import LABELS, PAYERS, POLICY_PAYERS, UNITS
from engine.claim import Claim
from engine.decompose import Decomposition, Group
from engine.ruleset import RuleSet
from engine.settlement import Settlement
from engine.text.tiletext import format_tiles
from engine.tiles import Tile
from engine.verdict import Outcome, PriceItem, Problem, Verdict

COLUMN = 9
"""Width of the words at the left."""


def answer_lines(
    claim: Claim, rules: RuleSet, verdict: Verdict, settlement: Settlement | None, lang: str = "en"
) -> list[str]:
    """The answer to a claim, one line after another; `settlement` None = nothing is settled.

    Raises:
        OptionError: the claim names an unknown option or a value which is not allowed.
    """
    return list(_Answer(claim, rules, lang).lines(verdict, settlement))


def notes_of(
    claim: Claim, rules: RuleSet, verdict: Verdict, settlement: Settlement | None, lang: str = "en"
) -> list[str]:
    """The notes of the answer alone, for programs.

    Raises:
        OptionError: the claim names an unknown option or a value which is not allowed.
    """
    return list(notes(claim, rules.with_options(claim.options), verdict, settlement, lang))


def sheet_answer_lines(answer: Mapping[str, Any], lang: str = "en") -> list[str]:
    """The answer of a score sheet (`ScoreSheet.answer`): the result, and what its points are made of."""
    document = answer["document"]
    told = ", ".join(f"{name} {answer[name]}" for name in ("P", "side", "levels", "reason"))
    items = [
        f"{item['points']:+d} {item['code']} {item['fault']}".rstrip() + f" [{document} {item['section']}]"
        for item in answer["items"]
    ]
    label = _padded(LABELS[lang]["bill"], COLUMN)
    return [f"{told} [{document} {answer['section']}]", *(label + item for item in items)]


class _Answer:
    def __init__(self, claim: Claim, rules: RuleSet, lang: str) -> None:
        self.claim = claim
        self.rules = rules.with_options(claim.options)
        self.data = rules.data
        self.lang = lang
        self.label = LABELS[lang]

    def lines(self, verdict: Verdict, settlement: Settlement | None) -> Iterator[str]:
        if verdict.details:
            for problem in verdict.details:
                yield f"{verdict.outcome.value}: {self.problem(problem)}"
        else:
            yield self.headline(verdict)
        yield from self.premises(verdict)
        yield from self.reading(verdict)
        if settlement is not None:
            yield from self.bill(verdict, settlement)
            yield from self.accounts(settlement)
        else:
            yield from self.items("bill", [("", item) for item in verdict.items])
            yield from self.sums(verdict)
        for warning in verdict.warnings:
            yield self.row("warning", self.problem(warning))
        for note in notes(self.claim, self.rules, verdict, settlement, self.lang):
            yield self.row("note", note)

    def row(self, name: str, text: str, column: int = COLUMN) -> str:
        return _padded(self.label.get(name, name), column) + text

    def headline(self, verdict: Verdict) -> str:
        where = f"[{verdict.document} {verdict.section}]"
        if verdict.outcome is Outcome.DRAW:
            return f"draw: {self.data.words('draw', self.lang)} {where}"
        how = self.data.hows[self.claim.how]
        words = how.zh or how.text if self.lang == "zh" else how.text
        seat = f"{self.label['seat']} {self.claim.winner}"
        return f"win: {seat}, how={how.name} ({words}), cls={verdict.cls} {where}"

    def problem(self, problem: Problem) -> str:
        words = self.data.words(problem.code, self.lang)
        about = ": " + ", ".join(problem.about) if problem.about else ""
        if said := sentence(problem, self.claim, self.data, self.lang):
            words, about = (said, "") if INSTEAD.fullmatch(problem.code) else (words, f": {said}")
        words = words and f" ({words})"
        return f"{problem.code}{words}{about} [{self.data.document} {problem.section}]"

    # what the verdict rests on

    def premises(self, verdict: Verdict) -> Iterator[str]:
        if verdict.outcome in (Outcome.WIN, Outcome.NO_WIN):
            if verdict.wild is not None:
                yield self.row("wild", self.wild(verdict.wild, verdict))
            if winds := winds_text(self.claim, self.rules, self.lang):
                yield self.row("winds", winds)
        if chosen := ", ".join(self.chosen()):
            yield self.row("options", chosen)

    def chosen(self) -> Iterator[str]:
        """Every option that differs from its default."""
        for name, value in self.rules.options.items():
            default = self.data.options[name].default
            if value != default:
                yield self.label["default"].format(f"{name}={_plain(value)}", _plain(default))

    # the reading

    def wild(self, kind: Tile, verdict: Verdict) -> str:
        held, reading = self.claim.held.count(kind), verdict.decomposition
        if not held or reading is None:
            return f"{kind.id}: {self.label['none']}" if not held else kind.id
        return f"{kind.id}: " + self.label["itself"].format(reading.as_itself, reading.substituted)

    def reading(self, verdict: Verdict) -> Iterator[str]:
        if verdict.decomposition is None:
            return
        yield self.row("reading", self.groups(verdict.decomposition))
        if others := len(verdict.alternatives):
            yield self.row("", self.label["alike_one" if others == 1 else "alike"].format(others))

    def groups(self, reading: Decomposition) -> str:
        sets = "  ".join(map(self.group, reading.sets))
        return f"{sets}  {self.label['pair']} {self.group(reading.pair)}"

    def group(self, group: Group) -> str:
        text = format_tiles(group.kinds)
        swapped = [tile for tile in group.tiles if tile.actual != tile.stands_for]
        if not swapped:
            return text
        actual = format_tiles(tile.actual for tile in swapped)
        meant = format_tiles(tile.stands_for for tile in swapped)
        return f"{text} ({self.label['for'].format(actual, meant)})"

    # the bill

    def bill(self, verdict: Verdict, settlement: Settlement) -> Iterator[str]:
        if any(settlement.by_seat):
            seat = self.label["seat"]
            marked = [(f"{seat} {n}: ", item) for n, items in enumerate(settlement.by_seat) for item in items]
            yield from self.items("bill", marked)
            return
        yield from self.items("bill", [("", item) for item in verdict.items])
        yield from self.sums(verdict)
        more = [("", item) for item in settlement.items if item not in verdict.items]
        yield from self.items("due", more)

    def items(self, name: str, marked: Sequence[tuple[str, PriceItem]]) -> Iterator[str]:
        width = max((len(self.amount(item)) for _, item in marked), default=0)
        for mark, item in marked:
            yield self.row(name, mark + self.item(item, width, owed=name == "due"))

    def amount(self, item: PriceItem) -> str:
        return f"{item.amount} {UNITS[self.lang].get(item.unit, item.unit)}"

    def item(self, item: PriceItem, width: int, *, owed: bool) -> str:
        words = self.data.words(item.code, self.lang)
        payers = f"{self.payers(item)}: " if item.unit in ("chips", "outside") or owed else ""
        return f"{self.amount(item):>{width}}  {payers}{words}{words and ' '}({item.code} {item.section})"

    def payers(self, item: PriceItem) -> str:
        policy = str(self.rules.options.get("payment", "")) if self.claim.discarder is not None else ""
        instead = POLICY_PAYERS[self.lang].get(policy, {})
        return instead.get(item.payers, PAYERS[self.lang][item.payers])

    def sums(self, verdict: Verdict) -> Iterator[str]:
        if verdict.totals:
            yield self.row("sums", ", ".join(f"{name} {number}" for name, number in verdict.totals.items()))

    # the accounts

    def accounts(self, settlement: Settlement) -> Iterator[str]:
        beside = {name: row for name, row in settlement.totals.items() if self.is_outside(name)}
        rows: dict[str, Sequence[int]] = {
            **{name: row for name, row in settlement.totals.items() if name not in beside},
            "pay": settlement.pay,
        }
        named = {
            "bonus": settlement.outside,
            **beside,
            "deferred": settlement.deferred,
            "unpaid": settlement.unpaid,
            "loans": settlement.loans,
        }
        rows |= {name: values for name, values in named.items() if any(values)}
        plain = ("lei", "unpaid", "loans")
        cells = {
            name: [str(value) if name in plain else f"{value:+d}" if value else "0" for value in values]
            for name, values in rows.items()
        }
        width = 2 + max(len(cell) for row in cells.values() for cell in row)
        seats = [str(seat) for seat in range(len(settlement.pay))]
        column = max(COLUMN, *(_width(self.label.get(name, name)) + 1 for name in cells))
        for name, row in {"seat": seats, **cells}.items():
            more = self.outside_parts(settlement) if name == "bonus" else ""
            yield self.row(name, "".join(cell.rjust(width) for cell in row) + more, column)
        if settlement.bank:
            yield self.row("bank", f"{settlement.bank:+d}")
        for payer, receiver, amount in settlement.transfers:
            yield self.row("who", self.label["pays"].format(payer, receiver, amount))

    def is_outside(self, name: str) -> bool:
        """Whether a sum per seat is a part of what is paid beside the chips."""
        return name in self.data.prices and self.data.prices[name].unit == "outside"

    def outside_parts(self, settlement: Settlement) -> str:
        """What the amounts beside the chips are made of."""
        parts = [item for item in settlement.items if item.unit == "outside" and item.amount]
        if not parts:
            return ""
        told = " + ".join(f"{item.amount} {item.code}" for item in parts)
        return f"   ({self.label['each']}: {told})"


def _plain(value: object) -> str:
    """An option's value as it is written in a line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _padded(text: str, width: int) -> str:
    """Fill up with spaces."""
    return text + " " * max(1, width - _width(text))


def _width(text: str) -> int:
    """Columns; a Chinese character is two wide."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)
