"""The table session as a pure fold over the table's log.

``replay(events)`` is the whole state of a table: chips, dealer, hand, pending claim, what may be
released. Restart means replay. No clock, no device and no rule engine in here: what a rule decided
stands in the event body. The values are those of `station.state`, the steps those of `station.folding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

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
    "Corrections",
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
    "checkpoint_due",
    "replay",
    "skip",
]

REMEMBERED_KEYS = 256
"""Idempotency keys kept in the state; a touchscreen repeats within seconds, not after 256 events."""


class Corrections:
    """Which events of a log are taken back, found by going through it once; see `messages.EventCorrected`."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.hidden: set[int] = set()
        """Seqs of the events that are taken back."""
        self.ignored = 0
        """How many corrections name nothing that can be taken back."""
        self._standing: set[int] = set()
        for event in events:
            self.note(event)

    def note(self, event: Event) -> None:
        """Take note of the next event."""
        body = event.body
        if isinstance(body, m.EventCorrected):
            if body.target in self._standing:
                self._standing.remove(body.target)
                self.hidden.add(body.target)
            else:
                self.ignored += 1
        elif body is not None and not isinstance(body, m.SessionOpened):
            self._standing.add(event.seq)


def replay(events: Iterable[Event]) -> Session:
    """Fold a whole log; events that an ``event.corrected`` takes back are left out."""
    listed = list(events)
    hidden = Corrections(listed).hidden
    state = Session()
    for event in listed:
        state = skip(state, event) if event.seq in hidden else apply(state, event)
    return state


def apply(state: Session, event: Event) -> Session:
    """Return the state after one more event (not for ``event.corrected``: that needs `replay`)."""
    return _counted(fold(state, event), event)


def skip(state: Session, event: Event) -> Session:
    """Return the state after an event that was taken back."""
    return _counted(state, event)


def checkpoint_due(state: Session, bodies: Sequence[m.Body]) -> str | None:
    """Say why the log is to be signed after these events; None: it is not.

    Args:
        state: before the events.
        bodies: the events that are about to be appended together.
    """
    why = None
    for body in bodies:
        if isinstance(body, m.SessionOpened):
            why = "session.opened"
        elif isinstance(body, m.SessionClosed):
            why = "session.closed"
        elif isinstance(body, m.Booked) and body.circle is not None and body.circle > state.circle:
            why = "circle"
    return why


_CALM = m.RefereeCalled | m.IntakeReleased | m.IntakeOpenedEarly | m.CommandDone | m.PhotoRemoved
"""What changes nothing that a request of a screen could have been based on."""


def _counted(state: Session, event: Event) -> Session:
    """Advance position and revision, and remember the request's key."""
    decisive = not isinstance(event.body, _CALM | None)
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
