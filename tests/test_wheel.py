"""The wheel: what is in it, and nothing else at its top level."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {"engine", "vision", "firmware_bridge", "station"}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


@pytest.mark.slow
def test_its_top_level_is_exactly_the_four_rooms(names: list[str]) -> None:
    top = {name.split("/", 1)[0] for name in names}
    assert {t for t in top if not t.endswith(".dist-info")} == ROOMS


@pytest.mark.slow
def test_it_carries_the_data_that_runs_need(names: list[str]) -> None:
    wanted = [
        "engine/rules/zhenjiang.toml",
        "vision/models/recognizer.json",
        "vision/models/detector.onnx",
        "vision/models/classifier.onnx",
        "vision/render/atlas.png",
        "firmware_bridge/profiles/136.toml",
        "firmware_bridge/udev/70-quezhuo.rules",
        "station/web/static/tiles.svg",
        "station/web/static/app.js",
        "station/web/templates/referee.html",
        "station/web/templates/wall.html",
        "station/web/locale/zh_Hans/LC_MESSAGES/messages.po",
        "station/web/locale/en/LC_MESSAGES/messages.po",
        *(f"{room}/py.typed" for room in ROOMS),
    ]
    assert [name for name in wanted if name not in names] == []


@pytest.mark.slow
def test_it_carries_no_firmware(names: list[str]) -> None:
    assert [n for n in names if n.startswith("firmware_bridge/firmware/") or n.endswith((".c", ".h"))] == []


@pytest.mark.slow
def test_it_carries_no_photograph(names: list[str]) -> None:
    assert [n for n in names if n.endswith((".jpg", ".jpeg"))] == []
    own_art = {"vision/render/atlas.png", "vision/training/sprite.png"}
    assert {n for n in names if n.endswith(".png")} == own_art


def test_the_project_is_marked_as_private() -> None:
    assert "Private :: Do Not Upload" in (ROOT / "pyproject.toml").read_text()


def test_every_module_imports_in_a_fresh_interpreter() -> None:
    """Finds import cycles; training needs torch and is left out."""
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for room in sorted(ROOMS)
        for path in sorted((ROOT / room).rglob("*.py"))
        if "training" not in path.parts and path.name != "__main__.py" and "dev" not in path.parts
    ]
    code = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n"
    done = subprocess.run(
        [sys.executable, "-c", code, *modules], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
