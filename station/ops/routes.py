"""``GET /healthz`` and ``GET /metrics`` of table and central station."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from station.addresses import is_loopback
from station.ops.health import Vitals
from station.ops.metrics import CONTENT_TYPE, Metrics

__all__ = ["operation_routes"]


def operation_routes(health: Vitals, metrics: Metrics, *, public: bool) -> list[BaseRoute]:
    """Give both routes.

    Args:
        health: for ``/healthz``: 200 or 503; with ``?live`` 200 as long as the process answers at all.
        metrics: for ``/metrics``.
        public: whether other computers may read the metrics; else only this one.
    """

    async def healthz(request: Request) -> Response:
        if "live" in request.query_params:
            return JSONResponse({"ok": True})
        report = health.report()
        return JSONResponse(report, status_code=200 if report["ok"] else 503)

    async def numbers(request: Request) -> Response:
        if not public and not (request.client and is_loopback(request.client.host)):
            return PlainTextResponse("Only this computer may read the metrics; see metrics_public.\n", 403)
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    return [Route("/healthz", healthz), Route("/metrics", numbers)]
