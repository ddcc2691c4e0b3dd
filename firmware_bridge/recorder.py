"""What went over a line, with times: for support, for tests, and to be played again.

A recording is JSONL. The first line tells who recorded; each further line is one entry `{"t": seconds, KIND:
value}`. Bytes are hex. Kinds:

    host, device    bytes of the host, of the device, as the recording side sent or received them
    port            opened, failed, closed (of the host's side)
    poll            the host did something because it was time
    submit          a command was asked for: op, args, rev
    hold, estop     the host was asked for it
    number          a random number the host or the board drew
    faults          an order to the simulated machine
    reset           the board was reset from outside: boot_id, cause

With it the host's core, or the simulated board, can be fed the same again and has to answer the same
(`sim.replay`). `Recorder` is pure; `SessionFile` and `FaultDumps` write files.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

from firmware_bridge.errors import UsageError

FORMAT: Final = 1
RING: Final = 200
"""Pieces of raw bytes that are kept for a dump."""

OTHERS: Final = 4
"""Entries of all kinds for each piece of raw bytes that may be kept: a line that is away has no bytes."""

DUMPS: Final = 20
"""Dumps that are kept in a folder; the oldest make room."""

_DUMP: Final = re.compile(r"frames-([0-9]{6,12})-[a-z0-9_]+\.jsonl")
"""Names of dumps; what else lies in the folder is somebody else's."""

WIRE: Final = frozenset({"host", "device"})

Entry = dict[str, Any]


class Recorder:
    """The newest entries of one side, or of the whole session if `keep` is None.

    `sink` is called with the header, just before the first entry, and with each entry.
    """

    def __init__(
        self,
        header: Mapping[str, Any] | None = None,
        *,
        keep: int | None = RING,
        sink: Callable[[Entry], object] | None = None,
    ) -> None:
        self.header: dict[str, Any] = {"recording": FORMAT, **(header or {})}
        self._keep = keep
        self._sink = sink
        self._entries: deque[Entry] = deque()
        self._wires = 0
        self._begun = False

    def wire(self, sender: str, data: bytes, now: float) -> None:
        """Bytes of `host` or `device`."""
        if data:
            self.note(now, sender, data.hex())

    def note(self, now: float, kind: str, value: Any = True) -> None:
        """Anything else. `value` must fit JSON."""
        entry: Entry = {"t": round(now, 6), kind: value}
        if self._sink is not None:
            if not self._begun:
                self._begun = True
                self._sink(self.header)
            self._sink(entry)
            if self._keep is None:
                return
        self._entries.append(entry)
        self._wires += kind in WIRE
        while self._keep is not None and (
            self._wires > self._keep or len(self._entries) > OTHERS * self._keep
        ):
            self._wires -= not WIRE.isdisjoint(self._entries.popleft())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is kept, oldest first."""
        return tuple(self._entries)

    def text(self) -> str:
        """The recording as JSONL."""
        return "".join(line(entry) for entry in (self.header, *self._entries))


def line(entry: Mapping[str, Any]) -> str:
    """One line of a recording."""
    return json.dumps(entry, separators=(",", ":")) + "\n"


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that was read."""

    header: dict[str, Any]
    entries: tuple[Entry, ...]


def parse(text: str) -> Recording:
    """A recording from its JSONL. A last line that was cut off (power loss) is left out.

    Raises:
        UsageError: it is none.
    """
    lines = text.splitlines(keepends=True)
    whole = [row for row in lines if row.endswith("\n")]
    try:
        parsed = [json.loads(row) for row in whole]
        good = parsed[0]["recording"] == FORMAT and all("t" in row for row in parsed[1:])
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        good = False
    if not good:
        raise UsageError("This is no recording of a machine's line, or one of another version.")
    return Recording(parsed[0], tuple(parsed[1:]))


class SessionFile:
    """Writes a whole session as it happens; each line is with the system before the next byte is sent.

    `on_lost` is called once, with the reason, when the disk refuses a line: the recording ends there.

    Raises:
        OSError: the file can not be made.
    """

    def __init__(self, path: Path, on_lost: Callable[[str], None] | None = None) -> None:
        self._path = path
        self._file: TextIO = path.open("w", encoding="utf-8")
        self._on_lost = on_lost

    def __call__(self, entry: Mapping[str, Any]) -> None:
        """Add a line. A disk that is full ends the recording, never the machine."""
        if self._file.closed:
            return
        try:
            self._file.write(line(entry))
            self._file.flush()
        except OSError as error:
            self.close()  # a line half written, and others after a gap, could not be played again
            if self._on_lost is not None:
                self._on_lost(f"The recording {self._path} ended: {error.strerror or error}.")

    def close(self) -> None:
        """Let the file go."""
        with contextlib.suppress(OSError):
            self._file.close()


class FaultDumps:
    """Writes a recorder's ring into a folder when something went wrong: `frames-0001-jam.jsonl`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, recorder: Recorder, why: str) -> Path | None:
        """Write what is kept; the file, or None if the disk refuses. The oldest dumps make room."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            known = sorted(
                (int(found[1]), path)
                for path in self._folder.iterdir()
                if (found := _DUMP.fullmatch(path.name)) is not None
            )
            for _, old in known[: max(0, len(known) - DUMPS + 1)]:
                old.unlink(missing_ok=True)
            last = known[-1][0] if known else 0
            path = self._folder / f"frames-{last + 1:06}-{why}.jsonl"
            path.write_text(recorder.text(), "utf-8")
        except OSError:
            return None
        return path
