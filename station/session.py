"""The table session as a pure fold over the table's log.

``replay(events)`` is the whole state of a table: chips, dealer, hand, pending claim, what may be
released. Restart means replay. No clock, no device and no rule engine in here: what a rule decided
stands in the event body. The values are those of `station.state`, the steps those of `station.folding`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from station import messages as m
from station.folding import fold
from station.state import (
    ClaimState,
    Cut,
    Event,
    IndicatorState,
    Laid,
    PlaceState,
    Result,
    Session,
    Stage,
    TileState,
)

__all__ = [
    "ClaimState",
    "Cut",
    "Event",
    "IndicatorState",
    "Laid",
    "PlaceState",
    "Result",
    "Session",
    "Stage",
    "TileState",
    "apply",
    "replay",
]

REMEMBERED_KEYS = 256
"""Idempotency keys kept in the state; a touchscreen repeats within seconds, not after 256 events."""


def replay(events: Iterable[Event]) -> Session:
    """Fold a whole log; events named by an ``event.corrected`` are left out."""
    listed = list(events)
    corrected = {e.body.target for e in listed if isinstance(e.body, m.EventCorrected)}
    state = Session()
    for event in listed:
        hidden = event.seq in corrected
        state = _counted(state, event) if hidden else apply(state, event)
    return state


def apply(state: Session, event: Event) -> Session:
    """Return the state after one more event (not for ``event.corrected``: that needs `replay`)."""
    return _counted(fold(state, event), event)


def _counted(state: Session, event: Event) -> Session:
    """Advance position and revision, and remember the request's key."""
    decisive = not isinstance(event.body, m.RefereeCalled | m.IntakeReleased | m.IntakeOpenedEarly | None)
    keys = state.keys
    if event.body is not None and event.body.key:
        keys = (*keys, (event.body.key, event.seq))[-REMEMBERED_KEYS:]
    called = () if isinstance(event.body, _ANSWERS_A_CALL) else state.called
    return replace(state, seq=event.seq, rev=event.seq if decisive else state.rev, keys=keys, called=called)


_ANSWERS_A_CALL = (
    m.HandConfirmed,
    m.HandRejected,
    m.HandRuled,
    m.PenaltyApplied,
    m.AccountMoved,
    m.EventCorrected,
    m.CycleStarted,
    m.SessionClosed,
)
"""What a referee does: after it nobody waits for one any more."""
