"""Recordings: what is taken down, and that host and board do the same again when they are fed the same."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from firmware_bridge.errors import UsageError
from firmware_bridge.interlock import Magazine, Surface
from firmware_bridge.machine import LinkState
from firmware_bridge.ops import Op
from firmware_bridge.recorder import DUMPS, RING, FaultDumps, Recorder, SessionFile, parse
from firmware_bridge.sim.replay import main, replay_device, replay_host
from tests.firmware_bridge import sessions

ANEW = "python -m tests.firmware_bridge.sessions --write, if the change was wanted"

ENDS = {
    "clean_hand": [("done", "ok")] * 10,
    "jam": [
        ("done", "ok"), ("failed", "jam"), ("rejected", "fault"), ("done", "ok"), ("done", "ok"),
    ],
    "reboot_in_motion": [("done", "ok"), ("unknown", "rebooted"), ("done", "ok"), ("done", "ok")],
    "estop": [
        ("done", "ok"), ("failed", "estopped"), ("rejected", "estop"), ("done", "ok"), ("done", "ok"),
    ],
    "lossy_line": [("done", "ok")] * 4,
}  # fmt: skip
LAST = {
    "clean_hand": (Surface.CLEAR, Magazine.READY, False, 1),
    "jam": (Surface.CLEAR, Magazine.READY, False, 0),
    "reboot_in_motion": (Surface.CLEAR, Magazine.READY, False, 0),
    "estop": (Surface.WALLS_UP, Magazine.LOADED, True, 1),
    "lossy_line": (Surface.DEALT, Magazine.LOADED, True, 1),
}


def golden(name, side):
    return parse((sessions.FOLDER / f"{name}.{side}.jsonl").read_text())


@pytest.mark.parametrize("name", sessions.SESSIONS)
def test_the_kept_sessions_are_what_the_code_does_now(name):
    for side, text in sessions.texts(sessions.played(name)).items():
        kept = (sessions.FOLDER / f"{name}.{side}.jsonl").read_text()
        assert text == kept, f"{name}.{side}.jsonl is of another version: {ANEW}"


@pytest.mark.parametrize("name", sessions.SESSIONS)
def test_a_host_that_hears_the_same_again_says_and_knows_the_same(name):
    told = replay_host(golden(name, "host"))
    assert told.differs is None, ANEW
    assert [(outcome.status, outcome.code) for outcome in told.outcomes] == ENDS[name]
    view = told.view
    assert (view.surface, view.magazine, view.locked, view.hand_no) == LAST[name]
    assert view.link is LinkState.UP
    assert told.view == sessions.played(name).view


@pytest.mark.parametrize("name", sessions.SESSIONS)
def test_a_board_that_is_asked_the_same_again_does_and_answers_the_same(name):
    told = replay_device(golden(name, "device"))
    assert told.differs is None, ANEW
    wanted = [number for number, end in enumerate(ENDS[name], 1) if end[0] != "rejected"]
    assert [cmd_id for cmd_id, _ in told.executed] == wanted


def test_a_host_that_answers_otherwise_is_found():
    recording = golden("jam", "host")
    at = next(n for n, entry in enumerate(recording.entries) if "submit" in entry)
    entries = list(recording.entries)
    entries[at] = {**entries[at], "submit": {"op": "LAMP", "args": {"place": 1}, "rev": None}}
    told = replay_host(type(recording)(recording.header, tuple(entries)))
    assert told.differs is not None
    assert told.differs > at


def test_what_is_no_recording_is_refused():
    for text in (
        "",
        "{}\n",
        "hello\n",
        '{"recording": 9}\n',
        '{"recording": 1}\n{"x": 1}\n',
        "[" * 9999 + "\n",
    ):
        with pytest.raises(UsageError, match="no recording"):
            parse(text)
    with pytest.raises(UsageError, match="device's side"):
        replay_device(golden("jam", "host"))
    with pytest.raises(UsageError, match="can not be played"):
        replay_host(parse('{"recording": 1, "side": "host"}\n'))


@pytest.mark.parametrize(
    "changed",
    [
        {"profile": "137"},
        {"fresh": "spilled"},
        {"state": {}},
        {"state": {"plant": {}, "last_id": 1, "running": [], "uid": "1"}},
        {"speed": "fast"},
    ],
)
def test_a_header_that_makes_no_board_is_refused(changed):
    recording = golden("jam", "device")
    with pytest.raises(UsageError, match=r"can not be played|no state"):
        replay_device(replace(recording, header={**recording.header, **changed}))


@pytest.mark.parametrize("config", ["zz", "00", "ff" * 36])
def test_a_header_with_a_broken_configuration_is_refused(config):
    recording = golden("jam", "host")
    with pytest.raises(UsageError, match="can not be played"):
        replay_host(replace(recording, header={**recording.header, "config": config}))


def test_a_line_that_was_cut_off_is_left_out():
    whole = (sessions.FOLDER / "jam.host.jsonl").read_text()
    assert parse(whole[:-5]).entries == parse(whole).entries[:-1]


def test_a_file_is_played_from_the_command_line(tmp_path, capsys):
    assert main([str(sessions.FOLDER / "jam.host.jsonl")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["outcomes"][1] == [2, "START_BUILD", "failed", "jam"]
    assert ["fault", 64, 2, 0] in told["events"]
    assert main([str(sessions.FOLDER / "jam.device.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out)["executed"][1] == [2, "START_BUILD"]
    changed = tmp_path / "changed.jsonl"
    changed.write_text(
        (sessions.FOLDER / "jam.device.jsonl").read_text().replace('"speed":20.0', '"speed":5.0')
    )
    assert main([str(changed)]) == 1
    for path in (tmp_path, tmp_path / "none", sessions.FOLDER.parent / "walls.json"):
        capsys.readouterr()
        assert main([str(path)]) == 2
        assert json.loads(capsys.readouterr().out)["error"]["message"]


# -- the recorder -------------------------------------------------------------------------------------------


def test_the_ring_keeps_the_newest_pieces_of_the_line():
    recorder = Recorder()
    for number in range(3 * RING):
        recorder.note(number, "poll")
        recorder.wire("host" if number % 2 else "device", bytes([number % 256]), number)
    wires = [entry for entry in recorder.entries if "poll" not in entry]
    assert len(wires) == RING
    assert wires[-1] == {"t": 3 * RING - 1, "host": f"{(3 * RING - 1) % 256:02x}"}
    assert len(recorder.entries) <= 2 * RING


def test_a_line_that_is_away_for_days_fills_nothing():
    recorder = Recorder()
    for number in range(20 * RING):
        recorder.note(number, "port", ["failed", "port_missing", "The cable is out."])
    assert len(recorder.entries) == 4 * RING


def test_nothing_sent_is_nothing_recorded():
    recorder = Recorder()
    recorder.wire("host", b"", 1.0)
    assert recorder.entries == ()


def test_a_session_file_can_be_read_while_it_grows(tmp_path):
    path = tmp_path / "session.jsonl"
    file = SessionFile(path)
    recorder = Recorder({"side": "host"}, keep=None, sink=file)
    recorder.wire("host", b"\x01\x02", 1.25)
    assert parse(path.read_text()).entries == ({"t": 1.25, "host": "0102"},)
    assert recorder.entries == ()  # they are in the file
    file.close()
    recorder.note(2.0, "poll")  # a recording that has ended harms nobody
    assert len(path.read_text().splitlines()) == 2


def test_a_full_disk_ends_the_recording_once_and_says_so():
    told = []
    recorder = Recorder({"side": "host"}, sink=SessionFile(Path("/dev/full"), told.append))
    for number in range(3):
        recorder.wire("host", b"\x01", number)
    assert told == ["The recording /dev/full ended: No space left on device."]
    assert len(recorder.entries) == 3, "what is kept for a dump is kept"


def test_a_foreign_file_among_the_dumps_neither_stops_them_nor_goes(tmp_path):
    folder = tmp_path / "frames"
    dumps = FaultDumps(folder)
    first = dumps.write(Recorder(), "jam")
    foreign = folder / "frames-of-yesterday.jsonl"
    foreign.write_text("")
    for _ in range(DUMPS):
        assert dumps.write(Recorder(), "jam") is not None
    assert foreign.exists()
    assert not first.exists()


def test_dumps_are_numbered_and_the_oldest_make_room(tmp_path):
    recorder = Recorder({"side": "host"})
    recorder.wire("host", b"\x01", 1.0)
    dumps = FaultDumps(tmp_path / "frames")
    paths = [dumps.write(recorder, "jam") for _ in range(DUMPS + 3)]
    left = sorted(path.name for path in (tmp_path / "frames").iterdir())
    assert len(left) == DUMPS
    assert left[-1] == f"frames-{DUMPS + 3:06}-jam.jsonl"
    assert parse(paths[-1].read_text()).entries == ({"t": 1.0, "host": "01"},)


def test_a_disk_that_refuses_a_dump_stops_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    assert FaultDumps(tmp_path / "file").write(Recorder(), "jam") is None


def test_the_golden_files_are_small():
    size = sum(path.stat().st_size for path in sessions.FOLDER.iterdir())
    assert size < 150_000
    for path in sessions.FOLDER.iterdir():
        assert all(json.loads(row) for row in path.read_text().splitlines())


def test_every_operation_of_a_session_is_known():
    for name in sessions.SESSIONS:
        asked = [entry["submit"]["op"] for entry in golden(name, "host").entries if "submit" in entry]
        assert all(Op.of(op) for op in asked)
