"""The table's state as JSON: what `GET /api/state` answers and the pages are made from.

Pure. Codes only, no sentences: the screens make those with gettext.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.rulesets import RuleSet
from station.places import Place, seat_of
from station.session import Session, Stage
from station.table.claim_view import claim_object
from station.table.dealing import deal_of, flower_limit, flower_warning, gold_unit, loan_unit
from station.table.decide import UNDEALT_RULINGS, throw_now
from station.table.decide_hand import IN_HAND
from station.table.proposal import Proposal
from station.table.tilesets import SetsInUse
from vision.fitness import Problem

WINDS = ("1z", "2z", "3z", "4z")
THROWING = ("dice", "gold")
"""Phases in which somebody throws dice."""
UNRULED = (Stage.DICED, *IN_HAND)
"""Stages in which tiles must not go into the machine."""
AT_EASE = ("start", "ruled", "closed")
"""Phases between hands: then there is time for what a technician should know."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """What keeps the zone of a place from being read: the problems of its last frame, worst first.

    ``anyway``: a person wants it read as it is.
    """

    hand: int
    claim: int
    place: Place
    problems: tuple[Problem, ...]
    waited: tuple[tuple[str, int], ...] = ()
    anyway: bool = False

    @property
    def shown(self) -> tuple[object, ...]:
        """What screens show of it."""
        return self.place, tuple(p.code for p in self.problems), self.anyway

    def to_json(self) -> dict[str, Any]:
        """Return the object of the state."""
        problems = [
            {"code": p.code, "box": None if p.box is None else [round(v, 1) for v in p.box]}
            for p in self.problems
        ]
        return {"place": self.place, "problems": problems, "anyway": self.anyway}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the state shows besides the log: devices, link and time.

    ``machine`` is None for a table without one. ``unsent``: events the central station has not yet
    acknowledged, ``photos_unsent``: photos it lacks. ``now``: Unix seconds; ``frame_at``: of the last frame
    looked at. ``refused``: wishes that the camera's driver did not follow. ``tilesets``: those read with, if
    any. ``guidance``: what keeps a zone from being read. ``choices``: how a person may go on after a cut
    motion. ``sides``: the side of the table of each place. ``other_set``: the machine builds other walls
    than the rules want. ``walls_stand``: people have run the machine already, and the next hand's walls
    stand. ``port_to_use``: the lasting name that should stand in the configuration. ``disk``: code of what
    keeps this table from storing, if anything. ``recorded``: false when the disk refused to record the line.
    ``other_hand``: the hand is ruled, and the machine is locked with one that the log does not know.
    ``refused_requests``: how many requests of other sites the pages' server refused, if some lately.
    ``elapsed_s``: since the session was opened, ``flowers_s``: since the tiles were dealt. ``hall``: the
    hall's clock, which counts before the table's.
    """

    machine: dict[str, Any] | None = None
    camera: str = "camera.ok"
    frame_at: float | None = None
    refused: tuple[str, ...] = ()
    tilesets: SetsInUse | None = None
    guidance: Guidance | None = None
    central: str = "central.none"
    unsent: int = 0
    photos_unsent: int = 0
    now: float = 0.0
    waits_for_start: bool = False
    choices: tuple[str, ...] = ()
    sides: tuple[int, ...] = (0, 1, 2, 3)
    other_set: bool = False
    walls_stand: bool = False
    port_to_use: str | None = None
    recorded: bool = True
    disk: str | None = None
    other_hand: bool = False
    refused_requests: int | None = None
    elapsed_s: float = 0.0
    flowers_s: float = 0.0
    hall: dict[str, Any] | None = None


def state_object(
    session: Session, rules: RuleSet, proposal: Proposal, around: Surroundings
) -> dict[str, Any]:
    """Return the whole state of the table, ready for JSON."""
    return {
        "rev": session.rev,
        "log_pos": session.seq,
        "table": session.table,
        "ruleset": session.ruleset,
        "phase": phase(session, around),
        "hand_no": session.hand,
        "hand_count": session.hands_finished,
        "circle": session.circle,
        "dealer": session.dealer,
        "streak": session.streak,
        "ended": session.ended,
        "places": _places(session, around.sides),
        "bank": session.bank,
        "forfeited": session.forfeited,
        "clock": _clock(session, around),
        "dice": list(session.dice) if session.dice else None,
        "throw": _throw(session, rules) if phase(session, around) in THROWING else None,
        "walls": list(rules.deal_pattern.stacks),
        "break": _break(session, rules),
        "flowers": _flowers(session, rules, around),
        "indicator": _indicator(session),
        "machine": None
        if around.machine is None
        else {
            **around.machine,
            "walls_stand": around.walls_stand,
            "other_hand": around.other_hand,
        },
        "camera": {"code": around.camera, "age_s": _age(around), "refused": list(around.refused)},
        "tilesets": None if around.tilesets is None else around.tilesets.to_json(),
        "guidance": None if around.guidance is None else around.guidance.to_json(),
        "central": {"code": around.central, "unsent": around.unsent},
        "photos": {"unsent": around.photos_unsent},
        "claim": claim_object(session, rules, proposal),
        "ruling_options": _rulings(session, proposal, around.machine),
        "penalties": ["warning", "chips", "xianggong"],
        "below_zero": rules.chips_below_zero,
        "loan_unit": loan_unit(rules),
        "can_undo": bool(session.undoable),
        "recovery": _recovery(session, around),
        "last": _last(session),
        "messages": _messages(session, around),
    }


def phase(session: Session, around: Surroundings) -> str:
    """Return the one word that says what the table waits for."""
    if session.cut is not None:
        return "recovery"
    if around.waits_for_start:
        return "start"
    if session.stage is Stage.CYCLE:
        return _cycle_phase(around.machine)
    if session.stage is Stage.CLAIM:
        read = session.claim is not None and (session.claim.place is None or session.claim.tiles)
        return "verdict" if read else "claim"
    return {
        Stage.CLOSED: "closed",
        Stage.START: "start",
        Stage.DICED: "deal",
        Stage.FLOWERS: "flowers",
        Stage.GOLD: "gold",
        Stage.DEALT: "indicator",
        Stage.PLAY: "play",
        Stage.RULED: "ruled",
    }[session.stage]


def _age(around: Surroundings) -> int | None:
    """Whole seconds since the last frame was taken."""
    return None if around.frame_at is None else max(0, int(around.now - around.frame_at))


def _able(machine: dict[str, Any], what: str) -> bool:
    """Whether the machine can do this; one that does not say can do everything."""
    able = machine.get("capabilities")
    return able is None or what in able


def _cycle_phase(machine: dict[str, Any] | None) -> str:
    if machine is None:
        return "dice"
    if not _able(machine, "moves"):
        return "intake" if machine["lid"] == "OPEN" else "dice"
    if machine["surface"] in ("WALLS_UP", "DEALT") and machine["locked"]:
        return "dice"
    if machine["surface"] == "WALLS_UP" and _able(machine, "deals") and _able(machine, "cycles"):
        return "dice"  # those of a hand that was given up before its deal
    if machine["surface"] in ("DEALT", "WALLS_UP", "COLLECTING"):
        return "intake"
    if not _able(machine, "cycles"):
        return "intake" if machine["magazine"] == "READY" else "build"
    return "raise" if machine["magazine"] == "READY" else "build"


def _places(session: Session, sides: tuple[int, ...]) -> list[dict[str, Any]]:
    n = len(session.places)
    seats = [seat_of(Place(place), session.dealer, n) for place in range(n)]
    return [
        {
            "place": place,
            "side": sides[place],
            "name": state.name,
            "seat": seats[place],
            "wind": WINDS[seats[place]],
            "chips": state.chips,
            "deferred": state.deferred,
            "outside": state.outside,
            "loans": state.loans,
            "carried": state.carried,
            "barred": state.barred,
            "xianggong": state.xianggong,
        }
        for place, state in enumerate(session.places)
    ]


def _clock(session: Session, around: Surroundings) -> dict[str, Any]:
    elapsed = int(around.elapsed_s)
    if around.hall is not None:
        return {"elapsed_s": elapsed, **around.hall, "of_hall": True}
    remaining = None if session.duration_s is None else max(0, session.duration_s - elapsed)
    return {
        "elapsed_s": elapsed,
        "remaining_s": remaining,
        "running": True,
        "state": "running",
        "of_hall": False,
    }


def _throw(session: Session, rules: RuleSet) -> dict[str, Any] | None:
    throw = throw_now(session, rules)
    if throw is None:
        return None
    return {"nth": throw.nth, "of": throw.of, "place": throw.place, "gold": throw.gold}


def _break(session: Session, rules: RuleSet) -> dict[str, Any] | None:
    """Where the wall is broken: as it was booked, before that as the dice say, and what the deal is like."""
    if session.stage in (Stage.CLOSED, Stage.START):
        return None
    deal = deal_of(session, rules)
    thrower, wall, stack = session.broken or (deal.thrower, deal.wall, deal.stack)
    if thrower is None:
        return None
    gold = session.gold_dice
    return {
        "thrower": thrower,
        "wall": wall,
        "stack": stack,
        "tiles": list(deal.tiles),
        "jump": deal.jump,
        "gold": {"dice": list(gold), "count": sum(gold), "unit": gold_unit(rules)} if gold else None,
    }


def _flowers(session: Session, rules: RuleSet, around: Surroundings) -> dict[str, Any] | None:
    if session.stage is not Stage.FLOWERS or session.dealt_at is None:
        return None
    limit = flower_limit(rules)
    warn = None if limit is None else flower_warning(limit)
    return {"elapsed_s": int(around.flowers_s), "limit_s": limit, "warn_s": warn}


def _messages(session: Session, around: Surroundings) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"code": "referee.called", "params": {"place": place}} for place in session.called
    ]
    if around.disk is not None:
        messages.insert(0, {"code": around.disk, "params": {}})
    if session.ended is not None:
        messages.append({"code": f"match.{session.ended}", "params": {}})
    if around.refused_requests:
        messages.append({"code": "requests.refused", "params": {"n": around.refused_requests}})
    if around.hall is not None and around.hall["state"] == "unconfirmed":
        messages.append({"code": "clock.unconfirmed", "params": {}})
    if around.other_set:
        messages.append({"code": "machine.other_set", "params": {}})
    waiting = session.stage in UNRULED
    if waiting and session.opened_early:
        messages.append({"code": "intake_opened_early", "params": {}})
    messages += [{"code": code, "params": {}} for code in _photos_missing(session)]
    if waiting and around.machine is not None and around.machine.get("advisory"):
        messages.append({"code": "machine.advisory", "params": {}})
    if phase(session, around) in AT_EASE:
        if around.port_to_use is not None:
            messages.append({"code": "machine.unstable_name", "params": {"use": around.port_to_use}})
        if not around.recorded:
            messages.append({"code": "machine.record_lost", "params": {}})
        messages += [{"code": f"camera.refused.{wish}", "params": {}} for wish in around.refused]
    return messages


def _photos_missing(session: Session) -> list[str]:
    """Codes of why hands of the pending claim were read but have no photo, each once."""
    laid = session.claim.everything.values() if session.claim else ()
    return list(dict.fromkeys(hand.no_photo for hand in laid if hand.no_photo))


def _indicator(session: Session) -> dict[str, Any] | None:
    shown = session.indicator
    if shown is None:
        return None
    photo = f"/photo/{shown.photo}" if shown.photo else None
    return {
        "tile": shown.tile,
        "wild": shown.wild,
        "score": shown.score,
        "photo": photo,
        "doubt": shown.doubt,
        "mended": shown.mended,
    }


def _recovery(session: Session, around: Surroundings) -> dict[str, Any] | None:
    if session.cut is None:
        return None
    return {"op": session.cut.op, "why": session.cut.why, "choices": list(around.choices)}


def _last(session: Session) -> dict[str, Any] | None:
    last = session.last
    if last is None:
        return None
    return {
        "hand_no": last.hand,
        "outcome": last.outcome,
        "winner": last.winner,
        "pay": list(last.pay),
        "outside": list(last.outside),
        "totals": {name: list(amounts) for name, amounts in last.totals.items()},
        "cls": last.cls,
        "line": last.line,
        "at": last.at,
    }


def _rulings(session: Session, proposal: Proposal, machine: dict[str, Any] | None) -> list[str]:
    held = machine is not None and machine["locked"] and machine["hand_no"] is not None
    if session.stage is Stage.DICED or (session.stage is Stage.CYCLE and held):
        return list(UNDEALT_RULINGS)
    if session.stage is Stage.CLAIM:
        claimed = session.claim is not None and session.claim.place is not None
        false_win = ["false_win"] if proposal.outcome == "no_win" and not proposal.blocked else []
        return [*false_win, "redeal", "void", *(["win"] if claimed else [])]
    return ["draw", "redeal", "void"] if session.stage in IN_HAND else []
