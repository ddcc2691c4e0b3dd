"""Errors of the other rooms, turned into the command line's one plain line and exit status."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from engine.errors import EngineError, MissingExtraError
from firmware_bridge.errors import BridgeError, ProfileError, UsageError
from station.cli.output import BAD_INPUT, REFUSED
from station.errors import StationError
from vision.errors import CameraError, VisionError

FIXES = {
    errno.ENOENT: "Check the name, or make its folder first.",
    errno.ENOTDIR: "Check the name: a part of it is no folder.",
    errno.EISDIR: "Name a file, not a folder.",
    errno.EACCES: "Choose another place, or get the right to use this one.",
    errno.EROFS: "Choose another place: this one cannot be written.",
    errno.ENOSPC: "Make room, then try again.",
}
"""What to do about what a file system refuses."""


class Failure(StationError):
    """An error of another room, as the command line reports it."""

    def __init__(self, message: str, code: str, exit_status: int) -> None:
        # A sentence begins with a capital; a file's name keeps its own.
        begins = message[:1].upper() if message.split(" ", 1)[0].isalpha() else message[:1]
        super().__init__(begins + message[1:], code=code)
        self.exit_status = exit_status


@contextmanager
def plain_failures() -> Iterator[None]:
    """Turn known errors into `Failure`.

    Raises:
        Failure: bad input gives status 2; a device or disk that refuses, or a missing extra, gives 3.
    """
    try:
        yield
    except MissingExtraError as error:
        raise Failure(str(error), "engine.missing_extra", REFUSED) from None
    except EngineError as error:
        raise Failure(str(error), "engine.bad_input", BAD_INPUT) from None
    except CameraError as error:
        raise Failure(str(error), error.code, REFUSED) from None
    except VisionError as error:
        raise Failure(str(error), error.code, BAD_INPUT) from None
    except (UsageError, ProfileError) as error:
        raise Failure(str(error), "bridge.usage", BAD_INPUT) from None
    except BridgeError as error:
        raise Failure(str(error), getattr(error, "code", "bridge"), REFUSED) from None
    except BrokenPipeError:
        raise  # whoever read our output has gone: nothing failed
    except OSError as error:
        raise Failure(os_message(error), "os", REFUSED) from None


def os_message(error: OSError) -> str:
    """Return one plain sentence for what the system refused."""
    named = error.filename2 or error.filename
    where = f"The file {named} can't be used: " if named else ""
    fix = FIXES.get(error.errno or 0)
    return f"{where}{error.strerror or error}." + (f" {fix}" if named and fix else "")
