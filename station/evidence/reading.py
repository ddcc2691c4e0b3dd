"""The index catches up with a log file, piece by piece, so that nobody waits long."""

from __future__ import annotations

from pathlib import Path

from station.evidence.index import Index
from station.log import Log

__all__ = ["LogTail"]

_PIECE = 500


class LogTail:
    """A reader of a log file that feeds an index. Belongs to one thread.

    Args:
        path: the log; it exists.
    """

    def __init__(self, path: Path, index: Index) -> None:
        self._log = Log.open(path, read_only=True)
        self._index = index

    def catch_up(self) -> bool:
        """Take in what the log has more, at most one piece; say whether there may be yet more.

        Raises:
            LogError: the log cannot be read. sqlite3.Error: the index cannot be written.
        """
        log_id = self._log.log_id
        stored = self._log.entries(self._index.position(log_id, self._log.store_hash_at), _PIECE)
        lines = [(item.pos, item.source, item.entry, item.hash) for item in stored]
        return bool(lines) and self._index.catch_up(log_id, lines) == _PIECE

    def close(self) -> None:
        """Close the log."""
        self._log.close()
