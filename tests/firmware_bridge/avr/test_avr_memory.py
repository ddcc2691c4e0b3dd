"""What the board remembers, on its chip: a byte takes milliseconds to write, and any may be the last."""

import pytest

from firmware_bridge import messages as m
from firmware_bridge.interlock import Surface
from firmware_bridge.ops import Op
from tests.firmware_bridge.avr.board import FIRMWARE, run

pytestmark = [pytest.mark.avr, pytest.mark.slow]

EEPROM_SIZE = 1024
RECORD = 36
SLOTS = 20


def restarted(talk, cause):
    """The WELCOME after a reset of that cause."""
    talk.bench.reset(cause)
    talk.events.clear()
    talk.answers.clear()
    return talk.hello(session=talk.session + 1)


@pytest.mark.parametrize(
    ("cause", "told"),
    [("reset", "EXTERNAL"), ("brownout", "BROWN_OUT"), ("power", "POWER_ON"), ("watchdog", "WATCHDOG")],
)
def test_each_start_has_a_number_of_its_own_and_a_cause(bench, cause, told):
    talk = bench()
    boots = [talk.hello().boot_id]
    for _ in range(3):
        welcome = restarted(talk, cause)
        assert welcome.reset_cause.name == told
        boots.append(welcome.boot_id)
    assert boots == [1, 2, 3, 4]


def test_a_board_has_the_number_it_was_given_and_none_otherwise(avr_workshop, bench, tmp_path):
    run("make", "-s", "-C", FIRMWARE, "uid", "UID=0123456789abcdef", f"BUILD={tmp_path}")
    given = (tmp_path / "avr" / "uid.bin").read_bytes()
    for memory, uid in ((given, 0x0123456789ABCDEF), (given[:15], 0)):
        file = tmp_path / "eeprom.bin"
        file.write_bytes(memory.ljust(EEPROM_SIZE, b"\xff"))
        talk = bench("--uid", "", "--eeprom", file)
        assert talk.hello().uid == uid


def test_the_configuration_outlives_the_power(bench):
    talk = bench()
    talk.hello()
    for number in range(6):  # more than there are slots
        config = m.BoardConfig("144", (18, 18, 18, 18), tuple(range(number, number + 10)), number % 53)
        assert talk.ask(m.ConfigSet(config)) == m.ConfigReport(0, config)
        talk.wait(talk.bench.remembers)
    assert restarted(talk, "power").profile == "144"
    assert talk.ask(m.ConfigGet()).config == config


def test_a_motion_waits_until_it_is_written_down(bench):
    talk = bench().raised()
    since = talk.bench.board.now()
    talk.begin(Op.ROLL_DICE)
    talk.done()
    (rose,) = [
        cycle for pin, level, cycle in talk.bench.board.edges if pin == "TOOL" and level and cycle > since
    ]
    assert rose - since > 16_000 * 4 * 8, "at least the eight bytes of a number and its sums come first"


@pytest.mark.parametrize("first", range(0, 60, 12))
def test_a_reset_at_any_moment_leaves_what_was_or_what_is(bench, first):
    """Never anything else: neither an older state, nor a number of a start that there was already."""
    talk = bench().raised()
    talk.wait(talk.bench.remembers)
    welcome = talk.hello()
    for moment in range(first, first + 12):
        before = welcome
        if talk.status().hand_no is None:
            talk.do(Op.ADOPT, hand=1)
        talk.begin(Op.FLIP_INDICATOR)
        now = talk.cmd_id
        talk.wait(moment * 0.003)
        welcome = restarted(talk, "power")
        assert welcome.boot_id == before.boot_id + 1
        assert welcome.last_cmd in range(before.last_cmd, now + 1)
        status = talk.status()
        assert (status.surface, status.walls) == (Surface.WALLS_UP, (17, 17, 17, 17))
        assert (status.active, status.locked, status.hand_no) == ((), True, None)
        outcome = talk.outcome(now).result
        assert outcome in (m.Result.NEVER_SEEN, m.Result.INTERRUPTED, m.Result.EXPIRED)


def test_writing_is_spread_over_all_slots(bench):
    talk = bench().raised()
    before = talk.bench.board.ask("wear")
    motions = 60
    for _ in range(motions):
        talk.do(Op.ROLL_DICE)
        talk.wait(0.1)
    after = talk.bench.board.ask("wear")
    most, everything = after["most"], after["all"] - before["all"]
    print(f"{motions} motions: {everything} bytes written, at most {most} times the same one")
    assert most <= 2 * motions / SLOTS + 3
    assert everything < 2 * motions * RECORD
