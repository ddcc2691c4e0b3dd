"""From the pending claim to the engine's verdict and the payments it proposes.

Recomputed on every edit; pure. The engine speaks of seats, everything that leaves here of places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.claim import Claim, Counters, Facts, Options
from engine.melds import Meld, MeldKind
from engine.notation import format_claim, parse_claim
from engine.rulesets import RuleSet
from engine.settlement import Settlement
from engine.tiles import Tile
from engine.verdict import Outcome, Verdict
from station import messages as m
from station.places import by_place, by_seat, seat_of
from station.session import ClaimState, Session, TileState

CONCEALED, WIN, MELD = "concealed", "win", "meld:"
"""Names of the groups a tile of a revealed hand can belong to."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the engine makes of the pending claim. Lists are by place.

    ``blocked``: codes of what has to be cleared before a confirm (doubt, unreadable tile, no reading).
    """

    blocked: tuple[str, ...]
    claim: Claim | None = None
    verdict: Verdict | None = None
    line: str = ""
    pay: tuple[int, ...] = ()
    unpaid: tuple[int, ...] = ()
    bank: int = 0
    fine: int | None = None
    """What the claimant would owe if a referee ruled a false win."""

    @property
    def outcome(self) -> str | None:
        """``win``, ``no_win``, ``inconsistent``; None while nothing can be checked."""
        return None if self.verdict is None else self.verdict.outcome.value

    @property
    def wins(self) -> bool:
        """Whether the engine says the hand wins."""
        return self.verdict is not None and self.verdict.outcome is Outcome.WIN

    @property
    def cls(self) -> str | None:
        """The price class of the win."""
        return None if self.verdict is None else self.verdict.cls

    @property
    def reason(self) -> str | None:
        """The first defect of a hand that does not win."""
        return None if self.verdict is None else self.verdict.reason

    def as_object(self) -> dict[str, Any]:
        """Return the verdict as it is kept in the log, JSON-able."""
        if self.verdict is None:
            return {}
        verdict = self.verdict
        return {
            "outcome": verdict.outcome.value,
            "reason": verdict.reason,
            "problems": list(verdict.problems),
            "cls": verdict.cls,
            "document": verdict.document,
            "section": verdict.section,
            "items": [
                {"code": item.code, "amount": item.amount, "section": item.section} for item in verdict.items
            ],
        }


def wild_of(rules: RuleSet, indicator: Tile) -> str | None:
    """Return the id of the wildcard a flipped tile makes; None if it can't be one."""
    try:
        return rules.wild_of(indicator).id
    except ValueError:
        return None


def groups_of(claim: ClaimState) -> dict[str, list[TileState]]:
    """Return the claim's tiles by group, in reading order."""
    groups: dict[str, list[TileState]] = {}
    for tile in claim.tiles:
        groups.setdefault(tile.read.group, []).append(tile)
    return groups


def meld_of(kinds: list[Tile]) -> Meld:
    """Return the meld that a group of tiles on the table shows.

    ``back X X back`` (or any two face-down of four) is a concealed kong; four alike an exposed one.
    What is none of these is passed on as a chow or a pung by its length: the engine names the defect.
    """
    faces = [k for k in kinds if k is not Tile.BACK]
    if len(kinds) == 4 and faces and len(faces) < 4:
        return Meld(MeldKind.CONCEALED_KONG, tuple([faces[0]] * 4))
    if len(kinds) == 4:
        return Meld(MeldKind.KONG, tuple(kinds))
    if len(set(kinds)) == 1:
        return Meld(MeldKind.PUNG, tuple(kinds))
    return Meld(MeldKind.CHOW, tuple(sorted(kinds)))


def propose(session: Session, rules: RuleSet) -> Proposal:
    """Check the pending claim.

    Returns:
        Proposal: with ``blocked`` codes where something must be cleared first; ``verdict`` None when
        the tiles can't even be put into a claim.
    """
    pending = session.claim
    if pending is None:
        return Proposal(("no_claim",))
    blocked = _blocks(session, pending)
    if not pending.tiles or session.indicator is None:
        return Proposal(blocked)
    try:
        claim = _claim(session, pending)
    except ValueError:
        return Proposal((*blocked, "unreadable_group"))
    verdict = rules.check(claim)
    line = format_claim(claim, rules.id)
    n = len(session.places)
    if verdict.outcome is not Outcome.WIN:
        fine = _fine(rules, claim) if verdict.outcome is Outcome.NO_WIN else None
        return Proposal(blocked, claim, verdict, line, (0,) * n, (0,) * n, fine=fine)
    settlement = rules.settle(verdict, claim)
    return _settled(session, blocked, claim, verdict, line, settlement)


def _fine(rules: RuleSet, claim: Claim) -> int:
    assert claim.winner is not None
    return -rules.false_win(claim.winner).deferred[claim.winner]


def _settled(
    session: Session,
    blocked: tuple[str, ...],
    claim: Claim,
    verdict: Verdict,
    line: str,
    settlement: Settlement,
) -> Proposal:
    pay = by_place(settlement.pay, session.dealer)
    unpaid = by_place(settlement.unpaid, session.dealer)
    return Proposal(blocked, claim, verdict, line, pay, unpaid, settlement.bank)


def _blocks(session: Session, pending: ClaimState) -> tuple[str, ...]:
    blocked = []
    if session.indicator is None:
        blocked.append("no_indicator")
    elif session.indicator.doubt:
        blocked.append("indicator_doubt")
    if not pending.tiles:
        blocked.append("no_reading")
    if any(t.doubt for t in pending.tiles):
        blocked.append("tile_doubt")
    if any(t.kind == Tile.UNKNOWN.id for t in pending.tiles):
        blocked.append("tile_unknown")
    return tuple(blocked)


def _claim(session: Session, pending: ClaimState) -> Claim:
    assert session.indicator is not None
    groups = groups_of(pending)
    n = len(session.places)
    melds = [
        meld_of([Tile.of(t.kind) for t in tiles]) for group, tiles in groups.items() if group.startswith(MELD)
    ]
    wins = groups.get(WIN, [])
    if len(wins) != 1:
        raise ValueError("a claim has one winning tile")
    place = session.places[pending.place]
    return Claim(
        indicator=Tile.of(session.indicator.tile),
        concealed=tuple(Tile.of(t.kind) for t in groups.get(CONCEALED, [])),
        melds=tuple(melds),
        win=Tile.of(wins[0].kind),
        how=pending.how,
        winner=seat_of(pending.place, session.dealer, n),
        discarder=None if pending.source is None else seat_of(pending.source, session.dealer, n),
        facts=facts_of(pending),
        chips=by_seat([p.chips for p in session.places], session.dealer),
        xianggong=place.xianggong or place.barred,
        options=Options(session.options),
    )


def facts_of(pending: ClaimState) -> Facts:
    """Return what was tapped beside the tiles."""
    da = Counters(pending.da)
    return Facts(da=da) if da else Facts()


def parse_hand(session: Session, rules: RuleSet, line: str) -> list[m.TileRead]:
    """Read a typed hand (tiles, melds, ``+`` winning tile) into the tiles of a reading.

    Raises:
        NotationError: the line is no hand; names the position.
    """
    assert session.claim is not None
    indicator = session.indicator.tile if session.indicator else "1m"
    how = session.claim.how
    seats = f"seat={seat_of(session.claim.place, session.dealer, len(session.places))}"
    if session.claim.source is not None:
        seats += f" from={seat_of(session.claim.source, session.dealer, len(session.places))}"
    claim = parse_claim(f"{line} flip={indicator} how={how} {seats}", rules.id)
    tiles = [_typed(t, CONCEALED) for t in claim.concealed]
    if claim.win is not None:
        tiles.append(_typed(claim.win, WIN))
    for number, meld in enumerate(claim.melds):
        shown = list(meld.tiles)
        if meld.kind is MeldKind.CONCEALED_KONG:
            shown = [Tile.BACK, shown[0], shown[0], Tile.BACK]
        tiles += [_typed(t, f"{MELD}{number}") for t in shown]
    return tiles


def _typed(tile: Tile, group: str) -> m.TileRead:
    return m.TileRead(kind=tile.id, score=1.0, box=None, alternatives=[(tile.id, 1.0)], group=group)
