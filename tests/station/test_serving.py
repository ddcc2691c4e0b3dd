from __future__ import annotations

import asyncio
import errno
import logging
import resource
import socket

import pytest

from station.errors import ConfigError
from station.serving import _QUIET, MANY_FILES, HttpServer, PortBusy, _told_once, allow_many_files


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


def test_when_files_run_out_one_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    async def fail() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(1000):
            _told_once(loop, {"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})

    asyncio.run(fail())
    said = capsys.readouterr()
    assert (said.out + said.err).count("too many connections") == 1


def test_a_process_may_open_as_many_files_as_the_system_allows() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(128, before[1]), before[1]))
        allow_many_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(before[1], MANY_FILES)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_an_answer_in_two_pieces_does_not_wait_for_the_delayed_acknowledgement() -> None:
    """What is accepted inherits it; without, each answer on a kept connection takes 40 ms."""
    server = HttpServer.bind(_nothing, "127.0.0.1", 0)
    with server._listener as listener:
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
