from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAST_LINES = {
    "check_a_claim.py": "pays per seat: (9, -3, -3, -3)",
    "read_a_rendered_hand.py": "123m7z P:555p A:3333s +7z",
}


def test_every_example_is_run() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(LAST_LINES)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAST_LINES)
def test_an_example_does_what_it_says(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.splitlines()[-1] == LAST_LINES[name]
