from __future__ import annotations

import asyncio

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
