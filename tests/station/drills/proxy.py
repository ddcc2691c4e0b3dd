"""A bad network between a table and the central station: late, narrow, stalled, reset, cut off, disturbed."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

_CHUNK = 2048
_LOOK_S = 0.01


class Way:
    """One direction; its attributes are set while bytes flow. Times in seconds, rate in bytes per second."""

    def __init__(self) -> None:
        self.delay_s = 0.0
        self.rate: float | None = None
        self.stalled = False
        self.turn_bits = 0
        """Pieces in which one bit is still to be turned."""
        self.passed = 0


class Proxy:
    """Passes connections on to a port of this computer, from a thread of its own.

    Args:
        target: port to connect to.
        seed: of what is turned.
    """

    def __init__(self, target: int, seed: int = 0) -> None:
        self.to_central, self.to_table = Way(), Way()
        self.port = 0
        self.connections = 0
        self.most: int | None = None
        """Bytes a new connection gives a table before it is reset; 64 are not enough for a greeting."""
        self._target, self._rng = target, random.Random(seed)
        self._open: set[asyncio.StreamWriter] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def reset(self) -> None:
        """Let both ends of every connection know at once that it is gone, in the middle of whatever it is."""
        self._loop.call_soon_threadsafe(self._reset)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        self._reset()
        await asyncio.sleep(0.05)

    def _reset(self) -> None:
        for writer in self._open:
            ended: socket.socket = writer.get_extra_info("socket")
            with suppress(OSError):
                ended.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        self._open.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.to_table.passed = 0
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, far_writer}
        pumps = [
            asyncio.create_task(self._pump(reader, far_writer, self.to_central)),
            asyncio.create_task(self._pump(far_reader, writer, self.to_table)),
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        for one in (writer, far_writer):
            self._open.discard(one)
            one.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(64)
        sending = asyncio.create_task(self._send(under_way, writer, way))
        try:
            while data := await reader.read(_CHUNK):
                await under_way.put((self._loop.time() + way.delay_s, data))
        except OSError:
            pass
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _send(
        self, under_way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter, way: Way
    ) -> None:
        while True:
            due, data = await under_way.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            while way.stalled:
                await asyncio.sleep(_LOOK_S)
            if way.turn_bits:
                way.turn_bits -= 1
                at = self._rng.randrange(len(data))
                data = data[:at] + bytes([data[at] ^ 1 << self._rng.randrange(8)]) + data[at + 1 :]
            if way.rate is not None:
                await asyncio.sleep(len(data) / way.rate)
            way.passed += len(data)
            if self.most is not None and way is self.to_table and way.passed > self.most:
                self._reset()
            writer.write(data)
            await writer.drain()
