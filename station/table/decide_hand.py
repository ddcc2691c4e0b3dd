"""Decisions before the hand is played: start, dice, flowers, the flipped tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.rulesets import RuleSet
from engine.tiles import Tile
from station import messages as m
from station.places import Place
from station.session import Session, Stage
from station.table.asking import Refused, is_whole, need
from station.table.dealing import gold_roller, steps_before_play
from station.table.proposal import wild_of

IN_HAND = (Stage.FLOWERS, Stage.GOLD, Stage.DEALT, Stage.PLAY, Stage.CLAIM)
"""Stages with tiles on the table and no ruling yet."""
FLIPPED = (Stage.GOLD, Stage.DEALT, Stage.PLAY, Stage.CLAIM)
"""Stages in which a tile may lie flipped."""
TILE_FIX = "Use an id such as 5m or 7z."


@dataclass(frozen=True, slots=True)
class Device:
    """What a decision needs to know of the machine: hand it is locked with (None: none), busy, silent.

    ``away``: code of what keeps it from being asked, None while it answers.
    """

    held: int | None = None
    moving: bool = False
    away: str | None = None


@dataclass(frozen=True, slots=True)
class Throw:
    """The throw of two dice that is waited for: the ``nth`` of ``of`` for the break, or that for the gold.

    ``place``: who throws; None: the rules do not say.
    """

    nth: int
    of: int
    place: Place | None
    gold: bool = False


def start(session: Session, rules: RuleSet, key: str | None, device: Device | None) -> list[m.Body]:
    """A person releases the machine for the next hand (or, without a machine, says tiles are dealt)."""
    need(session.stage is not Stage.CLOSED, "session_closed", "The session is closed.")
    need(session.stage not in IN_HAND, "hand_running", "The hand is not ruled yet.", "Confirm or rule first.")
    need(
        session.ended is None, "match_ended", "The match is over.", "End the session, or take the hand back."
    )
    need(session.cut is None, "recovery_needed", "A motion was cut.", "Choose how to go on first.")
    need(
        session.stage in (Stage.START, Stage.RULED),
        "cycle_running",
        "The machine is already preparing this hand.",
    )
    if device is not None:
        away = device.away or ""
        need(not away, away, "The machine does not answer.", "Check its cable and its power.")
        need(device.held is None, "locked", "The machine has not unlocked its intake yet.", "Wait a moment.")
    hand = session.hand + 1
    bodies: list[m.Body] = [m.CycleStarted(hand=hand, key=key)]
    if device is None:
        steps = steps_before_play(rules, None)
        bodies.append(
            m.WallDealt(hand=hand, machine_hand=None, thrower=None, wall=None, stack=None, steps=steps)
        )
    return bodies


def throw_now(session: Session, rules: RuleSet) -> Throw | None:
    """Return the throw that is waited for; None: no dice now."""
    n = len(session.places)
    if session.stage is Stage.GOLD:
        return Throw(1, 1, gold_roller(session, rules), gold=True)
    if session.stage is not Stage.CYCLE:
        return None
    nth = len(session.dice) // 2 + 1
    # The first throw is the dealer's; it says who throws second, counted from him (rules on dealing).
    thrower = 0 if nth == 1 else (sum(session.dice[:2]) - 1) % n
    return Throw(nth, rules.dice_throws, Place((thrower + session.dealer) % n))


def thrown(session: Session, rules: RuleSet, dice: Any, source: str, key: str | None) -> list[m.Body]:
    """Book one throw of two dice.

    Raises:
        Refused: no wall waits for dice, or these are not two.
    """
    throw = throw_now(session, rules)
    if throw is None:
        raise Refused("No wall is waiting for dice.", code="no_dice_now")
    ok = isinstance(dice, list) and len(dice) == 2 and all(is_whole(d) and 1 <= d <= 6 for d in dice)
    need(ok, "bad_dice", f"{dice!r} are not two dice.", "Give two numbers from 1 to 6.")
    return [
        m.DiceRolled(
            hand=session.hand,
            dice=list(dice),
            source=source,
            nth=throw.nth,
            of=throw.of,
            gold=throw.gold,
            key=key,
        )
    ]


def flowers(session: Session, key: str | None) -> list[m.Body]:
    """Everybody has replaced the dealt flowers."""
    need(session.stage is Stage.FLOWERS, "no_flowers_now", "No flowers are being replaced.")
    return [m.FlowersReplaced(hand=session.hand, key=key)]


def indicator(session: Session, rules: RuleSet, tile: Any, key: str | None) -> list[m.Body]:
    """A referee sets or approves the flipped tile."""
    flipped = session.stage in FLIPPED and bool(rules.data.deal.indicators)
    need(flipped, "no_indicator_now", "No tile is flipped now.")
    try:
        kind = Tile.of(str(tile))
    except ValueError:
        raise Refused(f"There is no tile {tile!r}.", code="bad_tile", fix=TILE_FIX) from None
    wild = wild_of(rules, kind)
    need(wild is not None, "bad_tile", f"{kind.id} can't be the flipped tile in this rule set.")
    was = session.indicator.tile if session.indicator else None
    return [m.IndicatorCorrected(hand=session.hand, tile=kind.id, was=was, wild=wild, key=key)]
