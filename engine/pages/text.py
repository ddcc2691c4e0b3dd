"""Markdown and fixed words which the pages for referees share (`rulepage`, `sheetpage`)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from engine.options import OptionSpec

WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
"""Fixed words by language ("en", "zh"), and what melds are called ("melds_en", "melds_zh")."""


class Bilingual(Protocol):
    """Anything that is said in two languages; `zh` may be empty."""

    @property
    def text(self) -> str:
        """English."""

    @property
    def zh(self) -> str:
        """Chinese."""


def said(spec: Bilingual, lang: str) -> str:
    """The text in "en" or "zh"; English where there is no Chinese."""
    return spec.zh or spec.text if lang == "zh" else spec.text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table and the empty line after it; nothing at all without rows."""
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    if not body:
        return
    for row in (head, ["---"] * len(head), *body):
        yield f"| {' | '.join(row)} |"
    yield ""


def heading(level: int, title: str) -> Iterator[str]:
    """A heading and the empty line after it."""
    yield f"{'#' * level} {title}"
    yield ""


def paragraph(text: str) -> Iterator[str]:
    """Text and the empty line after it."""
    yield text.strip()
    yield ""


def block(text: Iterable[str], language: str = "text") -> Iterator[str]:
    """Something to copy, or an answer."""
    yield f"```{language}"
    yield from text
    yield "```"
    yield ""


def page_head(name: str, title: str, page_id: str, lang: str) -> Iterator[str]:
    """Title, link to the page in the other language, and where the page comes from."""
    words = WORDS[lang]
    yield from heading(1, f"{name} {title}" if lang == "zh" else f"{title} {name}")
    yield from paragraph(f"[{words['other']}]({page_id}{'' if lang == 'zh' else '.zh'}.md)")
    files = f"engine/rules/{page_id}.toml, tests/golden/{page_id}.json"
    yield from paragraph(f"<!-- {words['made'].format(files=files)} -->")


def option_table(specs: Iterable[OptionSpec], lang: str) -> Iterator[str]:
    """Options: name, default, allowed values, meaning with the effect of each value, source."""
    words = WORDS[lang]
    head = [words[name] for name in ("options", "default", "allowed", "meaning", "source")]
    yield from table(head, (_option_row(spec, lang) for spec in specs))


def _option_row(spec: OptionSpec, lang: str) -> tuple[str, ...]:
    words = WORDS[lang]
    if spec.allowed:
        allowed = ", ".join(f"`{value}`" for value in spec.allowed)
    else:
        whole = words["whole"].format(spec.minimum, spec.maximum)
        allowed = words["yes_no"] if spec.type == "bool" else whole
    effects = spec.effects_zh or spec.effects if lang == "zh" else spec.effects
    asked = words[spec.ask] if spec.ask else ""
    told = "".join(f"<br>`{value}`: {effect}" for value, effect in effects.items())
    default = str(spec.default).lower() if spec.type == "bool" else str(spec.default)
    return f"`{spec.name}`", default, allowed, f"{asked}{said(spec, lang)}{told}", spec.source
