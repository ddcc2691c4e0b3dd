"""A table and a station lose their disks in turn: backup while writing, restore, and both agree again."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from station.link.keys import generate, write_allow_list
from station.log.chain import Entry
from station.log.log import Log
from station.log.verify import verify_file
from tests.system.running import LEASHED, finished, leash

pytestmark = [pytest.mark.system, pytest.mark.slow]


class Process:
    """`quezhuo table` or `quezhuo central`."""

    def __init__(self, what: str, config: Path, stdin: int) -> None:
        with config.with_suffix(".log").open("ab") as errors:
            self.child = subprocess.Popen(
                [*LEASHED, what, "--config", str(config)],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line, config.with_suffix(".log").read_text()
        self.ready: dict[str, Any] = json.loads(line)

    @property
    def http(self) -> str:
        return str(self.ready["http"])

    def kill(self) -> None:
        self.child.kill()
        self.child.communicate()

    def stop(self) -> None:
        self.child.terminate()
        self.child.communicate(timeout=30)
        assert self.child.returncode == 0


class Caller(threading.Thread):
    """Calls the referee at a table over and over; `booked` are log positions after each answer."""

    def __init__(self, http: str) -> None:
        super().__init__()
        self.booked: list[int] = []
        self.enough = threading.Event()
        self._http = http

    def run(self) -> None:
        with httpx.Client(base_url=self._http) as table:
            number = 0
            while not self.enough.is_set():
                try:
                    answer = table.post("api/call", json={"place": number % 4})
                except httpx.HTTPError:
                    return  # the table was killed
                if answer.status_code == 200:
                    self.booked.append(table.get("api/state").json()["log_pos"])
                number += 1


def until(reached: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (got := reached()):
        assert time.monotonic() < end, "nothing came of it"
        time.sleep(0.05)
    return got


def own_entries(log: Path) -> list[Entry]:
    with Log.open(log, read_only=True) as opened:
        assert opened.verify().ok
        return opened.entries_of(opened.log_id)


def copied(central: Path, log_id: bytes) -> list[Entry]:
    with Log.open(central, read_only=True) as opened:
        assert opened.verify().ok
        return opened.entries_of(log_id)


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    keys = generate(tmp_path / "keys", "T1")
    generate(tmp_path / "keys", "central")
    write_allow_list(tmp_path / "tables.toml", {"T1": keys.public})
    (tmp_path / "central.toml").write_text(
        'home = "central"\nallow_list = "tables.toml"\nsecret_key = "keys/central.key"\n'
    )
    return tmp_path


def write_table(hall: Path, link: str) -> Path:
    path = hall / "table.toml"
    path.write_text(
        'home = "T1"\ndriver = "none"\ncamera = "none"\nsecret_key = "keys/T1.key"\n'
        f'[central]\nendpoint = "{link}"\npublic_key = "keys/central.pub"\n'
    )
    return path


def in_step(table: Process, central: Process) -> bool:
    """Whether the station has acknowledged everything, and shows at least what the table does."""
    state = httpx.get(f"{table.http}api/state").json()
    shown = httpx.get(f"{central.http}api/state").json()["tables"]
    up = state["central"] == {"code": "central.up", "unsent": 0}
    return bool(up and shown and shown[0]["events"] >= state["log_pos"])


def alarms(central: Process) -> list[str]:
    shown = httpx.get(f"{central.http}api/state").json()["alarms"]
    return [alarm["code"] for alarm in shown if alarm["code"].startswith("link.fork")]


def quezhuo(hall: Path, *words: str) -> dict[str, Any]:
    done = finished(hall / "unused", *words, "--json", timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def restored(hall: Path, home: str, *words: str) -> dict[str, Any]:
    done = finished(hall / home, "restore", *words, "--json", timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_after_the_loss_of_either_disk_both_agree_and_nothing_acknowledged_is_gone(hall: Path) -> None:
    with leash() as stdin:
        central = Process("central", hall / "central.toml", stdin)
        config = write_table(hall, central.ready["link"])
        table = Process("table", config, stdin)
        caller = Caller(table.http)
        try:
            caller.start()
            until(lambda: len(caller.booked) >= 10)
            backup = quezhuo(hall, "backup", "--config", str(config), str(hall / "b"), "--with-keys")
            at_backup = len(caller.booked)
            until(lambda: len(caller.booked) >= at_backup + 10)
            hall_backup = quezhuo(hall, "backup", "--config", str(hall / "central.toml"), str(hall / "c"))
            until(lambda: len(caller.booked) >= at_backup + 20)
            caller.enough.set()
            caller.join()
            until(lambda: in_step(table, central))
            last = caller.booked[-1]
            table.kill()
            before = own_entries(hall / "T1" / "table.db")
            assert before[-1].seq >= last
            assert 0 < backup["entries"] < last

            # the table's disk is lost
            shutil.rmtree(hall / "T1")
            (hall / "keys" / "T1.key").unlink()
            assert restored(hall, "T1", str(hall / "b"))["entries"] == backup["entries"]
            shutil.copy(hall / "T1" / "restored" / "keys" / "T1.key", hall / "keys" / "T1.key")
            log = str(hall / "central" / "central.db")  # in use: the station runs on
            rebuilt = restored(hall, "T1", "--from-central", log, "--table", "T1")
            assert (rebuilt["before"], rebuilt["entries"]) == (backup["entries"], before[-1].seq + 1)
            assert own_entries(hall / "T1" / "table.db")[:-1] == before
            table = Process("table", config, stdin)
            until(lambda: in_step(table, central))
            assert httpx.post(f"{table.http}api/call", json={"place": 1}).status_code == 200
            until(lambda: in_step(table, central))

            # the station's disk is lost
            link = central.ready["link"]
            central.kill()
            shutil.rmtree(hall / "central")
            assert restored(hall, "central", str(hall / "c"))["head"] == hall_backup["head"]
            text = (hall / "central.toml").read_text()
            (hall / "central.toml").write_text(f'link = "{link}"\n{text}')
            central = Process("central", hall / "central.toml", stdin)
            until(lambda: in_step(table, central))
            table.stop()
            central.stop()
            own = own_entries(hall / "T1" / "table.db")
            assert own[: len(before)] == before
            assert [entry.kind for entry in own[len(before) :]] == ["log.rebuilt", "referee.called"]
            assert copied(hall / "central" / "central.db", own[0].log_id) == own
        finally:
            caller.enough.set()
            table.kill()
            central.kill()


def test_a_table_restored_to_an_older_log_is_let_in_once_it_was_completed(hall: Path) -> None:
    """Without the station's copy a restored log lacks its tail: the station says so instead of mixing two."""
    with leash() as stdin:
        central = Process("central", hall / "central.toml", stdin)
        config = write_table(hall, central.ready["link"])
        table = Process("table", config, stdin)
        try:
            until(lambda: in_step(table, central))
            quezhuo(hall, "backup", "--config", str(config), str(hall / "b"))
            assert httpx.post(f"{table.http}api/call", json={"place": 1}).status_code == 200
            until(lambda: in_step(table, central))
            table.kill()
            shutil.rmtree(hall / "T1")
            restored(hall, "T1", str(hall / "b"))
            table = Process("table", config, stdin)
            until(lambda: httpx.get(f"{table.http}api/state").json()["central"]["code"] == "central.fork")
            until(lambda: alarms(central) == ["link.fork.rollback"])
            table.kill()

            log = str(hall / "central" / "central.db")
            restored(hall, "T1", "--from-central", log, "--table", "T1")
            table = Process("table", config, stdin)
            until(lambda: in_step(table, central))
            until(lambda: alarms(central) == [])
            table.stop()
            central.stop()
            own = own_entries(hall / "T1" / "table.db")
            assert copied(Path(log), own[0].log_id) == own
            for path in (Path(log), hall / "T1" / "table.db"):
                assert verify_file(path)["ok"] is True
        finally:
            table.kill()
            central.kill()
