"""Between the table's session and the engine's match: who deals next and what is booked is asked there, once.

The session speaks of places, the match of players: they are the same numbers.
"""

from __future__ import annotations

from typing import Any

from engine.match import Match
from engine.matchstate import MatchState
from engine.rulesets import RuleSet
from engine.settlement import Settlement
from station.places import Place
from station.session import Session

CASUAL = "casual"
"""The format in which nothing ends a match but people."""


def match_of(session: Session, rules: RuleSet) -> Match:
    """Return the match as the session stands. It is never over: who plays on has been asked."""
    places = session.places
    chips, loans, carried = (
        tuple(getattr(place, name) for place in places) for name in ("chips", "loans", "carried")
    )
    return Match(
        rules=rules,
        dealer=session.dealer,
        first_dealer=session.first_dealer,
        streak=session.streak,
        circle=session.circle,
        hand=session.match_hand,
        chips=chips,
        outside=tuple(place.outside for place in places),
        deferred=tuple(-place.deferred for place in places),
        loans=loans,
        carried=carried,
        unpaid=(0,) * len(places),
        bank=session.bank,
        forfeited=session.forfeited,
        issued=sum(chips) + sum(carried) + session.bank + session.forfeited - sum(loans),
        barred=tuple(i for i, place in enumerate(places) if place.barred),
        dead=tuple(i for i, place in enumerate(places) if place.xianggong),
    )


def booking(
    session: Session, before: Match, after: MatchState, settlement: Settlement | None
) -> dict[str, Any]:
    """Return the fields of a `station.messages.Booked` body for a step of the match.

    ``settlement`` is by seat of ``before``; None: nothing is paid.
    """
    nobody = (0,) * before.players
    paid = settlement or Settlement(pay=nobody, unpaid=nobody)
    return {
        "hand": session.hand,
        "pay": list(before.by_player(paid.pay)),
        "bank": paid.bank,
        "outside": list(before.by_player(paid.outside)),
        "deferred": [-amount for amount in before.by_player(paid.deferred)],
        "loans": list(before.by_player(paid.loans)),
        "unpaid": list(before.by_player(paid.unpaid)),
        "totals": {name: list(before.by_player(amounts)) for name, amounts in paid.totals.items()},
        "next_dealer": Place(after.dealer),
        "streak": after.streak,
        "circle": after.circle,
        "match_hand": after.hand,
        "ended": None if session.format == CASUAL else after.ended,
        "stake": list(after.chips) if after.carried != before.carried else None,
    }
