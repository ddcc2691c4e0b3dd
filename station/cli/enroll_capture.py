"""Capturing a tile set: row by row before a camera, from photographs, or anew from a file's own pictures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from station.cli.enroll_photos import from_photos
from station.cli.enroll_tell import tell, tell_row
from station.cli.enroll_words import guard_words, missing_words, row_words
from station.cli.output import NO, OK, counted, emit, note, say
from station.cli.taught import TaughtZone
from vision.camera import Camera, open_camera
from vision.enroll.capture import RowShots, photograph
from vision.enroll.check import RowCheck
from vision.enroll.files import load_capture, save_capture
from vision.enroll.plan import Row
from vision.enroll.renew import renewed
from vision.enroll.session import Enrolment
from vision.enroll.tileset import Provenance, TileSet
from vision.errors import VisionError
from vision.recognizer import Recognizer


def capture(
    arguments: argparse.Namespace, recognizer: Recognizer, kinds: Sequence[str], zone: TaughtZone | None
) -> int:
    """Capture rows until all kinds are there, then write the tile set; status 1 when some are missing."""
    out = Path(arguments.out)
    assert recognizer.card is not None
    begun = Enrolment.begin(kinds, recognizer.card.sha256["classifier"], arguments.shots)
    half = out.with_name(out.name + ".capture")
    if half.exists() and not arguments.fresh:
        begun = begun.resume(load_capture(half))
        rows = counted(len(begun.plan), "row")
        note(f"Going on with {half.name}: {len(begun.capture.done)} of {rows} taken.")
    if arguments.photos:
        steps = from_photos(arguments, recognizer, begun, zone)
    else:
        steps = _from_camera(arguments, recognizer, begun, zone)
    ended = begun
    for ended in steps:
        save_capture(ended.capture, half)
    return _finish(arguments, recognizer, ended, half, out)


def _finish(
    arguments: argparse.Namespace, recognizer: Recognizer, ended: Enrolment, half: Path, out: Path
) -> int:
    missing = ended.missing()
    if missing:
        text = missing_words(missing)
        tell(arguments, {"written": None, **ended.progress()}, [text, "The same command goes on from here."])
        return NO
    sources = tuple(dict.fromkeys(shot.picture for shot in ended.capture.shots))
    tiles = ended.finish(_provenance(arguments, recognizer, out, sources))
    tiles.save(out)
    half.unlink(missing_ok=True)
    once = ended.missing(2)
    lines = [
        f"{out}: {counted(len(tiles.kinds), 'kind')}, {counted(len(tiles.shots), 'shot')}.",
        guard_words(tiles.guard),
    ]
    lines += [f"Captured once only: {' '.join(once)}."] if once else []
    tell(arguments, {"written": str(out), **ended.progress(), "guard": tiles.guard.to_json()}, lines)
    return OK


def _provenance(
    arguments: argparse.Namespace, recognizer: Recognizer, out: Path, sources: tuple[str, ...]
) -> Provenance:
    assert recognizer.card is not None
    return Provenance(
        name=arguments.name or out.stem,
        table=arguments.table,
        when=datetime.now(UTC).astimezone().isoformat(timespec="seconds"),
        version=version("quezhuo"),
        model=recognizer.card.sha256["classifier"],
        temperature=recognizer.temperature,
        sources=sources,
    )


def _from_camera(
    arguments: argparse.Namespace, recognizer: Recognizer, begun: Enrolment, zone: TaughtZone | None
) -> Iterator[Enrolment]:
    """Ask for one row after the other; Enter takes a picture, c confirms, s skips, b goes back, q stops."""
    camera = open_camera(arguments.camera)
    skipped: set[int] = set()
    at = begun.next
    try:
        while at is not None:
            row = begun.plan[at]
            _ask(arguments, begun, row, at)
            answer = sys.stdin.readline()
            word = answer.strip().lower()
            if not answer or word == "q":
                break
            if word == "b":
                at = max(0, at - 1)
                continue
            if word == "s":
                skipped.add(at)
            else:
                taken = _take(arguments, recognizer, camera, zone, row, at, confirmed=word == "c")
                if not taken.shots:
                    continue
                begun = begun.accept(at, taken.shots)
                yield begun
            at = _following(begun, at, skipped)
    finally:
        camera.close()


def _following(begun: Enrolment, at: int, skipped: set[int]) -> int | None:
    """Index of the next row that is neither taken nor skipped: after this one first, then from the top."""
    left = [i for i in range(len(begun.plan)) if i not in begun.capture.done and i not in skipped]
    return next((i for i in left if i > at), left[0] if left else None)


def _ask(arguments: argparse.Namespace, begun: Enrolment, row: Row, at: int) -> None:
    keys = "Enter: photograph. c: it is right. s: skip. b: back. q: stop."
    lines = [row_words(row, at + 1, len(begun.plan)), keys]
    ask = {"row": at + 1, "of": len(begun.plan), "kinds": list(row.kinds), "take": row.take + 1}
    if arguments.json:
        emit({"ask": ask, **begun.progress()})
    else:
        for line in lines:
            say(line)


def _take(
    arguments: argparse.Namespace,
    recognizer: Recognizer,
    camera: Camera,
    zone: TaughtZone | None,
    row: Row,
    at: int,
    *,
    confirmed: bool,
) -> RowShots:
    """Photograph a row and tell what it lacks; no shots where it cannot be taken or the camera fails."""
    name = f"row {at + 1}"
    try:
        frame = camera.grab().image
        image = frame if zone is None else zone.view(frame)
        looked = photograph(recognizer, image, row, name, confirmed=confirmed, zone=zone is not None)
    except VisionError as error:
        tell(arguments, {"picture": name, "error": str(error)}, [str(error)])
        return RowShots(row, RowCheck((), backwards=False, findings=(), good=False), (), ())
    tell_row(arguments, row.text, name, looked)
    return looked


def renew(arguments: argparse.Namespace, recognizer: Recognizer) -> int:
    """Learn a tile set anew from the pictures in its file, after the recognizer was replaced."""
    path = Path(arguments.renew)
    tiles = renewed(TileSet.load(path), recognizer, version("quezhuo"))
    out = Path(arguments.out) if arguments.out else path
    tiles.save(out)
    lines = [f"{out}: learned anew, {counted(len(tiles.shots), 'shot')}.", guard_words(tiles.guard)]
    tell(arguments, {"written": str(out), "guard": tiles.guard.to_json()}, lines)
    return OK
