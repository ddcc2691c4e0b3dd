"""The definition as tables for people: the parts of docs/protocol.md between marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firmware_bridge.protocol.definition import Definition, DefinitionError, EnumDef, FieldDef, StructDef


def fill(page: str, d: Definition) -> str:
    """`page` with the table of each mark renewed.

    Raises:
        DefinitionError: a table has no place in the page.
    """
    for name, lines in _tables(d).items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        found = re.search(f"{re.escape(begin)}\n.*?{re.escape(end)}", page, re.DOTALL)
        if found is None:
            raise DefinitionError(f"docs/protocol.md has no place marked {begin} ... {end}.")
        page = page[: found.start()] + "\n".join([begin, "", *lines, "", end]) + page[found.end() :]
    return page


def _tables(d: Definition) -> Mapping[str, list[str]]:
    return {
        "version": [f"Version {d.limit('PROTOCOL')}, schema `{d.schema:08x}`."],
        "messages": [*_messages(d)],
        "operations": [*_operations(d)],
        "enumerations": [*_enumerations(d)],
        "rules": [*_rules(d)],
        "blocks": [*_blocks(d)],
        "effects": [*_effects(d)],
    }


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    yield _row(heads)
    yield "|" + "---|" * len(heads)
    yield from map(_row, rows)


def _messages(d: Definition) -> Iterable[str]:
    rows = []
    for m in sorted(d.messages, key=lambda m: (m.kind & 0x7F, m.kind)):
        way = "d>h" if m.from_device else "h>d"
        fields = ", ".join(_fields(d, m)) or "-"
        rows.append([f"{m.kind:02X}", m.wire, way, m.reply or "-", str(d.head(m)), fields])
    yield from _table(["kind", "message", "way", "reply", "bytes", "fields in order"], rows)
    yield ""
    yield "Parts of these, in order:"
    yield ""
    for part in d.structs.values():
        yield f"- `{part.name}`, {d.head(part)} bytes: {', '.join(_fields(d, part))}"


def _fields(d: Definition, part: StructDef) -> Iterable[str]:
    for field in part.fields:
        yield f"`{field.name}` {_type(d, field)}"


def _type(d: Definition, field: FieldDef) -> str:
    array = f"[{field.count}]" if field.count > 1 else ""
    none = "" if field.none is None else f" ({field.none}: none)"
    match field.kind:
        case "enum":
            return f"u8 {field.of}"
        case "flags":
            return f"{d.enums[field.of].flags} {field.of}"
        case "struct":
            return field.of
        case "bits16":
            return "u16 of " + " ".join(f"{n}={bit}" for n, bit in enumerate(field.bits))
        case "tail":
            return "the rest"
        case "list":
            return f"list of at most {field.most} {field.of}"
        case kind:
            return f"{kind}{array}{none}"


def _operations(d: Definition) -> Iterable[str]:
    rows = []
    for member in d.enums["Op"].members:
        arguments, results = d.arguments.get(member.name, ()), d.results.get(member.name, ())
        rows.append([str(member.value), f"`{member.name}`", member.doc, _list(arguments), _list(results)])
    yield from _table(["op", "name", "goal", "arguments in order", "result"], rows)


def _list(fields: Sequence[FieldDef]) -> str:
    words = []
    for field in fields:
        array = f"[{field.count}]" if field.count > 1 else ""
        default = "" if field.default is None else f" (default {_default(field.default)})"
        doc = f" - {field.doc}" if field.doc else ""
        words.append(f"`{field.name}` {field.kind}{array}{default}{doc}")
    return "; ".join(words) or "-"


def _default(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _enumerations(d: Definition) -> Iterable[str]:
    for enum in d.enums.values():
        if enum.name in ("Op", "Lane", "Hand", "HandEffect"):
            continue
        yield f"**{enum.name}** ({enum.flags or 'u8'}): {' '.join(enum.doc.split())}"
        yield ""
        yield from _members(enum)
        yield ""
    limits = ", ".join(f"`{name}` {_limit(limit['value'])}" for name, limit in d.raw["limits"].items())
    yield f"Limits: {limits}."
    yield ""
    yield f"Timeouts of a configuration, in order: {', '.join(f'`{op}`' for op in d.timeouts)}."


def _limit(value: int) -> str:
    return f"{value:X} (hex)" if value > 0xFFFF or value == 0x80 else str(value)


def _members(enum: EnumDef) -> Iterable[str]:
    plain = [m for m in enum.members if not m.doc]
    if len(plain) == len(enum.members):
        yield ", ".join(f"{m.value} `{m.name}`" for m in plain)
    else:
        yield from _table(["", "", ""], ([str(m.value), f"`{m.name}`", m.doc] for m in enum.members))


def _rules(d: Definition) -> Iterable[str]:
    rows = []
    for op, rule in d.raw["rules"].items():
        cases = " *or* ".join(_case(case) for case in rule.get("cases", [])) or "any"
        lid = rule.get("lid", "any")
        rows.append(
            [f"`{op}`", rule.get("lane", "-"), _hand(rule), lid, cases, ", ".join(_conditions(rule)) or "-"]
        )
    yield from _table(["operation", "lane", "hand", "lid", "on and beneath the table", "further"], rows)


def _hand(rule: Mapping[str, Any]) -> str:
    words = {"ANY": "any", "KNOWN": "known", "NONE": "none yet", "SAME": "the argument's"}
    return words[rule.get("hand", "KNOWN")]


def _case(case: Mapping[str, Any]) -> str:
    words = []
    if "surfaces" in case:
        words.append("surface " + " or ".join(case["surfaces"]))
    if "magazines" in case:
        words.append("magazine " + " or ".join(case["magazines"]))
    if case.get("counts"):
        words.append("counts as planned")
    if "cut" in case:
        words.append("cut in the middle of " + " or ".join(case["cut"]))
    return ", ".join(words)


def _conditions(rule: Mapping[str, Any]) -> Iterable[str]:
    told = {
        "unlocked": "unlocked",
        "still": "nothing moves",
        "untaken": "no tile taken",
        "service": "service key, `nobody` confirmed",
        "needs_hold": "something was cut",
        "works_held": "also while held",
        "under_estop": "also under a stop",
        "names_rev": "names the state's revision",
    }
    yield from (words for key, words in told.items() if rule.get(key))
    if "not_during" in rule:
        yield f"not during {' or '.join(rule['not_during'])}"


def _blocks(d: Definition) -> Iterable[str]:
    rows = ([f"`{f}`", ", ".join(f"`{op}`" for op in ops) or "-"] for f, ops in d.raw["blocks"].items())
    yield from _table(["fault", "operations it blocks"], rows)


def _effects(d: Definition) -> Iterable[str]:
    rows = []
    for effect in d.raw["effects"]:
        op = f"`{effect['op']}`" + (f" from {effect['from']}" if "from" in effect else "")
        rows.append([op, ", ".join(_changes(effect))])
    yield from _table(["operation", "is different when it is done"], rows)


def _changes(effect: Mapping[str, Any]) -> Iterable[str]:
    hands = {"GIVEN": "the given", "ZERO": "0", "NEXT": "the next"}
    for key in ("surface", "magazine", "lid"):
        if key in effect:
            yield f"{key} {effect[key]}"
    if "locked" in effect:
        yield "locked" if effect["locked"] else "unlocked"
    if effect.get("lock_first"):
        yield "locked already when it begins"
    if "hand" in effect:
        yield f"hand number {hands[effect['hand']]}"
    if effect.get("magazine_leaves"):
        yield "magazine LOADED if a set lies in the drum, else EMPTY"
    if effect.get("tiles_in"):
        yield "an EMPTY magazine is LOADED"
