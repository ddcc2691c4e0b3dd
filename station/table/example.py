"""A commented configuration of a table for one rule set, with what the rules leave open as questions."""

from __future__ import annotations

from collections.abc import Iterator

from engine import rulesets
from engine.options import OptionSpec
from engine.rulesets import RuleSet
from station.table.config import EXAMPLE

NAMES = ("甲", "乙", "丙", "丁")
_QUESTIONS = {"must": "has to be chosen before the table opens", "should": "ought to be fixed by the event"}


def example(ruleset: str) -> str:
    """Return the configuration file (TOML) with comments.

    Options that must be chosen stand in it as comments: the table names those that are still open.

    Raises:
        UnknownRuleSetError: there is no such rule set of mahjong.
    """
    rules = rulesets.load(ruleset)
    head, _, tail = EXAMPLE.partition("[options]")
    central = tail[tail.index("# [central]") :]
    lines = [_line(line, rules) for line in head.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join([*lines, *_empty_side(rules), "", *_options(rules), "", central.rstrip(), ""])


def _line(line: str, rules: RuleSet) -> str:
    """A line of the common part, for this rule set."""
    names = ", ".join(f'"{name}"' for name in NAMES[: rules.players])
    changed = {
        "ruleset": f'ruleset = "{rules.id}"',
        "players": f"players = [{names}]",
        "chips": f"chips = {rules.data.stake}",
    }
    key = line.partition(" ")[0]
    if key not in changed:
        return line
    comment = line[line.index("#") :].replace("quezhuo rules zhenjiang", f"quezhuo rules {rules.id}")
    return f"{changed[key]:<37} {comment}"


def _empty_side(rules: RuleSet) -> list[str]:
    if rules.players == 4:
        return []
    return ["empty_side = 3                        # the side of the machine at which nobody sits"]


def _options(rules: RuleSet) -> Iterator[str]:
    """The table of options: questions first, each with its values and what they change."""
    yield f"[options]                             # of the rule set; `quezhuo rules {rules.id}` lists all"
    for ask, question in _QUESTIONS.items():
        for spec in rulesets.option_specs(rules.id).values():
            if spec.ask == ask:
                yield from _question(spec, question)


def _question(spec: OptionSpec, question: str) -> Iterator[str]:
    yield f"# {spec.text} ({spec.section}): {question}."
    told = [f"{value} = {effect}" for value, effect in spec.effects.items()] or [spec.wanted]
    yield from (f"#   {line}" for line in told)
    value = f'"{spec.default}"' if isinstance(spec.default, str) else str(spec.default).lower()
    yield f"# {spec.name} = {value}"
