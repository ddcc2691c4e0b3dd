"""A table that books photos and brings them to the central station, as a lean process of its own.

Each photo is on its disk before the event that names it, as at a table. It says what it has booked, and how
long each event took until the central station had it.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

from station import messages as m
from station.evidence.policy import Rules
from station.evidence.sending import SendTimes
from station.evidence.sockets import EvidenceLink
from station.evidence.table_thread import EvidenceSender
from station.link.connection import LinkStatus
from station.link.keys import load_pair, load_public
from station.link.sockets import LinkSettings
from station.link.table_thread import LinkThread
from tests.station.evidence.test_threads import Photos

TIMES = SendTimes(answer_s=1.0, retry_s=0.2, full_s=0.5, look_s=0.05, bytes_per_s=4e6)
SIZES = (1_000, 200_000)


async def camera(
    say: Callable[..., None],
    stop: asyncio.Event,
    folder: str,
    endpoint: str,
    evidence: str,
    table_id: str,
    write: bool,
    pause_s: float = 0.05,
) -> None:
    """Book events that name photos until SIGTERM; `endpoint`, `evidence`: addresses of the two channels."""
    home = Path(folder)
    log, photos = home / f"{table_id}.log", Photos(home / f"{table_id}-photos")
    station = load_public(home / "keys" / "central.pub")
    keys = load_pair(home / "keys" / f"{table_id}.key")
    changed = asyncio.Event()

    def told(status: LinkStatus) -> None:
        changed.set()
        if status.unsent == 0 and status.code == "central.up":
            say(drained=True)

    link = LinkThread(log, LinkSettings(table_id, endpoint, station, keys), on_status=told)
    await link.start()
    sender = EvidenceSender(
        log,
        home / f"{table_id}-evidence.db",
        photos,
        photos.read,
        EvidenceLink(station, keys, evidence),
        Rules(reserve=0),
        on_due=lambda _: None,
        times=TIMES,
    )
    await sender.start()
    say(ready=True)
    rng = random.Random()
    while write and not stop.is_set():
        name = photos.put(os.urandom(rng.randrange(*SIZES)))
        event = m.HandRead(hand=1, claim=1, photo=name, size=(9, 9), tiles=[], why=[])
        began = time.monotonic()
        (entry,) = await link.append([m.encode(event)], int(1000 * time.time()))
        say(seq=entry.seq, photo=name)
        while link.status.acked < entry.seq and not stop.is_set():
            changed.clear()
            await changed.wait()
        say(ms=1000 * (time.monotonic() - began), at=time.monotonic())
        await asyncio.sleep(pause_s)
    await stop.wait()
    await sender.stop()
    await link.stop()
