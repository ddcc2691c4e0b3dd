"""The state of the hall as JSON: what ``GET /api/state`` answers and the pages are made from. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from station.central.fold import WINS_SHOWN, Alarm, Hall, TableFold, Win
from station.health import TableHealth
from station.places import Place, seat_of
from station.session import Session, Stage
from station.timing.hall_clock import IDLE, UNCONFIRMED, Countdown

__all__ = ["ONLINE_S", "Surroundings", "state_object"]

ONLINE_S = 6.0
"""A table that was not heard for this long is offline; it pings every 2 s."""
_WINDS = ("1z", "2z", "3z", "4z")
_PHASES = {
    Stage.CLOSED: "ruled",
    Stage.START: "start",
    Stage.CYCLE: "build",
    Stage.DICED: "deal",
    Stage.FLOWERS: "flowers",
    Stage.GOLD: "gold",
    Stage.DEALT: "indicator",
    Stage.PLAY: "play",
    Stage.RULED: "ruled",
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the state shows besides the log.

    ``now``: Unix seconds. ``silence_s``: for each table heard since the start, how long ago. ``enrolled``:
    the tables of the allow-list. ``trouble``: code of what keeps the log from being written, or None.
    ``refused_requests``: how many requests of other sites the pages' server refused, if some lately.
    ``steady``: the station's steady clock in the run ``boot`` of the machine. ``clock``: the hall's clock;
    None: as it is folded. ``standby``: whether this is the second station of the hall.
    ``list_damaged``: the allow-list as it is now cannot be read.
    ``photos_full``: whether there is no space for photographs.
    ``health``: what each table last told of itself besides its events.
    """

    now: float = 0.0
    silence_s: Mapping[str, float] = field(default_factory=dict)
    enrolled: frozenset[str] = frozenset()
    event: str = ""
    format: str = "casual"
    duration_s: int | None = None
    trouble: str | None = None
    refused_requests: int | None = None
    steady: float = 0.0
    boot: str = ""
    clock: Countdown | None = None
    standby: bool = False
    list_damaged: bool = False
    photos_full: bool = False
    health: Mapping[str, TableHealth] = field(default_factory=dict)


def state_object(hall: Hall, around: Surroundings) -> dict[str, Any]:
    """Return the whole state of the hall, ready for JSON."""
    ids = sorted(around.enrolled | hall.tables.keys(), key=_natural)
    return {
        "pos": hall.pos,
        "event": {"name": around.event, "format": around.format, "clock": _clock(hall, around)},
        "tables": [_table(table, hall.tables.get(table), around) for table in ids],
        "wins": _wins(hall),
        "alarms": _alarms(hall, around),
    }


def _natural(table: str) -> list[tuple[int, str]]:
    """Sort key: T2 before T10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", table)]


def _clock(hall: Hall, around: Surroundings) -> dict[str, Any]:
    opened = [f.session.opened_at for f in hall.tables.values() if f.session.opened_at is not None]
    clock = hall.clock if around.clock is None else around.clock
    known = clock.state != IDLE
    # Until the clock of an earlier run is booked anew, nobody knows how long the machine was off.
    state = UNCONFIRMED if clock.running and clock.boot != around.boot else clock.state
    left = clock.left_s if state != clock.state else clock.remaining_s(around.steady)
    return {
        "started_at": min(opened, default=None),
        "duration_s": around.duration_s,
        "remaining_s": math.ceil(left) if known else None,
        "running": clock.running,
        "state": state,
        "authority": _authority(around),
    }


def _authority(around: Surroundings) -> str:
    """Tell whose clock counts: ``here``; of a stand-by ``elsewhere`` while it has no table, ``shared`` while
    some of the enrolled ones are not with it.
    """
    if not around.standby:
        return "here"
    if not any(_heard(around, table) for table in around.silence_s):
        return "elsewhere"
    return "shared" if _away(around) else "here"


def _second_of_somebody(around: Surroundings) -> bool:
    return any(health.standby and _heard(around, table) for table, health in around.health.items())


def _away(around: Surroundings) -> int:
    """How many enrolled tables are not connected here."""
    return sum(not _heard(around, table) for table in around.enrolled)


def _heard(around: Surroundings, table: str) -> bool:
    return around.silence_s.get(table, math.inf) < ONLINE_S


def _table(table: str, fold: TableFold | None, around: Surroundings) -> dict[str, Any]:
    silence, online = around.silence_s.get(table), _heard(around, table)
    if silence is None and fold is not None and fold.heard_at:  # not since the station was started
        silence = max(0.0, around.now - fold.heard_at)
    session = fold.session if fold else Session()
    indicator = session.indicator
    return {
        "id": table,
        "online": online,
        "health": _health(around.health.get(table)) if online else None,
        "last_seen_s": None if silence is None else round(silence, 1),
        "phase": _phase(session) if fold else "offline",
        "hand_count": session.hands_finished,
        "circle": session.circle,
        "ruleset": session.ruleset,
        "ended": session.ended,
        "dealer": session.dealer,
        "places": _places(session),
        "bank": session.bank,
        "wild": indicator.wild if indicator else None,
        "chain_ok": not (fold and fold.forked),
        "events": fold.events if fold else 0,
        "head": fold.head.hex() if fold else "",
    }


def _health(health: TableHealth | None) -> dict[str, Any] | None:
    return None if health is None else msgspec.structs.asdict(health)


def _phase(session: Session) -> str:
    if session.cut is not None:
        return "recovery"
    if session.stage is Stage.CLAIM:
        read = session.claim is not None and (session.claim.place is None or session.claim.tiles)
        return "verdict" if read else "claim"
    if session.stage is Stage.RULED and session.released:
        return "intake"
    return _PHASES[session.stage]


def _places(session: Session) -> list[dict[str, Any]]:
    n = len(session.places)
    return [
        {
            "place": place,
            "name": state.name,
            "chips": state.chips,
            "outside": state.outside,
            "loans": state.loans,
            "carried": state.carried,
            "wind": _WINDS[seat_of(Place(place), session.dealer, n)],
        }
        for place, state in enumerate(session.places)
    ]


def _wins(hall: Hall) -> list[dict[str, Any]]:
    """The newest wins of the hall first."""
    wins: Iterable[tuple[str, Win]] = (
        (table, win) for table, fold in hall.tables.items() for win in fold.wins.values()
    )
    newest = sorted(wins, key=lambda item: item[1].at, reverse=True)[:WINS_SHOWN]
    return [
        {
            "table": table,
            "hand_no": win.hand,
            "winner": win.winner,
            "name": win.name,
            "ruleset": win.ruleset,
            "cls": win.cls,
            "pay": list(win.pay),
            "outside": list(win.outside),
            "line": win.line,
            "tiles": [list(group) for group in win.tiles],
            "wild": win.wild,
            "at": win.at,
        }
        for table, win in newest
    ]


def _clock_alarms(hall: Hall, around: Surroundings) -> list[Alarm]:
    """What is to be done about the clock, and whether another one may count."""
    clock = _clock(hall, around)
    unknown = around.standby and clock["state"] == IDLE and clock["authority"] != "elsewhere"
    said = {
        "clock.unconfirmed": clock["state"] == UNCONFIRMED,
        "clock.unknown": unknown,
        "clock.elsewhere": clock["authority"] == "elsewhere",
        "clock.shared": clock["authority"] == "shared",
        "clock.not_said": not around.standby and _second_of_somebody(around),
    }
    params = {"clock.shared": {"n": _away(around)}}
    return [Alarm(code, None, around.now, params.get(code, {})) for code, shown in said.items() if shown]


def _alarms(hall: Hall, around: Surroundings) -> list[dict[str, Any]]:
    """What needs somebody now first, then what happened, newest first."""
    now = [Alarm(around.trouble, None, around.now, {})] if around.trouble else []
    now += _clock_alarms(hall, around)
    if around.list_damaged:
        now.append(Alarm("keys.damaged", None, around.now, {}))
    if around.photos_full:
        now.append(Alarm("evidence.full", None, around.now, {}))
    for table, fold in hall.tables.items():
        if fold.called_by is not None:
            place, at = fold.called_by
            now.append(Alarm("referee.called", table, at, {"place": place}))
        if fold.unreadable:
            now.append(Alarm("table.unreadable", table, around.now, {"n": fold.unreadable}))
    if around.refused_requests:
        now.append(Alarm("requests.refused", None, around.now, {"n": around.refused_requests}))
    return [
        {"code": alarm.code, "table": alarm.table, "at": alarm.at, "params": alarm.params}
        for alarm in (*now, *reversed(hall.alarms))
    ]
