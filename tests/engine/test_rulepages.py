"""The pages for referees in docs/rules are what the rule sets say, in both languages."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from engine import rulesets
from engine.errors import EngineError
from engine.pages.rulepage import rule_page
from engine.pages.sheetpage import sheet_page
from engine.pages.text import WORDS, table
from engine.reasons import LANGUAGES
from engine.ruledata import page_sections
from tests.engine.extras import marks

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("make_pages", ROOT / "docs" / "make_pages.py")
make_pages = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_pages)

WRITTEN = [pytest.param(name, marks=marks(name)) for name in make_pages.written()]
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def data_of(name):
    return rulesets.sheet(name).data if name in rulesets.sheet_ids() else rulesets.data(name)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", WRITTEN)
def test_the_committed_page_is_what_make_docs_writes(name, lang):
    committed = make_pages.file_of(name, lang).read_text(encoding="utf-8")
    assert committed == make_pages.page_of(name, lang), "run `make docs`"


@pytest.mark.parametrize("name", WRITTEN)
def test_every_section_that_is_cited_is_on_the_page(name):
    data = data_of(name)
    cited = {*data.sections.values(), *(spec.section for spec in data.options.values())}
    for specs in ("facts", "hows", "calls", "seat_facts", "prices", "items"):
        cited |= {spec.section for spec in getattr(data, specs, {}).values()}
    pages = [section.section for section in data.page]
    assert cited <= set(pages)
    assert pages == sorted(set(pages), key=lambda section: int(section[1:]))


@pytest.mark.parametrize("name", WRITTEN)
def test_every_section_is_said_in_both_languages(name):
    for section in data_of(name).page:
        assert CHINESE.search(section.zh)
        assert CHINESE.search(section.title_zh)
        assert not re.search(r"[。，；：]", section.text)
        assert len(section.text) > 40


@pytest.mark.parametrize("name", WRITTEN)
def test_every_option_fact_and_way_to_win_is_on_the_page(name):
    data = data_of(name)
    for lang in LANGUAGES:
        page = make_pages.page_of(name, lang)
        for option in data.options:
            assert f"`{option}`" in page
        for how in getattr(data, "hows", {}):
            assert f"| `{how}` |" in page
        for spec in data.facts.values():
            assert f"`{getattr(spec, 'word', spec.name)}" in page


@pytest.mark.parametrize("name", WRITTEN)
def test_every_example_has_a_chinese_note(name):
    notes = json.loads((ROOT / "docs" / "rules" / "notes.zh.json").read_text(encoding="utf-8"))
    for example in make_pages.examples_of(name):
        assert notes[example["id"]]


def test_no_note_is_left_over():
    notes = json.loads((ROOT / "docs" / "rules" / "notes.zh.json").read_text(encoding="utf-8"))
    ids = set()
    for name in (*rulesets.ids(), *rulesets.sheet_ids()):
        ids |= {example["id"] for example in make_pages.examples_of(name)}
    assert notes.keys() <= ids


def test_a_page_without_examples_has_everything_else():
    page = rule_page("zhenjiang")
    assert "## §6 Prices and payment" in page
    assert "Worked examples" not in page


def test_a_sheet_without_examples_has_everything_else():
    page = sheet_page("shengji")
    assert "## §2 From points to levels" in page
    assert "Worked examples" not in page


def test_the_words_of_both_languages_are_the_same():
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    assert WORDS["melds_en"].keys() == WORDS["melds_zh"].keys()


def test_cells_keep_their_bars_and_an_empty_table_is_none():
    assert list(table(["a"], [["x|y"]])) == ["| a |", "| --- |", "| x\\|y |", ""]
    assert list(table(["a"], [])) == []


def test_a_wrong_page_is_refused():
    with pytest.raises(EngineError, match="page"):
        page_sections([{"section": "§1", "title": "Tiles"}])
