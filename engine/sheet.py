"""Score sheets: what a person enters about a game that no camera reads, and what comes out of it.

A sheet is `rules/<id>.toml` with `kind = "sheet"` (facts, options, tables), and its class in `rules/<id>.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.claim import OptionValue
from engine.errors import EngineError
from engine.jsonvalues import given_keys, named, want_count, want_list, want_options, want_text, want_truth
from engine.options import OptionError, OptionSpec, spec_from_table
from engine.rulebase import OptionsChosen
from engine.ruledata import PageSection, digest_of, page_sections
from engine.text.tiletext import IllegalNotation, InvalidNotation

FactValue = bool | int | str | tuple[tuple[str, int], ...]
"""What a fact can be: yes or no, a number, one of some words, or a list of (word, number)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetFact:
    """One thing that is entered: `type` is "bool", "int", "choice" or "pairs", a list of (word, number).

    `allowed` are the words; `minimum`, `maximum` and `step` (a divisor) limit the numbers.
    """

    name: str
    type: str
    allowed: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    step: int = 1
    section: str
    text: str
    zh: str

    def read(self, value: object) -> FactValue:
        """Read the value from JSON.

        Raises:
            InvalidNotation: a value of another type.
            IllegalNotation: a word or number which is not allowed.
        """
        read = named(self.name, _WANTED[self.type], value)
        try:
            return self.check(read)
        except EngineError as error:
            raise IllegalNotation(str(error), 0) from None

    def check(self, value: FactValue) -> FactValue:
        """Return the value if the fact can have it.

        Raises:
            EngineError: a word or number which is not allowed; the message names the fact.
        """
        if isinstance(value, tuple):
            for word, number in value:
                self._check_word(word)
                self._check_number(number)
        elif isinstance(value, str):
            self._check_word(value)
        elif not isinstance(value, bool):
            self._check_number(value)
        return value

    def _check_word(self, word: str) -> None:
        if word not in self.allowed:
            raise EngineError(f"{self.name}: there is no {word!r}; use one of {', '.join(self.allowed)}.")

    def _check_number(self, number: int) -> None:
        if not self.minimum <= number <= self.maximum:
            raise EngineError(f"{self.name}: {number} is not between {self.minimum} and {self.maximum}.")
        if number % self.step:
            raise EngineError(f"{self.name}: {number} is not a multiple of {self.step}.")


def _want_pairs(value: object) -> tuple[tuple[str, int], ...]:
    pairs = [want_list(item) for item in want_list(value)]
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidNotation(f"a list of (word, number) is wanted, not {value!r}", 0)
    return tuple((want_text(word), want_count(number)) for word, number in pairs)


_WANTED: Mapping[str, Callable[[object], FactValue]] = {
    "bool": want_truth,
    "int": want_count,
    "choice": want_text,
    "pairs": _want_pairs,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetData:
    """A sheet as data. `name` is Chinese, `title` English.

    `facts` are what is entered, `tables` what the sheet's class makes sense of. `sections` say where
    `document` speaks of each reason; `digest` is the SHA-256 of the file's content.
    """

    id: str
    name: str
    title: str
    document: str
    sections: Mapping[str, str]
    options: Mapping[str, OptionSpec]
    facts: Mapping[str, SheetFact]
    tables: Mapping[str, Any]
    page: tuple[PageSection, ...]
    digest: str

    def section(self, code: str) -> str:
        """The section of the document that speaks of a reason.

        Raises:
            EngineError: the data file does not say.
        """
        try:
            return self.sections[code]
        except KeyError:
            raise EngineError(f"sheet {self.id} has no section for {code!r}; add it to its file.") from None


_KEYS = frozenset(
    {"kind", "id", "name", "title", "document", "sections", "options", "facts", "tables", "page"}
)


def sheet_data(table: Mapping[str, Any]) -> SheetData:
    """Build the data from the parsed file.

    Raises:
        EngineError: a key is missing or unknown, or a value is not allowed.
    """
    if wrong := _KEYS ^ table.keys():
        raise EngineError(f"the sheet's file lacks or has too much: {', '.join(sorted(wrong))}.")
    if table["kind"] != "sheet":
        raise EngineError(f"the sheet's file has the kind {table['kind']!r}; a sheet has 'sheet'.")
    return SheetData(
        id=table["id"],
        name=table["name"],
        title=table["title"],
        document=table["document"],
        sections=table["sections"],
        options={name: spec_from_table(name, entry) for name, entry in table["options"].items()},
        facts={name: _fact(name, entry) for name, entry in table["facts"].items()},
        tables=table["tables"],
        page=page_sections(table["page"]),
        digest=digest_of(table),
    )


def _fact(name: str, entry: Mapping[str, Any]) -> SheetFact:
    try:
        fact = SheetFact(name=name, **{**entry, "allowed": tuple(entry.get("allowed", ()))})
    except TypeError as error:
        raise EngineError(f"fact {name} of the sheet's file is wrong: {error}.") from None
    if fact.type not in _WANTED:
        raise EngineError(f"fact {name}: there is no type {fact.type!r}; use {', '.join(_WANTED)}.")
    return fact


class ScoreSheet(OptionsChosen):
    """A score sheet with its options chosen. It never changes; `with_options` returns another one."""

    def __init__(self, data: SheetData, options: Mapping[str, OptionValue] | None = None) -> None:
        super().__init__(data, options)
        self.data = data

    def __repr__(self) -> str:
        return super().__repr__().replace("load", "sheet", 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreSheet) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def answer(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a worked example: read its facts and say what comes out, as JSON-able values.

        The keys are those of `data.facts` and `options`; `id`, `note` and `expect` are passed over.

        Raises:
            IllegalNotation: an unknown key, or facts that cannot be; the message names them.
            InvalidNotation: a value that cannot be read; the message names the key.
            OptionError: an option that does not exist or cannot have the value.
        """
        given = given_keys(obj, frozenset({"options", *self.data.facts}), f"a {self.id} sheet")
        options = named("options", want_options, given.pop("options", {}))
        facts = {name: self.data.facts[name].read(value) for name, value in given.items()}
        try:
            return self.with_options(options).judge(facts)
        except OptionError:
            raise
        except EngineError as error:
            raise IllegalNotation(str(error), 0) from None

    def judge(self, facts: Mapping[str, FactValue]) -> dict[str, Any]:
        """Say what comes out of the facts that were entered; those left out have their usual value.

        Raises:
            EngineError: facts that contradict each other, or one that is missing.
        """
        raise NotImplementedError
