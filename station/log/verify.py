"""Verifying a log file of either kind."""

from __future__ import annotations

from pathlib import Path

from station.errors import NotALog
from station.log.central_log import CENTRAL_LOG, CentralLog
from station.log.database import application_id_of
from station.log.table_log import TABLE_LOG, Log

__all__ = ["verify_file"]

_KINDS: dict[int, type[Log] | type[CentralLog]] = {TABLE_LOG: Log, CENTRAL_LOG: CentralLog}


def verify_file(path: Path, expect: bytes | str | None = None) -> dict[str, object]:
    """Verify a log of a table or of the central station, also beside its running writer.

    Returns:
        ``{"ok", "entries", "head", "anchored_to", "first_bad"}``, see `station.log.Verification`.

    Raises:
        NotALog: no log at `path`. ConfigError: `expect` is no hash. LogError: the file cannot be read.
    """
    kind = _KINDS.get(application_id_of(path))
    if kind is None:
        raise NotALog(f"The file {path} is not a log of this program.", fix="Check the path.")
    with kind.open(path, read_only=True) as log:
        verification = log.verify(expect)
    return {name: getattr(verification, name) for name in verification.__struct_fields__}
