"""The referee page: hand, photo, verdict, payments and what may be tapped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from station.web.catalogue import N_
from station.web.sentences import (
    BLOCKED,
    CLASSES,
    DOUBTS,
    HOW,
    ITEMS,
    PENALTIES,
    PENALTY_REASONS,
    REASONS,
    RULING_REASONS,
    RULINGS,
)
from station.web.table_view import PlaceView, State, common, percent
from station.web.words import Words

_SETS: Final = {"chow": N_("Run"), "pung": N_("Triplet"), "kong": N_("Kong"), "pair": N_("Pair")}
_MELDS: Final = {
    "chow": N_("Chow"),
    "pung": N_("Pung"),
    "kong": N_("Exposed kong"),
    "concealed_kong": N_("Concealed kong"),
    "shao": N_("Concealed triplet"),
}
_TITLES: Final = {
    "win": N_("Valid win"),
    "no_win": N_("Not a win"),
    "inconsistent": N_("This cannot be"),
    "draw": N_("Drawn hand"),
}
_PHOTO_ASPECT: Final = 1.3
_BUTTONS: Final = 0.36
"""Room below the tiles for the buttons that lie on the photo, in heights of the tiles' area."""
_PENALTY_AMOUNTS: Final = (1, 2, 4, 6, 10)
_WIN_UNITS: Final = (2, 3, 5, 6, 8, 9, 10, 12)
_WHOLE_PRICES: Final = frozenset({"discard_discarder"})
"""Lines of the price list that say what somebody pays in all, not what comes on top."""
_OVERRIDE_PHASES: Final = frozenset({"start", "indicator", "play", "offline", "claim", "verdict", "ruled"})
"""Phases in which a machine may hold a hand: one before its ruling, or one of another session."""
_CLAIM_HOWS: Final = ("self", "kong_ming", "kong_an", "heaven")


@dataclass(frozen=True)
class TileView:
    """One tile of the hand as it is drawn, with everything the sheet for mending it needs."""

    i: int
    kind: str
    name: str
    wild: bool
    stands_for: str
    win: bool
    doubt: bool
    edited: bool
    sure: str
    read_as: str
    why: str
    box: tuple[float, float, float, float] | None
    candidates: str
    """JSON list of [kind, percent], best first."""


@dataclass(frozen=True)
class GroupView:
    """Tiles that stand together with their caption."""

    caption: str
    tiles: tuple[TileView, ...]
    bad: bool = False


def _tile(entry: Mapping[str, Any], words: Words) -> TileView:
    kind, stands = entry["kind"], entry.get("as")
    name, sure = words.tile(kind), percent(entry.get("score"))
    reasons = dict.fromkeys(words.code(DOUBTS, code) for code in entry.get("why") or [])
    alternatives = list(entry.get("alternatives") or [])[:3]
    box = entry.get("box")
    edited = bool(entry.get("edited"))
    read_as = (
        words.say("Set by hand to %(tile)s", tile=name)
        if edited
        else words.say("Read as %(tile)s", tile=name)
    )
    return TileView(
        i=int(entry["i"]),
        kind=kind,
        name=name,
        wild=bool(entry.get("wild")),
        stands_for=words.tile(stands, short=True) if stands and stands != kind else "",
        win=entry.get("group") == "win",
        doubt=bool(entry.get("doubt")),
        edited=edited,
        sure=words.say("%(percent)s sure", percent=sure) if sure and not edited else "",
        read_as=read_as,
        why=words.say(", ").join(reasons),
        box=(box[0], box[1], box[2], box[3]) if box else None,
        candidates=json.dumps([[kind_, percent(score)] for kind_, score in alternatives]),
    )


def _groups(claim: Mapping[str, Any], tiles: Mapping[int, TileView], words: Words) -> list[GroupView]:
    """Melds and sets; without a decomposition the concealed tiles stay together, the winning tile apart."""
    verdict = claim.get("verdict") or {}
    declared = _declared(claim, words)
    sets = verdict.get("sets") or []
    placed = {i for entry in sets for i in entry["tiles"]}
    groups = [
        GroupView(caption, _pick(indices, tiles))
        for indices, caption in declared.items()
        if not placed.intersection(indices)
    ]
    groups += [_set(entry, tiles, declared, words) for entry in sets]
    placed |= {i for indices in declared for i in indices}
    rest = [tiles[i] for i in sorted(tiles) if i not in placed]
    concealed = tuple(t for t in rest if not t.win)
    winning = tuple(t for t in rest if t.win)
    problem = verdict.get("outcome") in ("no_win", "inconsistent")
    if concealed:
        groups.append(GroupView(words.say("Concealed"), concealed, bad=problem))
    if winning:
        groups.append(GroupView(words.say("Win"), winning))
    return groups


def _declared(claim: Mapping[str, Any], words: Words) -> dict[tuple[int, ...], str]:
    melds = claim.get("melds") or []
    return {tuple(sorted(m["tiles"])): words.code(_MELDS, m["kind"].lower()) for m in melds}


def _pick(indices: Iterable[int], tiles: Mapping[int, TileView]) -> tuple[TileView, ...]:
    return tuple(tiles[i] for i in indices if i in tiles)


def _set(
    entry: Mapping[str, Any],
    tiles: Mapping[int, TileView],
    declared: Mapping[tuple[int, ...], str],
    words: Words,
) -> GroupView:
    indices, stands = list(entry["tiles"]), list(entry.get("as") or [])
    members = []
    for at, i in enumerate(indices):
        tile = tiles.get(i)
        if tile is None:
            continue
        if tile.wild and not tile.stands_for and at < len(stands) and stands[at] not in (None, tile.kind):
            tile = replace(tile, stands_for=words.tile(stands[at], short=True))
        members.append(tile)
    caption = declared.get(tuple(sorted(indices))) or words.code(_SETS, entry["kind"].lower())
    stand_ins = list(dict.fromkeys(t.stands_for for t in members if t.wild and t.stands_for))
    if stand_ins:
        caption += " · " + words.say("as %(tiles)s", tiles=words.say(", ").join(stand_ins))
    return GroupView(caption, tuple(members))


def hand(claim: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """The strip of tiles: groups, count in words, doubts, and the size class of the tiles."""
    tiles = {int(t["i"]): _tile(t, words) for t in claim.get("tiles") or []}
    doubts = sum(t.doubt for t in tiles.values())
    kongs = sum("kong" in m["kind"].lower() for m in claim.get("melds") or [])
    count = words.many("%(n)s tile", "%(n)s tiles", len(tiles))
    if kongs:
        count += " · " + words.many("%(n)s kong", "%(n)s kongs", kongs)
    expected = claim.get("expect")
    missing = bool(expected) and expected != len(tiles)
    if missing:
        count += " · " + words.say("expected %(n)s", n=expected)
    groups = _groups(claim, tiles, words)
    return {
        "groups": groups,
        "count": count,
        "doubts": doubts,
        "doubt_word": words.many("%(n)s tile to check", "%(n)s tiles to check", doubts),
        "size": _size(len(tiles)),
        "tiles": [tiles[i] for i in sorted(tiles)],
        "missing": missing,
    }


def _size(tiles: int) -> str:
    """Class of the strip: as large as this many tiles in five groups allow."""
    for limit, name in ((15, "tw-l"), (17, "tw-m"), (19, "tw-s")):
        if tiles <= limit:
            return name
    return "tw-xs"


def photo(claim: Mapping[str, Any], tiles: list[TileView]) -> dict[str, Any] | None:
    """The photo cut to the tiles, in its own pixels, widened to the shape of its panel."""
    shot = claim.get("photo")
    if not shot:
        return None
    width, height = float(shot["width"]), float(shot["height"])
    boxes = [t.box for t in tiles if t.box]
    x0, y0, x1, y1 = 0.0, 0.0, width, height
    if boxes:
        left, upper = min(b[0] for b in boxes), min(b[1] for b in boxes)
        right, lower = max(b[2] for b in boxes), max(b[3] for b in boxes)
        margin = 0.06 * max(right - left, lower - upper) + 4
        x0, x1 = left - margin, right + margin
        y0, y1 = upper - margin * 1.5, lower + margin
        y1 += _BUTTONS * (y1 - y0)
    x0, x1, y0, y1 = _widen(x0, x1, y0, y1)
    return {
        "url": shot["url"],
        "width": width,
        "height": height,
        "view": f"{x0:.1f} {y0:.1f} {x1 - x0:.1f} {y1 - y0:.1f}",
        "line": (x1 - x0) / 220,
        "text": (x1 - x0) / 22,
    }


def _widen(x0: float, x1: float, y0: float, y1: float) -> tuple[float, float, float, float]:
    width, height = max(1.0, x1 - x0), max(1.0, y1 - y0)
    if width / height < _PHOTO_ASPECT:
        extra = (height * _PHOTO_ASPECT - width) / 2
        return x0 - extra, x1 + extra, y0, y1
    extra = (width / _PHOTO_ASPECT - height) / 2
    return x0, x1, y0 - extra, y1 + extra


def verdict(claim: Mapping[str, Any], words: Words) -> dict[str, Any] | None:
    """One sentence, one icon, the reason and where the rules say so."""
    found = claim.get("verdict")
    if not found:
        return None
    outcome = found["outcome"]
    section = found.get("section") or next(
        (i["section"] for i in found.get("items") or [] if i.get("section")), None
    )
    problems = list(dict.fromkeys([*filter(None, [found.get("reason")]), *(found.get("problems") or [])]))
    return {
        "outcome": outcome,
        "ok": outcome == "win",
        "title": words.code(_TITLES, outcome),
        "reason": _win_reason(found, words) if outcome == "win" else words.code(REASONS, found.get("reason")),
        "more": [words.code(REASONS, code) for code in problems[1:3]],
        "section": f"§{str(section).lstrip('§')}" if section else "",
        "items": _items(found, words),
    }


def _items(found: Mapping[str, Any], words: Words) -> list[dict[str, str]]:
    lines = []
    for at, item in enumerate(found.get("items") or []):
        whole = at == 0 or item["code"] in _WHOLE_PRICES
        amount = str(item["amount"]) if whole else f"{item['amount']:+d}"
        lines.append({"word": words.code(ITEMS, item["code"]), "amount": amount})
    return lines


def _win_reason(found: Mapping[str, Any], words: Words) -> str:
    parts = [f"{item['word']} {item['amount']}" for item in _items(found, words)]
    return " · ".join(parts) or words.code(CLASSES, found.get("cls"))


def payments(claim: Mapping[str, Any], base: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Four rows before → after; without a settlement the chips stay as they are."""
    proposed = {int(p["place"]): p for p in claim.get("payments") or []}
    rows = []
    for place in base["places"]:
        row = proposed.get(place.place) or {
            "before": place.chips,
            "delta": 0,
            "after": place.chips,
            "unpaid": 0,
        }
        rows.append({"who": place, "winner": claim.get("place") == place.place, **row})
    return rows


def _blocked(claim: Mapping[str, Any], words: Words) -> str:
    sentences = [words.code(BLOCKED, code) for code in claim.get("blocked") or []]
    return words.say("; ").join(dict.fromkeys(sentences))


def _how(claim: Mapping[str, Any], names: Mapping[int, str], words: Words) -> str:
    text = words.code(HOW, claim.get("how"))
    giver = claim.get("from")
    if giver is None:
        return text
    return words.say("%(how)s from %(name)s", how=text, name=names.get(giver, str(giver + 1)))


def _da(claim: Mapping[str, Any], words: Words) -> str:
    counts = claim.get("da") or {}
    parts = [f"{words.say(word)} {counts[key]}" for key, word, _ in DA_ROWS if counts.get(key)]
    return " · ".join(parts)


DA_ROWS: Final = (
    ("shou", N_("First discards"), N_("Wildcards thrown as first discards")),
    ("er", N_("Later, shown"), N_("Wildcards thrown later and shown")),
    ("peng", N_("After a pung"), N_("Wildcards thrown right after an own pung")),
)
"""Counters of discarded wildcards: key, short word, explanation."""


def claim_view(claim: Mapping[str, Any], base: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """Everything of a pending claim."""
    strip = hand(claim, words)
    winner = next((p for p in base["places"] if p.place == claim.get("place")), None)
    rows = payments(claim, base)
    gain = next((r["delta"] for r in rows if r["winner"]), 0)
    return {
        "winner": winner,
        "how": _how(claim, base["names"], words),
        "da": _da(claim, words),
        "hand": strip,
        "photo": photo(claim, strip["tiles"]),
        "verdict": verdict(claim, words),
        "payments": rows,
        "gain": gain,
        "can_confirm": bool(claim.get("can_confirm")),
        "blocked": _blocked(claim, words),
        "fine": claim.get("fine"),
        "place": claim.get("place"),
        "line": claim.get("line") or "",
        "editor": json.dumps(_editor(claim)),
    }


def _editor(claim: Mapping[str, Any]) -> dict[str, Any]:
    """The hand as the sheet for typing it in wants it: concealed kinds, melds, winning kind."""
    kinds = {int(t["i"]): t["kind"] for t in claim.get("tiles") or []}
    in_melds = {i for m in claim.get("melds") or [] for i in m["tiles"]}
    win = next((t["kind"] for t in claim.get("tiles") or [] if t.get("group") == "win"), None)
    melds = [
        {"kind": m["kind"].lower(), "tile": next((kinds[i] for i in m["tiles"] if kinds[i] != "back"), "?")}
        for m in claim.get("melds") or []
        if m["kind"].lower() in ("pung", "kong", "concealed_kong")
    ]
    win_at = next((int(t["i"]) for t in claim.get("tiles") or [] if t.get("group") == "win"), None)
    concealed = [kinds[i] for i in sorted(kinds) if i not in in_melds and i != win_at]
    return {"concealed": concealed, "melds": melds, "win": win}


def _ruling_choices(state: State, words: Words) -> list[dict[str, Any]]:
    claim = state.get("claim") or {}
    needs_claim = ("false_win", "win")
    return [
        {
            "kind": kind,
            "word": words.code(RULINGS, kind),
            "place": claim.get("place") if kind in needs_claim else None,
        }
        for kind in state.get("ruling_options") or []
        if kind not in needs_claim or claim
    ]


def win_pays(claim: Mapping[str, Any], places: list[PlaceView], words: Words) -> list[tuple[str, str]]:
    """What a win may pay that a person rules against the engine: label and JSON body, capped at the chips.

    On a discard the first choice is the usual one: the discarder twice what the others pay.
    """
    winner, giver = claim.get("place"), claim.get("from")
    choices = []
    if giver is not None:
        due = {p.place: 4 if p.place == giver else 2 for p in places}
        choices.append((words.say("Discarder 4, others 2"), _pay_body(due, winner, places)))
    for unit in _WIN_UNITS[: 7 if choices else 8]:
        due = {p.place: unit for p in places}
        choices.append((words.say("Each %(n)s", n=unit), _pay_body(due, winner, places)))
    return choices


def _pay_body(due: Mapping[int, int], winner: int | None, places: list[PlaceView]) -> str:
    pay = [-min(due[p.place], p.chips) if p.place != winner else 0 for p in places]
    if winner is not None:
        pay[winner] = -sum(pay)
    return json.dumps({"pay": pay})


def referee(state: State, words: Words) -> dict[str, Any]:
    """Values of the referee page for ``state`` (the table state) in the language of ``words``."""
    base = common(state, words)
    claim = state.get("claim")
    base["claim"] = claim_view(claim, base, words) if claim and base["claiming"] else None
    base["rulings"] = _ruling_choices(state, words)
    base["ruling_reasons"] = [(code, words.say(text)) for code, text in RULING_REASONS.items()]
    kinds = state.get("penalties") or list(PENALTIES)
    base["penalties"] = [(code, words.code(PENALTIES, code)) for code in kinds if code != "chips"]
    base["amounts"] = _PENALTY_AMOUNTS if "chips" in kinds else ()
    base["penalty_reasons"] = [(code, words.say(text)) for code, text in PENALTY_REASONS.items()]
    base["win_pays"] = win_pays(claim, base["places"], words) if claim else []
    base["claim_hows"] = [(how, words.code(HOW, how)) for how in _CLAIM_HOWS]
    base["da_rows"] = [(key, words.say(word), words.say(long)) for key, word, long in DA_ROWS]
    base["recovery"] = state.get("recovery")
    base["overridable"] = base["locked"] and state["phase"] in _OVERRIDE_PHASES
    base["closable"] = state["phase"] in ("start", "ruled") and not base["resuming"]
    return base
