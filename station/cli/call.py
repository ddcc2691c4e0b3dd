"""`call`: who gets a tile that several players call for, and by which sentence of the rules."""

from __future__ import annotations

import argparse
from typing import Any

from engine import rulesets
from engine.calls import Award, Call, Want
from engine.claim import Seat
from engine.jsonvalues import want_tile
from engine.rulesets import RuleSet
from engine.text.tiletext import parse_tiles
from engine.tiles import Tile
from engine.verdict import Problem
from station.cli.failures import plain_failures
from station.cli.output import NO, OK, emit, say
from station.errors import ConfigError
from station.web.sentences import REASONS

Refusal = tuple[Want, Problem]

WHY = {
    "call_not_allowed": "these rules do not know the call",
    "not_next_player": "only the player after the discarder may call it",
    "not_suited": "only suited tiles",
    "tiles_do_not_fit": "the tiles do not make it",
    "contradictory_facts": "the caller threw the tile himself",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "wants",
        nargs="+",
        metavar="SEAT:CALL[:TILES]",
        help="who calls what, perhaps with which own tiles; seat 0 deals, then counter-clockwise",
    )
    parser.add_argument("--ruleset", required=True, metavar="ID", help="rule set, e.g. zhenjiang")
    parser.add_argument("--tile", required=True, metavar="TILE", help="the tile, e.g. 5m")
    parser.add_argument(
        "--from", required=True, type=int, dest="discarder", metavar="SEAT", help="who put it down"
    )
    parser.add_argument("--flip", metavar="TILE", help="the tile turned up, where the rules turn one up")
    parser.add_argument(
        "--barred",
        type=int,
        action="append",
        default=[],
        metavar="SEAT",
        help="may not win (false win, 相公)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Answer; status 0 when somebody gets the tile, 1 when nobody does, 2 on bad input."""
    with plain_failures():
        rules = rulesets.load(arguments.ruleset)
        tile = want_tile(arguments.tile)
        flip = None if arguments.flip is None else want_tile(arguments.flip)
        calls = [_call(text, arguments.discarder, tile, flip) for text in arguments.wants]
        refused = [refusal for call in calls for refusal in _refusals(rules, call)]
        fallen = [want for want, _ in refused]
        wants = [(call.seat, call.kind) for call in calls if (call.seat, call.kind) not in fallen]
        barred = {Seat(seat): "barred" for seat in arguments.barred}
        award = rules.award(tile, Seat(arguments.discarder), wants, indicator=flip, may_not_win=barred)
    refused += award.refused
    if arguments.json:
        emit(_describe(award, refused, rules))
    else:
        say(_sentence(award, tile, rules))
        for (seat, kind), problem in refused:
            say(f"Seat {seat} gets nothing with {kind}: {_why(problem)} ({_cited(rules, problem.section)}).")
    return NO if award.seat is None else OK


def _call(text: str, discarder: int, tile: Tile, flip: Tile | None) -> Call:
    seat, _, rest = text.partition(":")
    kind, _, tiles = rest.partition(":")
    if not (seat.isascii() and seat.isdigit() and len(seat) < 4 and kind):
        raise ConfigError(
            f"{text!r} is no call.", fix="Write seat and call, e.g. 1:pung or 1:pung:55m.", code="usage"
        )
    own = parse_tiles(tiles) if tiles else ()
    return Call(
        kind=kind, seat=Seat(int(seat)), discarder=Seat(discarder), tile=tile, own=own, indicator=flip
    )


def _refusals(rules: RuleSet, call: Call) -> list[Refusal]:
    """What speaks against the caller's own tiles, where they are given."""
    problems = rules.may_call(call) if call.own else ()
    return [((call.seat, call.kind), problem) for problem in problems[:1]]


def _sentence(award: Award, tile: Tile, rules: RuleSet) -> str:
    if award.seat is None:
        return f"Nobody gets {tile.id}; the next player draws."
    why = f"{award.text} ({_cited(rules, award.section)})"
    return f"Seat {award.seat} gets {tile.id} with {award.call}: {why}."


def _cited(rules: RuleSet, section: str) -> str:
    return f"{rules.data.document} {section}"


def _why(problem: Problem) -> str:
    text = WHY.get(problem.code) or REASONS.get(problem.code, problem.code)
    return text[:1].lower() + text[1:]


def _describe(award: Award, refused: list[Refusal], rules: RuleSet) -> dict[str, Any]:
    return {
        "seat": award.seat,
        "call": award.call,
        "document": rules.data.document,
        "section": award.section or None,
        "text": award.text or None,
        "zh": award.zh or None,
        "refused": [
            {
                "seat": seat,
                "call": kind,
                "reason": problem.code,
                "section": problem.section,
                "about": list(problem.about),
            }
            for (seat, kind), problem in refused
        ],
    }
