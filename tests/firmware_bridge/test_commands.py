"""Ledger and command desk: written before sent, on the disk, one owner, and what every answer means."""

import json
import sqlite3
import subprocess
import sys

import pytest

from firmware_bridge import messages as m
from firmware_bridge.commands import FRESH, CommandDesk, code_name
from firmware_bridge.errors import LedgerError, UnwrittenError, UsageError
from firmware_bridge.ledger import Intent, Ledger
from firmware_bridge.machine import Outcome, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.rig import Rig
from tests.disks import refusing_disk

BOARD = {"uid": 7, "boot_id": 1}


def welcome(uid=7, boot_id=1, last_cmd=0):
    return m.Welcome(
        1, 0, uid, boot_id, m.ResetCause.POWER_ON, "136", 0, m.Caps(0), 0, last_cmd, m.Result.NEVER_SEEN,
        1, 0, (0, 1, 0),
    )  # fmt: skip


def desk_with(op=Op.RAISE_WALLS, now=100.0):
    desk = CommandDesk(Ledger(":memory:"))
    desk.connected(welcome(), now)
    cmd_id, message = desk.submit(op, {}, None, now)
    return desk, cmd_id, message


def told(desk):
    ended, desk.finished = desk.finished, []
    return [(e.outcome.status, e.outcome.code) for e in ended]


def outcome(cmd_id, result, code=0):
    return m.CommandOutcome(cmd_id, result, code, 0, 0)


# -- the ledger -------------------------------------------------------------------------------------------


def test_a_ledger_continues_after_a_restart(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path, wall=lambda: 5.0)
    first = Intent(1, Op.START, b"", 0xFFFF_FFFF_FFFF_FFFF, 9)
    second = Intent(2, Op.ADOPT, b"\x07\x00\x00\x00", 7, 9)
    ledger.intend(first)
    ledger.intend(second)
    ledger.conclude(Outcome(Status.DONE, "ok", 1, Op.START, {}, 0.5))
    ledger.close()
    again = Ledger(path)
    assert again.open_intents() == (second,)
    assert again.last_id() == 2
    again.close()
    rows = list(sqlite3.connect(path).execute("SELECT at, cmd_id, kind, body FROM entries ORDER BY no"))
    assert [row[:3] for row in rows] == [(5.0, 1, "intent"), (5.0, 2, "intent"), (5.0, 1, "outcome")]
    assert json.loads(rows[2][3])["status"] == "done"


def test_a_ledger_only_grows(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.intend(Intent(1, Op.START, b"", 7, 9))
    with pytest.raises(LedgerError, match="can not be written"):
        ledger.intend(Intent(1, Op.START, b"", 7, 9))
    ledger.close()
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("DELETE FROM entries")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute("UPDATE entries SET cmd_id = 9")
    db.close()


def test_ends_that_the_disk_refuses_are_written_in_their_order_once_it_takes_them(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    for cmd_id in (1, 2):
        ledger.intend(Intent(cmd_id, Op.START, b"", 7, 9))
    with refusing_disk():
        ledger.conclude(Outcome(Status.DONE, "ok", 1, Op.START))
        ledger.conclude(Outcome(Status.FAILED, "jam", 2, Op.START))
        with pytest.raises(UnwrittenError, match="make room"):
            ledger.intend(Intent(3, Op.START, b"", 7, 9))
        assert (ledger.sound, ledger.settle()) == (False, False)
    assert len(ledger.open_intents()) == 2
    assert ledger.settle()
    assert (ledger.sound, ledger.open_intents()) == (True, ())
    ledger.intend(Intent(3, Op.START, b"", 7, 9))
    ledger.close()
    rows = sqlite3.connect(path).execute("SELECT cmd_id, kind FROM entries ORDER BY no").fetchall()
    assert rows == [(1, "intent"), (2, "intent"), (1, "outcome"), (2, "outcome"), (3, "intent")]


def test_a_refused_command_leaves_a_ledger_that_mends_itself(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with refusing_disk(), pytest.raises(UnwrittenError):
        ledger.intend(Intent(1, Op.START, b"", 7, 9))
    assert not ledger.sound
    assert ledger.settle()
    assert ledger.sound
    assert ledger.last_id() == 0


def test_a_second_end_of_a_command_is_a_mistake_and_holds_nothing_back(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.intend(Intent(1, Op.START, b"", 7, 9))
    ledger.conclude(Outcome(Status.DONE, "ok", 1, Op.START))
    with pytest.raises(LedgerError):
        ledger.conclude(Outcome(Status.DONE, "ok", 1, Op.START))
    assert ledger.sound
    ledger.intend(Intent(2, Op.START, b"", 7, 9))


def test_a_ledger_has_one_owner(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger(path)
    code = f"from firmware_bridge.ledger import Ledger; Ledger({str(path)!r})"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert other.returncode == 1
    assert "in use by another process" in other.stderr
    ledger.close()


def test_a_file_that_is_no_ledger_is_named_plainly(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, and long enough to be no database of any kind at all" * 20)
    with pytest.raises(LedgerError, match="can not be used"):
        Ledger(path)
    with pytest.raises(LedgerError):
        Ledger(tmp_path / "absent" / "ledger.sqlite")


# -- the desk ---------------------------------------------------------------------------------------------


def test_a_command_is_written_down_before_it_is_handed_out():
    order = []

    class Book(Ledger):
        def intend(self, intent):
            order.append("written")
            super().intend(intent)

    desk = CommandDesk(Book(":memory:"))
    desk.connected(welcome(), 0.0)
    desk.submit(Op.START, {}, None, 0.0)
    order.append("handed out")
    assert order == ["written", "handed out"]


def test_if_the_disk_refuses_nothing_is_sent():
    class FullDisk(Ledger):
        def intend(self, intent):
            raise UnwrittenError("The disk is full; make room.")

    rig = Rig(book=FullDisk(":memory:"))
    rig.ready()
    refused = rig.submit(Op.START)
    assert (refused.status, refused.code, refused.cmd_id) == (Status.REJECTED, "unwritten", 0)
    rig.run(1)
    assert rig.executed == {}


def test_a_disk_that_refuses_for_a_while_costs_no_end_and_no_session():
    """The motion under way ends as ever, a stop is obeyed, and new motions come back by themselves."""

    class Moody(Ledger):
        full = False

        def _write(self, statement, values=()):
            if self.full:
                self._refused = True
                raise UnwrittenError("The disk is full; make room.")
            super()._write(statement, values)

    book = Moody(":memory:")
    rig = Rig(book=book)
    rig.ready()
    started = rig.submit(Op.START)
    book.full = True
    rig.run(5)
    assert [outcome.status for outcome in rig.outcomes[started]] == [Status.DONE]
    assert (rig.view.unwritten, rig.view.code, rig.view.ready) == (True, "machine.unwritten", True)
    assert rig.submit(Op.OPEN_LID).code == "unwritten"
    rig.host.estop()
    rig.run(1)
    assert rig.view.estop
    book.full = False
    rig.run(2)
    assert not rig.view.unwritten
    assert book.open_intents() == ()
    assert isinstance(rig.submit(Op.CLEAR), int)
    rig.run(2)
    assert not rig.view.estop
    assert set(rig.executed.values()) == {1}


def test_impossible_arguments_leave_no_trace():
    desk, _, _ = desk_with()
    with pytest.raises(UsageError):
        desk.submit(Op.ADOPT, {}, None, 0.0)
    assert len(desk.open) == 1


def test_ids_go_on_after_the_devices_when_the_ledger_is_new():
    desk = CommandDesk(Ledger(":memory:"))
    desk.connected(welcome(last_cmd=40), 0.0)
    assert desk.submit(Op.START, {}, None, 0.0)[0] == 41


@pytest.mark.parametrize(
    ("result", "code", "ends"),
    [
        (m.Result.DONE, 0, [(Status.DONE, "ok")]),
        (m.Result.FAILED, 64, [(Status.FAILED, "jam")]),
        (m.Result.ABORTED, 68, [(Status.FAILED, "lease_expired")]),
        (m.Result.REJECTED, 6, [(Status.REJECTED, "interlock")]),
        (m.Result.INTERRUPTED, 0, [(Status.UNKNOWN, "interrupted")]),
        (m.Result.EXPIRED, 0, [(Status.UNKNOWN, "expired")]),
        (m.Result.RUNNING, 0, []),
    ],
)
def test_what_each_answer_means(result, code, ends):
    desk, cmd_id, _ = desk_with()
    (query,) = desk.connected(welcome(), 100.5)
    assert desk.answered(query, outcome(cmd_id, result, code), 100.6) == []
    assert told(desk) == ends


def test_never_seen_permits_the_same_id_again_while_fresh():
    desk, cmd_id, message = desk_with()
    (query,) = desk.connected(welcome(), 100.5)
    assert not query.close
    assert desk.answered(query, outcome(cmd_id, m.Result.NEVER_SEEN), 100.6) == [message]


def test_never_seen_ends_an_old_wish_and_closes_its_id():
    desk, cmd_id, _ = desk_with()
    (query,) = desk.connected(welcome(), 100 + FRESH + 0.1)
    assert query.close
    assert desk.answered(query, outcome(cmd_id, m.Result.NEVER_SEEN), 103.0) == []
    assert told(desk) == [(Status.REJECTED, "never_seen")]


def test_a_wish_that_grew_old_meanwhile_is_closed_first():
    desk, cmd_id, _ = desk_with()
    (query,) = desk.connected(welcome(), 101.9)
    (again,) = desk.answered(query, outcome(cmd_id, m.Result.NEVER_SEEN), 102.5)
    assert again == m.Query(cmd_id, close=True)


def test_never_seen_after_an_acknowledgement_is_a_contradiction():
    desk, cmd_id, _ = desk_with()
    desk.acknowledged(m.CommandAck(cmd_id, m.Verdict.ACCEPTED, m.Result.RUNNING, 0, 0), 100.1)
    (query,) = desk.connected(welcome(), 100.5)
    desk.answered(query, outcome(cmd_id, m.Result.NEVER_SEEN), 100.6)
    assert told(desk) == [(Status.UNKNOWN, "contradiction")]


@pytest.mark.parametrize("other", [{"boot_id": 2}, {"uid": 8}])
def test_another_run_or_board_makes_it_unknown_for_good(other):
    desk, cmd_id, _ = desk_with()
    assert desk.connected(welcome(**other), 100.5) == []
    assert told(desk) == [(Status.UNKNOWN, "rebooted")]
    desk.done(m.CommandDone(1, cmd_id, m.Result.DONE, 0, 0, 0))
    assert told(desk) == []


def test_a_duplicate_that_has_ended_is_asked_for_its_result():
    desk, cmd_id, _ = desk_with()
    ack = m.CommandAck(cmd_id, m.Verdict.DUPLICATE, m.Result.DONE, 0, 0)
    assert desk.acknowledged(ack, 100.5) == [m.Query(cmd_id)]
    running = m.CommandAck(cmd_id, m.Verdict.DUPLICATE, m.Result.RUNNING, 0, 0)
    assert desk.acknowledged(running, 100.5) == []


def test_answers_about_commands_of_nobody_are_ignored():
    desk, _, _ = desk_with()
    desk.done(m.CommandDone(1, 99, m.Result.DONE, 0, 0, 0))
    assert desk.acknowledged(m.CommandAck(99, m.Verdict.REJECTED, m.Result.REJECTED, 1, 0), 0.0) == []
    assert desk.answered(m.Query(99), outcome(99, m.Result.DONE), 0.0) == []
    assert told(desk) == []


def test_a_result_of_a_wrong_length_is_left_out():
    desk, cmd_id, _ = desk_with(Op.ROLL_DICE)
    desk.done(m.CommandDone(1, cmd_id, m.Result.DONE, 0, 0, 0, b"\x01"))
    assert desk.finished[0].outcome.result == {}


def test_codes_have_names():
    assert (code_name(6), code_name(64), code_name(200)) == ("interlock", "jam", "code_200")


# -- through the whole core -------------------------------------------------------------------------------


def test_who_waits_is_told_unknown_when_the_line_stays_dead_and_the_end_comes_later():
    rig = Rig(fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run(1)
    rig.unplug()
    rig.run(12)
    assert [(o.status, o.code) for o in rig.outcomes[raising]] == [(Status.UNKNOWN, "link_down")]
    assert rig.host.desk.open
    rig.plug()
    rig.ready()
    rig.run(1)
    assert rig.outcomes[raising][-1].code == "lease_expired"


def test_a_new_host_resolves_what_the_old_one_left_open():
    rig = Rig(fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    raising = rig.submit(Op.RAISE_WALLS)
    rig.run(0.2)
    rig.restart_host()
    assert rig.host.leftovers == {raising}
    rig.run_until(lambda: raising in rig.outcomes)
    assert rig.outcomes[raising][-1].done
    assert rig.execute(Op.ROLL_DICE).cmd_id == raising + 1


def test_events_that_were_lost_are_reported_as_lost():
    rig = Rig()
    rig.ready()
    rig.run(1)
    rig.unplug()
    rig.run(5)
    for _ in range(70):
        rig.device.button()
    rig.plug()
    rig.ready()
    rig.run(10)
    codes = [event.code for event in rig.host.events]
    assert codes.count("events_lost") == 1
    assert codes.count("intake_opened_early") == 64
    numbers = [event.no for event in rig.host.events if event.no]
    assert numbers == sorted(set(numbers))


def test_events_are_replayed_after_a_reconnect_without_gap_or_repetition():
    rig = Rig()
    rig.ready()
    rig.run(1)
    rig.unplug()
    for _ in range(10):
        rig.device.button()
    rig.plug()
    rig.ready()
    rig.run(5)
    assert [event.no for event in rig.host.events] == list(range(1, 12))


# -- what nobody wants any more, and other hosts ----------------------------------------------------------


@pytest.mark.parametrize("stop", ["estop", "hold"])
def test_a_command_that_was_lost_before_a_stop_is_not_sent_after_it(stop):
    rig = Rig(3, speed=20.0, fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    cmd_id = rig.submit(Op.RAISE_WALLS)
    rig.host.take()  # the line is down: neither the command nor the stop arrives
    rig.host.hold(rig.now) if stop == "hold" else rig.host.estop()
    rig.host.take()
    rig.run(5.0)
    assert rig.executed[cmd_id] == 0
    assert [(o.status, o.code) for o in rig.outcomes[cmd_id]] == [(Status.REJECTED, "never_seen")]


def test_the_end_of_another_hosts_command_is_not_taken_for_ours():
    rig = Rig(4, speed=20.0, fresh="ready")
    rig.ready()
    rig.execute(Op.START)
    ours = rig.submit(Op.RAISE_WALLS)
    rig.host.take()  # the computer dies before its command has left
    first, rig.book = rig.book, Ledger(":memory:")
    rig.restart_host()
    rig.ready()
    assert rig.execute(Op.RELEASE_INTAKE, hand=0).status is Status.DONE
    rig.book = first
    rig.restart_host()
    rig.run(3.0)
    assert [o.status for o in rig.outcomes[ours]] == [Status.REJECTED]
    assert rig.executed[ours] == 0


def test_ids_that_are_used_up_are_said_to_be_and_not_written_down():
    book = Ledger(":memory:")
    desk = CommandDesk(book)
    desk.connected(welcome(last_cmd=0xFFFF_FFFF), 100.0)
    with pytest.raises(LedgerError, match="used up"):
        desk.submit(Op.RAISE_WALLS, {}, None, 100.0)
    assert book.last_id() == 0
