"""What every decision shares: refusals, and reading the small values of a request."""

from __future__ import annotations

from typing import Any

from station.errors import StationError
from station.places import Place
from station.session import Session

LONGEST_REASON = 500
"""Characters of a reason."""


class Refused(StationError):
    """The request can't be done now."""

    exit_status = 2


def need(condition: bool, code: str, message: str, fix: str = "") -> None:
    """Refuse unless the condition holds.

    Raises:
        Refused: it does not.
    """
    if not condition:
        raise Refused(message, code=code, fix=fix)


def is_whole(value: Any) -> bool:
    """Whether a JSON value is a whole number (``true`` is none)."""
    return isinstance(value, int) and not isinstance(value, bool)


def reason_of(body: dict[str, Any]) -> str | None:
    """Return the body's reason; None if it has none."""
    reason = body.get("reason")
    ok = reason is None or (isinstance(reason, str) and len(reason) <= LONGEST_REASON)
    need(ok, "bad_reason", "A reason is a short text.", f"Use at most {LONGEST_REASON} characters.")
    return reason or None


def place_of_request(session: Session, value: Any) -> Place:
    """Return the place that a request names.

    Raises:
        Refused: there is none.
    """
    ok = is_whole(value) and 0 <= value < len(session.places)
    need(ok, "bad_place", f"There is no place {value!r}.", f"Use 0 to {len(session.places) - 1}.")
    return Place(value)
