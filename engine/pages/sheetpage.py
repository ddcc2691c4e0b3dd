"""The page of a score sheet for referees: what is entered, what comes out, faults and options, examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine import rulesets
from engine.answers.text import sheet_answer_lines
from engine.jsonvalues import IGNORED_KEYS
from engine.pages.text import WORDS, block, heading, option_table, page_head, paragraph, said, table
from engine.sheet import ScoreSheet, SheetFact

Examples = Sequence[Mapping[str, Any]]
"""Vectors: deals with `id` and `note`."""


def sheet_page(
    sheet_id: str, lang: str = "en", examples: Examples = (), notes: Mapping[str, str] | None = None
) -> str:
    """The page as Markdown, in "en" or "zh". `notes` by id replace those of the examples.

    Raises:
        UnknownRuleSetError: no such score sheet.
    """
    page = _SheetPage(rulesets.sheet(sheet_id), lang, notes or {})
    return "\n".join(page.lines(examples)).rstrip() + "\n"


class _SheetPage:
    def __init__(self, sheet: ScoreSheet, lang: str, notes: Mapping[str, str]) -> None:
        self.sheet = sheet
        self.data = sheet.data
        self.lang = lang
        self.words = WORDS[lang]
        self.notes = notes

    def lines(self, examples: Examples) -> Iterator[str]:
        data, words = self.data, self.words
        yield from page_head(data.name, data.title, data.id, self.lang)
        yield from paragraph(words["sheet_intro"].format(id=data.id, document=data.document))
        yield from heading(2, words["sheet_settle"])
        yield from paragraph(words["sheet_text"].format(id=data.id))
        for vector in examples[:1]:
            yield from self.example(vector)
        rows = [
            (f"`{fact.name}`", self.values(fact), said(fact, self.lang), fact.section)
            for fact in data.facts.values()
        ]
        yield from table([words["key"], words["value"], words["meaning"], words["section"]], rows)
        for section in data.page:
            is_zh = self.lang == "zh"
            yield from heading(2, f"{section.section} {section.title_zh if is_zh else section.title}")
            yield from paragraph(section.zh if is_zh else section.text)
            for name in section.tables:
                yield from self.table(data.tables[name])
            options = [spec for spec in data.options.values() if spec.section == section.section]
            yield from option_table(options, self.lang)
        yield from paragraph(words["marks"])
        yield from self.examples(examples)

    def values(self, fact: SheetFact) -> str:
        """What a fact can be, as it stands in JSON."""
        step = f" ({self.words['step'].format(fact.step)})" if fact.step > 1 else ""
        number = f"{fact.minimum}–{fact.maximum}{step}"
        chosen = ", ".join(f'`"{word}"`' for word in fact.allowed)
        pairs = f'`[["{fact.allowed[0]}", {fact.maximum // 50}]]`: {chosen}' if fact.type == "pairs" else ""
        return {"bool": "true", "int": number, "choice": chosen, "pairs": f"{pairs}; {number}"}[fact.type]

    def table(self, entries: Mapping[str, Any]) -> Iterator[str]:
        """A table of the sheet: numbers by name, rows by variant, or entries with a text."""
        words = self.words
        rows: list[Sequence[str]] = []
        for name, entry in entries.items():
            if isinstance(entry, Mapping):
                points = f"{entry['points']} / {words[entry['per']]}" if entry["points"] else "0"
                text = entry["zh"] if self.lang == "zh" else entry["text"]
                rows.append((f"`{name}`", points, text))
            elif isinstance(entry, list):
                rows += [(f"`{name}`", *map(str, row)) for row in entry if isinstance(row, list)]
            else:
                rows.append((f"`{name}`", f"×{entry}"))
        if not rows:
            return
        heads = {
            2: ("value", "times"),
            3: ("fault", "points", "meaning"),
            4: ("variant", "from_points", "side", "levels"),
        }
        yield from table([words[name] for name in heads[len(rows[0])]], rows)

    def examples(self, examples: Examples) -> Iterator[str]:
        if not examples:
            return
        yield from heading(2, self.words["examples"])
        yield from paragraph(self.words["sheet_examples_text"])
        for vector in examples:
            note = self.notes.get(vector["id"]) or vector.get("note", "")
            yield from heading(3, f"{vector['id']}: {note}")
            yield from self.example(vector)

    def example(self, vector: Mapping[str, Any]) -> Iterator[str]:
        deal = {key: value for key, value in vector.items() if key not in IGNORED_KEYS and value is not None}
        text = json.dumps([deal], ensure_ascii=False)
        lang = " --lang zh" if self.lang == "zh" else ""
        command = f"quezhuo check --ruleset {self.data.id}{lang} --vectors -"
        yield from block([f"echo '{text}' | {command}"], "sh")
        yield from block(sheet_answer_lines(self.sheet.answer(vector), self.lang))
