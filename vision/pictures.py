"""Reading picture files: upright, whole, or refused in plain words."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from vision.errors import ImageError
from vision.picture_size import claimed_size, format_of
from vision.readings import Image

__all__ = ["MOST_PIXELS", "SUFFIXES", "decode_image", "load_image", "pictures_in"]

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
"""File name endings of pictures, lower case."""
MOST_PIXELS = 120_000_000
"""Pixels of the largest picture that is decoded: more than any camera's, and 360 MB of memory."""
MOST_BYTES = 500_000_000
"""Size of the largest file that is read."""
_JPEG, _PNG, _RIFF = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF"
_SCAN, _JPEG_END = b"\xda", b"\xff\xd9"


def load_image(path: Path) -> Image:
    """Read a picture file as uint8 ``(H, W, 3)`` BGR, turned upright by its EXIF orientation.

    Raises ImageError when it is missing, unreadable, empty, cut off, no picture or too large a one.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ImageError(f"{path.name} is a file of more than 500 MB: this is no photograph.")
        data = path.read_bytes()
    except FileNotFoundError:
        raise ImageError(f"There is no file {path}: check the name.") from None
    except IsADirectoryError:
        raise ImageError(
            f"{path} is a folder without pictures: name a picture or a folder of them."
        ) from None
    except OSError as error:
        raise ImageError(f"{path} cannot be read ({error.strerror}): check its permissions.") from error
    return decode_image(data, path.name)


def pictures_in(folder: Path) -> list[Path]:
    """Picture files of a folder and of those in it, by name; hidden ones are left out."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def decode_image(data: bytes, name: str) -> Image:
    """Decode the bytes of a picture file; ``name`` is used in errors. Raises ImageError."""
    if not data:
        raise ImageError(f"{name} is empty: take the picture again.")
    if _cut_off(data):
        raise ImageError(f"{name} is cut off (not copied to its end): copy or take it again.")
    if format_of(data) == "heic":
        raise ImageError(f"{name} is HEIC or AVIF: save it as JPEG (phones call this most compatible).")
    width, height = claimed_size(data) or (0, 0)
    if width < 1 or height < 1:
        raise ImageError(f"{name} is not a picture this program can read: use JPEG or PNG.")
    if width * height > MOST_PIXELS:
        raise ImageError(
            f"{name} claims {width} x {height} pixels, more than {MOST_PIXELS // 1_000_000} million:"
            " make it smaller."
        )
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except (cv2.error, MemoryError) as error:
        why = getattr(error, "err", "no memory left")
        raise ImageError(f"{name} cannot be decoded ({why}): take the picture again.") from error
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
