"""A process says when it was told to end, and when it has."""

from __future__ import annotations

import asyncio
import os
import signal

from structlog.testing import capture_logs

from station.stopping import Stop


def test_the_signal_and_how_long_the_end_took_stand_in_the_log() -> None:
    times = iter((10.0, 10.25))
    stop = Stop(lambda: next(times))

    async def main() -> None:
        stop.listen()
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(stop.wait(), 5)

    with capture_logs() as lines:
        asyncio.run(main())
        stop.ended()
    assert lines == [
        {"event": "stopping", "log_level": "info", "signal": "SIGTERM"},
        {"event": "stopped", "log_level": "info", "took_s": 0.25},
    ]


def test_nothing_is_told_of_a_process_that_nobody_ended() -> None:
    with capture_logs() as lines:
        Stop().ended()
    assert lines == []
