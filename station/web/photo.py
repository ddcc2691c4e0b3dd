"""One evidence photo as an answer: the picture, or a sentence that says why there is none."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from station.web.pages import language_of
from station.web.words import Words

__all__ = ["photo_response"]

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
    if path is not None:
        return FileResponse(path, media_type="image/jpeg", headers=_HEADERS)
    words = Words.of(language_of(request))
    removed = why_removed is not None
    text = words.sentence("photo.removed" if removed else "photo.missing")
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return PlainTextResponse(text, status_code=410 if removed else 404, headers=headers)
