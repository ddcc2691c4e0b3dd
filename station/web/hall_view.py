"""Pages of the central station: the wall for the hall and the head table's list."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Mapping
from typing import Any, Final

from station.timing.hall_clock import ACTIONS
from station.web.deal_view import clock_text
from station.web.place_view import State
from station.web.rule_texts import RuleTexts
from station.web.sentences import PHASES
from station.web.table_view import hand_number, table_name
from station.web.words import Words

TABLES_PER_PAGE: Final = 8
WINS_SHOWN: Final = 3
LEADERS_SHOWN: Final = 4
_QUIET: Final = frozenset(
    {"play", "build", "raise", "dice", "deal", "flowers", "gold", "intake", "ruled", "indicator", "start"}
)


def _chip(table: Mapping[str, Any], words: Words) -> tuple[str, str]:
    if not table.get("online"):
        return "off", words.say("Offline")
    if not table.get("chain_ok", True):
        return "call", words.say("Log broken")
    phase = str(table.get("phase"))
    if table.get("called"):
        return "call", words.say("Referee")
    if phase in _QUIET:
        return "quiet", words.code(PHASES, phase)
    return ("call" if phase in ("recovery", "offline") else "wait"), words.code(PHASES, phase)


def _called(state: State) -> set[str]:
    return {str(a.get("table")) for a in state.get("alarms") or [] if a.get("code") == "referee.called"}


def _table(table: Mapping[str, Any], words: Words, called: set[str]) -> dict[str, Any]:
    entry = {**table, "called": table["id"] in called}
    chips = [int(p["chips"]) for p in table.get("places") or []]
    top = max(chips, default=0)
    total = max(1, sum(chips))
    kind, word = _chip(entry, words)
    number = table_name(table["id"], words)
    return {
        "id": table["id"],
        "name": number,
        "no": table["id"][1:] if table["id"][1:].isdigit() else table["id"],
        "round": words.say(
            "R%(r)s · H%(h)s",
            r=table.get("circle") or 1,
            h=hand_number(str(table.get("phase")), int(table.get("hand_count") or 0)),
        ),
        "chip": kind,
        "chip_word": word,
        "online": bool(table.get("online")),
        "seen": clock_text(table.get("last_seen_s")),
        "age": table.get("last_seen_s"),
        "wild": table.get("wild"),
        "playing": kind == "quiet" and table.get("phase") == "play" and bool(table.get("wild")),
        "wild_name": words.tile(table["wild"]) if table.get("wild") else "",
        "bank": table.get("bank") or 0,
        "chain_ok": table.get("chain_ok", True),
        "events": table.get("events"),
        "head": str(table.get("head") or "")[:12],
        "places": [
            {
                "name": p.get("name") or words.say("Player %(n)s", n=int(p["place"]) + 1),
                "wind": words.wind(p.get("wind") or ""),
                "chips": int(p["chips"]),
                "dealer": p["place"] == table.get("dealer"),
                "lead": int(p["chips"]) == top and min(chips) != top,
                "share": round(min(100.0, 50 * max(0, int(p["chips"])) * len(chips) / total), 1),
            }
            for p in table.get("places") or []
        ],
    }


def _win(win: Mapping[str, Any], words: Words, wilds: Mapping[str, str | None]) -> dict[str, Any]:
    pay, winner = win.get("pay") or [], win.get("winner")
    gain = pay[winner] if isinstance(winner, int) and winner < len(pay) else 0
    groups = [list(group) for group in win.get("tiles") or []]
    last_group = len(groups) - 1
    return {
        "table": win["table"][1:] if win["table"][1:].isdigit() else win["table"],
        "table_name": table_name(win["table"], words),
        "name": win.get("name") or "",
        "cls": RuleTexts.of(str(win.get("ruleset") or ""), words.lang).cls(win.get("cls")),
        "gain": gain,
        "wild": win.get("wild", wilds.get(win["table"]) if win.get("current") else None),
        "groups": [
            [(kind, g == last_group and k == len(group) - 1) for k, kind in enumerate(group)]
            for g, group in enumerate(groups)
        ],
    }


def _leaders(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    players = [
        {"name": p["name"], "chips": p["chips"], "table": t["name"]} for t in tables for p in t["places"]
    ]
    leaders = heapq.nlargest(LEADERS_SHOWN, players, key=lambda p: p["chips"])
    for player in leaders:
        player["rank"] = 1 + sum(other["chips"] > player["chips"] for other in leaders)
    return leaders


def _alarms(state: State, words: Words) -> list[dict[str, str]]:
    shown = []
    players = {
        t["id"]: {int(p["place"]): str(p.get("name") or "") for p in t.get("places") or []}
        for t in state.get("tables") or []
    }
    for alarm in state.get("alarms") or []:
        params = {"table": alarm.get("table") or "", **(alarm.get("params") or {})}
        table = alarm.get("table")
        shown.append(
            {
                "table": table_name(str(table), words) if table else "",
                "text": words.sentence(alarm["code"], params, players.get(table)),
                "code": alarm["code"],
            }
        )
    return shown


def hall(state: State, words: Words) -> dict[str, Any]:
    """Values of both central pages for ``state`` (the central state)."""
    called = _called(state)
    tables = [_table(t, words, called) for t in state.get("tables") or []]
    event = state.get("event") or {}
    clock = event.get("clock") or {}
    remaining = clock.get("remaining_s")
    offline = [t for t in tables if not t["online"]]
    waiting = [t for t in tables if t["chip"] in ("call", "wait")]
    wilds = {t["id"]: t["wild"] for t in tables}
    pages = [tables[at : at + TABLES_PER_PAGE] for at in range(0, len(tables), TABLES_PER_PAGE)]
    latest = sorted(state.get("wins") or [], key=lambda w: -float(w.get("at") or 0))[:WINS_SHOWN]
    return {
        "state": state,
        "title": event.get("name") or words.say("Mahjong hall"),
        "format": event.get("format") or "",
        "remaining": remaining,
        "remaining_text": clock_text(remaining),
        "clock": clock_panel(clock, words),
        "now": time.strftime("%H:%M"),
        "hands": sum(int(t.get("hand_count") or 0) for t in state.get("tables") or []),
        "tables": tables,
        "pages": pages,
        "columns": columns(min(len(tables), TABLES_PER_PAGE)),
        "wins": [_win(w, words, wilds) for w in latest],
        "leaders": _leaders(tables),
        "offline": offline,
        "online_word": words.many("%(n)s table online", "%(n)s tables online", len(tables) - len(offline)),
        "offline_word": words.many("%(n)s table offline", "%(n)s tables offline", len(offline)),
        "waiting": waiting,
        "alarms": _alarms(state, words),
    }


def clock_panel(clock: State, words: Words) -> dict[str, Any]:
    """How the countdown is shown, and what the head referee may do with it now.

    ``step``: what a second does to it. ``minutes``: with which it starts. ``elsewhere``, ``shared``: the
    main station's counts, for all tables or some.
    """
    state = str(clock.get("state") or ("idle" if clock.get("remaining_s") is None else "running"))
    left = clock.get("remaining_s")
    seconds = (clock.get("duration_s") or 3600) if left is None else left
    return {
        "state": state,
        "step": -1 if clock.get("running", True) else 0,
        "word": {
            "paused": words.say("Clock stopped"),
            "ended": words.say("Time is up"),
            "unconfirmed": words.say("to be confirmed"),
        }.get(state, words.say("Time left")),
        "doubt": state == "unconfirmed",
        "elsewhere": clock.get("authority") == "elsewhere",
        "shared": clock.get("authority") == "shared",
        "actions": [action for action, states in ACTIONS.items() if state in states],
        "minutes": max(1, round(seconds / 60)),
    }


def columns(tables: int) -> int:
    """Columns of the grid: one row up to two tables, two rows from there on."""
    return max(1, tables if tables <= 2 else math.ceil(tables / 2))
