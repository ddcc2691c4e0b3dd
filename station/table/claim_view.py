"""The pending claim as JSON: tiles, facts, verdict, payments. Pure; codes only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.rulesets import RuleSet
from engine.tiles import Tile
from station.places import Place
from station.session import ClaimState, Laid, Session, TileState
from station.table.facts import as_json, facts_of, seat_facts_of, unsaid
from station.table.handtiles import MELD, groups_of, meld_of
from station.table.proposal import Proposal

_MELDS = {"C": "chow", "P": "pung", "K": "kong", "A": "concealed_kong", "H": "shao"}
_OLD_FACT = "da"
"""The fact that also stands in the claim itself, as it did when it was the only one."""


def claim_object(session: Session, rules: RuleSet, proposal: Proposal) -> dict[str, Any] | None:
    """Return the pending claim, ready for JSON; None when there is none."""
    claim = session.claim
    if claim is None:
        return None
    sets, stands = _sets(claim, proposal)
    wild = session.indicator.wild if session.indicator else None
    facts = as_json(proposal.claim.facts if proposal.claim else facts_of(rules, claim))
    old = {_OLD_FACT: facts.get(_OLD_FACT, {})} if _OLD_FACT in rules.data.facts else {}
    return {
        "claim_no": claim.number,
        "place": claim.place,
        "how": claim.how,
        "from": claim.source,
        "facts": facts,
        "tapped": claim.facts,
        **old,
        **_laid(claim.laid, wild, stands),
        "shown": [_shown(rules, claim, place, wild) for place in _places(session, rules)],
        "line": proposal.line,
        "edits": claim.edits,
        "verdict": {**proposal.as_object(), "sets": sets} if proposal.verdict else None,
        "payments": _payments(session, proposal),
        "totals": proposal.booked.get("totals", {}),
        "fine": proposal.fine,
        "can_confirm": proposal.settles and not proposal.blocked,
        "blocked": list(proposal.blocked),
    }


def _laid(laid: Laid, wild: str | None, stands: dict[int, str] | None = None) -> dict[str, Any]:
    """What was read before one place."""
    photo = None
    if laid.photo and laid.size:
        photo = {"url": f"/photo/{laid.photo}", "width": laid.size[0], "height": laid.size[1]}
    return {
        "photo": photo,
        "no_photo": laid.no_photo,
        "tiles": [_tile(i, tile, wild, (stands or {}).get(i)) for i, tile in enumerate(laid.tiles)],
        "melds": _melds(laid.tiles),
        "expect": laid.expect,
        "why": list(laid.frame_why),
    }


def _places(session: Session, rules: RuleSet) -> Iterable[Place]:
    """Places whose open tiles count: all of them where losers score, else none."""
    return map(Place, range(len(session.places))) if rules.data.seat_facts else ()


def _shown(rules: RuleSet, claim: ClaimState, place: Place, wild: str | None) -> dict[str, Any]:
    winner = place == claim.place
    laid = claim.others.get(place, Laid())
    return {
        "place": place,
        "winner": winner,
        "read": bool(claim.tiles) if winner else bool(laid.tiles) or laid.nothing,
        "nothing": not winner and laid.nothing,
        **_laid(laid, wild),
        "facts": as_json(seat_facts_of(rules, claim, place)),
        "tapped": claim.seat_facts.get(place, {}),
        "asks": list(unsaid(rules, claim, place)),
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
        "red": tile.red,
        "wild": tile.kind == wild,
        "as": stands,
    }


def _melds(tiles: tuple[TileState, ...]) -> list[dict[str, Any]]:
    melds = []
    for group in groups_of(tiles):
        if group.startswith(MELD):
            indices = [i for i, tile in enumerate(tiles) if tile.read.group == group]
            meld = meld_of([Tile.of(tiles[i].kind) for i in indices])
            melds.append({"kind": _MELDS[meld.kind.value], "tiles": indices})
    return melds


def _payments(session: Session, proposal: Proposal) -> list[dict[str, Any]] | None:
    """Rows before and after, by place; a loan is taken up before paying."""
    booked = proposal.booked
    if not booked:
        return None
    return [
        {
            "place": place,
            "before": state.chips,
            "delta": booked["pay"][place],
            "after": state.chips + booked["loans"][place] + booked["pay"][place],
            "unpaid": booked["unpaid"][place],
            "outside": booked["outside"][place],
            "deferred": booked["deferred"][place],
            "loan": booked["loans"][place],
        }
        for place, state in enumerate(session.places)
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
        for placed in part.tiles:
            index = free[placed.actual.id].pop(0)
            indices.append(index)
            if placed.actual != placed.stands_for:
                stands[index] = placed.stands_for.id
        as_kinds = [placed.stands_for.id for placed in part.tiles]
        sets.append({"kind": part.kind.value, "tiles": indices, "as": as_kinds})
    return sets, stands
