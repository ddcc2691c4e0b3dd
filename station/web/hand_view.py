"""Tiles that lie open, as the pages draw them: groups with captions, doubts, the photo cut to them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from station.web.catalogue import N_
from station.web.sentences import DOUBTS
from station.web.table_view import percent
from station.web.words import Words

_SETS: Final = {"chow": N_("Run"), "pung": N_("Triplet"), "kong": N_("Kong"), "pair": N_("Pair")}
_MELDS: Final = {
    "chow": N_("Chow"),
    "pung": N_("Pung"),
    "kong": N_("Exposed kong"),
    "concealed_kong": N_("Concealed kong"),
    "shao": N_("Shao"),
}
_APART: Final = {"spread": N_("Spread tiles"), "flower": N_("Flowers"), "loose": N_("Belongs to nothing")}
_PHOTO_ASPECT: Final = 1.3
APART_AS: Final = 2
"""Room of a button with tiles that lie apart, in tiles."""
_BUTTONS: Final = 0.36
"""Room below the tiles for the buttons that lie on the photo, in heights of the tiles' area."""


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
    group: str


@dataclass(frozen=True)
class GroupView:
    """Tiles that stand together with their caption."""

    caption: str
    tiles: tuple[TileView, ...]
    bad: bool = False
    apart: bool = False
    """Tiles that are no part of the sets: drawn small, as one button."""


def _tile(entry: Mapping[str, Any], words: Words) -> TileView:
    kind, stands = entry["kind"], entry.get("as")
    name, sure = words.tile(kind), percent(entry.get("score"))
    reasons = dict.fromkeys(words.code(DOUBTS, code) for code in entry.get("why") or [])
    alternatives = list(entry.get("alternatives") or [])[:3]
    box = entry.get("box")
    edited = bool(entry.get("edited"))
    if edited:
        read_as = words.say("Set by hand to %(tile)s", tile=name)
    elif entry.get("red"):
        read_as = words.say("Read as %(tile)s, a red five", tile=name)
    else:
        read_as = words.say("Read as %(tile)s", tile=name)
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
        group=str(entry.get("group") or ""),
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
    apart = _apart(tiles, words)
    placed |= {tile.i for group in apart for tile in group.tiles}
    rest = [tiles[i] for i in sorted(tiles) if i not in placed]
    concealed = tuple(t for t in rest if not t.win)
    winning = tuple(t for t in rest if t.win)
    problem = verdict.get("outcome") in ("no_win", "inconsistent")
    if concealed:
        groups.append(GroupView(words.say("Concealed"), concealed, bad=problem))
    if winning:
        groups.append(GroupView(words.say("Win"), winning))
    return [*groups, *apart]


def _apart(tiles: Mapping[int, TileView], words: Words) -> list[GroupView]:
    """Tiles that lie apart and count otherwise than in a set: spread ones, flowers, loose ones."""
    found: dict[str, list[TileView]] = {}
    for i in sorted(tiles):
        name = tiles[i].group.partition(":")[0]
        if name in _APART:
            found.setdefault(name, []).append(tiles[i])
    return [GroupView(words.say(_APART[name]), tuple(members), apart=True) for name, members in found.items()]


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
        "size": _size(sum(APART_AS if group.apart else len(group.tiles) for group in groups)),
        "apart": [group for group in groups if group.apart],
        "tiles": [tiles[i] for i in sorted(tiles)],
        "missing": missing,
    }


def _size(tiles: int) -> str:
    """Class of the strip: as large as this many tiles in five groups allow."""
    for limit, name in ((15, "tw-l"), (17, "tw-m"), (19, "tw-s"), (23, "tw-xs")):
        if tiles <= limit:
            return name
    return "tw-xxs"


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
