"""A process is stopped with its pages open, and started again: nobody has to touch a page."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from station import messages as m
from station.demo.layout import Layout, Settings, prepare
from station.log import Log
from tests.pace import Pace
from tests.station.central.conftest import claimed, confirmed, dealt
from tests.system.running import LEASHED, leash

pytestmark = [pytest.mark.browser, pytest.mark.system, pytest.mark.slow]

EXIT_S = 2.0
BACK_S = 5.0


class Process:
    """A process of the station that can be stopped and started again on the same port."""

    def __init__(self, home: Path, stdin: int, *words: str) -> None:
        self._command = [*LEASHED, "--home", str(home), *words]
        self._stdin = stdin
        self.start()

    def start(self) -> None:
        """Start, and wait until it serves."""
        self.running = subprocess.Popen(
            self._command, stdin=self._stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.running.stdout is not None
        self.ready: dict[str, Any] = json.loads(self.running.stdout.readline())

    def stop(self) -> float:
        """Ask it to end; the seconds that took of its own."""
        pace = Pace()
        self.running.send_signal(signal.SIGTERM)
        assert self.running.wait(30) == 0
        took = pace.own_s
        assert self.running.stdout is not None
        self.running.stdout.close()
        return took


def layout_of(home: Path) -> Layout:
    """One table without a machine."""
    settings = Settings(
        tables=1, hands=None, ruleset="zhenjiang", seed=1, mend=False, referee=False, speed=1, model=None
    )
    layout = prepare(home, settings)
    (table,) = layout.tables
    config = re.sub("^serial = .*$", 'driver = "none"', table.config.read_text(), flags=re.MULTILINE)
    table.config.write_text(config)
    return layout


def win_a_hand(table: Process, log: Path) -> None:
    """Let the table open its session, then book a hand behind its back."""
    table.stop()
    with Log.open(log) as opened:
        opened.append([m.encode(body) for body in [*dealt(1), claimed(1), confirmed(1)]], 1_796_000_000_000)
    table.start()


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Process, Process]]:
    home = tmp_path_factory.mktemp("hall")
    layout = layout_of(home)
    with leash() as stdin, ExitStack() as started:
        processes = []
        for words in (("central", layout.central_config), ("table", layout.tables[0].config)):
            process = Process(home, stdin, words[0], "--config", str(words[1]))
            started.callback(process.stop)
            processes.append(process)
        win_a_hand(processes[1], layout.tables[0].log)
        yield processes[0], processes[1]


def shown(page: Any) -> str:
    """What a page shows now, without clocks."""
    return re.sub(r"\d+:\d\d", "–", page.locator("#view").inner_text())


@pytest.mark.parametrize(
    ("which", "views"), [(0, ("wall", "")), (1, ("referee", ""))], ids=["central station", "table"]
)
def test_a_restart_with_pages_open_takes_seconds_and_no_hand(
    hall: tuple[Process, Process], new_page: Any, which: int, views: tuple[str, ...]
) -> None:
    process = hall[which]
    pages = []
    for view in views:
        page = new_page((1280, 720), locale="en")
        page.goto(f"{process.ready['http']}{view}?lang=en")
        page.wait_for_selector("body[data-live]")
        pages.append(page)
    if which == 0:
        expect(pages[0].locator(".won")).to_have_count(1)
    before = [shown(page) for page in pages]
    for page in pages:
        page.evaluate("document.body.dataset.same = 'this very page'")

    took = process.stop()
    for page in pages:
        page.evaluate("delete document.body.dataset.live")
    time.sleep(1.5)  # down for a while, so that the first tries of the pages fail
    process.start()
    began, pace = time.monotonic(), Pace()
    for page in pages:
        page.wait_for_selector("body[data-live]")
    back = pace.own_s

    assert took < EXIT_S
    assert back < BACK_S
    if which == 0:
        expect(pages[0].locator(".won")).to_have_count(1)
    for page, then in zip(pages, before, strict=True):
        assert page.locator("body").get_attribute("data-same") == "this very page"
        expect(page.locator("#banner")).to_be_hidden()
        while shown(page) != then and time.monotonic() < began + 30:  # the link comes up again
            page.wait_for_timeout(100)
        assert shown(page) == then
    new_page.complaints.clear()  # Chromium logs the refused connections
