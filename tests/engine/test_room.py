"""The room as a whole: pure, standard library only, documented by examples that run, quick to start."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import engine

ROOT = Path(engine.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MODULES = sorted(["engine", *(module.name for module in pkgutil.walk_packages([str(ROOT)], "engine."))])
EXTRAS = ("MahjongGB", "mahjong", "numpy")
EXCEPTIONS = {"batch": {"numpy"}}
FORBIDDEN = {
    "asyncio",
    "socket",
    "threading",
    "multiprocessing",
    "subprocess",
    "time",
    "datetime",
    "random",
    "os",
}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_only_the_standard_library_and_nothing_impure(path):
    tops = {name.split(".")[0] for name in imports(path)}
    assert tops <= {*sys.stdlib_module_names, "engine", *EXCEPTIONS.get(path.stem, ())}
    assert not tops & FORBIDDEN


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_nothing_imports_an_adapter_by_name(path):
    named = {name for name in imports(path) if name.startswith("engine.adapters")}
    assert named <= ({"engine.adapters"} if path.parent.name == "adapters" else set())


def test_rule_sets_load_without_the_libraries_that_are_extras():
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({EXTRAS!r}))\n"
        "from engine import rulesets\n"
        "for name in rulesets.ids():\n"
        "    rulesets.load(name)\n"
        "    rulesets.option_specs(name)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT.parent, check=True)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_at_all():
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [
        test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples
    ]
    assert len(examples) >= 15


def test_every_module_can_be_the_first_one_imported():
    program = (
        "import importlib, sys\n"
        f"for name in {MODULES!r}:\n"
        "    for loaded in [m for m in sys.modules if m.split('.')[0] == 'engine']:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT.parent, check=True)
