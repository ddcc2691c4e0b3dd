"""The central station's thread ends in time, whatever it has to do."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
import zmq

from station.errors import LogError
from station.link import said
from station.link.central_jobs import closed
from station.link.keys import generate
from station.link.replicate import CentralEnd
from station.link.replicate.values import MAX_KEYS
from station.link.sockets import new_context, table_socket
from station.link.wire import encode
from station.log import Log, chain
from station.log.chain import ZERO_HEAD

SESSION = b"8 bytes."
SMALL = ("e", b"")


def test_bookings_on_a_slow_disk_are_stored_or_fail_and_the_stop_is_in_time(
    place, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = Log.append

    def slowly(self: Log, *args: Any, **more: Any) -> Any:
        time.sleep(0.02)
        return append(self, *args, **more)

    async def main() -> tuple[float, list[Any]]:
        central = place.central_thread()
        await central.start()
        monkeypatch.setattr(Log, "append", slowly)
        booked = [central.book("e", b"%d" % n) for n in range(200)]  # four seconds of this disk
        began = time.monotonic()
        await central.stop()
        return time.monotonic() - began, await asyncio.gather(*booked, return_exceptions=True)

    took, ends = asyncio.run(main())
    stored = [stored.entry for stored in place.stored()]
    assert stored
    assert ends[: len(stored)] == stored
    assert all(isinstance(end, LogError) for end in ends[len(stored) :])
    assert took < 1.5


def test_bookings_do_not_keep_the_tables_waiting(place, monkeypatch: pytest.MonkeyPatch) -> None:
    append = Log.append

    def slowly(self: Log, *args: Any, **more: Any) -> Any:
        if "central" in self.path.name:
            time.sleep(0.02)
        return append(self, *args, **more)

    async def main() -> None:
        central = place.central_thread()
        table = place.table_thread(place.settings(await central.start()))
        await table.start()
        await table.append([SMALL], 1)
        await place.until(lambda: table.status.acked == 1)
        monkeypatch.setattr(Log, "append", slowly)
        booked = [central.book("e", b"%d" % n) for n in range(60)]  # 1.2 s
        await table.append([SMALL], 2)
        await place.until(lambda: table.status.acked == 2)
        assert not booked[-1].done()
        await asyncio.gather(*booked)
        await table.stop()
        await central.stop()

    asyncio.run(main())


@pytest.mark.slow
def test_a_station_that_is_given_more_than_it_can_take_stops_in_time(place) -> None:
    """Twenty tables with the smallest entries that there are, of which a megabyte has 20,000."""
    names = [f"T{n}" for n in range(1, 21)]
    for name in names[2:]:
        place.keys[name] = generate(place.folder / "keys", name)
    place.enrol(*names)

    async def main() -> float:
        central = place.central_thread()
        endpoint = await central.start()
        context = new_context()
        sockets = []
        for number, name in enumerate(names):
            socket = table_socket(context, place.keys[name], place.central.public)
            socket.connect(endpoint)
            log_id = bytes([number + 1]) * 16
            entries = chain.link(log_id, ZERO_HEAD, [SMALL] * 2560, 1)
            socket.poll(10_000, zmq.POLLOUT)
            socket.send_multipart(encode(said.Hello(SESSION, log_id, entries[-1].head, name)))
            for at in range(0, len(entries), 128):
                socket.send_multipart(encode(said.Event(SESSION, tuple(entries[at : at + 128]))))
            sockets.append(socket)
        await place.until(lambda: place.positions > 0)
        began = time.monotonic()
        await central.stop()
        took = time.monotonic() - began
        context.destroy(linger=0)
        return took

    assert asyncio.run(main()) < 1.0


def test_after_a_crash_nobody_waits_for_an_entry_that_will_not_come(
    place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashes(*_: Any) -> Any:
        raise RuntimeError("a bug")

    async def main() -> list[Any]:
        central = place.central_thread()
        await central.start()
        monkeypatch.setattr(CentralEnd, "command", crashes)
        waiting = [central.command("T1", "k", b"{}"), central.book("e", b"{}"), central.book("e", b"{}")]
        with pytest.raises(RuntimeError, match="a bug"):
            await asyncio.wait_for(central.finished(), 30)
        async with asyncio.timeout(30):
            return await asyncio.gather(*waiting, central.book("e", b"{}"), return_exceptions=True)

    ends = asyncio.run(main())
    assert [(type(error), str(error)) for error in ends] == [(LogError, str(closed()))] * 4


def test_a_value_too_many_is_refused_to_whoever_sets_it(place) -> None:
    async def main() -> None:
        central = place.central_thread()
        await central.start()
        for number in range(MAX_KEYS):
            central.set_value("T1", f"key {number}", b"1")
        with pytest.raises(ValueError, match="more than 32"):
            central.set_value("T1", "one more", b"1")
        central.set_value("T1", "key 0", b"2")
        central.set_value(None, "for all", b"1")
        await central.book("e", b"{}")  # it lives
        await central.stop()

    asyncio.run(main())
