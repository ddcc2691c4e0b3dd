"""Where data lies: one folder for everything, named by --home, $QUEZHUO_HOME or the platform."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path

from station.errors import ConfigError


def home_of(option: str | None) -> Path:
    """Return the data folder, made if it is missing.

    Raises:
        ConfigError: it can't be made or is no folder.
    """
    named = option or os.environ.get("QUEZHUO_HOME")
    path = Path(named) if named else user_data_path("quezhuo", appauthor=False)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{path} can't be used as home: {error.strerror}.", fix="Name another --home."
        ) from None
    return path.resolve()
