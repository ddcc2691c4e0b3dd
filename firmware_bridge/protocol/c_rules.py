"""The interlock's tables of the definition as C."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from firmware_bridge.protocol.c_code import MARK, comment, op_count
from firmware_bridge.protocol.definition import Definition

_RULE_FLAGS: Final = (
    "unlocked",
    "still",
    "untaken",
    "service",
    "needs_hold",
    "works_held",
    "under_estop",
    "names_rev",
)
_EFFECT_FLAGS: Final = ("lock_first", "magazine_leaves", "tiles_in")


def rules_h(d: Definition) -> str:
    """rules.h."""
    cases = sum(len(rule.get("cases", [])) for rule in d.raw["rules"].values())
    out = [*comment(MARK), "#ifndef QZ_RULES_H", "#define QZ_RULES_H", ""]
    out += ["#include <stdint.h>", "", '#include "flash.h"', '#include "protocol.h"', ""]
    out += comment("A set of operations: bit n is operation n.")
    out += ["#define QZ_OPS(op) (1UL << (op))", ""]
    out += comment("A set of faults: bit 0 is the first of them.")
    out += ["#define QZ_FAULTS(fault) ((uint16_t)(1U << ((fault) - QZ_FAULT_FIRST)))", ""]
    out += comment("Any lid, surface, magazine; in an effect: unchanged.")
    out += ["#define QZ_ANY 0xFF", ""]
    out += [*_flag_names("RULE", _RULE_FLAGS), ""]
    out += comment(
        "Conditions of one operation. `cases` of `case_count` from `case_first` on; none: whatever lies on "
        "or beneath the table. A lane other than none: it is a motion."
    )
    out += [
        "typedef struct {",
        "    uint8_t lane;",
        "    uint8_t hand;",
        "    uint8_t flags; /* QZ_RULE_ */",
        "    uint8_t lid;   /* or QZ_ANY */",
        "    uint8_t case_first;",
        "    uint8_t case_count;",
        "    uint32_t not_during; /* motions of another lane that need the same room */",
        "} qz_rule_t;",
        "",
    ]
    out += comment("One combination of surface and magazine (bit sets, or QZ_ANY) in which it makes sense.")
    out += [
        "typedef struct {",
        "    uint8_t surfaces;",
        "    uint8_t magazines;",
        "    uint8_t counts; /* 1: the stacks must equal the plan */",
        "    uint32_t cut;   /* 0: of a machine that is not held, else of one held in one of these */",
        "} qz_case_t;",
        "",
    ]
    out += [*_flag_names("EFFECT", _EFFECT_FLAGS), ""]
    out += comment("What is different when an operation is done that began on this surface (or QZ_ANY).")
    out += [
        "typedef struct {",
        "    uint8_t op;",
        "    uint8_t from;",
        "    uint8_t surface;",
        "    uint8_t magazine;",
        "    uint8_t lid;",
        "    uint8_t locked; /* 0, 1 or QZ_ANY */",
        "    uint8_t hand;   /* QZ_HAND_EFFECT_ */",
        "    uint8_t flags;  /* QZ_EFFECT_ */",
        "} qz_effect_t;",
        "",
        f"#define QZ_RULES {op_count(d)}",
        f"#define QZ_CASES {cases}",
        f"#define QZ_BLOCKS {len(d.raw['blocks'])}",
        f"#define QZ_EFFECTS {len(d.raw['effects'])}",
        "",
    ]
    out += comment("By operation; number 0 is none.")
    out += ["extern const qz_rule_t qz_rules[QZ_RULES] QZ_FLASH;", ""]
    out += ["extern const qz_case_t qz_cases[QZ_CASES] QZ_FLASH;", ""]
    out += comment("The operations that each fault names, the first fault first.")
    out += ["extern const uint32_t qz_blocks[QZ_BLOCKS] QZ_FLASH;", ""]
    out += comment("The first that fits counts; operations without one change nothing of this.")
    out += ["extern const qz_effect_t qz_effects[QZ_EFFECTS] QZ_FLASH;", "", "#endif", ""]
    return "\n".join(out)


def _flag_names(word: str, names: Sequence[str]) -> Iterable[str]:
    for number, name in enumerate(names):
        yield f"#define QZ_{word}_{name.upper()} 0x{1 << number:02X}"


def rules_c(d: Definition) -> str:
    """rules.c."""
    cases: list[str] = []
    rules = ["    {0, 0, 0, 0, 0, 0, 0},"]
    by_number = sorted(d.raw["rules"].items(), key=lambda pair: d.enums["Op"].value(pair[0]))
    for op, rule in by_number:
        mine = [_case(rule_case) for rule_case in rule.get("cases", [])]
        lid = f"QZ_LID_{rule['lid']}" if "lid" in rule else "QZ_ANY"
        fields = [
            f"QZ_LANE_{rule.get('lane', 'NONE')}",
            f"QZ_HAND_{rule.get('hand', 'KNOWN')}",
            _flags("RULE", rule, _RULE_FLAGS),
            lid,
            str(len(cases) if mine else 0),
            str(len(mine)),
            _op_set(rule.get("not_during", [])),
        ]
        rules += [f"    /* {op} */", f"    {{{', '.join(fields)}}},"]
        cases += [f"    /* {op} */\n    {case}" for case in mine]
    blocks = sorted(d.raw["blocks"].items(), key=lambda pair: d.enums["Fault"].value(pair[0]))
    effects = sorted(d.raw["effects"], key=lambda effect: "from" not in effect)
    out = [*comment(MARK), '#include "rules.h"', ""]
    out += ["const qz_rule_t qz_rules[QZ_RULES] QZ_FLASH = {", *rules, "};", ""]
    out += ["const qz_case_t qz_cases[QZ_CASES] QZ_FLASH = {", *cases, "};", ""]
    out.append("const uint32_t qz_blocks[QZ_BLOCKS] QZ_FLASH = {")
    for fault, ops in blocks:
        out += [f"    /* {fault} */", f"    {_op_set(ops)},"]
    out += ["};", "", "const qz_effect_t qz_effects[QZ_EFFECTS] QZ_FLASH = {"]
    out += [_effect(effect) for effect in effects] + ["};", ""]
    return "\n".join(out)


def _op_set(ops: Sequence[str]) -> str:
    return " | ".join(f"QZ_OPS(QZ_OP_{op})" for op in ops) or "0"


def _flags(word: str, data: Mapping[str, Any], names: Sequence[str]) -> str:
    return " | ".join(f"QZ_{word}_{name.upper()}" for name in names if data.get(name)) or "0"


def _state_set(word: str, names: Sequence[str] | None) -> str:
    return "QZ_ANY" if names is None else " | ".join(f"1 << QZ_{word}_{name}" for name in names)


def _case(case: Mapping[str, Any]) -> str:
    surfaces, magazines = (
        _state_set("SURFACE", case.get("surfaces")),
        _state_set("MAGAZINE", case.get("magazines")),
    )
    return f"{{{surfaces}, {magazines}, {int(case.get('counts', False))}, {_op_set(case.get('cut', []))}}},"


def _effect(effect: Mapping[str, Any]) -> str:
    def state(word: str, key: str) -> str:
        return f"QZ_{word}_{effect[key]}" if key in effect else "QZ_ANY"

    locked = str(int(effect["locked"])) if "locked" in effect else "QZ_ANY"
    fields = [
        f"QZ_OP_{effect['op']}",
        state("SURFACE", "from"),
        state("SURFACE", "surface"),
        state("MAGAZINE", "magazine"),
        state("LID", "lid"),
        locked,
        f"QZ_HAND_EFFECT_{effect.get('hand', 'KEEP')}",
        _flags("EFFECT", effect, _EFFECT_FLAGS),
    ]
    return f"    {{{', '.join(fields)}}},"
