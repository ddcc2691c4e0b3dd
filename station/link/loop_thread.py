"""A worker thread joined to an asyncio loop: start, wake, stop, and a crash that cannot go unnoticed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from station.errors import LinkError

__all__ = ["LoopThread", "Waker", "resolve"]

Ready = TypeVar("Ready")
Result = TypeVar("Result")


class Waker:
    """A file descriptor that another thread can make readable."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def wake(self) -> None:
        """Make the descriptor readable; does nothing when it is closed."""
        if self.fd >= 0:
            os.eventfd_write(self.fd, 1)

    def clear(self) -> None:
        """Make the descriptor not readable."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.fd)

    def close(self) -> None:
        """Close the descriptor."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)


def resolve(future: asyncio.Future[Result], result: Result | BaseException) -> None:
    """Settle a future with a result or an exception, unless somebody has cancelled it."""
    if future.done():
        return
    if isinstance(result, BaseException):
        future.set_exception(result)
    else:
        future.set_result(result)


class LoopThread(Generic[Ready]):
    """Base of the threads that own sockets and a log.

    All public methods belong to the thread of the asyncio loop; `_work` runs in the worker thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._waker = Waker()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finished: asyncio.Future[None] | None = None

    async def start(self) -> Ready:
        """Start the thread and wait until it is ready.

        Raises:
            StationError: what kept it from getting ready.
        """
        self._loop = asyncio.get_running_loop()
        self._finished = self._loop.create_future()
        ready: asyncio.Future[Ready] = self._loop.create_future()
        self._thread = threading.Thread(target=self._main, args=(ready,), name=self._name, daemon=True)
        self._thread.start()
        return await ready

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    async def finished(self) -> None:
        """Wait until the thread ends; after a crash this raises its exception."""
        if self._finished is not None:
            await asyncio.shield(self._finished)

    async def stop(self, timeout_s: float = 2.0) -> None:
        """Let the thread finish what is queued, and end it.

        Raises:
            LinkError: it did not end in time.
        """
        self._stop.set()
        self._waker.wake()
        if self._finished is not None:
            done, _ = await asyncio.wait([self._finished], timeout=timeout_s)
            if not done:
                raise LinkError(
                    f"The thread {self._name} did not end in {timeout_s:g} s.",
                    fix="Its disk may hang: look at that, then start the process again.",
                )
            self._finished.exception()  # taken note of; `finished` raises it
        self._waker.close()

    def _work(self, ready: Callable[[Ready], None]) -> None:
        """Run until `_stop` is set; call `ready` once. Runs in the worker thread."""
        raise NotImplementedError

    def _ended(self) -> None:
        """Clean up in the loop's thread after the worker has ended."""

    def _post(self, call: Callable[[], object]) -> None:
        """Run `call` in the loop's thread, from the worker thread; dropped when the loop is closed."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(call)

    def _main(self, ready: asyncio.Future[Ready]) -> None:
        error: BaseException | None = None
        try:
            self._work(lambda value: self._post(lambda: resolve(ready, value)))
        except BaseException as caught:
            error = caught
        self._post(lambda: self._finish(ready, error))

    def _finish(self, ready: asyncio.Future[Ready], error: BaseException | None) -> None:
        self._ended()
        if not ready.done():
            early = LinkError(f"The thread {self._name} ended early.", fix="Start the process again.")
            resolve(ready, error or early)
            error = None
        if self._finished is not None:
            resolve(self._finished, error)
