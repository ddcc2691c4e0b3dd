"""A switch of network namespaces: a central station and tables on cables of their own, to be cut either way.

A cable is cut by a wrong entry for the neighbour's hardware address: what is sent goes nowhere, and nobody is
told, as with a dead access point. One wrong entry cuts one way.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.required import go_without

_RUNS = itertools.count()


def _ip(*words: str, netns: str | None = None) -> str:
    inside = [] if netns is None else ["-netns", netns]
    done = subprocess.run(["ip", *inside, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Cable:
    """The cable of one table. Addresses: 10.77.N.1 at the central station, 10.77.N.2 at the table."""

    def __init__(self, run: str, number: int, central: str) -> None:
        self.netns = f"{run}t{number}"
        self._central, self._number = central, number
        self._ends = f"{run}a{number}", f"{run}b{number}"
        _ip("netns", "add", self.netns)
        pair = ["type", "veth", "peer", self._ends[1], "netns", self.netns]
        _ip("link", "add", self._ends[0], "netns", central, *pair)
        for netns, end, last in ((central, self._ends[0], 1), (self.netns, self._ends[1], 2)):
            _ip("addr", "add", f"10.77.{number}.{last}/24", "dev", end, netns=netns)
            _ip("link", "set", end, "up", netns=netns)
            _ip("link", "set", "lo", "up", netns=netns)
        self._hardware = [self._address(central, self._ends[0]), self._address(self.netns, self._ends[1])]
        self.heal()

    @property
    def address(self) -> str:
        """The central station's address on this cable."""
        return f"10.77.{self._number}.1"

    @staticmethod
    def _address(netns: str, device: str) -> str:
        return _ip("-o", "link", "show", device, netns=netns).split("link/ether ")[1].split()[0]

    def cut(self, *, to_central: bool = True, to_table: bool = True) -> None:
        """Let nothing through, both ways or one way."""
        if to_central:
            self._neighbour(self.netns, self._ends[1], 1, "02:00:00:00:de:ad")
        if to_table:
            self._neighbour(self._central, self._ends[0], 2, "02:00:00:00:de:ad")

    def heal(self) -> None:
        """Let everything through."""
        self._neighbour(self.netns, self._ends[1], 1, self._hardware[0])
        self._neighbour(self._central, self._ends[0], 2, self._hardware[1])

    def _neighbour(self, netns: str, device: str, last: int, hardware: str) -> None:
        address = f"10.77.{self._number}.{last}"
        _ip("neigh", "replace", address, "lladdr", hardware, "dev", device, "nud", "permanent", netns=netns)


@contextmanager
def cables(count: int) -> Iterator[tuple[str, list[Cable]]]:
    """Give the central station's namespace and cables to so many tables; the test is left where none can be
    made."""
    run = f"qz{os.getpid() % 100_000}{next(_RUNS)}"
    central = f"{run}c"
    if os.geteuid() != 0:
        go_without("netns", "only root can make network namespaces")
    made: list[str] = []
    try:
        try:
            _ip("netns", "add", central)
            made.append(central)
            laid = []
            for number in range(1, count + 1):
                made.append(f"{run}t{number}")
                laid.append(Cable(run, number, central))
        except OSError as error:
            go_without("netns", f"no network namespaces here: {error}")
        yield central, laid
    finally:
        for netns in made:
            subprocess.run(["ip", "netns", "del", netns], capture_output=True, check=False)
