"""Write the pages for referees, docs/rules/<id>.md (English) and <id>.zh.md (Chinese): `make docs`.

Rules come from engine/rules/<id>.toml, worked examples from tests/golden/<id>.json; the Chinese notes of the
examples stand in docs/rules/notes.zh.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine import rulesets
from engine.pages.rulepage import rule_page
from engine.pages.sheetpage import sheet_page
from engine.reasons import LANGUAGES

PAGES = Path(__file__).parent / "rules"
EXAMPLES = Path(__file__).parents[1] / "tests" / "golden"


def page_of(ruleset_id: str, lang: str) -> str:
    """The page of one rule set or score sheet, in "en" or "zh"."""
    notes = _read(PAGES / "notes.zh.json") if lang == "zh" else {}
    make = sheet_page if ruleset_id in rulesets.sheet_ids() else rule_page
    return make(ruleset_id, lang, examples_of(ruleset_id), notes)


def examples_of(ruleset_id: str) -> list[dict[str, Any]]:
    """The worked examples of a rule set or score sheet; perhaps none."""
    path = EXAMPLES / f"{ruleset_id}.json"
    return list(_read(path)) if path.exists() else []


def file_of(ruleset_id: str, lang: str) -> Path:
    """Where the page lies."""
    return PAGES / f"{ruleset_id}{'' if lang == 'en' else '.zh'}.md"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def written() -> list[str]:
    """The ids of the rule sets and score sheets whose page has been written."""
    pages = {name: rulesets.data(name).page for name in rulesets.ids()}
    pages |= {name: rulesets.sheet(name).data.page for name in rulesets.sheet_ids()}
    return [name for name, page in pages.items() if page]


if __name__ == "__main__":
    for name in written():
        for language in LANGUAGES:
            file_of(name, language).write_text(page_of(name, language), encoding="utf-8")
