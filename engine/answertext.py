"""An answer in words: verdict, reading, bill and payments of a claim, as a referee reads them.

Lines of plain text, English or Chinese; the JSON form with the same content is `engine.vectors`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import east_asian_width

from engine.claim import Claim
from engine.decompose import Decomposition, Group
from engine.ruledata import RuleData
from engine.settlement import Settlement
from engine.tiles import Tile
from engine.tiletext import format_tiles
from engine.verdict import Outcome, Payers, PriceItem, Problem, Verdict

LABELS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "reading": "reading",
        "alike": "{} other readings pay alike",
        "alike_one": "1 other reading pays alike",
        "for": "{} for {}",
        "wild": "wild",
        "itself": "{} as itself, {} for another tile",
        "none": "none in the hand",
        "bill": "bill",
        "due": "due",
        "seat": "seat",
        "sums": "sums",
        "warning": "warning",
        "pair": "pair",
        "pay": "pay",
        "bonus": "bonus",
        "deferred": "deferred",
        "unpaid": "unpaid",
        "loans": "loans",
        "bank": "bank",
    },
    "zh": {
        "reading": "牌型",
        "alike": "另有{}种拆法得分相同",
        "alike_one": "另有1种拆法得分相同",
        "for": "{}代{}",
        "wild": "百搭",
        "itself": "{}张作本牌，{}张代其他牌",
        "none": "手中没有",
        "bill": "计分",
        "due": "应付",
        "seat": "座位",
        "sums": "合计",
        "warning": "提醒",
        "pair": "将",
        "pay": "收付",
        "bonus": "课外",
        "deferred": "待结",
        "unpaid": "欠付",
        "loans": "借筹",
        "bank": "公账",
    },
}

UNITS: Mapping[str, Mapping[str, str]] = {
    "en": {"outside": "outside"},
    "zh": {
        "chips": "筹码",
        "lei": "垒",
        "water": "水",
        "times": "倍",
        "fan": "番",
        "han": "番",
        "fu": "符",
        "outside": "课外",
    },
}

PAYERS: Mapping[str, Mapping[Payers, str]] = {
    "en": {Payers.EACH: "each loser", Payers.DISCARDER: "the discarder", Payers.OTHERS: "each other"},
    "zh": {Payers.EACH: "每家付", Payers.DISCARDER: "放冲者付", Payers.OTHERS: "其余每家付"},
}

COLUMN = 9
"""Width of the words at the left."""


def answer_lines(
    claim: Claim, data: RuleData, verdict: Verdict, settlement: Settlement | None, lang: str = "en"
) -> list[str]:
    """The answer to a claim, one line after another; `settlement` None = nothing is settled."""
    return list(_Answer(data, lang).lines(claim, verdict, settlement))


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
    def __init__(self, data: RuleData, lang: str) -> None:
        self.data = data
        self.lang = lang
        self.label = LABELS[lang]

    def lines(self, claim: Claim, verdict: Verdict, settlement: Settlement | None) -> Iterator[str]:
        if verdict.details:
            for problem in verdict.details:
                yield f"{verdict.outcome.value}: {self.problem(problem)}"
        else:
            yield self.headline(claim, verdict)
        if verdict.wild is not None and verdict.outcome is Outcome.WIN:
            yield self.row("wild", self.wild(verdict.wild, claim, verdict))
        yield from self.reading(verdict)
        if settlement is not None:
            yield from self.bill(verdict, settlement)
            yield from self.accounts(settlement)
        else:
            yield from self.sums(verdict)
        for warning in verdict.warnings:
            yield self.row("warning", self.problem(warning))

    def row(self, name: str, text: str, column: int = COLUMN) -> str:
        return _padded(self.label.get(name, name), column) + text

    def headline(self, claim: Claim, verdict: Verdict) -> str:
        where = f"[{verdict.document} {verdict.section}]"
        if verdict.outcome is Outcome.DRAW:
            return f"draw: {self.data.words('draw', self.lang)} {where}"
        how = self.data.hows[claim.how]
        words = how.zh or how.text if self.lang == "zh" else how.text
        return (
            f"win: {self.label['seat']} {claim.winner}, how={claim.how} ({words}), cls={verdict.cls} {where}"
        )

    def problem(self, problem: Problem) -> str:
        about = ": " + ", ".join(problem.about) if problem.about else ""
        words = self.data.words(problem.code, self.lang)
        words = words and f" ({words})"
        return f"{problem.code}{words}{about} [{self.data.document} {problem.section}]"

    # the reading

    def wild(self, kind: Tile, claim: Claim, verdict: Verdict) -> str:
        held, reading = claim.held.count(kind), verdict.decomposition
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
        payers = f"{PAYERS[self.lang][item.payers]}: " if item.unit in ("chips", "outside") or owed else ""
        return f"{self.amount(item):>{width}}  {payers}{words}{words and ' '}({item.code} {item.section})"

    def sums(self, verdict: Verdict) -> Iterator[str]:
        if verdict.totals:
            yield self.row("sums", ", ".join(f"{name} {number}" for name, number in verdict.totals.items()))

    # the accounts

    def accounts(self, settlement: Settlement) -> Iterator[str]:
        rows: dict[str, Sequence[int]] = {**settlement.totals, "pay": settlement.pay}
        named = {
            "bonus": settlement.outside,
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
        column = max(COLUMN, *(len(name) for name in cells))
        for name, row in {"seat": seats, **cells}.items():
            yield self.row(name, "".join(cell.rjust(width) for cell in row), column)
        if settlement.bank:
            yield self.row("bank", f"{settlement.bank:+d}")


def _padded(text: str, width: int) -> str:
    """Fill up with spaces; a Chinese character is two columns wide."""
    wide = sum(east_asian_width(character) in "WF" for character in text)
    return text + " " * max(1, width - len(text) - wide)
