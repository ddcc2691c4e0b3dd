"""The page of a rule set for referees: Markdown made from its data file and from worked examples.

What is decided how stands in the file (`page`); around it the page says how a hand is written and how an
answer is read (`engine.pages.howto`), and lists prices, options and calls by section. Pure: text in,
text out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine import rulesets
from engine.answers.text import answer_lines
from engine.answers.words import PAYERS, UNITS
from engine.claim import DRAW
from engine.pages.howto import how_to_read, how_to_write
from engine.pages.text import WORDS, block, heading, option_table, page_head, paragraph, said, table
from engine.ruledata import PageSection, RuleData
from engine.ruleset import RuleSet
from engine.text.claimobject import claim_from_object
from engine.text.claimtext import format_claim
from engine.verdict import Outcome

Examples = Sequence[Mapping[str, Any]]
"""Vectors: claims with `id` and `note`."""

OWN_TURN = 9
"""The rank of calls that are made in the own turn."""


def rule_page(
    ruleset_id: str, lang: str = "en", examples: Examples = (), notes: Mapping[str, str] | None = None
) -> str:
    """The page as Markdown, in "en" or "zh". `notes` by id replace those of the examples.

    Raises:
        UnknownRuleSetError: no such rule set of mahjong.
        MissingExtraError: a library that prices the examples is missing.
    """
    page = _Page(rulesets.load(ruleset_id), lang, notes or {})
    return "\n".join(page.lines(examples)).rstrip() + "\n"


class _Page:
    def __init__(self, rules: RuleSet, lang: str, notes: Mapping[str, str]) -> None:
        self.rules = rules
        self.data: RuleData = rules.data
        self.lang = lang
        self.words = WORDS[lang]
        self.notes = notes

    def lines(self, examples: Examples) -> Iterator[str]:
        data, words = self.data, self.words
        yield from page_head(data.name, data.title, data.id, self.lang)
        yield from paragraph(words["intro"].format(id=data.id, document=data.document))
        yield from self.glance()
        yield from heading(2, words["settle"])
        yield from paragraph(words["settle_text"])
        for vector in examples[:1]:
            yield from self.example(vector)
        yield from how_to_write(data, self.lang)
        yield from how_to_read(data, self.lang)
        for section in data.page:
            yield from self.section(section)
        yield from paragraph(words["marks"])
        yield from self.reasons()
        yield from self.examples(examples)

    def glance(self) -> Iterator[str]:
        data, words = self.data, self.words
        stake = words["chips"].format(data.stake) if data.stake else words["no_stake"]
        walls = words["stacks"].format(len(data.deal.stacks), data.deal.stacks[0])
        hand = words["hand_of"].format(data.hand_size)
        head = [words[name] for name in ("players", "tiles", "walls", "hand", "stake")]
        yield from table(head, [[str(data.players), str(data.tile_set.total), walls, hand, stake]])

    # what is decided how

    def section(self, section: PageSection) -> Iterator[str]:
        is_zh = self.lang == "zh"
        yield from heading(2, f"{section.section} {section.title_zh if is_zh else section.title}")
        yield from paragraph(section.zh if is_zh else section.text)
        yield from self.calls(section.section)
        yield from self.prices(section.section)
        options = [
            spec
            for name, spec in self.data.options.items()
            if name not in self.data.prices and spec.section == section.section
        ]
        yield from option_table(options, self.lang)

    def calls(self, section: str) -> Iterator[str]:
        words = self.words
        rows = []
        for call in self.data.calls.values():
            rank = str(call.rank + 1) if call.rank < OWN_TURN else words["own"]
            if call.section == section:
                rows.append((f"`{call.name}`", rank, said(call, self.lang)))
        yield from table([words["call"], words["rank"], words["sentence"]], rows)

    def prices(self, section: str) -> Iterator[str]:
        words, data = self.words, self.data
        rows: list[tuple[str, ...]] = []
        for code, price in data.prices.items():
            spec = data.options[code]
            unit = UNITS[self.lang].get(price.unit, price.unit)
            payers = f", {PAYERS[self.lang][price.payers]}" if price.unit in ("chips", "outside") else ""
            if price.section == section:
                amount = f"{spec.default} {unit}{payers}"
                rows.append((f"`{code}`", amount, said(spec, self.lang), spec.source))
        rows += [
            (f"`{item.code}`", str(item.amount or ""), said(item, self.lang), "")
            for item in data.items.values()
            if item.section == section
        ]
        yield from table([words[name] for name in ("price", "amount", "for", "source")], rows)

    def reasons(self) -> Iterator[str]:
        words, data = self.words, self.data
        yield from heading(2, words["reasons"])
        yield from paragraph(words["reasons_text"])
        told = {code: section for code, section in data.sections.items() if code != DRAW}
        rows = [(f"`{code}`", data.words(code, self.lang), section) for code, section in told.items()]
        yield from table([words["reason"], words["meaning"], words["section"]], rows)

    # worked examples

    def examples(self, examples: Examples) -> Iterator[str]:
        if not examples:
            return
        yield from heading(2, self.words["examples"])
        yield from paragraph(self.words["examples_text"])
        yield from self.index(examples)
        for vector in examples:
            note = self.notes.get(vector["id"]) or vector.get("note", "")
            yield from heading(3, f"{vector['id']}: {note}")
            yield from self.example(vector)

    def index(self, examples: Examples) -> Iterator[str]:
        """Which examples show which way to win, or which reason against it."""
        found: dict[str, list[str]] = {}
        for vector in examples:
            claim = claim_from_object(vector, self.data.id)
            verdict = self.rules.check(claim)
            reasons = [f"`{verdict.outcome.value}`: `{code}`" for code in verdict.problems]
            for situation in reasons or [f"`how={claim.how}`"]:
                found.setdefault(situation, []).append(vector["id"])
        words = self.words
        rows = [(situation, words["comma"].join(ids)) for situation, ids in sorted(found.items(), key=_order)]
        yield from table([words["situation"], words["example"]], rows)

    def example(self, vector: Mapping[str, Any]) -> Iterator[str]:
        claim = claim_from_object(vector, self.data.id)
        verdict = self.rules.check(claim)
        settled = verdict.outcome in (Outcome.WIN, Outcome.DRAW)
        settlement = self.rules.settle(verdict, claim) if settled else None
        lang = " --lang zh" if self.lang == "zh" else ""
        line = format_claim(claim, self.data.id)
        yield from block([f"quezhuo check --ruleset {self.data.id}{lang} '{line}'"], "sh")
        yield from block(answer_lines(claim, self.rules, verdict, settlement, self.lang))


def _order(entry: tuple[str, list[str]]) -> bool:
    """Wins and draws before refusals."""
    return not entry[0].startswith("`how=")
