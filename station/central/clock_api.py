"""``POST /api/clock``: the head referee sets the hall's clock, at the station itself."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from station.addresses import is_loopback
from station.central.clock import ClockKeeper
from station.errors import LogError
from station.timing.hall_clock import LONGEST_S, ClockRefused
from station.web import pages

__all__ = ["clock_routes"]

_LONGEST_BODY: Final = 1024
_LONGEST_KEY: Final = 128
_FIELDS: Final = frozenset({"action", "seconds", "minutes", "reason"})


def clock_routes(keeper: ClockKeeper) -> list[BaseRoute]:
    """Give the route that sets the clock."""

    async def act(request: Request) -> Response:
        if not _at_the_station(request):
            return _error(403, "clock.not_here", "The clock is set at the station itself.")
        try:
            body = await pages.json_object(request, _LONGEST_BODY)
            action, seconds, reason = _asked(body)
            key = _key(request)
        except ValueError as error:
            return _error(422, "bad_request", str(error))
        except ClientDisconnect:
            return _error(400, "gone", "The request was not sent to its end.")
        try:
            await keeper.act(action, seconds, reason, key)
        except ClockRefused as refused:
            return _error(422, refused.code, refused.message)
        except LogError as error:
            return _error(503, error.code, error.message, error.fix)
        return JSONResponse({"ok": True})

    return [Route("/api/clock", act, methods=["POST"])]


def _at_the_station(request: Request) -> bool:
    """Whether the request comes from this machine; that it is ours `station.guarding` sees to."""
    return request.client is not None and is_loopback(request.client.host)


def _asked(body: dict[str, Any]) -> tuple[str, int | None, str]:
    unknown = sorted(body.keys() - _FIELDS)
    if unknown:
        raise ValueError(f"there is no {unknown[0]!r}")
    action, seconds, reason = body.get("action"), body.get("seconds"), body.get("reason", "")
    if not isinstance(action, str) or not isinstance(reason, str):
        raise ValueError("action and reason are texts")
    if "minutes" in body:
        if seconds is not None:
            raise ValueError("either seconds or minutes")
        return action, 60 * _whole(body["minutes"]), reason
    return action, None if seconds is None else _whole(seconds), reason


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > LONGEST_S:
        raise ValueError("seconds and minutes are whole numbers")
    return value


def _key(request: Request) -> str:
    key = request.headers.get("idempotency-key", "")
    if len(key) > _LONGEST_KEY:
        raise ValueError(f"Idempotency-Key has to have at most {_LONGEST_KEY} characters")
    return key


def _error(status: int, code: str, message: str, fix: str = "") -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "fix": fix}}, status_code=status)
