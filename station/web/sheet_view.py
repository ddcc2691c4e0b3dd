"""The result sheet for printing: who has what, what was decided, and the head that binds the log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import segno
from markupsafe import Markup

from station.sheet import Line, Sheet
from station.web.catalogue import N_
from station.web.rule_texts import RuleTexts
from station.web.sentences import PENALTIES, PENALTY_REASONS, RULING_REASONS, RULINGS
from station.web.table_view import table_name
from station.web.words import Words

__all__ = ["sheet_values"]

WHAT: Final[Mapping[str, str]] = {
    **RULINGS,
    **PENALTIES,
    "rejected": N_("Claim rejected"),
    "loan": N_("Borrows"),
    "repay": N_("Gives back"),
    "forfeit": N_("Chips leave play"),
    "override": N_("Unlock the intake"),
    "opened_early": N_("Opened before the ruling"),
}
WHY: Final[Mapping[str, str]] = {**RULING_REASONS, **PENALTY_REASONS}
REMOVED: Final[Mapping[str, str]] = {
    "window_over": N_("the time for appeals is over"),
    "thin.indicator": N_("disk nearly full"),
    "thin.clean": N_("disk nearly full"),
    "thin.mended": N_("disk nearly full"),
    "thin.rejected": N_("disk nearly full"),
}
GROUP: Final = 4
"""Digits of a hash between two gaps: so a person can compare them."""


def sheet_values(sheet: Sheet, words: Words, log_file: str) -> dict[str, Any]:
    """Return what the template ``sheet.html`` shows.

    Args:
        sheet: the session. words: of the language.
        log_file: name of the log to verify, as the command takes it.
    """
    session = sheet.session
    texts = RuleTexts.of(session.ruleset, words.lang)
    names = [p.name or words.say("Player %(n)s", n=i + 1) for i, p in enumerate(session.places)]
    return {
        "title": words.say("Result sheet"),
        "table": table_name(session.table, words),
        "ruleset": session.ruleset,
        "options": sorted((name, _plain(value)) for name, value in session.options.items()),
        "rules_hash": grouped(sheet.ruleset_hash),
        "opened": _when(session.opened_at),
        "closed": _when(sheet.closed_at),
        "hands": session.hands_finished,
        "players": _players(sheet, names),
        "names": names,
        "bank": session.bank,
        "forfeited": session.forfeited,
        "lines": [_line(line, names, words, texts) for line in sheet.lines],
        "unreadable": sheet.unreadable,
        "log": grouped(sheet.log_id.hex()),
        "seq": sheet.head.seq,
        "head": grouped(sheet.head.hash.hex()),
        "qr": _qr(sheet.code),
        "code": sheet.code,
        "command": f"quezhuo verify {log_file} --expect {sheet.code}",
        "signed": _signed(sheet),
    }


def grouped(digits: str) -> str:
    """Write hexadecimal digits in capitals, in groups of four."""
    return " ".join(digits[at : at + GROUP] for at in range(0, len(digits), GROUP)).upper()


def _qr(text: str) -> Markup:
    """Draw a QR code as SVG without style attributes, which the pages' policy forbids."""
    code = segno.make(text, error="m", micro=False, boost_error=False)
    return Markup(code.svg_inline(omitsize=True, border=4))  # noqa: S704 - drawn here, holds no text


def _players(sheet: Sheet, names: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for place, state in enumerate(sheet.session.places):
        began = sheet.chips[place] if place < len(sheet.chips) else 0
        rows.append(
            {
                "place": place + 1,
                "name": names[place],
                "began": began,
                "chips": state.chips,
                "loans": state.loans,
                "carried": state.carried,
                "outside": state.outside,
                "deferred": state.deferred,
                "net": state.chips + state.carried - state.loans - began,
            }
        )
    return rows


def _line(line: Line, names: Sequence[str], words: Words, texts: RuleTexts) -> dict[str, Any]:
    win = line.what == "win" and line.kind == "hand"
    what = words.say("Win") if win else words.code(WHAT, line.what)
    return {
        "seq": line.seq,
        "hand": line.hand,
        "at": _clock(line.at),
        "kind": line.kind,
        "what": what,
        "cls": texts.cls(line.cls),
        "who": names[line.place] if line.place is not None and 0 <= line.place < len(names) else "",
        "pay": list(line.pay) or _one(line, len(names)),
        "outside": list(line.outside) if any(line.outside) else [],
        "reason": _reason(line, words, texts),
        "tiles": line.hand_line or "",
        "photos": [
            {"name": p.name, "removed": words.code(REMOVED, p.removed) if p.removed else ""}
            for p in line.photos
        ],
        "no_photo": words.sentence(line.no_photo) if line.no_photo else "",
        "struck": line.struck is not None,
        "struck_why": words.code(WHY, line.struck),
        "struck_at": _clock(line.struck_at),
    }


def _reason(line: Line, words: Words, texts: RuleTexts) -> str:
    if not line.reason:
        return ""
    if line.what == "rejected" and line.reason not in WHY:
        return texts.reason(line.reason)
    return words.code(WHY, line.reason)


def _one(line: Line, players: int) -> list[int | None]:
    """What one player paid or got, as a row over all; empty where nobody did."""
    if not line.amount or line.place is None:
        return []
    gives = {"repay": -line.amount, "forfeit": -line.amount}.get(line.what, line.amount)
    return [gives if place == line.place else None for place in range(players)]


def _signed(sheet: Sheet) -> dict[str, Any] | None:
    if sheet.signed is None:
        return None
    made = sheet.signed.checkpoint
    return {"seq": sheet.signed.seq, "key": grouped(made.key), "sig": grouped(made.sig), "why": made.why}


def _when(at: float | None) -> str:
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _clock(at: float | None) -> str:
    return "" if at is None else time.strftime("%H:%M", time.localtime(at))


def _plain(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
