"""How people play each rule set: what they aim for, call, discard and claim."""

from __future__ import annotations

from engine.rulesets import RuleSet
from station.demo.play.fengcheng import FengchengTactics
from station.demo.play.mcr import McrTactics
from station.demo.play.tactics import Tactics
from station.demo.play.xiamen import XiamenTactics
from station.demo.play.zhenjiang import ZhenjiangTactics

TACTICS: dict[str, type[Tactics]] = {
    "fengcheng": FengchengTactics,
    "mcr": McrTactics,
    "xiamen": XiamenTactics,
    "zhenjiang": ZhenjiangTactics,
}


def tactics_of(rules: RuleSet) -> type[Tactics]:
    """Return how a rule set is played; one without entry for sets and a pair, by its calls."""
    return TACTICS.get(rules.id, Tactics)
