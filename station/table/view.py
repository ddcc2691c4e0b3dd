"""The table's state as JSON: what `GET /api/state` answers and the pages are made from.

Pure. Codes only, no sentences: the screens make those with gettext.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.tiles import Tile
from station.places import Place, seat_of
from station.session import ClaimState, Session, Stage, TileState
from station.table.decide import UNDEALT_RULINGS
from station.table.proposal import MELD, Proposal, groups_of

WINDS = ("1z", "2z", "3z", "4z")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the state shows besides the log: devices, link and time.

    ``machine`` is None for a table without one. ``unsent``: events the central station has not yet
    acknowledged. ``now``: Unix seconds. ``choices``: how a person may go on after a cut motion.
    """

    machine: dict[str, Any] | None = None
    camera: str = "camera.ok"
    central: str = "central.none"
    unsent: int = 0
    now: float = 0.0
    waits_for_start: bool = False
    choices: tuple[str, ...] = ()


def state_object(session: Session, proposal: Proposal, around: Surroundings) -> dict[str, Any]:
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
        "places": _places(session),
        "bank": session.bank,
        "clock": _clock(session, around.now),
        "dice": list(session.dice) if session.dice else None,
        "break": _break(session),
        "indicator": _indicator(session),
        "machine": around.machine,
        "camera": {"code": around.camera},
        "central": {"code": around.central, "unsent": around.unsent},
        "claim": _claim(session, proposal),
        "ruling_options": _rulings(session, proposal, around.machine),
        "penalties": ["warning", "chips", "xianggong"],
        "can_undo": bool(session.undoable),
        "recovery": _recovery(session, around),
        "last": _last(session),
        "messages": [{"code": "referee.called", "params": {"place": p}} for p in session.called],
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
        return "verdict" if session.claim and session.claim.tiles else "claim"
    return {
        Stage.CLOSED: "closed",
        Stage.START: "start",
        Stage.DICED: "deal",
        Stage.DEALT: "indicator",
        Stage.PLAY: "play",
        Stage.RULED: "ruled",
    }[session.stage]


def _cycle_phase(machine: dict[str, Any] | None) -> str:
    if machine is None:
        return "dice"
    if machine["surface"] in ("WALLS_UP", "DEALT") and machine["locked"]:
        return "dice"
    if machine["surface"] in ("DEALT", "WALLS_UP", "COLLECTING"):
        return "intake"
    return "raise" if machine["magazine"] == "READY" else "build"


def _places(session: Session) -> list[dict[str, Any]]:
    n = len(session.places)
    seats = [seat_of(Place(place), session.dealer, n) for place in range(n)]
    return [
        {
            "place": place,
            "name": state.name,
            "seat": seats[place],
            "wind": WINDS[seats[place]],
            "chips": state.chips,
            "deferred": state.deferred,
            "barred": state.barred,
            "xianggong": state.xianggong,
        }
        for place, state in enumerate(session.places)
    ]


def _clock(session: Session, now: float) -> dict[str, Any]:
    elapsed = 0 if session.opened_at is None else max(0, int(now - session.opened_at))
    remaining = None if session.duration_s is None else max(0, session.duration_s - elapsed)
    return {"elapsed_s": elapsed, "remaining_s": remaining}


def _break(session: Session) -> dict[str, Any] | None:
    if session.broken is None:
        return None
    thrower, wall, stack = session.broken
    return {"thrower": thrower, "wall": wall, "stack": stack}


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
        "cls": last.cls,
        "line": last.line,
        "at": last.at,
    }


def _rulings(session: Session, proposal: Proposal, machine: dict[str, Any] | None) -> list[str]:
    held = machine is not None and machine["locked"] and machine["hand_no"] is not None
    if session.stage is Stage.DICED or (session.stage is Stage.CYCLE and held):
        return list(UNDEALT_RULINGS)
    if session.stage is Stage.CLAIM:
        false_win = ["false_win"] if proposal.outcome == "no_win" and not proposal.blocked else []
        return [*false_win, "redeal", "void", "win"]
    return ["draw", "redeal", "void"] if session.stage in (Stage.PLAY, Stage.DEALT) else []


def _claim(session: Session, proposal: Proposal) -> dict[str, Any] | None:
    claim = session.claim
    if claim is None:
        return None
    sets, stands = _sets(claim, proposal)
    photo = None
    if claim.photo and claim.size:
        photo = {"url": f"/photo/{claim.photo}", "width": claim.size[0], "height": claim.size[1]}
    wild = session.indicator.wild if session.indicator else None
    return {
        "claim_no": claim.number,
        "place": claim.place,
        "how": claim.how,
        "from": claim.source,
        "da": claim.da,
        "photo": photo,
        "tiles": [_tile(i, t, wild, stands.get(i)) for i, t in enumerate(claim.tiles)],
        "melds": _melds(claim),
        "line": proposal.line,
        "expect": claim.expect,
        "why": list(claim.frame_why),
        "edits": claim.edits,
        "verdict": _verdict(proposal, sets),
        "payments": _payments(session, proposal),
        "fine": proposal.fine,
        "can_confirm": proposal.wins and not proposal.blocked,
        "blocked": list(proposal.blocked),
    }


def _tile(index: int, tile: TileState, wild: str | None, stands: str | None) -> dict[str, Any]:
    return {
        "i": index,
        "kind": tile.kind,
        "score": tile.read.score,
        "box": list(tile.read.box) if tile.read.box else None,
        "alternatives": [list(a) for a in tile.read.alternatives],
        "doubt": tile.doubt,
        "why": list(tile.read.why),
        "group": tile.read.group,
        "edited": tile.edited,
        "wild": tile.kind == wild,
        "as": stands,
    }


def _melds(claim: ClaimState) -> list[dict[str, Any]]:
    melds = []
    for group in groups_of(claim):
        if not group.startswith(MELD):
            continue
        indices = [i for i, t in enumerate(claim.tiles) if t.read.group == group]
        kinds = [claim.tiles[i].kind for i in indices]
        if len(kinds) == 4:
            kind = "concealed_kong" if Tile.BACK.id in kinds else "kong"
        else:
            kind = "pung" if len(set(kinds)) == 1 else "chow"
        melds.append({"kind": kind, "tiles": indices})
    return melds


def _verdict(proposal: Proposal, sets: list[dict[str, Any]]) -> dict[str, Any] | None:
    if proposal.verdict is None:
        return None
    return {**proposal.as_object(), "sets": sets}


def _payments(session: Session, proposal: Proposal) -> list[dict[str, Any]] | None:
    if not proposal.wins:
        return None
    return [
        {
            "place": place,
            "before": state.chips,
            "delta": delta,
            "after": state.chips + delta,
            "unpaid": unpaid,
        }
        for place, (state, delta, unpaid) in enumerate(
            zip(session.places, proposal.pay, proposal.unpaid, strict=True)
        )
    ]


def _sets(claim: ClaimState, proposal: Proposal) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Map the decomposition back to tile indices; also what each wildcard stands for."""
    verdict = proposal.verdict
    if verdict is None or verdict.decomposition is None:
        return [], {}
    free: dict[str, list[int]] = {}
    for index, tile in enumerate(claim.tiles):
        if not tile.read.group.startswith(MELD):
            free.setdefault(tile.kind, []).append(index)
    stands: dict[int, str] = {}
    sets = []
    for part in verdict.decomposition.groups:
        if part.melded:
            continue
        indices = []
        for actual, as_kind in part.tiles:
            index = free[actual.id].pop(0)
            indices.append(index)
            if actual != as_kind:
                stands[index] = as_kind.id
        sets.append(
            {"kind": part.kind.value, "tiles": indices, "as": [as_kind.id for _, as_kind in part.tiles]}
        )
    return sets, stands
