"""What the rule set's deal means for this table: steps before play, walls and tiles by place. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from engine.rulesets import RuleSet
from engine.tiles import Tile
from engine.wall import DealPlan
from station.places import Place, by_place, place_of
from station.session import Session, Stage

FLOWERS, GOLD, INDICATOR = "flowers", "gold", "indicator"
"""Steps between deal and play."""
FLOWER_SECONDS = "flower_seconds"
"""Option of a rule set that limits how long flowers may be replaced; 0 or none: no limit."""

WARNED_BEFORE_S = 5
"""Seconds before the end of the time for flowers at which the screen warns."""
GOLD_UNIT = "gold_count_unit"
"""Option of a rule set with a gold that says what is counted to it."""
LOAN_UNIT = "loan_unit"
"""Option of a rule set that says how many chips are borrowed at once."""


def steps_before_play(rules: RuleSet, plan: DealPlan | None) -> list[str]:
    """Return what happens between deal and play, in order.

    ``plan``: None at a table without a machine, which knows no dice; the players count for themselves then.
    """
    has_flowers = any(tile.is_flower for tile in rules.tile_set.kinds)
    rolls = plan is not None and rules.indicator_roller(plan) is not None
    wanted = {FLOWERS: has_flowers, GOLD: rolls, INDICATOR: bool(rules.data.deal.indicators)}
    return [step for step, needed in wanted.items() if needed]


def flower_limit(rules: RuleSet) -> int | None:
    """Return how many seconds there are for replacing flowers; None: no limit."""
    limit = rules.options.get(FLOWER_SECONDS)
    return limit if isinstance(limit, int) and limit > 0 else None


class FlowerTime(Enum):
    """How the time for replacing flowers stands."""

    NONE = auto()
    RUNNING = auto()
    NEARLY_OVER = auto()
    OVER = auto()


def flower_time(session: Session, rules: RuleSet, elapsed: float) -> FlowerTime:
    """Return how the time for replacing flowers stands, `elapsed` seconds after the deal."""
    limit = flower_limit(rules)
    if session.stage is not Stage.FLOWERS or session.dealt_at is None or limit is None:
        return FlowerTime.NONE
    if elapsed >= limit:
        return FlowerTime.OVER
    return FlowerTime.NEARLY_OVER if elapsed >= flower_warning(limit) else FlowerTime.RUNNING


def flower_warning(limit: int) -> int:
    """Return after how many seconds the screen warns that the time for flowers is nearly over."""
    return max(0, limit - WARNED_BEFORE_S)


def loan_unit(rules: RuleSet) -> int | None:
    """Return how many chips a player borrows at once; None: the rules know no loans."""
    unit = rules.options.get(LOAN_UNIT, rules.data.stake)
    return int(unit) if rules.lends else None


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal by place: stacks of each wall, tiles that each place gets, where the wall is broken.

    ``thrower``: who throws second, known after the first throw. ``wall`` and ``stack``: the first stack
    taken.
    """

    walls: tuple[int, ...]
    thrower: Place | None = None
    wall: Place | None = None
    stack: int | None = None
    tiles: tuple[int, ...] = ()
    jump: bool = False
    plan: DealPlan | None = None


def deal_of(session: Session, rules: RuleSet) -> Deal:
    """Return the deal of the running hand as far as the dice are known."""
    n = rules.players
    walls = rules.deal_pattern.stacks
    if len(session.dice) < 2:
        return Deal(walls)
    thrower = Place((sum(session.dice[:2]) - 1 + session.dealer) % n)
    if len(session.dice) != 2 * rules.dice_throws:
        return Deal(walls, thrower)
    plan = rules.deal_plan(session.dice)
    return Deal(
        walls=walls,
        thrower=Place((plan.start.thrower + session.dealer) % n),
        wall=Place((plan.start.wall + session.dealer) % n),
        stack=plan.start.stack,
        tiles=by_place(plan.tiles, session.dealer),
        jump=plan.jump,
        plan=plan,
    )


def gold_roller(session: Session, rules: RuleSet) -> Place | None:
    """Return who rolls the dice for the gold; None where nobody does, or nobody can say yet."""
    plan = deal_of(session, rules).plan
    seat = None if plan is None else rules.indicator_roller(plan)
    return None if seat is None else place_of(seat, session.dealer, rules.players)


def gold_unit(rules: RuleSet) -> str:
    """Return what the dice for the gold count from the end of the wall: ``tile`` or ``stack``."""
    return str(rules.options.get(GOLD_UNIT, "tile"))


def gold_stacks(session: Session, rules: RuleSet) -> tuple[tuple[Place, int], ...]:
    """Return the stacks (place of the wall, stack) on which the gold may lie turned up, nearest first.

    The table does not know how many flowers were replaced from the tail, nor whether one was turned up first.
    """
    plan = deal_of(session, rules).plan
    if plan is None or not session.gold_dice:
        return ()
    most = sum(count for tile, count in enumerate(rules.tile_set.counts) if Tile(tile).is_flower)
    slots = [rules.indicator_slot(plan, session.gold_dice, replaced=replaced) for replaced in range(most + 1)]
    found = [(place_of(slot.wall, session.dealer, rules.players), slot.stack) for slot in slots if slot]
    return tuple(dict.fromkeys(found))
