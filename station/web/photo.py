"""One evidence photo as an answer: the picture, or a sentence that says why there is none."""

from __future__ import annotations

import hashlib
from pathlib import Path

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from station.web.pages import language_of
from station.web.words import Words

__all__ = ["photo_response"]

_log = structlog.get_logger()
_HASH_BYTES = 16
_LONGEST = 4 * 1024 * 1024
_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}
"""A photo's name is the hash of its bytes: what was loaded once is right for ever."""


def photo_response(request: Request, path: Path | None, why_removed: str | None) -> Response:
    """Answer a request for a photo.

    Args:
        request: says the language. path: where it lies, None: it is not here.
        why_removed: code of the rule by which it went, None: it was not removed.
    """
    data = None if path is None else _read(path)
    if path is not None and data is not None:
        if f"{hashlib.blake2b(data, digest_size=_HASH_BYTES).hexdigest()}.jpg" == path.name:
            return Response(data, media_type="image/jpeg", headers=_HEADERS)
        _log.error("a photo is not what its name says", file=str(path))
        return _told(request, "photo.changed", 409)
    return (
        _told(request, "photo.missing", 404) if why_removed is None else _told(request, "photo.removed", 410)
    )


def _read(path: Path) -> bytes | None:
    """Read a photo; None when it has gone meanwhile. Of one that is longer than any, enough to tell so."""
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST + 1)
    except OSError:
        return None


def _told(request: Request, code: str, status: int) -> Response:
    text = Words.of(language_of(request)).sentence(code)
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return PlainTextResponse(text, status_code=status, headers=headers)
