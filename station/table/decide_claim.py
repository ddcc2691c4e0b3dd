"""Decisions about a pending claim: declare, change facts, type a hand, mend a tile, look again."""

from __future__ import annotations

from typing import Any

from engine.claim import DRAW
from engine.notation import NotationError
from engine.rulesets import RuleSet
from engine.tiles import Tile
from station import messages as m
from station.places import Place
from station.session import ClaimState, Laid, Session, Stage
from station.table.asking import Refused, is_whole, need, place_of_request
from station.table.decide_hand import TILE_FIX
from station.table.facts import checked, merged
from station.table.handtiles import typed_public, typed_tiles

LINE_FIX = "Write for example 123m456p789s11z34s +5s."
PUBLIC_FIX = "Write for example P:777z 1234z, or nothing where nothing lies open."
LONGEST_LINE = 200
"""Characters of a typed hand; 30 tiles in ten groups take about half of it."""

Shown = dict[str, dict[str, Any]]


def claim(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """Somebody declares a win."""
    _may_claim(session)
    place = place_of_request(session, body.get("place"))
    how, source = _how(session, rules, place, body.get("how"), body.get("from"))
    return [
        m.HandClaimed(
            hand=session.hand,
            claim=session.claims + 1,
            place=place,
            how=how,
            source=source,
            facts=merged({}, _facts(rules, body)),
            shown=_merged_shown({}, _shown(session, rules, body.get("shown"))),
            open=_others(session, rules, place),
            key=key,
        )
    ]


def exhausted(session: Session, rules: RuleSet, key: str | None) -> list[m.Body]:
    """The wall is exhausted, and what lies open before every player has to be read."""
    return [
        m.HandClaimed(
            hand=session.hand,
            claim=session.claims + 1,
            place=None,
            how=DRAW,
            source=None,
            open=_others(session, rules, None),
            key=key,
        )
    ]


def _may_claim(session: Session) -> None:
    need(session.stage is not Stage.CLAIM, "claim_pending", "A claim is waiting for its ruling.")
    need(session.stage is Stage.PLAY, "no_claim_now", "No hand is being played.")
    need(
        not session.indicator or not session.indicator.doubt,
        "indicator_doubt",
        "Check the flipped tile first.",
    )


def _others(session: Session, rules: RuleSet, place: Place | None) -> list[int]:
    """Return the places besides the claimant's whose open tiles count."""
    return [other for other in range(len(session.places)) if rules.data.seat_facts and other != place]


def _how(session: Session, rules: RuleSet, place: Place, how: Any, source: Any) -> tuple[str, Place | None]:
    """Check a way to win and who gave the tile."""
    hows = rules.data.hows
    known = isinstance(how, str) and how in hows
    need(known, "bad_how", f"{how!r} is no way to win here.", f"Use {', '.join(hows)}.")
    spec = hows[str(how)]
    if spec.discarder == "none":
        need(source is None, "bad_from", "A self-drawn tile comes from nobody.", "Leave `from` out.")
        return spec.name, None
    if source is None and spec.discarder == "optional":
        return spec.name, None
    giver = place_of_request(session, source)
    need(giver != place, "bad_from", "Nobody wins on the own discard.")
    return spec.name, giver


def _facts(rules: RuleSet, body: dict[str, Any]) -> dict[str, Any]:
    """Facts of a request; ``da`` of its own is the old spelling of that fact."""
    facts = checked(rules.data.facts, body.get("facts"))
    if body.get("da"):
        facts |= checked(rules.data.facts, {"da": body["da"]})
    return facts


def _shown(session: Session, rules: RuleSet, shown: Any) -> Shown:
    """Facts of players in a request, by place (the keys are text, as in any JSON object)."""
    if shown is None:
        return {}
    places = {str(place) for place in range(len(session.places))}
    ok = isinstance(shown, dict) and set(shown) <= places
    need(ok, "bad_fact", "Facts of players are an object by place.", 'Write for example {"2": {…}}.')
    return {place: checked(rules.data.seat_facts, facts) for place, facts in shown.items()}


def _merged_shown(old: Shown, new: Shown) -> Shown:
    every = {place: merged(old.get(place, {}), new.get(place, {})) for place in {**old, **new}}
    return {place: facts for place, facts in every.items() if facts}


def amend(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A referee changes how the claim was made, or facts of it; what is not named stays."""
    pending = _pending(session)
    how, source = pending.how, pending.source
    if pending.place is not None and ("how" in body or "from" in body):
        # A new way to win comes with its own giver; the same way may get another one.
        giver = body.get("from") if "from" in body or "how" in body else source
        how, source = _how(session, rules, pending.place, body.get("how", how), giver)
    facts = merged(pending.facts, _facts(rules, body))
    old = {str(place): facts for place, facts in pending.seat_facts.items()}
    shown = _merged_shown(old, _shown(session, rules, body.get("shown")))
    changed = (how, source, facts, shown) != (pending.how, pending.source, pending.facts, old)
    need(changed, "nothing_changed", "Nothing of the claim would change.")
    return [
        m.HandAmended(
            hand=session.hand,
            claim=pending.number,
            how=how,
            source=source,
            facts=facts,
            shown=shown,
            key=key,
        )
    ]


def _pending(session: Session) -> ClaimState:
    if session.claim is None:
        raise Refused("No claim is pending.", code="no_claim")
    return session.claim


def _laid(session: Session, body: dict[str, Any]) -> tuple[ClaimState, Laid, Place | None]:
    """Return the pending claim and what lies before the place a request names, None for the claimant's."""
    pending = _pending(session)
    named = body.get("place")
    place = None if named is None else place_of_request(session, named)
    laid = pending.at_place(place)
    if laid is None:
        raise Refused("What lies there is not asked for.", code="bad_place")
    return pending, laid, None if place == pending.place else place


def typed_hand(session: Session, rules: RuleSet, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A person types the whole hand in one-line notation (tiles, melds, ``+`` winning tile).

    Of another place only what lies open; an empty line says that nothing does.
    """
    del rules
    pending, _, place = _laid(session, body)
    line, fix = body.get("line"), LINE_FIX if place is None else PUBLIC_FIX
    ok = isinstance(line, str) and len(line) <= LONGEST_LINE
    need(ok, "bad_line", f"A hand is one line of at most {LONGEST_LINE} characters.", fix)
    try:
        tiles = typed_tiles(str(line)) if place is None else typed_public(str(line))
    except NotationError as error:
        raise Refused(str(error), code="bad_line", fix=fix) from None
    need(bool(tiles) or place is not None, "bad_line", "The hand has no tiles.", fix)
    return [
        m.HandRead(
            hand=session.hand,
            claim=pending.number,
            place=place,
            photo=None,
            size=None,
            tiles=tiles,
            why=[],
            expect=len(tiles),
            key=key,
        )
    ]


def tile(session: Session, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """A referee changes a tile's kind; the same kind says "it is right"."""
    pending, laid, place = _laid(session, body)
    index, kind = body.get("i"), body.get("kind")
    ok = is_whole(index) and 0 <= int(index or 0) < len(laid.tiles)
    need(ok, "bad_index", f"There is no tile number {index!r}.")
    assert isinstance(index, int)
    try:
        new = Tile.of(str(kind))
    except ValueError:
        raise Refused(f"There is no tile {kind!r}.", code="bad_tile", fix=TILE_FIX) from None
    need(new is not Tile.UNKNOWN, "bad_tile", "A tile has to be named.")
    return [
        m.TileMended(
            hand=session.hand,
            claim=pending.number,
            place=place,
            index=index,
            kind=new.id,
            was=laid.tiles[index].kind,
            key=key,
        )
    ]


def retake(session: Session, body: dict[str, Any], key: str | None) -> list[m.Body]:
    """Take a new photograph of the claimed hand, or of what lies open at another place."""
    pending, _, place = _laid(session, body)
    return [m.RetakeAsked(hand=session.hand, claim=pending.number, place=place, key=key)]
