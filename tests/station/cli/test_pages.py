"""Every command on a page for referees can be copied and answers what the page says."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from station.cli.main import main
from tests.engine.extras import marks

PAGES = [
    pytest.param(path, id=path.name, marks=marks(path.name.partition(".")[0]))
    for path in sorted((Path(__file__).parents[3] / "docs" / "rules").glob("*.md"))
]
EXAMPLE = re.compile(r"```sh\n(.*?)\n```\n\n```text\n(.*?)\n```", re.DOTALL)
INLINE = re.compile(r"`(quezhuo [a-z]+ .*?)`")


class _Stdin:
    def __init__(self, text: str) -> None:
        self.buffer = io.BytesIO(text.encode())


@pytest.mark.parametrize("path", PAGES)
def test_examples_answer_what_the_page_says(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = EXAMPLE.findall(path.read_text(encoding="utf-8"))
    assert len(examples) > 10
    for command, answer in examples:
        words = shlex.split(command)
        if words[0] == "echo":
            monkeypatch.setattr(sys, "stdin", _Stdin(words[1]))
            words = words[words.index("quezhuo") :]
        assert words[0] == "quezhuo"
        status = main(words[1:])
        assert capsys.readouterr().out.rstrip("\n") == answer
        refused = answer.startswith(("no_win", "inconsistent"))
        assert status == (1 if refused else 0)


@pytest.mark.parametrize("path", PAGES)
def test_other_commands_on_the_page_work(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deals.json").write_text('[{"tricks": 80}]', encoding="utf-8")
    commands = INLINE.findall(path.read_text(encoding="utf-8"))
    assert commands
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
    assert capsys.readouterr().out
