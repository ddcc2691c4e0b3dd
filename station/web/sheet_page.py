"""The result sheet as an answer: the same page at the table and at the central station."""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from station.log.chain import Entry
from station.sheet import sheet_of
from station.web.pages import language_of, plain_page
from station.web.sheet_view import sheet_values
from station.web.words import Words

__all__ = ["sheet_response"]

_log = structlog.get_logger()


def sheet_response(request: Request, entries: Sequence[Entry], log_file: str) -> Response:
    """Answer a request for the sheet of one table's log; ``log_file``: what is to be verified."""
    words = Words.of(language_of(request))
    try:
        sheet = sheet_of(entries)
        if sheet is None:
            return PlainTextResponse(words.say("No session was opened at this table yet"), status_code=404)
        return plain_page(request, "sheet", sheet_values(sheet, words, log_file))
    except (ValueError, IndexError, KeyError, TypeError) as error:
        # The log of a faulty table must not stop the hall; `quezhuo verify` still reads it.
        _log.warning("result sheet", reason=str(error))
        return PlainTextResponse(words.say("The log of this table cannot be read as a session"), 503)
