"""`calibrate`: the sheet of cards, teaching a table its zones, and whether the camera was moved since."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from station.cli.failures import plain_failures
from station.cli.output import NO, OK, counted, emit, note, say
from station.errors import ConfigError
from vision.calibration.drift import DriftWatch
from vision.calibration.edge import checkerboard_corners, jpeg, lens_of_checkerboards, preview
from vision.calibration.layout import CLOTH
from vision.calibration.service import Lesson, teach
from vision.calibration.sheet import marker_sheet
from vision.calibration.solve import Height
from vision.calibration.teach import View
from vision.camera import open_camera
from vision.errors import CalibrationError, ImageError
from vision.geometry import Calibration
from vision.lens import Lens
from vision.pictures import SUFFIXES, load_image
from vision.planes import Matrix
from vision.readings import Image
from vision.table import TILE_WIDTH

EXAMPLES = """\
examples:
  quezhuo calibrate --cards-pdf cards.pdf
  quezhuo calibrate --camera 0 --out calibration.json --preview zones.jpg
  quezhuo calibrate --photo table.jpg --taps 310,1010 1290,1012 1120,190 480,188 --out calibration.json
  quezhuo calibrate --camera 0 --checkerboard boards --squares 9x6 --out calibration.json
  quezhuo calibrate --camera 0 --check calibration.json
"""
LEAST_BOARDS = 6
"""Checkerboard pictures from which a lens can be told; a dozen is better."""
COARSE = 0.6
"""Pixels a millimetre below which tiles are hardly read: they are then less than 18 pixels wide."""
BOARD_LIMIT = 1.5
"""Pixels of a picture 1600 wide by which the corners of the boards may miss (RMS)."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = f"{parser.epilog}\n\n{EXAMPLES}"
    parser.add_argument(
        "--cards-pdf", metavar="FILE", help="write the sheet of cards to print and cut out (A4)"
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--camera", metavar="CAMERA", help="a device number, folder:DIR or render:SCENE.json")
    source.add_argument("--photo", metavar="FILE", help="a photograph taken by that camera")
    parser.add_argument(
        "--taps",
        nargs=4,
        metavar="X,Y",
        help="without cards: pixels of the cloth's corners, that at the left hand of the touchscreen's side"
        " first, then its right one, then on around the table",
    )
    parser.add_argument("--out", metavar="FILE", help="calibration file to write")
    parser.add_argument("--preview", metavar="FILE", help="write the frame with the zones drawn (JPEG)")
    parser.add_argument(
        "--check", metavar="FILE", help="tell whether the camera was moved since that calibration"
    )
    parser.add_argument(
        "--cloth", type=float, default=CLOTH, metavar="MM", help="side of the cloth (default: %(default)g)"
    )
    parser.add_argument(
        "--height",
        type=float,
        metavar="MM",
        help="of the lens above the cloth; helps where it looks straight down",
    )
    lens = parser.add_mutually_exclusive_group()
    lens.add_argument("--checkerboard", metavar="FOLDER", help="pictures of a checkerboard, for the lens")
    lens.add_argument("--lens", metavar="FILE", help="keep the lens of an earlier calibration file")
    parser.add_argument(
        "--squares", default="9x6", metavar="AxB", help="inner corners of the checkerboard (default: 9x6)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the sheet, check, or teach."""
    with plain_failures():
        if arguments.cards_pdf:
            return _sheet(arguments)
        if not arguments.camera and not arguments.photo:
            raise ConfigError(
                "There is nothing to look at.",
                fix="Give --camera or --photo; or --cards-pdf for the printed cards.",
            )
        if arguments.check:
            if arguments.out or arguments.preview or arguments.taps:
                raise ConfigError(
                    "--check only compares.",
                    fix="Leave --out, --preview and --taps out, or leave --check out.",
                )
            return _check(arguments)
        if not arguments.out and not arguments.preview:
            raise ConfigError(
                "It is not said where to write.", fix="Give --out FILE, or --preview FILE to try only."
            )
        return _teach(arguments)


def _sheet(arguments: argparse.Namespace) -> int:
    path = Path(arguments.cards_pdf)
    path.write_bytes(marker_sheet())
    if arguments.json:
        emit({"file": str(path), "pages": 2})
    else:
        say(f"{path}: two A4 pages. Print at 100 %, check the ruler, cut out, lay 0 to 3 into the corners.")
    return OK


def _frame(arguments: argparse.Namespace, calibration: Calibration | None = None) -> Image:
    """The frame to work with."""
    if arguments.photo:
        return load_image(Path(arguments.photo))
    note(f"Looking through camera {arguments.camera} …")
    camera = open_camera(arguments.camera, calibration)
    try:
        return camera.grab().image
    finally:
        camera.close()


def _check(arguments: argparse.Namespace) -> int:
    watch = DriftWatch(Calibration.load(Path(arguments.check)))
    drift = watch.check(_frame(arguments))
    if arguments.json:
        emit({"moved": drift.moved, "pixels": drift.pixels, "sure": drift.sure})
    elif not drift.sure:
        say(
            "The table's border cannot be found: clear the view and switch the light on; else the camera"
            " was moved: teach the table again."
        )
    elif drift.moved:
        say(f"The camera was moved: a zone is off by {drift.pixels:g} pixels. Teach the table again.")
    else:
        say(f"The camera is where it was ({drift.pixels:g} pixels).")
    return NO if drift.moved else OK


def _teach(arguments: argparse.Namespace) -> int:
    taps = None if arguments.taps is None else _taps(arguments.taps)
    frame = _frame(arguments)
    size = frame.shape[1], frame.shape[0]
    lens = _lens(arguments, size)
    height = None if arguments.height is None else Height.measured(_height(arguments.height))
    lesson = teach(
        frame,
        View(size, arguments.cloth, lens, height),
        taps,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("quezhuo"),
    )
    if arguments.preview:  # first: where it fails, the calibration in use is not replaced unseen
        Path(arguments.preview).write_bytes(jpeg(preview(frame, lesson.calibration)))
    if arguments.out:
        lesson.calibration.save(Path(arguments.out))
    _tell(arguments, lesson)
    return OK


def _tell(arguments: argparse.Namespace, lesson: Lesson) -> None:
    calibration, found = lesson.calibration, lesson.found
    assert calibration.taught is not None
    if arguments.json:
        emit(
            {
                "file": arguments.out,
                "how": calibration.taught.how,
                "error_mm": calibration.taught.error_mm,
                "markers": {str(marker): mm for marker, mm in found.errors.items()},
                "height_mm": round(found.height_mm),
                "scale": calibration.scale,
                "drift_alarm": lesson.watched,
            }
        )
        return
    if found.errors:
        say(f"{len(found.errors)} cards, the worst {found.error_mm:.1f} mm off its spot.")
    scales = calibration.scale.values()
    say(
        f"Camera about {found.height_mm / 10:.0f} cm above the cloth,"
        f" {min(scales):.1f} to {max(scales):.1f} pixels a millimetre."
    )
    if min(scales) < COARSE:
        width = TILE_WIDTH * min(scales)
        note(f"Tiles are only {width:.0f} pixels wide: mount the camera nearer, or take larger pictures.")
    if not lesson.watched:
        note("The border of the cloth is hardly in view: nothing will tell when the camera is moved.")
    say(f"{arguments.out}: the zones of all places." if arguments.out else "Nothing saved: give --out FILE.")


def _lens(arguments: argparse.Namespace, size: tuple[int, int]) -> Lens | None:
    if arguments.lens:
        calibration = Calibration.load(Path(arguments.lens)).scaled(*size)
        if calibration.lens is None:
            raise CalibrationError(f"{arguments.lens} holds no lens: measure it with --checkerboard FOLDER.")
        return calibration.lens
    return _measured_lens(arguments, size) if arguments.checkerboard else None


def _measured_lens(arguments: argparse.Namespace, size: tuple[int, int]) -> Lens:
    squares = _squares(arguments.squares)
    files = _board_files(Path(arguments.checkerboard))
    boards = []
    for number, file in enumerate(files, 1):
        try:
            picture = load_image(file)
        except ImageError as error:
            note(f"{number}/{len(files)} {error}")
            continue
        if (picture.shape[1], picture.shape[0]) != size:
            raise CalibrationError(
                f"{file.name} is {picture.shape[1]} x {picture.shape[0]} and the frame {size[0]} x {size[1]}:"
                " take the checkerboard with the same camera setting."
            )
        corners = checkerboard_corners(picture, squares)
        note(f"{number}/{len(files)} {file.name}: {'board found' if corners is not None else 'no board'}")
        boards += [] if corners is None else [corners]
    if len(boards) < LEAST_BOARDS:
        raise CalibrationError(
            f"A board of {arguments.squares} inner corners is seen in {len(boards)} of"
            f" {counted(len(files), 'picture')}: take at least {LEAST_BOARDS}, tilted, in all parts of the"
            " picture, or correct --squares."
        )
    lens, rms = lens_of_checkerboards(boards, squares, size)
    note(f"Lens: the corners of {len(boards)} boards miss by {rms:.2f} pixels.")
    if rms > BOARD_LIMIT * size[0] / 1600:
        raise CalibrationError(
            f"The boards do not fit one lens ({rms:.1f} pixels): use a flat board, hold it still, and take"
            " them again."
        )
    return lens


def _board_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise CalibrationError(f"There is no folder {folder}: name the one with pictures of a checkerboard.")
    files = sorted(f for f in folder.iterdir() if f.suffix.lower() in SUFFIXES)
    if not files:
        raise CalibrationError(f"There is no picture in {folder}: take a dozen of the checkerboard first.")
    return files


def _squares(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,2})x(\d{1,2})", text)
    if not found or min(int(n) for n in found.groups()) < 3:
        raise ConfigError(f"--squares {text} is no board.", fix="Write the inner corners, such as 9x6.")
    return int(found[1]), int(found[2])


def _taps(words: Sequence[str]) -> Matrix:
    try:
        points = [[float(number) for number in word.split(",")] for word in words]
        return np.asarray(points, np.float64).reshape(4, 2)
    except ValueError:
        raise ConfigError(
            f"--taps {' '.join(words)} are no four points.", fix="Write x,y x,y x,y x,y in pixels."
        ) from None


def _height(mm: float) -> float:
    if not 300 <= mm <= 3000:
        raise ConfigError(f"--height {mm:g} is no height.", fix="Give millimetres, such as 750.")
    return mm
