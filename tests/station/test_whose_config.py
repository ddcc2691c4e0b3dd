"""The file of another process is told as such, whoever reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from station.central.config import EXAMPLE as CENTRAL
from station.central.config import CentralConfig
from station.central.config import load_config as load_central
from station.cli.main import main
from station.errors import ConfigError
from station.table.config import EXAMPLE as TABLE
from station.table.config import TableConfig
from station.table.config import load_config as load_table
from station.whose_config import OWN_KEYS


def test_the_keys_by_which_they_are_told_apart_are_one_processs_alone() -> None:
    table, central = (set(config.__struct_fields__) for config in (TableConfig, CentralConfig))
    assert OWN_KEYS["table"] <= table - central
    assert OWN_KEYS["central"] <= central - table


@pytest.mark.parametrize(("process", "text"), [("central", TABLE), ("table", CENTRAL)])
def test_the_other_processs_file_is_one_line_that_names_the_right_command(
    process: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.toml"
    path.write_text(text)
    other = {"central": "table", "table": "central"}[process]
    assert main([process, "--config", str(path)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert f"run `quezhuo {other} --config {path}`" in told[0]


@pytest.mark.parametrize("text", ["home = 5", "x = 1", "[", "link = 5\nruleset = 7", ""])
def test_a_file_that_is_nobodys_is_told_by_what_is_wrong_in_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text(text)
    for load, process in ((load_central, "central"), (load_table, "table")):
        with pytest.raises(ConfigError) as caught:
            load(path)
        assert caught.value.code != "config.other_process"
        assert f"quezhuo config {process}" in caught.value.fix
