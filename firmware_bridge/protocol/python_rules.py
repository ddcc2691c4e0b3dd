"""The interlock's tables of the definition as Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firmware_bridge.protocol.definition import Definition
from firmware_bridge.protocol.python_code import module
from firmware_bridge.protocol.text import Group, Node, broken, docstring, group


def rules(d: Definition) -> str:
    """wire/rules.py."""
    imports = [
        "from collections.abc import Mapping",
        "from typing import Final",
        "",
        "from firmware_bridge.rulebase import Case, Effect, Rule",
        "from firmware_bridge.wire.enums import Fault, Hand, HandEffect, Lane, Lid, Magazine, Op, Surface",
    ]
    body = ["RULES: Final[Mapping[Op, Rule]] = {"]
    for op, rule in d.raw["rules"].items():
        body += _remark(rule)
        body.append(broken(group(f"Op.{op}: Rule(", _rule(rule)), 4, ","))
    body += ["}", *docstring("The conditions of every operation.", 0), ""]
    body += ["BLOCKS: Final[Mapping[Fault, frozenset[Op]]] = {"]
    body += [
        broken(_named_set(f"Fault.{fault}: ", "Op", ops), 4, ",") for fault, ops in d.raw["blocks"].items()
    ]
    told = "The operations each fault names."
    body += ["}", *docstring(told, 0), ""]
    plain = [e for e in d.raw["effects"] if "from" not in e]
    special = [e for e in d.raw["effects"] if "from" in e]
    body += ["EFFECTS: Final[Mapping[Op, Effect]] = {"]
    for effect in plain:
        body += _remark(effect)
        body.append(broken(group(f"Op.{effect['op']}: Effect(", _effect(effect)), 4, ","))
    body += ["}", *docstring("Operations that are not named change nothing of this.", 0), ""]
    body += ["EFFECTS_FROM: Final[Mapping[tuple[Op, Surface], Effect]] = {"]
    for effect in special:
        body += _remark(effect)
        opens = f"(Op.{effect['op']}, Surface.{effect['from']}): Effect("
        body.append(broken(group(opens, _effect(effect)), 4, ","))
    body += ["}", *docstring("What an operation changes instead when it began on this surface.", 0)]
    words = "The interlock's tables; what they mean is in `rulebase`, how they decide in `interlock`."
    return module(words, imports, body)


def _remark(data: Mapping[str, Any]) -> list[str]:
    if "doc" not in data:
        return []
    return [f"    # {line.strip()}" for line in data["doc"].splitlines()]


def _named_set(opens: str, enum: str, names: list[str]) -> Group:
    if not names:
        return group(f"{opens}frozenset(", [])
    return group(f"{opens}frozenset(", [group("{", [f"{enum}.{name}" for name in names], "}")])


def _rule(rule: Mapping[str, Any]) -> list[Node]:
    out: list[Node] = []
    for key, value in rule.items():
        match key:
            case "doc":
                pass
            case "lane" | "hand" | "lid":
                out.append(f"{key}={key.capitalize()}.{value}")
            case "not_during":
                out.append(_named_set(f"{key}=", "Op", value))
            case "cases":
                items = [_case(case) for case in value]
                out.append(group("cases=(", items) if len(items) > 1 else _one(items[0]))
            case _:
                out.append(f"{key}={value}")
    return out


def _one(item: Group) -> Group:
    """A tuple of one; the comma is part of the literal."""
    return group("cases=(", [item], ",)")


def _case(case: Mapping[str, Any]) -> Group:
    enums = {"surfaces": "Surface", "magazines": "Magazine", "cut": "Op"}
    out: list[Node] = [
        _named_set(f"{key}=", enums[key], value) if key in enums else f"{key}={value}"
        for key, value in case.items()
    ]
    return group("Case(", out)


def _effect(effect: Mapping[str, Any]) -> list[Node]:
    enums = {"surface": "Surface", "magazine": "Magazine", "lid": "Lid", "hand": "HandEffect"}
    return [
        f"{key}={enums[key]}.{value}" if key in enums else f"{key}={value}"
        for key, value in effect.items()
        if key not in ("doc", "op", "from")
    ]
