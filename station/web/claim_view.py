"""A pending claim as the pages draw it: verdict, payments, facts, and what others show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from station.web.catalogue import N_
from station.web.forms import fact_words, fields_of, how_form
from station.web.hand_view import hand, photo
from station.web.rule_texts import RuleTexts
from station.web.sentences import BLOCKED
from station.web.table_view import doubts_of_all
from station.web.words import Words

_TITLES: Final = {
    "win": N_("Valid win"),
    "no_win": N_("Not a win"),
    "inconsistent": N_("This cannot be"),
    "draw": N_("Drawn hand"),
}
_WHOLE_PRICES: Final = frozenset({"discard_discarder"})
"""Lines of the price list that say what somebody pays in all, not what comes on top."""
_COUNTED: Final = frozenset({"lei", "fan"})
"""Units in which every line is an amount of its own; chips and water that come on top have a sign."""


def verdict(claim: Mapping[str, Any], texts: RuleTexts) -> dict[str, Any] | None:
    """One sentence, one icon, the reason and where the rules say so."""
    words, found = texts.words, claim.get("verdict")
    if not found:
        return None
    outcome = found["outcome"]
    section = found.get("section") or next(
        (i["section"] for i in found.get("items") or [] if i.get("section")), None
    )
    problems = list(dict.fromkeys([*filter(None, [found.get("reason")]), *(found.get("problems") or [])]))
    reasons = {"win": _win_reason(found, texts), "draw": words.say("What lies open is settled")}
    return {
        "outcome": outcome,
        "ok": outcome in ("win", "draw"),
        "title": words.code(_TITLES, outcome),
        "reason": reasons.get(outcome) or texts.reason(found.get("reason")),
        "more": [texts.reason(code) for code in problems[1:3]],
        "section": f"§{str(section).lstrip('§')}" if section else "",
        "items": _items(found, texts),
        "totals": [texts.total(name, n) for name, n in (found.get("totals") or {}).items()],
    }


def _items(found: Mapping[str, Any], texts: RuleTexts) -> list[dict[str, str]]:
    lines = []
    for at, item in enumerate(found.get("items") or []):
        lines.append({"word": texts.item(item["code"]), "amount": _amount(item, first=at == 0)})
    return lines


def _amount(item: Mapping[str, Any], *, first: bool) -> str:
    unit, amount = item.get("unit", "chips"), item["amount"]
    if unit == "times":
        return f"×{amount}"
    whole = first or unit in _COUNTED or item["code"] in _WHOLE_PRICES
    return str(amount) if whole else f"{amount:+d}"


def _win_reason(found: Mapping[str, Any], texts: RuleTexts) -> str:
    parts = [f"{item['word']} {item['amount']}" for item in _items(found, texts)]
    return " · ".join(parts) or texts.cls(found.get("cls"))


def payments(claim: Mapping[str, Any], base: Mapping[str, Any], texts: RuleTexts) -> list[dict[str, Any]]:
    """One row a place, before → after; without a settlement the chips stay as they are."""
    proposed = {int(p["place"]): p for p in claim.get("payments") or []}
    totals = claim.get("totals") or {}
    rows = []
    for place in base["places"]:
        row = proposed.get(place.place) or {"before": place.chips, "delta": 0, "after": place.chips}
        told = [texts.total(name, amounts[place.place]) for name, amounts in totals.items() if name != "net"]
        rows.append(
            {
                "who": place,
                "winner": claim.get("place") == place.place,
                **row,
                "notes": [*told, *_beside(row, texts.words)],
            }
        )
    return rows


def _beside(row: Mapping[str, Any], words: Words) -> list[str]:
    """What a row holds besides chips that are paid."""
    gain = f"{row.get('outside') or 0:+d}"
    told = {
        "unpaid": words.say("unpaid %(n)s", n=row.get("unpaid")),
        "outside": words.say("outside %(n)s", n=gain),
        "loan": words.say("borrows %(n)s", n=row.get("loan")),
    }
    return [text for name, text in told.items() if row.get(name)]


def _blocked(claim: Mapping[str, Any], words: Words) -> str:
    sentences = [words.code(BLOCKED, code) for code in claim.get("blocked") or []]
    return words.say("; ").join(dict.fromkeys(sentences))


def _how(claim: Mapping[str, Any], names: Mapping[int, str], texts: RuleTexts) -> str:
    text = texts.how(str(claim.get("how")))
    giver = claim.get("from")
    if giver is None:
        return text
    return texts.words.say("%(how)s from %(name)s", how=text, name=names.get(giver, str(giver + 1)))


def _facts(claim: Mapping[str, Any]) -> Mapping[str, Any]:
    """Facts in force; a state of before had one only."""
    facts: Mapping[str, Any] = claim.get("facts", {"da": claim["da"]} if claim.get("da") else {})
    return facts


def claim_view(claim: Mapping[str, Any], base: Mapping[str, Any], texts: RuleTexts) -> dict[str, Any]:
    """Everything of a pending claim."""
    words = texts.words
    strip = hand(claim, words)
    winner = next((p for p in base["places"] if p.place == claim.get("place")), None)
    rows = payments(claim, base, texts)
    facts = _facts(claim)
    return {
        "winner": winner,
        "how": _how(claim, base["names"], texts),
        "how_code": claim.get("how"),
        "from": claim.get("from"),
        "facts": " · ".join(fact_words(texts.facts, texts, facts)),
        "fields": fields_of(texts.facts, texts, "facts", facts, tiles=True),
        "hows": how_form(texts, winner),
        "hand": strip,
        "photo": photo(claim, strip["tiles"]),
        "no_photo": words.sentence(str(claim.get("no_photo"))) if claim.get("no_photo") else "",
        "verdict": verdict(claim, texts),
        "payments": rows,
        "gain": next((r["delta"] for r in rows if r["winner"]), 0),
        "can_confirm": bool(claim.get("can_confirm")),
        "blocked": _blocked(claim, words),
        "fine": claim.get("fine"),
        "place": claim.get("place"),
        "line": claim.get("line") or "",
        "editor": json.dumps(editor(claim)),
        "shown": [shown_view(entry, base, texts) for entry in claim.get("shown") or []],
    }


def shown_view(entry: Mapping[str, Any], base: Mapping[str, Any], texts: RuleTexts) -> dict[str, Any]:
    """What lies open before one player, where losers score; of the winner only his facts count here."""
    words, place = texts.words, int(entry["place"])
    strip, doubts = hand(entry, words), doubts_of_all(entry, words)
    if entry["winner"]:
        status = words.say("Winner")
    elif entry["nothing"]:
        status = words.say("Nothing lies open")
    elif strip["tiles"]:
        status = strip["count"]
    else:
        status = words.say("Not read yet")
    asks = tuple(entry.get("asks") or ())
    return {
        "place": place,
        "who": next(p for p in base["places"] if p.place == place),
        "winner": entry["winner"],
        "read": entry["read"],
        "status": status,
        "open": bool(asks) or not entry["read"] or strip["doubts"] > 0 or bool(doubts),
        "doubts": doubts,
        "asks": [texts.fact(name) for name in asks],
        "hand": strip,
        "photo": photo(entry, strip["tiles"]),
        "facts": fact_words(texts.seat_facts, texts, entry.get("facts") or {}),
        "fields": fields_of(texts.seat_facts, texts, f"shown.{place}", entry.get("facts") or {}, asks),
        "editor": json.dumps(editor(entry)),
    }


def editor(laid: Mapping[str, Any]) -> dict[str, Any]:
    """Tiles as the sheet for typing them in wants them: loose kinds, melds, winning kind."""
    tiles = laid.get("tiles") or []
    kinds = {int(t["i"]): t["kind"] for t in tiles}
    melds = laid.get("melds") or []
    in_melds = {i for meld in melds for i in meld["tiles"]}
    win_at = next((int(t["i"]) for t in tiles if t.get("group") == "win"), None)
    return {
        "concealed": [kinds[i] for i in sorted(kinds) if i not in in_melds and i != win_at],
        "melds": [
            {"kind": meld["kind"].lower(), "tile": _lowest(kinds[i] for i in meld["tiles"])} for meld in melds
        ],
        "win": None if win_at is None else kinds[win_at],
    }


def _lowest(kinds: Any) -> str:
    """The tile a meld is named by: the lowest of a chow, the open one of a covered set."""
    return min((kind for kind in kinds if kind != "back"), default="?")
