"""Rules of the house that no other tool checks."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.engine.extras import LIBRARIES
from tests.required import go_without

ROOT = Path(__file__).parents[1]


def test_the_readme_begins_with_the_two_commands() -> None:
    commands = re.findall(r"^    (make \w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands[:2] == ["make demo", "make test"]


@pytest.mark.parametrize(("command", "status"), [(".ci/setup demo", 3), ("make demo", 2)])
def test_a_setup_that_may_not_install_says_in_one_line_what_to_do(
    command: str, status: int, tmp_path: Path
) -> None:
    for name, does in (("id", "echo 1000"), ("sudo", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    # A Python that can do nothing: its packages count as missing, and nothing is set up.
    done = subprocess.run(
        command.split(),
        cwd=ROOT,
        env={"PATH": path, "PYTHON": "/bin/false", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (status, "")
    assert lines[0].startswith("Missing Debian packages: python3-venv")
    assert "run the same command again: sudo apt-get update && sudo apt-get install python3-venv" in lines[0]
    assert all(line.startswith("make") for line in lines[1:])


@pytest.mark.parametrize(
    ("names", "outcome"), [("", pytest.skip.Exception), ("root,mcr", pytest.fail.Exception)]
)
def test_what_a_run_must_have_fails_where_it_is_missing(
    names: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUEZHUO_REQUIRE", names)
    with pytest.raises(outcome, match="no disk"):
        go_without("root", "no disk")


def test_what_a_run_must_have_is_asked_in_one_place() -> None:
    required = re.search(r"QUEZHUO_REQUIRE:-([a-z,]+)", (ROOT / ".ci" / "run").read_text())
    assert required is not None
    assert set(required[1].split(",")) == {"avr", "chromium", "gcc", "modbus", "root", *LIBRARIES}
    asks = [path.name for path in (ROOT / "tests").rglob("*.py") if "QUEZHUO_REQUIRE" in path.read_text()]
    assert sorted(asks) == ["extras.py", "required.py", "test_house.py"], "use tests/required.py"


def test_pinned_versions_carry_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.+!]+", line) for line in lines)


def test_every_library_is_pinned_and_the_pinned_one_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[<>=]", line)[0].lower() for line in wanted}
    assert set(project["dependency-groups"]["soak"]) <= set((ROOT / "constraints.txt").read_text().split())
    pinned = (ROOT / "constraints.txt").read_text().lower().replace("_", "-").split()
    pins = dict(line.split("==") for line in pinned)
    assert names <= set(pins)
    for name in names:
        assert version(name) == pins[name], name


def test_tests_do_not_hide_the_real_packages() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


@pytest.mark.parametrize("name", ["LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_what_a_project_has_to_have_is_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 500


def test_links_in_the_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_module_of_the_station_is_in_one_layer() -> None:
    """import-linter says nothing of imports from and to a module that no layer names."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (inside,) = (one for one in contracts if one.get("containers") == ["station"])
    named = [module for layer in inside["layers"] for module in re.split(r" [|:] ", layer)]
    there = {path.stem for path in (ROOT / "station").iterdir() if path.suffix == ".py"} - {"__init__"}
    there |= {path.parent.name for path in (ROOT / "station").glob("*/__init__.py")}
    assert sorted(named) == sorted(there)
    assert inside["exhaustive"] is True
