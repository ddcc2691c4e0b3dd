"""Simulated machine and firmware side by side through random evenings: the same answers, the same state."""

import random

import pytest

from firmware_bridge import messages as m
from firmware_bridge.interlock import Allowed, Magazine, State, may_move
from firmware_bridge.ops import Op
from tests.firmware_bridge.conformance.bench import Talk
from tests.firmware_bridge.conformance.benches import LibBench, SimBench
from tests.firmware_bridge.firmware.board_library import Rig

LONG_ONES = (Op.START_BUILD, Op.RAISE_WALLS, Op.DEAL, Op.LOWER)
SAME = (
    "surface",
    "magazine",
    "lid",
    "locked",
    "hand_no",
    "estop",
    "hold",
    "lease",
    "drum",
    "taken",
    "service",
)
COUNTS = ("walls", "plan", "cut")


class Pair:
    """Two machines to which everything happens alike."""

    def __init__(self, firmware):
        self.talks = (Talk(SimBench()), Talk(LibBench(Rig(firmware))))
        self.both(lambda talk: talk.start())

    def both(self, do):
        """Do it with each; what it returned, which must be the same."""
        sim, board = (do(talk) for talk in self.talks)
        return sim, board

    def alike(self, do):
        sim, board = self.both(do)
        assert sim == board
        return sim

    def settle(self):
        """Nothing moves any more, and the tray has tipped."""
        self.both(lambda talk: talk.until(lambda: not talk.status().active))
        self.both(lambda talk: talk.wait(1.5))
        self.both(lambda talk: talk.acknowledge())
        sim, board = self.both(lambda talk: talk.status())
        for name in (*SAME, *COUNTS):
            assert getattr(sim, name) == getattr(board, name), name
        if sim.magazine is Magazine.READY:  # otherwise how far a build came, which is a matter of time
            assert sim.stacks == board.stacks
        assert {report.fault for report in sim.faults} == {report.fault for report in board.faults}
        return sim

    def command(self, op, rev=False, **args):
        """Whether both accepted it."""

        def ask(talk):
            ack = talk.command(op, talk.status().state_rev if rev else m.ANY_REV, **args)
            return ack.verdict, ack.result, ack.code

        return self.alike(ask)[0] is m.Verdict.ACCEPTED

    def end(self):
        def done(talk):
            end = talk.done()
            return end.result, end.code, len(end.values)

        return self.alike(done)

    def cut(self, rng):
        self.both(lambda talk: talk.wait(0.15))
        match rng.randrange(5):
            case 0:
                self.both(lambda talk: talk.ask(m.Hold()))
            case 1:
                self.both(lambda talk: talk.ask(m.Abort(talk.cmd_id)))
            case 2:
                self.both(lambda talk: talk.stop())
            case 3:
                self.both(lambda talk: talk.reset())
            case _:
                self.both(lambda talk: talk.ping(lease_ms=1))
                self.both(lambda talk: talk.bench.pass_time(0.05))
                self.both(lambda talk: talk.ping())


def arguments(rng, op, status):
    match op:
        case Op.ADOPT:
            return {"hand": rng.choice((0, 3))}
        case Op.RELEASE_INTAKE:
            return {"hand": rng.choice((status.hand_no or 0, 7))}
        case Op.DEAL:
            return {"tiles": rng.choice(((14, 13, 13, 13), (9, 0, 7, 0), (0, 0, 0, 0)))}
        case Op.HOME:
            return {"nobody": 1}
        case _:
            return {}


def wish(rng, status):
    """Something that is possible now, or anything; and its arguments."""
    state = State(
        **{name: getattr(status, name) for name in (*SAME, "stacks", "walls", "plan")},
        faults=frozenset(report.fault for report in status.faults),
        cut=frozenset(status.cut),
    )
    ops = [op for op in Op if op not in (Op.LAMP, Op.JOG)]
    wishes = [(op, arguments(rng, op, status)) for op in ops]
    possible = [(op, args) for op, args in wishes if may_move(state, op, args) == Allowed()]
    return rng.choice(possible if possible and rng.random() < 0.7 else wishes)


def evening(firmware, seed, length=30):
    rng = random.Random(seed)
    pair = Pair(firmware)
    accepted = 0
    for _ in range(length):
        status = pair.settle()
        op, args = wish(rng, status)
        jam = op is Op.START_BUILD and rng.random() < 0.15
        if jam:
            pair.both(lambda talk: talk.bench.fault("jam", Op.START_BUILD, 2))
        if pair.command(op, rev=op is Op.CLEAR and rng.random() < 0.8, **args):
            accepted += 1
            if op in LONG_ONES and not (jam or status.hold) and rng.random() < 0.4:
                pair.cut(rng)
            else:
                pair.end()
        pair.both(lambda talk: talk.bench.repair())
        pair.talks[0].bench.plant.trouble.clear()
    pair.both(lambda talk: talk.bench.close())
    return accepted


@pytest.mark.parametrize("seed", range(12))
def test_random_evenings_go_alike(firmware_library, seed):
    assert evening(firmware_library, seed) > 8


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_random_evenings_go_alike(firmware_library):
    assert sum(evening(firmware_library, seed, 60) for seed in range(1000, 1400)) > 12_000
