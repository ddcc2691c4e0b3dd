"""The part of a page for referees that says how a hand is written in one line and how an answer is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.answers.words import LABELS
from engine.claim import DRAW
from engine.facts import FactSpec
from engine.pages.text import WORDS, heading, option_table, paragraph, said, table
from engine.ruledata import HowSpec, RuleData
from engine.tiles import Tile
from engine.verdict import Outcome

MELDS = {"C": "C:123m", "P": "P:555m", "K": "K:5555m", "A": "A:5555m", "H": "H:555m"}
"""A meld of each kind, to show how it is written."""


def how_to_write(data: RuleData, lang: str) -> Iterator[str]:
    """What a line consists of, what the event chooses, the ways to win and the facts of the rule set."""
    words = WORDS[lang]
    yield from heading(3, words["write"])
    yield from paragraph(words["order"])
    yield from table([words["part"], words["meaning"]], _parts(data, lang))
    yield from _event(data, lang)
    yield from heading(3, words["ways"])
    head = ["`how=`", words["meaning"], words["needs"], words["section"]]
    yield from table(head, [*(_way(how, lang) for how in data.hows.values()), _draw(data, lang)])
    yield from _facts("facts", [*data.facts.values()], "", lang)
    yield from _facts("seat_facts", [*data.seat_facts.values()], "p0.", lang)


def _parts(data: RuleData, lang: str) -> Iterator[tuple[str, str]]:
    words, melds = WORDS[lang], WORDS[f"melds_{lang}"]
    has_flowers = data.tile_set.counts[Tile.SPRING] > 0
    yield (
        "`123m456p11z`",
        words["concealed"].format(hand=data.hand_size) + (words["flowers"] if has_flowers else ""),
    )
    kinds = [kind.value for kind in data.melds]
    names = words["comma"].join(f"`{kind}` {melds[kind]}" for kind in kinds)
    yield " ".join(f"`{MELDS[kind]}`" for kind in kinds), words["meld_words"].format(names)
    yield "`+5m`", words["win"]
    if data.deal.indicators:
        yield "`flip=1p`", words["flip"]
    yield "`how=…`", words["how"]
    yield "`seat=1`", words["seat"]
    if "discarder" in data.keys:
        optional = all(how.discarder != "required" for how in data.hows.values())
        yield "`from=2`", words["from"] + (words["from_optional"] if optional else "")
    if data.seat_facts:
        yield "`p0=P:555m,K:1111z`", words["p_melds"]
    if "chips" in data.keys:
        yield f"`chips={','.join([str(data.stake)] * data.players)}`", words["chips_word"]
    if "xianggong" in data.keys:
        yield "`xianggong`", words["xianggong"]
    yield "`name=value`", words["option"]


def _event(data: RuleData, lang: str) -> Iterator[str]:
    """The options that have to be asked for, before everything else."""
    words = WORDS[lang]
    asked = [spec for spec in data.options.values() if spec.ask]
    if not asked:
        return
    first = asked[0]
    other = next((value for value in first.allowed if value != first.default), first.default)
    told = "true" if first.type == "bool" else other
    yield from heading(3, words["event"])
    yield from paragraph(words["event_text"].format(line=f"{first.name}={told}"))
    yield from option_table(asked, lang)


def _draw(data: RuleData, lang: str) -> tuple[str, ...]:
    """The exhausted wall stands beside the ways to win, with a line to copy."""
    choice = next((spec for spec in data.seat_facts.values() if spec.type == "choice"), None)
    more = f" p1.{choice.word}={choice.allowed[0]}" if choice is not None else ""
    text = WORDS[lang]["draw_way"].format(line=f"`'how=draw{more}'`")
    return f"`{DRAW}`", text, "", data.section(DRAW)


def _way(how: HowSpec, lang: str) -> tuple[str, ...]:
    words = WORDS[lang]
    needs = {
        words["need_tile"]: how.tile == "required",
        words["maybe_tile"]: how.tile == "optional",
        words["need_from"]: how.discarder == "required",
        words["maybe_from"]: how.discarder == "optional",
        words["need_meld"].format(how.meld): bool(how.meld),
        words["need_dealer"]: how.dealer,
    }
    needed = words["comma"].join(name for name, is_needed in needs.items() if is_needed)
    return f"`{how.name}`", said(how, lang), needed, how.section


def _facts(name: str, specs: Sequence[FactSpec], prefix: str, lang: str) -> Iterator[str]:
    words = WORDS[lang]
    if not specs:
        return
    yield from heading(3, words[name])
    together = [spec.word for spec in specs if spec.type == "int" and spec.inside][:2]
    joined = f"{prefix}{specs[0].inside}=" + ",".join(f"{word}:1" for word in together)
    more = words["space"] + words["joined"].format(joined) if len(together) > 1 else ""
    yield from paragraph(words[f"{name}_text"] + more)
    rows = [(_written(spec, prefix), said(spec, lang), spec.section) for spec in specs]
    yield from table([words["part"], words["meaning"], words["section"]], rows)


def _written(spec: FactSpec, prefix: str) -> str:
    """How a fact is written."""
    word = f"{prefix}{spec.word}"
    if spec.type == "bool":
        return f"`{word}`"
    if spec.type == "choice":
        return " ".join(f"`{word}={value}`" for value in spec.allowed)
    if spec.type == "counters":
        return f"`{word}={','.join(f'{name}:1' for name in spec.names)}`"
    if spec.type == "tiles":
        return f"`{word}=12f`" if spec.role == "flowers" else f"`{word}=5m`"
    one = f"{prefix}{spec.inside}={spec.word}:1" if spec.inside else f"{word}=1"
    return f"`{one}` ({spec.minimum}–{spec.maximum})"


def how_to_read(data: RuleData, lang: str) -> Iterator[str]:
    """The four outcomes, and the rows of an answer which this rule set can have."""
    words, label = WORDS[lang], LABELS[lang]
    yield from heading(3, words["read"])
    outcomes = [(f"`{outcome.value}`", words[f"{outcome.value}_means"]) for outcome in Outcome]
    yield from table([words["outcome"], words["meaning"]], outcomes)
    units = {price.unit for price in data.prices.values()}
    rows = {
        "cls=": True,
        "reading": True,
        "wild": data.deal.indicators > 0,
        "winds": any(spec.role in ("seat", "round") for spec in data.facts.values()),
        "options": True,
        "bill": True,
        "due": bool(data.items) or "outside" in units,
        "sums": bool(data.items) or bool(units - {"chips", "lei"}),
        "lei, net": "lei" in units,
        "pay": True,
        "bonus": "outside" in units,
        "kill_three": "kill_three" in data.prices,
        "who": bool(data.seat_facts),
        "unpaid": "chips" in data.keys,
        "warning": any(code.endswith(("_discarded", "_shown")) for code in data.sections),
        "note": True,
    }
    shown = [name for name, is_shown in rows.items() if is_shown]
    told = [(label.get(name, name), words[f"{name.split(',')[0].rstrip('=')}_row"]) for name in shown]
    yield from table([words["row"], words["meaning"]], told)
    yield from paragraph(words["status"])
