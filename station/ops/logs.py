"""The process's own log: one line an entry on stderr, JSON for a service manager, readable on a terminal.

Whatever speaks in the process comes through here: our own entries (structlog), those of libraries (logging)
and warnings. Every line has `time` (UTC, ISO 8601), `level`, `process`, `table` where there is one, `event`.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from station.plain import lines, one_line

__all__ = ["LEVELS", "redacted", "set_up"]

LEVELS: Final = ("debug", "info", "warning", "error")

_SECRET: Final = re.compile(
    r"(secret|passw|private|signing|seed|token|cookie|authorization|credential)|^pins?$|_pin$", re.IGNORECASE
)
"""Names of fields whose value is nobody's business."""
_IN_TEXT: Final = re.compile(
    r"\b(secret|password|signing|token|cookie|authorization|pin)(\"?\s*[:=]\s*\"?)([^\s\",;]+)", re.IGNORECASE
)
"""The same inside a sentence: ``secret = "…"``."""
_HIDDEN: Final = "[hidden]"
_FIRST: Final = ("time", "level", "process", "table", "event")


class _Stderr(logging.Handler):
    """Writes to whatever stderr is at that moment; a log that cannot be written ends no process."""

    json = True

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        try:
            line = lines(self.format(record)) if self.json else self.format(record)
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # disk full, closed, none at all
            return


def set_up(process: str, *, table: str = "", level: str = "info", terminal: bool | None = None) -> None:
    """Send everything to stderr from now on; called again, it replaces what it did before.

    Args:
        process: name of the process: ``table``, ``central``.
        table: id of the table, empty where there is none.
        level: the least level that is written, one of `LEVELS`.
        terminal: readable lines instead of JSON; None: where stderr is a terminal.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    readable = sys.stderr.isatty() if terminal is None else terminal
    first: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _named(process, table),
        redacted,
    ]
    shown: list[Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if readable:
        shown += [
            _harmless,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback,
                timestamp_key="time",
            )
        ]  # fmt: skip
    else:
        shown += [
            structlog.processors.format_exc_info,
            redacted,
            _ordered,
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ]
    handler = _Stderr()
    handler.json = not readable
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=first, processors=shown))
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old, _Stderr)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(number)
    logging.captureWarnings(False)  # whoever replaced its hook meanwhile is replaced too
    logging.captureWarnings(True)
    structlog.configure(
        processors=[*first, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def redacted(_: WrappedLogger, __: str, entry: EventDict) -> EventDict:
    """Hide what no log should hold: values of fields with a secret's name, also inside texts and objects."""
    for name, value in entry.items():
        entry[name] = _hidden(name, value)
    return entry


def _hidden(name: str, value: Any) -> Any:
    if name.startswith("_") or name == "exc_info":
        return value  # structlog's own
    if _SECRET.search(name) and value not in (None, "", True, False):
        return _HIDDEN
    if isinstance(value, str):
        return _IN_TEXT.sub(rf"\1\2{_HIDDEN}", value)
    if isinstance(value, Mapping):
        return {key: _hidden(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden("", inner) for inner in value]
    return value


def _harmless(_: WrappedLogger, __: str, entry: EventDict) -> EventDict:
    """Let no text from elsewhere steer a terminal; the renderer's own colours come after."""
    return {name: one_line(value) if isinstance(value, str) else value for name, value in entry.items()}


def _named(process: str, table: str) -> Processor:
    def name(_: WrappedLogger, __: str, entry: EventDict) -> EventDict:
        entry.setdefault("process", process)
        if table:
            entry.setdefault("table", table)
        return entry

    return name


def _ordered(_: WrappedLogger, __: str, entry: EventDict) -> MutableMapping[str, Any]:
    return {name: entry[name] for name in (*_FIRST, *sorted(entry.keys() - set(_FIRST))) if name in entry}
