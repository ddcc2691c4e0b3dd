"""From the pending claim to the engine's verdict and the payments it proposes.

Recomputed on every edit; pure. The engine speaks of seats, everything that leaves here of places.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.claim import DRAW, Claim, Options, Shown
from engine.errors import EngineError
from engine.match import Match, Played
from engine.notation import format_claim
from engine.rulesets import RuleSet
from engine.tiles import Tile
from engine.vectors import describe_verdict
from engine.verdict import Outcome, Verdict
from station.places import Place, by_seat, seat_of
from station.session import ClaimState, Session
from station.table.facts import facts_of, seat_facts_of, unsaid
from station.table.handtiles import CONCEALED, MELD, WIN, groups_of, kinds_in, meld_of, melds_in
from station.table.matching import booking, match_of

__all__ = ["CONCEALED", "MELD", "WIN", "Proposal", "groups_of", "meld_of", "propose", "wild_of"]

WIN_TILES = {"required": (1,), "optional": (0, 1), "none": (0,)}
"""How many winning tiles lie apart, by what the way to win says of it."""
KEPT = ("outcome", "reason", "problems", "cls", "document", "section", "items", "warnings")
"""What the log keeps of a verdict, besides the sums of the rule set."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the engine makes of the pending claim. Lists are by place.

    ``blocked``: codes of what has to be cleared before a confirm (doubt, unreadable tile, no reading).
    ``booked``: fields of the event that a confirm books; empty unless something is settled. ``fine``: what
    the claimant would lose in all if a referee ruled a false win.
    """

    blocked: tuple[str, ...]
    claim: Claim | None = None
    verdict: Verdict | None = None
    line: str = ""
    booked: dict[str, Any] = field(default_factory=dict)
    fine: int | None = None

    @property
    def outcome(self) -> str | None:
        """``win``, ``no_win``, ``inconsistent``, ``draw``; None while nothing can be checked."""
        return None if self.verdict is None else self.verdict.outcome.value

    @property
    def settles(self) -> bool:
        """Whether there is something to confirm: a win, or an exhausted wall."""
        return bool(self.booked)

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
        told = describe_verdict(self.verdict)
        return {**{key: told[key] for key in KEPT}, "totals": dict(self.verdict.totals)}


def wild_of(rules: RuleSet, indicator: Tile) -> str | None:
    """Return the id of the wildcard a flipped tile makes; None if it can't be one."""
    try:
        return rules.wild_of(indicator).id
    except EngineError:
        return None


def propose(session: Session, rules: RuleSet) -> Proposal:
    """Check the pending claim.

    Returns:
        Proposal: with ``blocked`` codes where something must be cleared first; ``verdict`` None when
        the tiles can't even be put into a claim.
    """
    pending = session.claim
    if pending is None:
        return Proposal(("no_claim",))
    blocked = _blocks(session, rules, pending)
    known = session.indicator is not None or not rules.data.deal.indicators
    if (pending.place is not None and not pending.tiles) or not known:
        return Proposal(blocked)
    try:
        claim = claim_of(session, rules, pending)
    except ValueError:
        return Proposal((*blocked, "unreadable_group"))
    match = match_of(session, rules)
    claim = match.supplied(claim)
    played = match.claim(claim)
    line = format_claim(claim, rules.id)
    if played.settlement is None:
        return Proposal(blocked, claim, played.verdict, line, fine=_fine(match, played, claim))
    booked = booking(session, match, played.match, played.settlement)
    return Proposal(blocked, claim, played.verdict, line, booked)


def _fine(match: Match, played: Played, claim: Claim) -> int | None:
    if played.verdict is None or played.verdict.outcome is not Outcome.NO_WIN or claim.winner is None:
        return None
    fine = match.false_win(claim.winner).settlement
    assert fine is not None
    return -sum(account[claim.winner] for account in (fine.pay, fine.outside, fine.deferred))


def _blocks(session: Session, rules: RuleSet, pending: ClaimState) -> tuple[str, ...]:
    everything = pending.everything
    tiles = [tile for laid in everything.values() for tile in laid.tiles]
    unread = [laid for laid in pending.others.values() if not (laid.tiles or laid.nothing)]
    flipped = bool(rules.data.deal.indicators)
    found = {
        "no_indicator": flipped and session.indicator is None,
        "indicator_doubt": session.indicator is not None and session.indicator.doubt,
        "no_reading": pending.place is not None and not pending.tiles,
        "tile_doubt": any(tile.doubt for tile in tiles),
        "tile_unknown": any(tile.kind == Tile.UNKNOWN.id for tile in tiles),
        "shown_missing": bool(unread),
        "fact_open": any(unsaid(rules, pending, place) for place in everything),
    }
    return tuple(code for code, blocks in found.items() if blocks)


def claim_of(session: Session, rules: RuleSet, pending: ClaimState) -> Claim:
    """Build the claim that the engine judges from tiles, facts and session.

    Raises:
        ValueError: the tiles are none of a hand: not one winning tile where one is wanted.
    """
    how = rules.data.hows.get(pending.how)
    wins = kinds_in(pending.tiles, WIN)
    if len(wins) not in WIN_TILES["none" if how is None else how.tile]:
        raise ValueError("a claim has one winning tile")
    n = len(session.places)
    place = pending.place
    return Claim(
        indicator=Tile.of(session.indicator.tile) if session.indicator else None,
        concealed=kinds_in(pending.tiles, CONCEALED),
        melds=melds_in(pending.tiles),
        win=wins[0] if wins else None,
        how=pending.how if place is not None else DRAW,
        winner=None if place is None else seat_of(place, session.dealer, n),
        discarder=None if pending.source is None else seat_of(pending.source, session.dealer, n),
        facts=facts_of(rules, pending),
        shown=_shown(session, rules, pending),
        options=Options(session.options),
    )


def _shown(session: Session, rules: RuleSet, pending: ClaimState) -> tuple[Shown, ...]:
    """What lies open before every seat, where losers score too."""
    if not rules.data.seat_facts:
        return ()
    by_place = []
    for place in map(Place, range(len(session.places))):
        laid = pending.others.get(place)
        melds = melds_in(laid.tiles) if laid else ()
        by_place.append(Shown(melds, seat_facts_of(rules, pending, place)))
    return by_seat(by_place, session.dealer)
