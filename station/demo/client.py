"""A table's HTTP surface as its screens use it: retries with one key until an answer comes."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx

RETRY_S = 0.1
REQUEST_TIMEOUT_S = 10.0


class Rejected(Exception):
    """The table refused a request for good. ``code`` says why."""

    def __init__(self, action: str, code: str, message: str) -> None:
        super().__init__(f"{action}: {code}: {message}")
        self.code = code


class TableClient:
    """One table. A lost connection is retried with the same idempotency key: a tap counts once."""

    def __init__(self, http: httpx.AsyncClient, base: str) -> None:
        self._http = http
        self._base = base.rstrip("/")

    async def state(self) -> dict[str, Any]:
        """Return the table's state; waits while the table is away."""
        while True:
            try:
                answer = await self._http.get(f"{self._base}/api/state", timeout=REQUEST_TIMEOUT_S)
                answer.raise_for_status()
                state: dict[str, Any] = answer.json()
                return state
            except httpx.HTTPError:
                await asyncio.sleep(RETRY_S)

    async def post(self, action: str, body: dict[str, Any], rev: int | None) -> bool:
        """Post one request. True when it was booked, False when the table had moved on (409).

        Raises:
            Rejected: 422 or another refusal.
        """
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        if rev is not None:
            headers["If-Match"] = str(rev)
        while True:
            try:
                answer = await self._http.post(
                    f"{self._base}/api/{action}", json=body, headers=headers, timeout=REQUEST_TIMEOUT_S
                )
            except httpx.HTTPError:
                await asyncio.sleep(RETRY_S)
                continue
            if answer.status_code == 503:
                await asyncio.sleep(RETRY_S)
                continue
            if answer.status_code == 409:
                return False
            if answer.status_code != 200:
                error = answer.json().get("error", {})
                raise Rejected(action, error.get("code", "unknown"), error.get("message", ""))
            return True
