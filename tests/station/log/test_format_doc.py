"""The program in docs/log.md, which uses nothing of ours, finds what `verify` finds."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from station.log import Log, chain, verify_file
from station.log.chain import ZERO_HEAD

PAGE = Path(__file__).parents[3] / "docs" / "log.md"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    _, _, rest = PAGE.read_text(encoding="utf-8").partition("```python\n")
    path = tmp_path / "outsider.py"
    path.write_text(rest.partition("```")[0], encoding="utf-8")
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    with Log.open(tmp_path / "t.db", signer=bytes(32)) as log:
        log.accept([("T1", e) for e in chain.link(b"A" * 16, ZERO_HEAD, [("手", b"{}")] * 3, 7)], 8)
        log.append([("a", b"\x00\xff")], 9, log.author("T1"), checkpoint="circle")
    return tmp_path / "t.db"


def outside(program: Path, log: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(program), str(log)], capture_output=True, text=True, check=False
    )


def test_the_outsider_comes_to_the_same_head(program: Path, log: Path) -> None:
    done = outside(program, log)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == f"6 entries, store hash {verify_file(log)['head']}"
    assert "signed by" in done.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE entry SET body = x'01' WHERE pos = 2", "position 2: other bytes"),
        ("UPDATE entry SET source = 'T2' WHERE pos = 3", "position 3: other columns"),
        ("DELETE FROM entry WHERE pos = 2", "position 2 is missing"),
    ],
)
def test_the_outsider_finds_the_same_entry(program: Path, log: Path, change: str, said: str) -> None:
    db = sqlite3.connect(log)
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute(change)
    db.commit()
    db.close()
    assert said in outside(program, log).stderr
    assert f"position {verify_file(log)['first_bad']}" in said
