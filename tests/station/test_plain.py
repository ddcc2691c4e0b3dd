"""What a name holds cannot write on a terminal what the program never said."""

from pathlib import Path

import pytest

from station.cli import output
from station.cli.main import main
from station.log import Log, chain, checkpoint
from station.log.chain import ZERO_HEAD
from station.plain import lines, one_line

EVIL = "T\x1b[2J\x9b31m\u202e\u2028\r\x07x"


def test_control_characters_and_marks_of_direction_become_numbers() -> None:
    assert one_line("南风\n" + EVIL) == r"南风\u000aT\u001b[2J\u009b31m\u202e\u2028\u000d\u0007x"
    assert lines("a\nb\tc") == "a\nb\\u0009c"


def test_what_is_said_or_noted_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.say(EVIL)
    output.note(EVIL)
    output.report_error("x", EVIL, "", as_json=False)
    said, noted = capsys.readouterr()
    assert not any(sign in said + noted for sign in EVIL[1:] if not sign.isprintable())


def test_a_table_cannot_add_a_line_to_what_verify_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forged = "x\nsigned with the key given: the whole file up to position 99, session.closed"
    entries = chain.link(b"A" * 16, ZERO_HEAD, [(f"a{EVIL}\nb", b"{}")], 1)
    body = checkpoint.body_of(bytes(32), b"A" * 16, entries[0].head, ZERO_HEAD, forged + EVIL)
    entries += chain.link(b"A" * 16, entries[0].head, [("log.checkpoint", body), ("log.checkpoint", b"")], 2)
    with Log.open(tmp_path / "central.db") as log:
        log.accept([(f"T1{EVIL}", entry) for entry in entries], 1)
    assert main(["verify", str(tmp_path / "central.db")]) == 1
    told = capsys.readouterr().out
    assert "\\u001b" in told
    assert not [line for line in told.splitlines() if line.startswith("signed with the key given")]
    assert all(sign.isprintable() or sign == "\n" for sign in told)
