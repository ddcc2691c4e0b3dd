"""Checkpoints on both sides of the link."""

from __future__ import annotations

import asyncio

from nacl.signing import SigningKey

from station.link.central_thread import CentralThread
from station.link.keys import AllowList
from station.link.status import LinkState
from station.link.table_thread import LinkThread
from station.log import Log

EVENT = ("hand.confirmed", b'{"v":1}')


def test_both_sides_sign_what_they_hold(place) -> None:
    table_seed, central_seed = bytes(range(32)), bytes(32)

    async def main() -> None:
        central = CentralThread(
            place.central_log,
            "tcp://127.0.0.1:0",
            place.central,
            AllowList(place.allow_list),
            on_commit=place._committed,
            signer=central_seed,
        )
        settings = place.settings(await central.start())
        table = LinkThread(place.folder / "T1.log", settings, on_status=place._told, signer=table_seed)
        await table.start()
        entries = await table.append([EVENT], 1, "session.opened")
        assert [entry.kind for entry in entries] == [EVENT[0], "log.checkpoint"]
        await place.until(lambda: (table.status.state, table.status.acked) == (LinkState.UP, 2))
        await table.stop()
        await central.stop()

    asyncio.run(main())
    copied = [EVENT[0], "log.checkpoint"]
    for path, seed, kinds in (
        (place.folder / "T1.log", table_seed, copied),
        (place.central_log, table_seed, [*copied, "log.checkpoint"]),
        (place.central_log, central_seed, [*copied, "log.checkpoint"]),
    ):
        with Log.open(path, read_only=True) as log:
            assert [stored.entry.kind for stored in log.entries()] == kinds
            assert log.verify(key=bytes(SigningKey(seed).verify_key)).ok
