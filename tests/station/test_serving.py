from __future__ import annotations

import asyncio
import logging

import pytest

from station.errors import ConfigError
from station.serving import _QUIET, HttpServer, PortBusy


async def _nothing(*_: object) -> None:
    return None


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 65536), ("127.0.0.1", -1), ("", 0)])
def test_an_address_that_can_not_be_is_bad_input(host: str, port: int) -> None:
    with pytest.raises(ConfigError) as refused:
        HttpServer.bind(_nothing, host, port)
    assert refused.value.exit_status == 2


def test_an_address_of_another_machine_can_not_be_bound() -> None:
    with pytest.raises(PortBusy):
        HttpServer.bind(_nothing, "192.0.2.1", 0)


def test_streams_cut_by_a_stop_leave_no_traceback_in_the_log() -> None:
    cut = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "Exception in ASGI application", (), None)
    cut.exc_info = (asyncio.CancelledError, asyncio.CancelledError(), None)
    bug = logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, "Exception in ASGI application", (), None)
    bug.exc_info = (ValueError, ValueError("x"), None)
    assert not _QUIET.filter(cut)
    assert _QUIET.filter(bug)
