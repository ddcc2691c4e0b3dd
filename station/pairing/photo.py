"""Reading a ticket's QR code from a picture: the one place of the pairing that knows of pictures."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from station.errors import PairingError
from vision.readings import Image

__all__ = ["text_in", "text_in_file"]


def text_in(picture: Image) -> str | None:
    """Return the text of the QR code in a BGR picture; None when there is none to be read.

    OpenCV finds codes in two ways. The older one misses two of a hundred sharp ones with texts like ours, the
    other none; in a photograph it may be the other way round.
    """
    for detector in (cv2.QRCodeDetectorAruco(), cv2.QRCodeDetector()):
        try:
            text, _, _ = detector.detectAndDecode(picture)
        except (cv2.error, UnicodeDecodeError):  # OpenCV gives up on some damaged codes by an exception
            continue
        if text:
            return str(text)
    return None


def text_in_file(path: Path) -> str:
    """Return the text of the QR code in a photograph.

    Raises:
        PairingError: it is no photograph, or no code can be read in it.
    """
    if not path.is_file():
        raise PairingError(f"There is no file {path}.", fix="Check the path.", code="pairing.no_code")
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        raise PairingError(f"{path} is no picture.", fix="Name a JPEG or PNG file.", code="pairing.no_code")
    text = text_in(np.asarray(picture, np.uint8))
    if text is None:
        raise PairingError(
            f"No QR code can be read in {path}.",
            fix="Take it nearer, sharp and straight.",
            code="pairing.no_code",
        )
    return text
