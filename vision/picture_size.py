"""The size a picture file claims to have, read from its head: before anything is decoded. Pure."""

from __future__ import annotations

__all__ = ["FORMATS", "claimed_size", "format_of"]

FORMATS = {
    "jpeg": (b"\xff\xd8\xff", 0),
    "png": (b"\x89PNG\r\n\x1a\n", 0),
    "webp": (b"WEBP", 8),
    "bmp": (b"BM", 0),
    "tiff-le": (b"II*\x00", 0),
    "tiff-be": (b"MM\x00*", 0),
    "heic": (b"ftyp", 4),
}
"""Formats by the bytes that tell them and where these stand."""
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG segments that begin a frame and hold its size."""
_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""JPEG marks without a length."""


def format_of(data: bytes) -> str | None:
    """Name of the format the first bytes tell, None for none of these."""
    return next((name for name, (mark, at) in FORMATS.items() if data[at : at + len(mark)] == mark), None)


def claimed_size(data: bytes) -> tuple[int, int] | None:
    """``(width, height)`` that the head of a picture file names, None where it names none."""
    match format_of(data):
        case "png":
            return _pair(data, 16, 4, "big")
        case "bmp":
            size = _pair(data, 18, 4, "little", signed=True)
            return None if size is None else (abs(size[0]), abs(size[1]))
        case "jpeg":
            return _jpeg(data)
        case "webp":
            return _webp(data)
        case "tiff-le":
            return _tiff(data, "little")
        case "tiff-be":
            return _tiff(data, "big")
        case _:
            return None


def _number(data: bytes, at: int, length: int, order: str, *, signed: bool = False) -> int | None:
    part = data[at : at + length]
    little = order == "little"
    return int.from_bytes(part, "little" if little else "big", signed=signed) if len(part) == length else None


def _pair(data: bytes, at: int, length: int, order: str, *, signed: bool = False) -> tuple[int, int] | None:
    width = _number(data, at, length, order, signed=signed)
    height = _number(data, at + length, length, order, signed=signed)
    return None if width is None or height is None else (width, height)


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        mark = data[at + 1]
        if mark in _FRAMES:
            size = _pair(data, at + 5, 2, "big")
            return None if size is None else (size[1], size[0])
        if mark == 0xFF:
            at += 1
        elif mark in _BARE:
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        size = _pair(data, 24, 3, "little")
        return None if size is None else (size[0] + 1, size[1] + 1)
    if kind == b"VP8L":
        bits = _number(data, 21, 4, "little")
        return None if bits is None else ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    size = _pair(data, 26, 2, "little")
    return None if size is None else (size[0] & 0x3FFF, size[1] & 0x3FFF)


def _tiff(data: bytes, order: str) -> tuple[int, int] | None:
    """Read tags 256 and 257 of the first directory, short (3) or long (4) numbers."""
    start = _number(data, 4, 4, order)
    entries = None if start is None else _number(data, start, 2, order)
    if start is None or entries is None:
        return None
    found: dict[int, int] = {}
    for at in range(start + 2, start + 2 + 12 * entries, 12):
        tag, kind = _number(data, at, 2, order), _number(data, at + 2, 2, order)
        value = _number(data, at + 8, 2 if kind == 3 else 4, order)
        if tag in (256, 257) and value is not None:
            found[tag] = value
    return (found[256], found[257]) if len(found) == 2 else None
