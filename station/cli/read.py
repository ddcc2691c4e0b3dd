"""`read`: the tiles of photographs, one JSON object (or one line) each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import rulesets
from engine.rulesets import RuleSet
from station.cli.failures import plain_failures
from station.cli.output import BAD_INPUT, OK, emit, note, say
from station.cli.progress import Progress
from station.cli.read_words import reading_words
from station.cli.taught import FIRST_ZONE, taught_zone
from station.errors import ConfigError
from vision.enroll.reader import with_tilesets
from vision.pictures import pictures_in
from vision.reading_service import PhotoHint, parse_region, parse_regions, read_photo
from vision.recognizer import Recognizer
from vision.shapes import HandShape

EXAMPLES = """\
examples:
  quezhuo read hand.jpg --expect 14
  quezhuo read photos --json > tiles.jsonl
  quezhuo read table.jpg --region 400,900,1200,1150 --ruleset zhenjiang
  quezhuo read table.jpg --calibration calibration.json --zone 2
  quezhuo read hand.jpg --tileset green.json --tileset blue.json
"""
RED_FIVES = "red"
"""Fact of the rule sets in which some fives are red."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = f"{parser.epilog}\n\n{EXAMPLES}"
    parser.add_argument(
        "photos",
        nargs="+",
        metavar="PHOTO",
        help="a picture (JPEG, PNG, WebP, BMP, TIFF) or a folder of them",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--region", metavar="X0,Y0,X1,Y1", help="pixels of the upright picture")
    where.add_argument("--calibration", metavar="FILE", help="calibration file of a table")
    where.add_argument("--regions", metavar="FILE", help="JSON: file name -> region, expected number or null")
    parser.add_argument(
        "--zone", metavar="ZONE", help="with --calibration: 0 to 3, or indicator (default: 0)"
    )
    parser.add_argument("--expect", type=int, metavar="N", help="how many tiles there are")
    parser.add_argument("--ruleset", metavar="ID", help="only tiles of this rule set's tile set")
    parser.add_argument(
        "--tileset",
        action="append",
        metavar="FILE",
        help="the tiles in play as enrolled (quezhuo enroll); twice for the two sets of a table",
    )
    parser.add_argument("--model", metavar="FILE", help="another recognizer's card (JSON)")


def run(arguments: argparse.Namespace) -> int:
    """Read and print; a bad file is reported and the others go on (status 2)."""
    if arguments.expect is not None and not 1 <= arguments.expect <= 200:
        raise ConfigError("--expect must be from 1 to 200.", fix="Give the number of tiles in the picture.")
    with plain_failures():
        rules = rulesets.load(arguments.ruleset) if arguments.ruleset else None
        kinds = _kinds(rules)
        shape = HandShape(red=rules is not None and RED_FIVES in rules.data.facts)
        zone = taught_zone(arguments)
        calibration, name = (None, FIRST_ZONE) if zone is None else (zone.calibration, zone.name)
        hints = parse_regions(Path(arguments.regions)) if arguments.regions else {}
        region = parse_region(arguments.region) if arguments.region else None
        recognizer = Recognizer.load(Path(arguments.model) if arguments.model else None, threads=2)
        reader = with_tilesets(recognizer, [Path(file) for file in arguments.tileset or ()], kinds)
    photos = list(_walked(arguments.photos))
    bad = False
    with Progress(len(photos)) as progress:
        for path in photos:
            progress.begin(path.name)
            hint = hints.get(path.name) or hints.get(str(path)) or PhotoHint(region)
            if hint.expect is None:
                hint = replace(hint, expect=arguments.expect)
            result = read_photo(path, reader, hint, kinds, calibration, name, shape)
            bad = bad or "error" in result
            progress.clear()
            _print(result, as_json=arguments.json)
    return BAD_INPUT if bad else OK


def _walked(names: Sequence[str]) -> Iterator[Path]:
    """Every file named, and of a folder the pictures in it; an empty folder stays, to be reported."""
    for path in map(Path, names):
        yield from (pictures_in(path) if path.is_dir() else []) or [path]


def _kinds(rules: RuleSet | None) -> frozenset[str] | None:
    if rules is None:
        return None
    return frozenset(tile.id for tile in rules.tile_set.kinds) | {"back"}


def _print(result: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        emit(result)
    elif "error" in result:
        where = "" if result["file"] in result["error"] else f"{result['file']}: "
        note(f"quezhuo: {where}{result['error']}")
    else:
        say(reading_words(result))
