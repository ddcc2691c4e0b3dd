"""Where the real photographs are, if they are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from vision.training.dataset import data_root


@pytest.fixture(scope="session")
def photo_root() -> Path:
    root = data_root()
    if not (root / "rf_table" / "meta.json").exists():
        pytest.skip(f"the real photographs are not in {root}")
    return root
