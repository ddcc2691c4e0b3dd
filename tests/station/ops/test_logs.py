from __future__ import annotations

import json
import logging
import subprocess
import sys
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog

from station.link.keys import KeyPair
from station.ops.logs import LEVELS, redacted, set_up


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    # Servers of other tests may have set uvicorn's loggers up their own way.
    others = [logging.getLogger(name) for name in ("uvicorn", "uvicorn.error")]
    found = [(other, other.level, list(other.handlers), other.propagate) for other in others]
    for other in others:
        other.setLevel(logging.NOTSET)
        other.handlers[:], other.propagate = [], True
    yield
    for other, its_level, its_handlers, propagated in found:
        other.setLevel(its_level)
        other.handlers[:], other.propagate = its_handlers, propagated
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_every_line_says_when_what_and_who(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("table", table="T1")
    structlog.get_logger().warning("port", found="它", fix="Use another.")
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 7)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("old setting", stacklevel=1)
    ours, theirs, warned = lines(capsys)
    assert list(ours) == ["time", "level", "process", "table", "event", "fix", "found"]
    assert (ours["level"], ours["process"], ours["table"], ours["event"]) == (
        "warning",
        "table",
        "T1",
        "port",
    )
    assert ours["found"] == "它"
    assert abs((datetime.now(UTC) - datetime.fromisoformat(ours["time"])).total_seconds()) < 60
    assert theirs["event"] == "Started server process [7]"
    assert (warned["level"], "old setting" in warned["event"]) == ("warning", True)
    assert {line["process"] for line in (theirs, warned)} == {"table"}


def test_the_central_station_has_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("central")
    structlog.get_logger().info("tables online", tables=["T1"])
    (line,) = lines(capsys)
    assert "table" not in line
    assert line["tables"] == ["T1"]


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_less_than_the_level_is_left_out(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    set_up("table", level=level)
    for name in LEVELS:
        getattr(structlog.get_logger(), name)("ours")
        getattr(logging.getLogger("library"), name)("theirs")
    written = [line["level"] for line in lines(capsys)]
    assert written == [name for name in LEVELS[LEVELS.index(level) :] for _ in range(2)]


def test_setting_up_again_does_not_write_twice(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("table")
    set_up("central")
    logging.getLogger("x").warning("once")
    (line,) = lines(capsys)
    assert line["process"] == "central"


def test_a_traceback_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("table")
    try:
        raise ValueError('secret = "abc"')
    except ValueError:
        structlog.get_logger().exception("failed", exc_info=True)
    (line,) = lines(capsys)
    assert "ValueError" in line["exception"]
    assert "abc" not in line["exception"]


def test_a_person_at_a_terminal_reads_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("table", table="T1", terminal=True)
    structlog.get_logger().warning("camera", refused=("focus",))
    (line,) = capsys.readouterr().err.splitlines()
    assert "camera" in line
    assert "refused" in line
    assert not line.startswith("{")


def test_secrets_are_hidden_wherever_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("table")
    secret = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
    structlog.get_logger().info(
        "enrolled",
        secret=secret,
        secret_key=secret,
        pin="4711",
        session_token=secret,
        deep={"signing": secret, "list": [{"password": secret}]},
        text=f'secret = "{secret}" and more',
        pair=str(KeyPair("public", secret)),
        key="public-key",
        tokens=0,
        opinion="kept",
    )
    (line,) = lines(capsys)
    told = json.dumps(line)
    assert secret not in told
    assert "4711" not in told
    assert line["key"] == "public-key"
    assert line["opinion"] == "kept"
    assert line["text"].endswith("and more")


def test_nothing_else_is_changed() -> None:
    entry = {"event": "tables online", "tables": ["T1"], "n": 3, "none": None, "deep": {"a": 1}}
    assert redacted(None, "info", dict(entry)) == entry


def test_a_log_that_can_not_be_written_ends_no_process() -> None:
    program = "from station.ops.logs import set_up; set_up('table'); import structlog, sys;"
    program += (
        "structlog.get_logger().info('x'); sys.stderr = None; structlog.get_logger().info('x'); print(1)"
    )
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run([sys.executable, "-c", program], stdout=-1, stderr=full, text=True, check=False)
    assert done.stdout == "1\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_line_of_the_process_log_steers_no_terminal(
    capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    evil = "T\x1b[2J\x9b31m\u202e\u2028\r\x07x"
    set_up("table", terminal=terminal)
    logging.getLogger("other").warning("refused %s\nsecond line", evil)
    written = capsys.readouterr().err
    assert len(written.splitlines()) == 1
    assert all(sign.isprintable() or sign == "\n" for sign in written)
    if not terminal:
        assert json.loads(written)["event"] == f"refused {evil}\nsecond line"
