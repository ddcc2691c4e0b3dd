"""Reading picture files: upright, whole, or refused in plain words."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from vision.errors import ImageError
from vision.readings import Image

__all__ = ["SUFFIXES", "decode_image", "load_image"]

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
"""File name endings of pictures, lower case."""
_JPEG, _PNG, _RIFF = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF"
_SCAN, _JPEG_END = b"\xda", b"\xff\xd9"


def load_image(path: Path) -> Image:
    """Read a picture file as uint8 ``(H, W, 3)`` BGR, turned upright by its EXIF orientation.

    Raises ImageError when it is missing, unreadable, empty, cut off or no picture.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ImageError(f"There is no file {path}: check the name.") from None
    except IsADirectoryError:
        raise ImageError(f"{path} is a folder: name the pictures in it.") from None
    except OSError as error:
        raise ImageError(f"{path} cannot be read ({error.strerror}): check its permissions.") from error
    return decode_image(data, path.name)


def decode_image(data: bytes, name: str) -> Image:
    """Decode the bytes of a picture file; ``name`` is used in errors. Raises ImageError."""
    if not data:
        raise ImageError(f"{name} is empty: take the picture again.")
    if _cut_off(data):
        raise ImageError(f"{name} is cut off (not copied to its end): copy or take it again.")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error as error:
        raise ImageError(f"{name} cannot be decoded ({error.err}): take the picture again.") from error
    if image is None or image.size == 0:
        raise ImageError(f"{name} is not a picture this program can read: use JPEG or PNG.")
    return np.asarray(image, np.uint8)


def _cut_off(data: bytes) -> bool:
    """Tell whether a JPEG, PNG or WebP ends before its end mark; decoders fill the rest with grey."""
    if data.startswith(_PNG):
        return b"IEND\xaeB`\x82" not in data
    if data.startswith(_RIFF) and data[8:12] == b"WEBP":
        return len(data) < 8 + int.from_bytes(data[4:8], "little")
    return data.startswith(_JPEG) and not _jpeg_complete(data)


def _jpeg_complete(data: bytes) -> bool:
    """Walk the segments to the first scan, beyond embedded thumbnails, and look for the end after it."""
    at = 2
    while at + 4 <= len(data) and data[at : at + 1] == b"\xff":
        if data[at + 1 : at + 2] == b"\xff":
            at += 1
            continue
        if data[at + 1 : at + 2] == _SCAN:
            return _JPEG_END in data[at:]
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return False
