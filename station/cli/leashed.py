"""A command of `quezhuo` that ends when whoever started it has ended, in whatever way.

Its stdin is a pipe of which nothing ever comes: at its end the starter is gone, killed perhaps, and this
process is told to stop as a service manager would tell it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Final

from station.cli.main import main

PATIENCE_S: Final = 15.0
"""How long stopping in order may take."""


def watch(leash: int) -> None:
    """Wait for the end of a pipe; then stop this process."""
    while os.read(leash, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE_S)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=watch, args=(sys.stdin.fileno(),), name="leash", daemon=True).start()
    sys.exit(main())
