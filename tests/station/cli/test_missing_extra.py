"""A rule set whose library is not installed: one plain line that names the extra, status 3."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from station.cli.main import main
from tests.engine.extras import needs

VECTORS = Path(__file__).parents[2] / "golden" / "mcr.json"
LINE = "123456789m12p55s +3p how=discard seat=0 from=2"


def quezhuo(*arguments, hidden="MahjongGB"):
    """Run the command line in a Python that does not find a library."""
    program = (
        f"import sys; sys.modules[{hidden!r}] = None\n"
        "from station.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("asked", [(LINE,), ("--vectors", str(VECTORS))])
def test_a_missing_extra_is_one_line_that_names_it_and_the_fix(asked):
    done = quezhuo("check", "--ruleset", "mcr", *asked)
    assert (done.returncode, done.stdout) == (3, "")
    [line] = done.stderr.splitlines()
    assert "extra mcr" in line
    assert "pip install 'PyMahjongGB>=1.4,<2'" in line


def test_it_is_an_error_object_for_scripts():
    done = quezhuo("check", "--ruleset", "mcr", LINE, "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"]["code"] == "engine.missing_extra"


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules",),
        ("rules", "mcr"),
        ("notation", "--ruleset", "mcr", LINE),
        ("--version",),
        ("check", "--help"),
    ],
)
def test_what_needs_no_counting_works_without_it(arguments):
    assert quezhuo(*arguments).returncode == 0


@needs("mcr")
def test_with_the_library_the_worked_examples_agree(capsys):
    assert main(["check", "--ruleset", "mcr", "--vectors", str(VECTORS)]) == 0
    assert ", 0 wrong" in capsys.readouterr().out


def test_a_table_and_the_demo_refuse_before_anything_starts(tmp_path):
    config = tmp_path / "table.toml"
    config.write_text('table = "T1"\nhome = "T1"\nruleset = "mcr"\ndriver = "none"\ncamera = "none"\n')
    for arguments in (("table", "--config", str(config)), ("demo", "--ruleset", "mcr", "--headless")):
        done = quezhuo("--home", str(tmp_path / "home"), *arguments)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.count("extra mcr") == 1
        assert "Traceback" not in done.stderr
