"""Which process a configuration file is for, and what it names."""

from __future__ import annotations

import tomllib
from pathlib import Path

from station.central.config import CentralConfig
from station.central.config import load_config as load_central
from station.ops.backup import Source
from station.ops.restore import CENTRAL_INDEX, TABLE_INDEX
from station.table.config import TableConfig
from station.table.config import load_config as load_table

__all__ = ["config_of", "source_of"]


def config_of(path: Path) -> TableConfig | CentralConfig:
    """Read a configuration of either process; only that of the central station names an allow-list.

    Raises:
        ConfigError: the file cannot be used.
    """
    try:
        central = "allow_list" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        central = False  # told by the table's reader, in one line
    return load_central(path) if central else load_table(path)


def source_of(path: Path) -> Source:
    """Say what belongs into a backup of the process with this configuration.

    Raises:
        ConfigError: the file cannot be used.
    """
    config = config_of(path)
    if isinstance(config, CentralConfig):
        key = Path(config.secret_key)
        listed = (Path(config.allow_list), key.with_suffix(".pub"))
        return Source("central", "", Path(config.home), "central.db", path, listed, (key,), (CENTRAL_INDEX,))
    named = [config.calibration, *config.tilesets]
    if config.central is not None:
        named.append(config.central.public_key)
        if config.central.standby is not None:
            named.append(config.central.standby.public_key)
    keys = (Path(config.secret_key),) if config.secret_key else ()
    beside = (*(Path(name) for name in named if name), *(key.with_suffix(".pub") for key in keys))
    return Source("table", config.table, Path(config.home), "table.db", path, beside, keys, (TABLE_INDEX,))
