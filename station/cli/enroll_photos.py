"""Capturing a tile set from photographs: by a plan file, or in the order of the guided plan."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from station.cli.enroll_tell import tell, tell_row
from station.cli.taught import TaughtZone
from vision.enroll.capture import photograph_rows
from vision.enroll.plan import Row, parse_rows
from vision.enroll.session import Enrolment
from vision.errors import TileSetError, VisionError
from vision.pictures import SUFFIXES, load_image
from vision.reading_service import PhotoHint, parse_regions
from vision.recognizer import Recognizer


def from_photos(
    arguments: argparse.Namespace, recognizer: Recognizer, begun: Enrolment, zone: TaughtZone | None
) -> Iterator[Enrolment]:
    """Take rows from the photographs of a folder: by a plan file, else in the order of their names."""
    folder = Path(arguments.photos)
    try:
        files = sorted(f for f in folder.iterdir() if f.suffix.lower() in SUFFIXES)
    except OSError as error:
        raise TileSetError(f"The folder {folder} cannot be read ({error.strerror}): name another.") from error
    if not files:
        raise TileSetError(f"There is no picture in {folder}: put the photographs of the rows there.")
    rows = _rows_of(files, begun, Path(arguments.plan) if arguments.plan else None)
    hints = parse_regions(Path(arguments.regions)) if arguments.regions else {}
    for number, (file, (index, wanted)) in enumerate(rows.items(), 1):
        hint = hints.get(file.name, PhotoHint())
        try:
            photo = load_image(file)
            image = photo if zone is None else zone.view(photo)
            looked = photograph_rows(
                recognizer, image, wanted, file.name, region=hint.region, confirmed=arguments.confirm
            )
        except VisionError as error:
            tell(arguments, {"picture": file.name, "error": str(error)}, [f"{file.name}: {error}"])
            continue
        for row in looked:
            tell_row(arguments, f"{number}/{len(rows)} {file.name}: {row.row.text}", file.name, row)
        shots = [shot for row in looked for shot in row.shots]
        if shots:
            begun = begun.accept(index if all(row.shots for row in looked) else None, shots)
            yield begun


def _rows_of(
    files: Sequence[Path], begun: Enrolment, plan: Path | None
) -> dict[Path, tuple[int | None, tuple[Row, ...]]]:
    """Rows of every photograph, with the index of the row in the plan where the plan is the guided one."""
    if plan is None:
        return {file: (i, (row,)) for i, (file, row) in enumerate(zip(files, begun.plan, strict=False))}
    listed = _plan_file(plan)
    absent = [name for name in listed if name not in {file.name for file in files}]
    if absent:
        raise TileSetError(f"{plan.name} names {absent[0]}, which is not in the folder: correct the plan.")
    return {file: (None, listed[file.name]) for file in files if file.name in listed}


def _plan_file(path: Path) -> Mapping[str, tuple[Row, ...]]:
    """Read a plan: JSON object, file name -> row or list of rows, from top to bottom."""
    example = '{"photo.jpg": ["1m 2m 3m"]}'
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise TileSetError(f"The plan {path} cannot be read ({error.strerror}): check the name.") from error
    except (ValueError, RecursionError) as error:
        raise TileSetError(f"{path.name} is not JSON: write {example}.") from error
    if not isinstance(data, dict):
        raise TileSetError(f"{path.name} must be an object of file names: write {example}.")
    plan: dict[str, tuple[Row, ...]] = {}
    for name, rows in data.items():
        lines = [rows] if isinstance(rows, str) else rows
        if not isinstance(lines, list) or not lines or not all(isinstance(line, str) for line in lines):
            raise TileSetError(f"The rows of {name} are {rows!r}: write {example}.")
        plan[str(name)] = parse_rows(lines)
    return plan
