"""What a rule set calls its things, in one language: the short words of `rule_words`, else its own texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from engine import rulesets
from engine.facts import FactSpec
from engine.ruledata import HowSpec, RuleData
from station.web.rule_words import CLASSES, FACTS, HOW, HOW_FROM, ITEMS, REASONS, TOTALS
from station.web.words import Words

LONGEST = 40
"""Characters of a text that still fits a button; of a longer one the first clause is taken."""


class _Told(Protocol):
    """Something of a rule set's file that has a text in English and one in Chinese."""

    @property
    def text(self) -> str: ...

    @property
    def zh(self) -> str: ...


class RuleTexts:
    """Words of one rule set in one language; of an unknown rule set, codes as they are."""

    def __init__(self, ruleset: str, lang: str) -> None:
        self.words = Words.of(lang)
        self.data: RuleData | None = rulesets.data(ruleset) if ruleset in rulesets.ids() else None
        self._zh = lang.startswith("zh")

    @staticmethod
    @cache
    def of(ruleset: str, lang: str) -> RuleTexts:
        """Return the words of a rule set in a language."""
        return RuleTexts(ruleset, lang)

    @property
    def hows(self) -> Mapping[str, HowSpec]:
        """The ways to win."""
        return self.data.hows if self.data else {}

    @property
    def facts(self) -> Mapping[str, FactSpec]:
        """Facts of a claim."""
        return self.data.facts if self.data else {}

    @property
    def seat_facts(self) -> Mapping[str, FactSpec]:
        """Facts of every player, where losers score."""
        return self.data.seat_facts if self.data else {}

    def how(self, code: str) -> str:
        """A way to win."""
        return self._short(HOW, code, self._of(self.hows.get(code)))

    def how_from(self, code: str) -> str:
        """What stands over the players whose tile it may be."""
        return self.words.say(HOW_FROM[code]) if code in HOW_FROM else self.how(code)

    def fact(self, code: str) -> str:
        """A fact of a claim or of a player."""
        return self._short(FACTS, code, self._of(self.facts.get(code) or self.seat_facts.get(code)))

    def part(self, fact: str, code: str) -> str:
        """A counter or a choice of a fact."""
        key = f"{fact}.{code}"
        return self.words.say(FACTS[key]) if key in FACTS else _plain(code)

    def item(self, code: str) -> str:
        """A line of the bill."""
        return self._short(ITEMS, code, self._file(code))

    def cls(self, code: str | None) -> str:
        """A price class."""
        return self._short(CLASSES, code, self._of(self.hows.get(code)) or self._file(code)) if code else ""

    def reason(self, code: str | None) -> str:
        """Why a claim does not win."""
        return self._short(REASONS, code, self._file(code)) if code else ""

    def total(self, code: str, n: object) -> str:
        """A sum of the rule set, such as "22 fan"."""
        return self.words.say(TOTALS[code], n=n) if code in TOTALS else f"{_plain(code)} {n}"

    def _of(self, told: _Told | None) -> str:
        """The text of something in the rule set's file."""
        if told is None:
            return ""
        return told.zh or told.text if self._zh else told.text

    def _file(self, code: str) -> str:
        """What the rule set's file says of a reason, a price or another item of a bill."""
        return self.data.words(code, "zh" if self._zh else "en") if self.data else ""

    def _short(self, table: Mapping[str, str], code: str, text: str) -> str:
        if code in table:
            return self.words.say(table[code])
        return _first_clause(text) or _plain(code)


def _first_clause(text: str) -> str:
    for mark in (":", "：", ";", "；", "（", ", ", "，"):
        if len(text) > LONGEST and mark in text:
            text = text.partition(mark)[0]
    return text.strip()


def _plain(code: str) -> str:
    return code.replace("_", " ")
