"""What a board remembers of commands: the newest outcomes, and what survives a reset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from firmware_bridge import messages as m
from firmware_bridge.ops import Op

REMEMBERED: Final = 16
"""Command ids whose outcome is kept; the protocol asks for at least 8."""


@dataclass(slots=True)
class Memory:
    """What survives a reset: one small write per command (EEPROM)."""

    last_id: int = 0
    running: tuple[int, ...] = ()
    config: m.BoardConfig | None = None
    """None: the board's own, which is that of its plant."""


@dataclass(slots=True)
class Record:
    """What became of one command id."""

    result: m.Result
    code: int = 0
    began: float = 0.0
    duration_ms: int = 0
    op: Op | None = None
    values: bytes = b""


class CommandTable:
    """Outcomes of the newest commands of one run of the board.

    Args:
        memory: of the runs before; what this one leaves to the next is written there.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._records: dict[int, Record] = {}
        self.last_seen = self._forgotten = memory.last_id
        self._interrupted = memory.running

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, cmd_id: int) -> Record:
        return self._records[cmd_id]

    def get(self, cmd_id: int) -> Record | None:
        """The record of that id, if it is still kept."""
        return self._records.get(cmd_id)

    def is_old(self, cmd_id: int) -> bool:
        """Whether a command of that id comes too late to be a new one."""
        return cmd_id in self._records or cmd_id <= max(self.last_seen, self._forgotten)

    def remember(self, cmd_id: int, record: Record) -> None:
        """Keep a record; of too many the oldest that has ended is forgotten."""
        self._records[cmd_id] = record
        while len(self._records) > REMEMBERED:
            oldest = next(i for i, r in self._records.items() if r.result is not m.Result.RUNNING)
            del self._records[oldest]
            self._forgotten = max(self._forgotten, oldest)

    def begin(self, cmd_id: int, record: Record) -> None:
        """Keep the record of a command that is carried out now, also beyond a reset."""
        self.remember(cmd_id, record)
        self._memory.last_id = cmd_id
        self.write_running()

    def write_running(self) -> None:
        """Write down which commands a reset would interrupt."""
        running = (cmd_id for cmd_id, r in self._records.items() if r.result is m.Result.RUNNING)
        self._memory.running = tuple(running)

    def asked(self, query: m.Query) -> Record:
        """What is known of a command. A close makes sure that one which never came is not carried out."""
        record = self._records.get(query.cmd_id)
        if record is None:
            record = Record(self._without_record(query.cmd_id))
            if query.close and record.result is m.Result.NEVER_SEEN:
                self.remember(query.cmd_id, record)
        return record

    def _without_record(self, cmd_id: int) -> m.Result:
        if cmd_id in self._interrupted:
            return m.Result.INTERRUPTED
        return m.Result.EXPIRED if cmd_id <= self._forgotten else m.Result.NEVER_SEEN
