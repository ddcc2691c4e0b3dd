"""A whole table process with a relay kit behind a pseudo-terminal, and one that only watches."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.firmware_bridge.relay_kit import CONTACT, LIFT, Board, need_modbus
from tests.system.running import LEASHED, leash

pytestmark = [pytest.mark.system, pytest.mark.slow]
KIT = """
driver = "modbus_press"
[modbus_press]
port = "{port}"
inhibit_relay = 2
lid_input = 1
"""


class Served:
    """A board that answers in a thread of its own."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.ends.wait(0.002):
            try:
                self.board._readable()
            except BlockingIOError:
                continue

    def stop(self) -> None:
        self.ends.set()
        self.thread.join()
        self.board.close()


@pytest.fixture
def kit() -> Iterator[Board]:
    need_modbus()
    board = Board()
    board.lid_moves = True
    served = Served(board)
    yield board
    served.stop()


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Callable[[str], httpx.Client]]:
    with leash() as stdin:
        started: list[subprocess.Popen[str]] = []

        def start(text: str) -> httpx.Client:
            config = tmp_path / "table.toml"
            config.write_text('home = "home"\ncamera = "none"\n' + text)
            process = subprocess.Popen(
                [*LEASHED, "table", "--config", str(config)], stdin=stdin, stdout=subprocess.PIPE, text=True
            )
            started.append(process)
            assert process.stdout is not None
            return httpx.Client(base_url=json.loads(process.stdout.readline())["http"])

        yield start
        for process in started:
            process.terminate()
            assert process.wait(30) == 0
            assert process.stdout is not None
            process.stdout.close()


def until(client: httpx.Client, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    end = time.monotonic() + 60
    while not reached(state := client.get("api/state").json()):
        assert time.monotonic() < end, state["machine"]
        time.sleep(0.05)
    return state


def test_a_tap_opens_the_machine_and_its_own_button_is_dead_with_walls_up(
    kit: Board, table: Callable[[str], httpx.Client]
) -> None:
    with table(KIT.format(port=kit.path)) as client:
        until(client, lambda s: s["machine"]["magazine"] == "READY")
        assert client.post("api/start", json={}).status_code == 200
        until(client, lambda s: s["machine"]["lid"] == "OPEN")
        kit.push()
        state = until(client, lambda s: s["phase"] == "dice")
        assert (state["machine"]["hand_no"], state["machine"]["locked"]) == (1, True)
        until(client, lambda _: not kit.relays[CONTACT])
        kit.push()
        assert kit.inputs[1] is False
        assert kit.pulses == [(LIFT, 3)]
        assert "cycles" not in state["machine"]["capabilities"]


def test_a_table_that_only_watches_says_that_its_lock_is_advice(
    table: Callable[[str], httpx.Client],
) -> None:
    with table('driver = "observe"\n') as client:
        assert until(client, lambda s: s["machine"]["link"] == "up")["machine"]["advisory"]
        assert client.post("api/start", json={}).status_code == 200
        for _ in range(2):
            until(client, lambda s: s["phase"] in ("dice", "indicator", "play"))
            client.post("api/dice", json={"dice": [3, 4]})
        client.post("api/indicator", json={"tile": "1p"})
        state = until(client, lambda s: s["phase"] == "play")
        assert "machine.advisory" in [message["code"] for message in state["messages"]]
        page = client.get("referee?lang=en").text
        assert "The lock is only advice here" in page
