"""Translations: complete in every language, fast to load, and chosen by what the reader wants."""

import ast
import gettext
import re
import time
from pathlib import Path

import pytest

from firmware_bridge.interlock import Fault, Reason
from firmware_bridge.machine import LinkState
from station.table import decide, runtime
from station.web.catalogue import LANGUAGES, negotiate, translations
from station.web.dev.catalogue import extracted, load
from station.web.sentences import ANSWERS, SENTENCES
from station.web.words import Words
from vision.errors import VisionError


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_lacks_a_translation(lang):
    catalogue = load(lang)
    for message in extracted():
        if not message.id:
            continue
        found = catalogue.get(message.id, message.context)
        assert found is not None, message.id
        strings = found.string if isinstance(found.string, tuple) else (found.string,)
        assert all(strings), message.id


@pytest.mark.parametrize("lang", LANGUAGES)
def test_translations_keep_the_parameters(lang):
    for message in load(lang):
        if not message.id:
            continue
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        wanted = set(re.findall(r"%\((\w+)\)s", ids[-1]))
        for text in strings:
            assert set(re.findall(r"%\((\w+)\)s", text)) == wanted, text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_sentence_is_left_over(lang):
    known = {m.id if isinstance(m.id, str) else m.id[0] for m in extracted() if m.id}
    for message in load(lang):
        if message.id:
            assert (message.id if isinstance(message.id, str) else message.id[0]) in known


def test_traditional_has_no_simplified_characters_left():
    text = " ".join(str(m.string) for m in load("zh-Hant"))
    assert not set("东万发识规则结录无应请进还这谁读选认图将杠条当账").intersection(text)


def test_catalogues_load_quickly():
    translations("en")  # imports are paid once
    translations.cache_clear()
    best = min(_timed("zh-Hans") for _ in range(3))
    assert best < 0.05


def _timed(lang):
    translations.cache_clear()
    start = time.process_time()
    assert isinstance(translations(lang), gettext.GNUTranslations)
    return time.process_time() - start


@pytest.mark.parametrize(
    ("query", "cookie", "accept", "lang"),
    [
        (None, None, None, "zh-Hans"),
        ("en", "zh-Hant", "zh-CN", "en"),
        ("xx", "zh-Hant", "en", "zh-Hant"),
        (None, "rubbish", "en-US,en;q=0.9", "en"),
        (None, None, "zh-TW,zh;q=0.9", "zh-Hant"),
        (None, None, "zh-CN,en;q=0.9", "zh-Hans"),
        (None, None, "de;q=1, en;q=0.1", "en"),
        (None, None, "en;q=0, *", "zh-Hans"),
        (None, None, ";;;q=x,,", "zh-Hans"),
    ],
)
def test_negotiation(query, cookie, accept, lang):
    assert negotiate(query, cookie, accept) == lang


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_code_has_a_sentence_in_every_language(lang):
    words = Words.of(lang)
    params = {"place": 1, "table": "T2"}
    for code in SENTENCES:
        sentence = words.sentence(code, params, {1: "Li"})
        assert sentence
        assert "%(" not in sentence


def test_every_refusal_of_the_table_has_a_sentence():
    room = Path(decide.__file__).parent
    files = [*room.glob("decide*.py"), room / "asking.py", room / "facts.py", Path(runtime.__file__)]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    codes = {
        node.args[1].value
        for node in calls
        if getattr(node.func, "id", "") == "need" and isinstance(node.args[1], ast.Constant)
    }
    codes |= {k.value.value for c in calls for k in c.keywords if k.arg == "code" and _is_text(k.value)}
    assert len(codes) > 25
    assert codes <= set(ANSWERS)


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_everything_a_machine_can_answer_has_a_sentence():
    codes = {f"machine.{reason.name.lower()}" for reason in (*Reason, *Fault)}
    codes |= {f"machine.fault.{fault.name.lower()}" for fault in Fault}
    codes |= {f"machine.{state.value}" for state in LinkState} - {"machine.up"}
    assert codes <= set(ANSWERS)


def test_parameters_are_put_into_words():
    words = Words.of("en")
    assert words.sentence("referee.called", {"place": 1}, {1: "Li Ming"}) == "Li Ming calls the referee"
    assert words.sentence("referee.called", {"place": 1}) == "2 calls the referee"


def test_a_sentence_without_its_parameters_shows_the_code():
    assert Words.of("en").sentence("referee.called") == "referee.called"


@pytest.mark.parametrize(
    ("kind", "zh", "en"),
    [("7m", "7 万", "7 Character"), ("1z", "东", "East wind"), ("5f", "梅", "Plum"), ("zz", "zz", "zz")],
)
def test_tile_names(kind, zh, en):
    assert Words.of("zh-Hans").tile(kind) == zh
    assert Words.of("en").tile(kind) == en


def test_every_error_of_the_eyes_has_a_sentence():
    pending, codes = [VisionError], set()
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if kind.__module__ == VisionError.__module__ and kind is not VisionError:
            codes.add(kind.code)
    assert codes <= set(SENTENCES)
