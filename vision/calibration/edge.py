"""Everything of teaching that needs OpenCV: markers, checkerboards, and pictures of what was taught."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.calibration.laid import Markers
from vision.calibration.layout import MARKERS
from vision.calibration.refusals import TeachError
from vision.lens import Lens
from vision.planes import Matrix
from vision.readings import Image, check_image
from vision.zones import Calibration

__all__ = [
    "Grey",
    "checkerboard_corners",
    "find_markers",
    "jpeg",
    "lens_of_checkerboards",
    "marker_cells",
    "png",
    "preview",
    "read_colours",
    "read_grey",
    "small_colours",
    "small_grey",
]

Grey = NDArray[np.uint8]
DICTIONARY = cv2.aruco.DICT_4X4_50
"""Few and large cells: read from far away, and 50 ids that differ in many of them."""
CELLS = 6
"""Cells on each side of a marker: 4 of the code and a black border."""
JPEG_QUALITY = 88
PNG_EFFORT = 6
"""Of 9: the last three steps save 7 % of a reference picture and take eight times as long."""
INK, HALO = (80, 255, 80), (0, 60, 0)


def _detector() -> cv2.aruco.ArucoDetector:
    settings = cv2.aruco.DetectorParameters()
    settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    settings.cornerRefinementMinAccuracy = 0.01
    settings.cornerRefinementMaxIterations = 100
    settings.minMarkerPerimeterRate = 0.02
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY), settings)


def find_markers(image: Image) -> Markers:
    """Find the printed markers in a frame (uint8 ``(H, W, 3)`` BGR): corners ``(4, 2)`` in pixels by number.

    A marker seen twice (a second sheet) counts as not seen. Raises TeachError for a mirrored picture.
    """
    check_image(image, "frame")
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    found = _markers(grey)
    if len(found) < 2 and len(_markers(cv2.flip(grey, 1))) > 2:
        raise TeachError("calibrate.mirrored")
    return found


def _markers(grey: cv2.typing.MatLike) -> dict[int, Matrix]:
    corners, numbers, _ = _detector().detectMarkers(grey)
    ids = [] if numbers is None else [int(number) for number in np.ravel(numbers)]
    return {
        number: np.asarray(quad, np.float64).reshape(4, 2)
        for number, quad in zip(ids, corners, strict=True)
        if number in MARKERS and ids.count(number) == 1
    }


def marker_cells(marker: int) -> NDArray[np.bool_]:
    """Cells of a marker, ``(6, 6)``, True for black."""
    dictionary = cv2.aruco.getPredefinedDictionary(DICTIONARY)
    return np.asarray(cv2.aruco.generateImageMarker(dictionary, marker, CELLS) < 128, np.bool_)


def checkerboard_corners(image: Image, squares: tuple[int, int]) -> Matrix | None:
    """Inner corners ``(N, 2)`` of a checkerboard in a picture, row by row; None when it is not wholly seen.

    ``squares``: inner corners across and down, as OpenCV counts them (9x6: a board of 10 by 7 squares).
    """
    check_image(image)
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    good, corners = cv2.findChessboardCornersSB(grey, squares, flags=cv2.CALIB_CB_ACCURACY)
    return np.asarray(corners, np.float64).reshape(-1, 2) if good else None


def lens_of_checkerboards(
    corners: Sequence[Matrix], squares: tuple[int, int], size: tuple[int, int]
) -> tuple[Lens, float]:
    """Lens of a camera from checkerboards in pictures of ``size``, and the RMS error in pixels.

    ``corners``: inner corners of each picture's board. The unit of the board does not matter.
    """
    across, down = squares
    grid = np.zeros((across * down, 3), np.float32)
    grid[:, :2] = np.mgrid[0:across, 0:down].T.reshape(-1, 2)
    seen = [np.asarray(board, np.float32).reshape(-1, 1, 2) for board in corners]
    begin = np.asarray([[max(size), 0, size[0] / 2], [0, max(size), size[1] / 2], [0, 0, 1]], np.float64)
    rms, matrix, bend, _, _ = cv2.calibrateCamera(
        [grid] * len(seen), seen, size, begin, np.zeros(5), flags=cv2.CALIB_USE_INTRINSIC_GUESS
    )
    k1, k2, p1, p2, k3 = (float(value) for value in np.ravel(bend)[:5])
    focal = float(matrix[0, 0]), float(matrix[1, 1])
    return Lens(focal, (float(matrix[0, 2]), float(matrix[1, 2])), (k1, k2, p1, p2, k3)), float(rms)


def small_grey(image: Image, width: int) -> Grey:
    """Grey picture of a frame, ``width`` pixels wide, of the same shape."""
    return _shrunk(np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8), width)


def small_colours(image: Image, width: int) -> Image:
    """Picture of a frame (uint8 ``(H, W, 3)`` BGR), ``width`` pixels wide, of the same shape."""
    return _shrunk(image, width)


def _shrunk(picture: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    height = max(1, round(picture.shape[0] * width / picture.shape[1]))
    while picture.shape[1] >= 3 * width:  # halving is far faster than averaging over broken numbers of pixels
        half = (picture.shape[1] // 2, picture.shape[0] // 2)
        small = cv2.resize(picture[: 2 * half[1], : 2 * half[0]], half, interpolation=cv2.INTER_AREA)
        picture = np.asarray(small, np.uint8)
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def png(picture: NDArray[np.uint8]) -> bytes:
    """PNG bytes of a grey picture or one with colours (BGR)."""
    _, data = cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, PNG_EFFORT])
    return bytes(data)


def read_grey(data: bytes) -> Grey | None:
    """Grey picture of PNG bytes; None when they are none."""
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE) if data else None
    return None if picture is None else np.asarray(picture, np.uint8)


def read_colours(data: bytes) -> Image | None:
    """BGR picture of PNG bytes, a grey one in three channels that are alike; None when they are none."""
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    return None if picture is None else np.asarray(picture, np.uint8)


def jpeg(image: Image) -> bytes:
    """JPEG bytes of a picture."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return bytes(data)


def preview(frame: Image, calibration: Calibration) -> Image:
    """Draw the zones into a copy of a frame: outline, name, and a bar along the edge far from the player."""
    fitting = calibration.scaled(frame.shape[1], frame.shape[0])
    image = frame.copy()
    thick = max(2, frame.shape[1] // 640)
    for name, zone in fitting.zones.items():
        corners = np.asarray(zone.quad, np.float64)
        outline = _edges(corners, zone.lens)
        for colour, width in ((HALO, 3 * thick), (INK, thick)):
            cv2.polylines(image, [outline], True, colour, width, cv2.LINE_AA)
        far = outline[: len(outline) // 4 + 1]
        cv2.polylines(image, [far], False, INK, 4 * thick, cv2.LINE_AA)
        text = "i" if name == "indicator" else name
        spot = tuple(int(v) for v in corners.mean(axis=0) + np.asarray([-8.0 * thick, 8.0 * thick]))
        for colour, width in ((HALO, 4 * thick), (INK, 2 * thick)):
            cv2.putText(image, text, spot, cv2.FONT_HERSHEY_SIMPLEX, 0.9 * thick, colour, width, cv2.LINE_AA)
    return image


def _edges(corners: Matrix, lens: Lens | None) -> NDArray[np.int32]:
    """Outline of a quad, 16 points a side, bent as the lens bends it."""
    straight = corners if lens is None else lens.straight(corners)
    steps = np.linspace(0, 1, 16, endpoint=False)[:, None]
    sides = [a + steps * (b - a) for a, b in zip(straight, np.roll(straight, -1, axis=0), strict=True)]
    points = np.concatenate(sides)
    return np.asarray(np.rint(points if lens is None else lens.bent(points)), np.int32)
