"""Errors of the station room.

    StationError
    ├── ConfigError            bad usage or bad input                      exit 2
    │   └── KeyFileError       a key file or the allow-list
    ├── LogError               the event log cannot be read or written     exit 3
    │   ├── LogFull            no space left where the log lies
    │   ├── LogInUse           another process writes this log
    │   └── NotALog            the file is no log of ours                  exit 2
    ├── LinkError              the link to the central station             exit 3
    │   └── WireError          a message that is not of the protocol
    ├── CentralError           the central station cannot start            exit 3
    └── PairingError           table and station did not come together     exit 1

Every message is one plain sentence; `fix` is the sentence that says what to do. `code` is a stable
identifier for scripts and for translated screens, `exit_status` the status of the command line.
"""

from __future__ import annotations

__all__ = [
    "CentralError",
    "ConfigError",
    "KeyFileError",
    "LinkError",
    "LogError",
    "LogFull",
    "LogInUse",
    "NotALog",
    "PairingError",
    "StationError",
    "WireError",
]


class StationError(Exception):
    """Base of all errors of the station room."""

    code = "station.error"
    exit_status = 3

    def __init__(self, message: str, *, fix: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()


class ConfigError(StationError):
    """A setting or an argument that cannot be used."""

    code = "config.bad"
    exit_status = 2


class KeyFileError(ConfigError):
    """A key file or an allow-list that is missing, damaged or readable by others."""

    code = "keys.bad"


class LogError(StationError):
    """The event log cannot be read or written; nothing of the failed append was stored."""

    code = "log.io"


class LogFull(LogError):
    """No space left where the log lies; appending works again once there is space."""

    code = "log.full"


class LogInUse(LogError):
    """Another process has the log open for writing."""

    code = "log.in_use"


class NotALog(LogError):
    """The file is not a log of this program, or not of the expected kind."""

    code = "log.not_a_log"
    exit_status = 2


class LinkError(StationError):
    """The link between a table and the central station cannot do what was asked."""

    code = "link.error"


class WireError(LinkError):
    """A received message is not one of the protocol."""

    code = "link.bad_message"


class CentralError(StationError):
    """The central station cannot start or go on."""

    code = "central.error"


class PairingError(StationError):
    """Table and central station did not come together; nothing was written on the side that says so."""

    code = "pairing.refused"
    exit_status = 1
