"""Counting a set of tiles, and telling which of two sets photographs show."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from station.cli.enroll_words import inventory_words, which_words
from station.cli.output import BAD_INPUT, NO, OK, counted, emit, note, say
from station.cli.taught import TaughtZone
from vision.enroll.capture import look_at_tiles
from vision.enroll.inventory import Inventory
from vision.enroll.tileset import TileSet
from vision.enroll.which import Rivals
from vision.errors import VisionError
from vision.pictures import load_image
from vision.reading_service import PhotoHint, parse_regions
from vision.readings import Image
from vision.recognizer import Recognizer


def inventory(
    arguments: argparse.Namespace,
    recognizer: Recognizer,
    counts: Mapping[str, int],
    zone: TaughtZone | None,
) -> int:
    """Count the tiles of all photographs; status 1 when the set is not whole, 2 when one cannot be read."""
    known = TileSet.load(Path(arguments.tileset), recognizer.card) if arguments.tileset else None
    stock, bad = Inventory(counts, known), False
    for number, name in enumerate(arguments.pictures, 1):
        try:
            image, hint = _picture(arguments, Path(name), zone)
            reading = recognizer.read(image, hint.region, hint.expect)
        except VisionError as error:
            note(f"quezhuo: {error}")
            bad = True
            continue
        shots = look_at_tiles(recognizer, image, reading, name)
        stock = stock.add(name, reading.tiles, shots)
        seen = sum(stock.counts.values())
        note(
            f"{number}/{len(arguments.pictures)} {name}: {counted(len(reading.tiles), 'tile')}, {seen} so far"
        )
    found = stock.to_json()
    if arguments.json:
        emit(found)
    else:
        for line in inventory_words(found):
            say(line)
    return BAD_INPUT if bad else OK if found["complete"] else NO


def which(arguments: argparse.Namespace, recognizer: Recognizer, zone: TaughtZone | None) -> int:
    """Tell which of two sets each photograph shows; status 1 when unsure, 2 when one cannot be read."""
    files = [Path(name) for name in arguments.which]
    sets = [TileSet.load(file, recognizer.card) for file in files]
    rivals, names = Rivals(sets[0], sets[1]), [tiles.provenance.name for tiles in sets]
    bad = unsure = False
    for name in arguments.pictures:
        try:
            image, hint = _picture(arguments, Path(name), zone)
            reading = recognizer.read(image, hint.region, hint.expect)
        except VisionError as error:
            note(f"quezhuo: {error}")
            bad = True
            continue
        told = rivals.tell(look_at_tiles(recognizer, image, reading, name))
        unsure = unsure or told.index is None
        if arguments.json:
            strangers = [{"place": s.index + 1, "kind": s.kind, "code": s.code} for s in told.strangers]
            answer = None if told.index is None else names[told.index]
            emit({"file": name, "set": answer, "evidence": told.evidence, "strangers": strangers})
        else:
            say(f"{name}: " + " ".join(which_words(told, names)))
    return BAD_INPUT if bad else NO if unsure else OK


def _picture(arguments: argparse.Namespace, path: Path, zone: TaughtZone | None) -> tuple[Image, PhotoHint]:
    """Read a photograph, its zone seen straight on where there is a calibration."""
    image = load_image(path)
    if zone is not None:
        return zone.view(image), PhotoHint()
    hints = parse_regions(Path(arguments.regions)) if arguments.regions else {}
    return image, hints.get(path.name, PhotoHint())
