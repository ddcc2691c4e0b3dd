"""What the clients of all contestants share: one epoll loop over all tables, and the counting."""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable

from benchmarks.link.events import Chain

__all__ = ["Client", "Meter", "percentile"]

SATURATED_AHEAD = 1024
"""Events that every table has ready when the link is to be kept full: when half of them are gone it makes new
ones, and the other half is still more than a window."""


def percentile(ordered: list[float], share: float) -> float:
    """Give a percentile of ordered values; infinity for none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


class Meter:
    """When each event was due, and how long it took until it was acknowledged.

    The time counts from the moment an event was due, not from the one it could be sent: what waits behind a
    slow server is not left out.
    """

    def __init__(self, tables: int) -> None:
        self.acked = [0] * tables
        self.total = 0
        self.latencies: list[float] | None = None
        self._due: list[deque[float]] = [deque() for _ in range(tables)]

    def due(self, table: int, at: float) -> None:
        """Note that an event of a table begins to count."""
        self._due[table].append(at)

    def ack(self, table: int, seq: int, now: float) -> None:
        """Note that everything of a table up to `seq` is durable."""
        new = seq - self.acked[table]
        if new <= 0:
            return
        self.acked[table] = seq
        self.total += new
        waiting = self._due[table]
        for _ in range(min(new, len(waiting))):
            began = waiting.popleft()
            if self.latencies is not None:
                self.latencies.append(now - began)

    def forget(self) -> None:
        """Begin to count anew."""
        for waiting in self._due:
            waiting.clear()

    @property
    def waiting(self) -> int:
        """Events that are due and not acknowledged."""
        return sum(len(waiting) for waiting in self._due)


class Client:
    """A number of tables in one thread. A contestant implements `connect`, `kick`, `pump` and `ready`."""

    def __init__(self, tables: int, address: str) -> None:
        self.address = address
        self.chains = [Chain(table) for table in range(tables)]
        self.meter = Meter(tables)
        self.epoll = select.epoll()
        self.handlers: dict[int, Callable[[int], None]] = {}

    def connect(self) -> None:
        """Begin to connect all tables."""
        raise NotImplementedError

    def kick(self, table: int) -> None:
        """Tell that a table's chain has grown."""
        raise NotImplementedError

    def ready(self) -> int:
        """Give how many tables are connected and may send."""
        raise NotImplementedError

    def pump(self, timeout_s: float) -> None:
        """Take what has come in; wait for it no longer than that."""
        for fd, mask in self.epoll.poll(max(0.0, timeout_s), 256):
            self.handlers[fd](mask)

    def close(self) -> None:
        """Close every connection."""

    # What is measured.

    def connect_all(self, patience_s: float) -> float:
        """Connect every table; give how many seconds that took.

        Raises:
            TimeoutError: some are not connected by then.
        """
        began = time.perf_counter()
        self.connect()
        looked = 0.0
        while True:
            self.pump(0.01)
            now = time.perf_counter()
            if now - looked > 0.02:
                looked = now
                if self.ready() == len(self.chains):
                    return now - began
            if now - began > patience_s:
                raise TimeoutError(f"{self.ready()} of {len(self.chains)} tables connected")

    def pace(self, seconds: float, settle_s: float) -> dict[str, float | int]:
        """Let every table make one event a second; the phases are spread evenly."""
        tables, meter = len(self.chains), self.meter
        meter.forget()
        began = time.perf_counter()
        made, measured_from = 0, began + settle_s
        end = measured_from + seconds
        while (now := time.perf_counter()) < end:
            if meter.latencies is None and now >= measured_from:
                meter.latencies = []
            while (due := began + made / tables) <= now:
                table = made % tables
                self.chains[table].grow(1)
                meter.due(table, due)
                self.kick(table)
                made += 1
            self.pump(min(due, end) - time.perf_counter())
        latencies = sorted(meter.latencies or [])
        meter.latencies = None
        return {
            "events": len(latencies),
            "p50_ms": round(1000 * percentile(latencies, 0.50), 2),
            "p99_ms": round(1000 * percentile(latencies, 0.99), 2),
            "max_ms": round(1000 * percentile(latencies, 1.0), 2),
            "behind": meter.waiting,
        }

    def saturate(self, seconds: float, settle_s: float) -> dict[str, float | int]:
        """Keep every table's window full."""
        self.meter.forget()
        self._fill()
        end = time.perf_counter() + settle_s
        while time.perf_counter() < end:
            self._pump_full()
        began, before = time.perf_counter(), self.meter.total
        while (now := time.perf_counter()) < began + seconds:
            self._pump_full()
        return {"events_per_s": round((self.meter.total - before) / (now - began))}

    def catch_up(self, events: int, patience_s: float) -> float:
        """Let every table, which is not connected yet, bring so many events; give the seconds."""
        for chain in self.chains:
            chain.grow(events)
        began = time.perf_counter()
        self.connect()
        while self.meter.total < events * len(self.chains):
            self.pump(0.05)
            if time.perf_counter() - began > patience_s:
                raise TimeoutError(f"{self.meter.total} events after {patience_s} s")
        return time.perf_counter() - began

    def _fill(self) -> None:
        for table in range(len(self.chains)):
            self.top_up(table)
            self.kick(table)

    def _pump_full(self) -> None:
        self.saturated = True
        self.pump(0.05)

    saturated = False

    def top_up(self, table: int) -> bool:
        """Have enough ready for the next answer; tell whether there is more now."""
        chain = self.chains[table]
        short = self.meter.acked[table] + SATURATED_AHEAD - chain.head.seq
        grows = short > SATURATED_AHEAD // 2
        if grows:
            chain.grow(short)
        return grows
