"""What a demo did, counted from the logs themselves: the tables', and the central station's copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from station import messages as m
from station.demo.judged import Key, Lie, silently_wrong
from station.log import Log
from station.log.chain import Entry
from station.session import Event, replay

OWN_WAY = ("frame_to_verdict", "guidance")
"""Counts that are told in a way of their own."""


@dataclass(slots=True)
class Counts:
    """Numbers of one or more tables. See `docs/demo.md` for the meaning of each."""

    hands_played: int = 0
    wins: int = 0
    draws: int = 0
    voids: int = 0
    no_wins: int = 0
    false_wins_ruled: int = 0
    tiles_read: int = 0
    tiles_mended: int = 0
    tiles_doubted: int = 0
    indicators_read: int = 0
    indicators_mended: int = 0
    silently_wrong: int = 0
    read_anyway: int = 0
    guidance: Counter[str] = field(default_factory=Counter)
    frame_to_verdict: list[float] = field(default_factory=list)


def count(events: Iterable[tuple[float, m.Body | None]]) -> Counts:
    """Count events, given as (Unix seconds, body)."""
    counts = Counts()
    claimed_at = 0.0
    first_look: set[tuple[int, int, int | None]] = set()
    for at, body in events:
        match body:
            case m.HandClaimed():
                claimed_at = at
            case m.HandRead() if not body.typed:
                counts.guidance.update(body.waited)
                counts.read_anyway += body.anyway
                if body.place is None and not body.waited:  # waiting for a hand to leave is not our time
                    counts.frame_to_verdict.append(1000 * (at - claimed_at))
                if (body.hand, body.claim, body.place) not in first_look:
                    first_look.add((body.hand, body.claim, body.place))
                    counts.tiles_read += len(body.tiles)
            case m.TileMended():
                counts.tiles_mended += body.kind != body.was
                counts.tiles_doubted += body.kind == body.was
            case m.IndicatorRevealed():
                counts.indicators_read += 1
            case m.IndicatorCorrected():
                counts.indicators_mended += body.tile != body.was
            case m.HandRejected():
                counts.no_wins += 1
            case m.HandConfirmed():
                counts.wins += 1
                counts.hands_played += 1
            case m.HandRuled():
                _ruling(counts, body)
    return counts


def _ruling(counts: Counts, body: m.HandRuled) -> None:
    if body.ruling == "false_win":
        counts.no_wins += 1
        counts.false_wins_ruled += 1
    counts.hands_played += body.over
    counts.wins += body.ruling == "win"
    counts.draws += body.ruling == "draw"
    counts.voids += body.over and body.ruling not in ("win", "draw")


def decoded(entries: Sequence[Entry]) -> list[Event]:
    """Return log entries with their bodies."""
    return [Event(e.seq, e.at_ms / 1000, m.decode(e.kind, e.body)) for e in entries]


def typed_over(events: Sequence[Event]) -> int:
    """Return how many tiles were mended by typing a whole hand over what was read."""
    mended = 0
    shown: dict[int | None, list[str]] = {}
    for event in events:
        if isinstance(event.body, m.HandClaimed):
            shown = {}
        if isinstance(event.body, m.HandRead):
            kinds = [t.kind for t in event.body.tiles]
            if event.body.typed:
                mended += (Counter(kinds) - Counter(shown.get(event.body.place, kinds))).total()
            shown[event.body.place] = kinds
    return mended


def summarise(
    tables: dict[str, Path],
    central: Path,
    disagreements: dict[str, list[str]],
    truths: dict[str, dict[Key, Lie]],
) -> dict[str, Any]:
    """Return the object `demo --json` prints.

    Args:
        tables: log file of each table. central: the central station's log file.
        disagreements: of each table, what was booked otherwise than it truly was.
        truths: of each table, what lay open at each claim.
    """
    total = Counts()
    rows = []
    delays: list[float] = []
    with Log.open(central, read_only=True) as central_log:
        stored = central_log.entries()
    for name, path in tables.items():
        with Log.open(path, read_only=True) as log:
            entries, chain_ok, log_id = log.entries_of(log.log_id), log.verify().ok, log.log_id
        events = decoded(entries)
        counts = count((e.at, e.body) for e in events)
        counts.tiles_mended += typed_over(events)
        counts.silently_wrong = silently_wrong(events, truths[name])
        _add(total, counts)
        arrived = {item.entry.seq: item.received_ms for item in stored if item.entry.log_id == log_id}
        delays += _delays(entries, arrived)
        rows.append(_row(name, events, len(arrived), chain_ok))
    return {
        **{key: getattr(total, key) for key in Counts.__dataclass_fields__ if key not in OWN_WAY},
        "guidance": dict(sorted(total.guidance.items())),
        "verdicts_agree": not any(disagreements.values()),
        "disagreements": [f"{name}: {text}" for name, texts in disagreements.items() for text in texts],
        "tables": rows,
        "latency_ms": {
            "frame_to_verdict": percentiles(total.frame_to_verdict),
            "confirm_to_central": percentiles(delays),
        },
    }


def _row(name: str, events: list[Event], central_events: int, chain_ok: bool) -> dict[str, Any]:
    session = replay(events)
    return {
        "id": name,
        **{
            account: {str(place): getattr(state, account) for place, state in enumerate(session.places)}
            for account in ("chips", "outside", "loans", "carried")
        },
        "bank": session.bank,
        "events": len(events),
        "central_events": central_events,
        "chain_ok": chain_ok,
    }


def _add(total: Counts, counts: Counts) -> None:
    for key in Counts.__dataclass_fields__:
        setattr(total, key, getattr(total, key) + getattr(counts, key))


def _delays(entries: Sequence[Entry], arrived: dict[int, int]) -> list[float]:
    """Milliseconds from the table's commit of a confirm to the central station's."""
    confirms = [e for e in entries if e.kind == "hand.confirmed" and e.seq in arrived]
    return [float(arrived[e.seq] - e.at_ms) for e in confirms]


def percentiles(values: Sequence[float]) -> dict[str, float | None]:
    """Return the 50th and 99th percentile (nearest rank) in milliseconds; None without values."""
    if not values:
        return {"p50": None, "p99": None}
    ordered = sorted(values)

    def rank(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)

    return {"p50": rank(0.5), "p99": rank(0.99)}
