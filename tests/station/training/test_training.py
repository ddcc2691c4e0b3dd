"""The training page: words for the whole menu, requests that are refused, and a table that takes over."""

import asyncio
import html
import http.client
import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from firmware_bridge.bridge import Bridge
from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import Fault
from firmware_bridge.ops import Op
from firmware_bridge.sim.faults import parse_faults, tells
from firmware_bridge.sim.menu import MENU, MOTIONS
from firmware_bridge.sim.process import SimOptions, Simulator
from station.training.app import STREAMS, _Surface
from station.training.desk import NOT_OFFERED, Desk, menu_rows
from station.web.catalogue import LANGUAGES
from station.web.pages import render_part
from station.web.sentences import SENTENCES
from station.web.training_view import menu, training
from station.web.training_words import ACTIONS, GROUPS, ITEMS, STEPS
from station.web.training_words import MOTIONS as MOTION_WORDS
from station.web.words import Words

OF_THE_LINE = {"machine.fault.lease_expired", "machine.fault.held", "machine.fault.estopped"}


def test_the_whole_menu_has_words():
    assert set(ITEMS) == set(MENU)
    assert set(MOTION_WORDS) == {*MOTIONS, "now"}
    assert set(GROUPS) == {item.group.name for item in MENU.values()}
    assert set(ACTIONS) >= {op.name for op in Op}


def test_staff_is_told_what_to_do_about_everything_that_can_be_said():
    for item in MENU.values():
        for motion in item.motions or ("",):
            head = item.example.partition("@")[0]
            for code in tells(parse_faults(f"{head}@{motion}" if motion else head)):
                assert code in SENTENCES
                assert code in STEPS, code
    for fault in Fault:
        code = f"machine.fault.{fault.name.lower()}"
        assert code in STEPS or code in OF_THE_LINE  # these come with a hold or a stop, which have steps


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_choice_of_the_page_is_on_the_menu(lang):
    for group in menu(menu_rows(), Words.of(lang)):
        for row in group["rows"]:
            assert row["word"]
            for value, word in row["values"] or [("", "-")]:
                assert word
                for motion, told in row["motions"] or [("", "-")]:
                    assert told
                    item = row["name"] + (f"={value}" if value else "") + (f"@{motion}" if motion else "")
                    parse_faults(item)


@contextmanager
def practising(**options):
    simulator = Simulator(SimOptions(speed=200.0, seed=1, **options))
    try:
        yield Desk(simulator)
    finally:
        simulator.close()


def until(desk, reached, limit=30.0):
    end = time.monotonic() + limit
    while not reached(state := desk.state()):
        assert time.monotonic() < end, state
        desk.simulator.turn()
        time.sleep(0.002)
    return state


def do(desk, op):
    until(desk, lambda state: op in state["may"])
    desk.ask(op)
    return until(desk, lambda state: state["last"] is not None and not state["motions"])


def test_a_jam_is_ordered_met_explained_and_cleared():
    with practising() as desk:
        do(desk, "START")
        desk.order("jam", "1", "build")
        state = desk.state()
        assert state["coming"] == ("machine.fault.jam",)
        assert state["waiting"] == ["jam@build"]
        state = do(desk, "START_BUILD")
        assert state["last"] == {"op": "START_BUILD", "status": "failed", "code": "jam"}
        assert state["faults"] == [{"code": "jam", "place": 1, "count": 0}]
        assert (state["codes"], state["ordered"], state["waiting"]) == (["machine.fault.jam"], "", [])
        shown = training(state, Words.of("en"))
        assert shown["said"] == "A tile is stuck in the machine"
        assert shown["named"] == ["side 2"]
        assert "Take the stuck tile out" in shown["steps"][0]
        do(desk, "CLEAR")
        assert do(desk, "START_BUILD")["stacks"] == [17, 17, 17, 17]


def test_a_hand_can_be_practised_from_the_first_build_to_the_next():
    with practising() as desk:
        for op in (
            "START", "START_BUILD", "RAISE_WALLS", "ROLL_DICE", "DEAL", "FLIP_INDICATOR", "START_BUILD",
            "RELEASE_INTAKE", "OPEN_LID", "CLOSE_LID", "RAISE_WALLS",
        ):  # fmt: skip
            state = do(desk, op)
            assert state["last"]["status"] == "done", op
        assert state["hand_no"] == 2


def test_a_lift_that_hangs_says_the_fault_before_the_choice():
    with practising(fresh="ready") as desk:
        do(desk, "START")
        desk.order("stuck", "", "raise")
        state = do(desk, "RAISE_WALLS")
        assert state["codes"] == ["machine.hold", "machine.fault.lift_timeout"]
        steps = training(state, Words.of("en"))["steps"]
        assert steps[0].startswith("Look under the edge of the lift")
        assert steps[-1].startswith("Choose: finish")
        do(desk, "CLEAR")
        do(desk, "RESUME")


def test_a_pressed_button_is_explained_for_a_while():
    with practising() as desk:
        do(desk, "START")
        desk.order("button", "", "now")
        state = until(desk, lambda state: "intake_opened_early" in state["codes"])
        assert training(state, Words.of("en"))["steps"]


def test_a_board_that_was_reset_asks_what_lies_on_the_table():
    with practising(fresh="ready") as desk:
        do(desk, "START")
        desk.order("brownout", "", "deal")
        desk.ask("DEAL")
        state = until(desk, lambda state: {"START", "ADOPT"} <= set(state["may"]), limit=20)
        assert state["codes"] == ["machine.recover"]
        assert ("Last start", "voltage had dropped") in training(state, Words.of("en"))["facts"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_state_can_be_drawn(lang):
    with practising() as desk:
        words = Words.of(lang)
        for item in MENU.values():
            desk.order("none")
            desk.order(item.name, item.takes.example or "")
            drawn = render_part("training_now", training(desk.state(), words), lang)
            assert words.say(ITEMS[item.name]) in html.unescape(drawn)
        desk.order("none")
        assert desk.state()["waiting"] == []


def test_what_is_not_offered_is_refused():
    with practising() as desk:
        for op in (*(op.name for op in NOT_OFFERED), "DANCE"):
            with pytest.raises(UsageError, match=r"training|No operation"):
                desk.ask(op)


# -- over HTTP ----------------------------------------------------------------------------------------------


class Served:
    def __init__(self, *options):
        command = [sys.executable, "-m", "station.cli.main", "machine-sim", "--page", "0", "--speed", "50"]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        self.ready = json.loads(self.process.stdout.readline())
        self.host = self.ready["http"].removeprefix("http://").rstrip("/")

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {name.title(): value for name, value in headers.items()}
        connection.request(method, path, raw, {"Content-Type": "application/json", **given})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def state(self):
        return json.loads(self.ask("GET", "/api/state")[2])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture(scope="module")
def served():
    served = Served("--seed", "1")
    yield served
    assert served.stop() == 0


@pytest.mark.system
def test_the_page_is_served_with_the_headers_of_all_pages(served):
    status, headers, text = served.ask("GET", "/?lang=zh-Hans")
    assert status == 200
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "模拟机器练习" in text
    assert "<script>" not in text
    assert " style=" not in text
    assert " on" + "click=" not in text


@pytest.mark.system
@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"item": "jam", "value": "2", "motion": "build"}, 200, ""),
        ({"item": "jam", "value": "2", "motion": "moon"}, 422, "none of build"),
        ({"item": "jam"}, 422, "Write jam=PLACE[@MOTION], such as jam=2@build."),
        ({"item": "fire"}, 422, "is no fault"),
        ({"item": 3}, 422, "unexpected content"),
        ({"item": "jam", "more": "x"}, 422, "unexpected content"),
        ([], 422, "a JSON object"),
        (b"{", 422, "not JSON"),
        (b"[" * 900, 422, "not JSON"),
        (b" " * 5000, 422, "too long"),
        ({"item": "none"}, 200, ""),
    ],
)
def test_orders_are_obeyed_or_refused_in_one_line(served, body, status, says):
    answer = served.ask("POST", "/fault", body)
    assert answer[0] == status
    if status != 200:
        message = json.loads(answer[2])["error"]["message"]
        assert says in message
        assert "\n" not in message


@pytest.mark.system
@pytest.mark.parametrize("path", ["/fault", "/do"])
def test_other_sites_can_order_nothing(served, path):
    status, _, text = served.ask("POST", path, {"item": "estop"}, origin="http://evil.example")
    assert (status, json.loads(text)["error"]["code"]) == (403, "cross_origin")
    assert served.ask("GET", path)[0] == 405


@pytest.mark.system
def test_a_name_that_was_bent_to_lead_here_is_refused(served):
    bent = {"host": "evil.example:80", "origin": "http://evil.example:80"}
    assert served.ask("POST", "/fault", {"item": "estop"}, **bent)[0] == 403
    assert served.ask("GET", "/api/state", host="evil.example")[0] == 403
    port = served.host.rpartition(":")[2]
    assert served.ask("GET", "/healthz", host=f"localhost:{port}")[0] == 200


def test_many_pages_at_the_same_moment_are_no_more_than_may_be_open():
    async def opened():
        with practising() as made:
            surface = _Surface(made)
            streams = [surface._stream("en") for _ in range(STREAMS + 5)]
            first = [await anext(stream, None) for stream in streams]
            for stream in streams:
                await stream.aclose()
            return [piece is not None for piece in first], surface._streams

    assert asyncio.run(opened()) == ([True] * STREAMS + [False] * 5, 0)


@pytest.mark.system
def test_what_changes_is_streamed(served):
    connection = http.client.HTTPConnection(served.host, timeout=30)
    connection.request("GET", "/events?lang=en")
    stream = connection.getresponse()
    assert stream.headers["Content-Type"].startswith("text/event-stream")
    lines = [stream.fp.readline().decode() for _ in range(4)]
    assert "event: fragment\n" in lines
    stream.close()
    connection.close()


@pytest.mark.system
def test_while_a_table_drives_the_machine_the_page_only_watches_and_breaks_things(tmp_path):
    served = Served("--seed", "2", "--fresh", "ready")

    async def scene():
        async with (
            asyncio.timeout(40),
            Bridge(f"pty:{served.ready['pty']}", tmp_path / "ledger.sqlite") as bridge,
        ):
            await bridge.wait_ready()
            await bridge.execute("START")
            state = await asyncio.to_thread(served.state)
            assert (state["driven"], state["may"], state["codes"]) == (True, [], ["machine.ok"])
            status, _, text = await asyncio.to_thread(served.ask, "POST", "/do", {"op": "RAISE_WALLS"})
            assert status == 422
            assert "A table drives this machine" in text
            order = {"item": "stuck", "motion": "raise"}
            assert (await asyncio.to_thread(served.ask, "POST", "/fault", order))[0] == 200
            outcome = await bridge.execute("RAISE_WALLS")
            state = await asyncio.to_thread(served.state)
            return outcome.code, state["codes"]

    try:
        assert asyncio.run(scene()) == ("lift_timeout", ["machine.hold", "machine.fault.lift_timeout"])
    finally:
        assert served.stop() == 0


@pytest.mark.system
def test_a_port_that_is_taken_is_told_in_one_line(served):
    port = served.host.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "station.cli.main", "machine-sim", "--page", port, "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["fix"]) == (
        "http.port_busy",
        "Does it run already? Else set another page, or 0.",
    )
