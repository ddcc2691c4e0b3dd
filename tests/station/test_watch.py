from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from station.watch import Broadcast


class _Counting:
    def __init__(self) -> None:
        self.made = 0

    def message(self) -> bytes:
        self.made += 1
        return str(self.made).encode()


def _listen(hub: Broadcast, made: _Counting, key: str):  # type: ignore[no-untyped-def]
    return hub.stream(made.message, b"beat", key=key, beat_s=5.0, pause_s=60.0)


def test_a_hall_full_of_listeners_costs_one_message_a_change() -> None:
    async def listen() -> None:
        hub, made = Broadcast(), _Counting()
        streams = [_listen(hub, made, "wall") for _ in range(50)]
        assert {await anext(stream) for stream in streams} == {b"1"}
        other = _listen(hub, made, "phone")
        assert await anext(other) == b"2"
        hub.changed()
        late = _listen(hub, made, "wall")
        assert await anext(late) == b"3"
        for stream in (*streams, other, late):
            await stream.aclose()

    asyncio.run(listen())


def test_between_two_messages_the_loop_turns_to_something_else() -> None:
    """Every change wakes the pages of all views and languages at once."""

    async def listen() -> None:
        hub, turns, made_in = Broadcast(), 0, []

        async def turning() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        def message() -> bytes:
            made_in.append(turns)
            return b"page"

        def view(key: int) -> AsyncIterator[bytes]:
            return hub.stream(message, b"beat", key=key, beat_s=5.0, pause_s=0.0)

        async def read(stream: AsyncIterator[bytes]) -> None:
            for _ in range(2):
                assert await anext(stream) == b"page"

        other = asyncio.create_task(turning())
        streams = [view(key) for key in range(6)]
        readers = [asyncio.create_task(read(stream)) for stream in streams]
        while len(made_in) < 6:
            await asyncio.sleep(0)
        hub.changed()
        await asyncio.wait_for(asyncio.gather(*readers), 5)
        other.cancel()
        assert len(made_in) == len(set(made_in)) == 12

    asyncio.run(listen())


def test_a_message_that_takes_long_is_made_beside_the_loop_and_rests_before_the_next() -> None:
    async def listen() -> None:
        hub, clock = Broadcast(), asyncio.get_running_loop()
        began: list[float] = []

        async def message() -> bytes:
            began.append(clock.time())
            if len(began) == 1:
                hub.changed()  # it does not hold what happens while it is made
            await asyncio.sleep(0.02)
            return b"page %d" % len(began)

        stream = hub.stream(message, b"beat", key="wall", beat_s=5.0, pause_s=0.0)
        assert [await anext(stream), await anext(stream)] == [b"page 1", b"page 2"]
        assert began[1] - began[0] >= 0.02 * (1 + 5)
        await stream.aclose()

    asyncio.run(listen())
