"""The page about security names tests; they have to exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parents[1] / "docs" / "security.md"


def test_every_test_that_the_threat_table_names_is_there() -> None:
    section = PAGE.read_text("utf-8").partition("## Threats and tests")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    for row in rows:
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", row)
        assert named, f"no test: {row}"
        for file, name in named:
            assert f"def {name}(" in (TESTS / file).read_text("utf-8"), f"{file} has no {name}"


@pytest.mark.parametrize(
    "file", ["test_flood.py", "test_impostors.py", "test_memory.py", "test_strangers.py"]
)
def test_every_attack_that_is_tried_stands_in_the_threat_table(file: str) -> None:
    page = PAGE.read_text("utf-8")
    for name in re.findall(
        r"^def (test_\w+)\(", Path(__file__).with_name(file).read_text("utf-8"), re.MULTILINE
    ):
        assert f"{file}::{name}`" in page
