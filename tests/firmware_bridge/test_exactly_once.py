"""The key property: whatever the line, the board and the host suffer, no command is carried out twice.

For any schedule of faults: executed(id) <= 1; DONE and FAILED mean exactly once; REJECTED means never, also
later; everything else is UNKNOWN. Nothing moves without a lease or under a stop, no CLEAR from before a stop
ends it, and a locked machine never opens its lid.
"""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from firmware_bridge import messages as m
from firmware_bridge.codec import STOP
from firmware_bridge.interlock import Allowed
from firmware_bridge.machine import LinkState, Outcome, Status
from firmware_bridge.ops import Op
from firmware_bridge.sim.faulty import Rates
from firmware_bridge.sim.rig import STEP, Rig

WISHES = {
    Op.START_BUILD: {},
    Op.RAISE_WALLS: {},
    Op.DEAL: {"tiles": (14, 13, 13, 13)},
    Op.ROLL_DICE: {},
    Op.FLIP_INDICATOR: {},
    Op.OPEN_LID: {},
    Op.CLOSE_LID: {},
    Op.LOWER: {},
    Op.LAMP: {"place": 1},
    Op.HOME: {},
}


class Story:
    """A caller, a person, and bad luck. Each method is one step."""

    def __init__(self, seed):
        self.rig = Rig(seed, speed=8.0, fresh="ready" if seed % 2 else "loaded")
        self.sent = set()
        self.count = self.rig.device._on_execute
        self.rig.device._on_execute = self.watch
        self.feed = self.rig.device.feed
        self.rig.device.feed = self.overhear
        self.line_tail = b""
        self.stopped = False
        self.before_stop = set()
        self.rig.ready()
        self.person()
        self.rig.run(0.3)

    def watch(self, cmd_id, op, boot_id):
        latches = self.rig.device.latches
        assert op is not Op.OPEN_LID or not latches.locked
        assert not self.stopped or op in (Op.CLEAR, Op.LAMP)
        assert not latches.estop or op in (Op.CLEAR, Op.LAMP)
        assert not self.stopped or op is not Op.CLEAR or cmd_id not in self.before_stop
        self.stopped = self.stopped and op is not Op.CLEAR
        self.count(cmd_id, op, boot_id)

    def overhear(self, data, now):
        """Every stop that the line delivers, found without the device's own watch."""
        self.line_tail = (self.line_tail + data)[-len(data) - len(STOP) + 1 :]
        if STOP in self.line_tail:
            self.stopped = True
            self.before_stop = set(self.sent)
        self.feed(data, now)

    def send(self, op, **args):
        asked = self.rig.submit(op, **args)
        if not isinstance(asked, Outcome):
            self.sent.add(asked)

    def ask(self, number):
        """Something that the caller believes is possible now; or anything at all."""
        view = self.rig.view
        likely = [
            op for op, args in WISHES.items() if view.may(op, **args) == Allowed() and op is not Op.LAMP
        ]
        ops = likely if likely and number % 5 else list(WISHES)
        op = ops[number % len(ops)]
        self.send(op, **WISHES[op])

    def person(self, number=0):
        """What the state of the machine asks of a person."""
        view = self.rig.view
        if view.link is LinkState.RECOVER:
            self.send(*((Op.START,) if number % 2 else (Op.ADOPT,)), **({} if number % 2 else {"hand": 5}))
        elif view.estop or view.fault in ("jam", "tiles_short"):
            self.send(Op.CLEAR)
        elif view.hold:
            self.send((Op.RESUME, Op.LOWER, Op.LEAVE)[number % 3])
        else:
            self.send(Op.RELEASE_INTAKE, hand=view.hand_no or 0)

    def wait(self, seconds, step=STEP):
        end = self.rig.now + seconds
        while self.rig.now < end:
            self.rig.step(step)
            self.never_without_lease()

    def lose(self, kind_and_times):
        kind, times = kind_and_times
        line = self.rig.to_host if kind & 0x80 else self.rig.to_device
        line.lose_next += [kind] * times

    def weather(self, rates):
        *chances, delay = rates
        for line in (self.rig.to_device, self.rig.to_host):
            line.rates, line.delay = Rates(*chances), delay

    def chunks(self, how):
        for line in (self.rig.to_device, self.rig.to_host):
            line.split, line.coalesce = how

    def stall(self, seconds_and_both):
        seconds, both = seconds_and_both
        self.rig.to_device.stall(self.rig.now + seconds)
        if both:
            self.rig.to_host.stall(self.rig.now + seconds)

    def hang_up(self, to_host):
        (self.rig.to_host if to_host else self.rig.to_device).hang_up()

    def silence(self, seconds_and_both):
        seconds, both = seconds_and_both
        self.rig.to_host.mute(self.rig.now + seconds)
        if both:
            self.rig.to_device.mute(self.rig.now + seconds)

    def reset_board(self, another):
        if another:
            self.rig.device.uid ^= 0xFF
        self.rig.reset_device()
        self.stopped = False  # a board that starts anew is locked and has no hand

    def kill_host(self, _):
        self.rig.restart_host()

    def unplug(self, seconds):
        self.rig.unplug()
        self.wait(seconds)
        self.rig.plug()

    def stop(self, clear):
        """A stop, perhaps with somebody who clears it too early, or just when another one presses it."""
        if clear == "before":
            self.send(Op.CLEAR)
        self.rig.host.estop()
        if clear == "after":
            self.send(Op.CLEAR)

    def flood(self, many):
        """More events at once than a board keeps, where a maker's button can make them."""
        press = getattr(self.rig.device, "button", None)
        for _ in range(many if press is not None else 0):
            press()

    def hold(self, _):
        self.rig.host.hold(self.rig.now)

    def never_without_lease(self):
        device = self.rig.device
        if device.plant.motions:
            assert self.rig.now <= device.lease_until
            assert not device.latches.estop
            assert not self.stopped
            assert device.latches.hand_no is not None

    def truthful(self):
        executed = self.rig.executed
        assert all(count == 1 for count in executed.values())
        assert set(executed) <= self.sent
        for cmd_id, said in self.rig.outcomes.items():
            for outcome in said:
                if outcome.status in (Status.DONE, Status.FAILED):
                    assert executed[cmd_id] == 1, outcome
                elif outcome.status is Status.REJECTED:
                    assert executed[cmd_id] == 0, outcome

    def end(self):
        """Everything heals; then every command has an end and the ledger is closed."""
        rig = self.rig
        for line in (rig.to_device, rig.to_host):
            line.rates, line.delay, line.lose_next = Rates(), 0.0, []
            line.split, line.coalesce = False, 0.0
        self.wait(6.0, step=0.1)
        rig.run_until(lambda: rig.view.ready and not rig.host.desk.open, limit=60)
        self.wait(1.0, step=0.1)
        assert set(rig.outcomes) == self.sent
        assert rig.book.open_intents() == ()
        assert "link_down" not in {said[-1].code for said in rig.outcomes.values()}
        self.truthful()


KINDS = (
    m.Command, m.Query, m.Hello, m.Ping, m.EventAck,
    m.CommandAck, m.CommandDone, m.CommandOutcome, m.Welcome, m.StatusReport,
)  # fmt: skip
CHANCE = st.sampled_from([0.0, 0.0, 0.0, 0.05, 0.2])
SECONDS = st.sampled_from([0.02, 0.06, 0.1, 0.3, 0.5, 1.0, 3.0, 8.0])


WEATHER = st.tuples(*[CHANCE] * 7, st.sampled_from([0.0, 0.0, 0.05, 0.4]))
CHUNKS = [(False, 0.0), (True, 0.0), (False, 0.016), (False, 0.3)]


def step(name, values):
    return st.tuples(st.just(name), values)


NOTHING = st.just(None)
CLEARS = st.sampled_from(["never", "before", "after"])
NUMBER = st.integers(0, 999)
STEPS = st.one_of(
    step("ask", NUMBER),
    step("ask", NUMBER),
    step("ask", NUMBER),
    step("person", NUMBER),
    step("person", NUMBER),
    step("wait", SECONDS),
    step("wait", SECONDS),
    step("wait", SECONDS),
    step("lose", st.tuples(st.sampled_from([kind.KIND for kind in KINDS]), st.integers(1, 4))),
    step("lose", st.tuples(st.sampled_from([m.Command.KIND, m.CommandAck.KIND]), st.integers(1, 6))),
    step("weather", WEATHER),
    step("chunks", st.sampled_from(CHUNKS)),
    step("stall", st.tuples(st.sampled_from([0.1, 0.6, 2.5]), st.booleans())),
    step("hang_up", st.booleans()),
    step("silence", st.tuples(st.sampled_from([0.3, 1.0, 2.5, 5.0]), st.booleans())),
    step("reset_board", st.booleans()),
    step("kill_host", NOTHING),
    step("unplug", st.sampled_from([0.1, 2.5, 12.0])),
    step("stop", CLEARS),
    step("stop", CLEARS),
    step("hold", NOTHING),
    step("flood", st.sampled_from([5, 70])),
)

ONE_ACK_LOST = [("lose", (m.CommandAck.KIND, 1)), ("ask", 1), ("wait", 3.0)]
ACK_LOST = [("lose", (m.CommandAck.KIND, 3)), ("ask", 1), ("wait", 3.0)]
HOST_KILLED_BEFORE_ACK = [("lose", (m.CommandAck.KIND, 3)), ("ask", 1), ("wait", 0.06), ("kill_host", None)]
NEVER_ARRIVED = [("lose", (m.Command.KIND, 3)), ("ask", 1), ("wait", 3.0)]
RESET_IN_MOTION = [
    ("ask", 1),
    ("wait", 0.3),
    ("reset_board", False),
    ("wait", 3.0),
    ("person", 1),
    ("ask", 1),
]
STOPPED = [("ask", 1), ("wait", 0.3), ("stop", "never"), ("wait", 0.3)]
CLEAR_LOST_BEFORE_A_STOP = [
    *STOPPED,
    ("lose", (m.Command.KIND, 1)),
    ("person", 0),
    ("stop", "never"),
    ("wait", 3.0),
]
CLEAR_OVERTAKEN_BY_A_STOP = [*STOPPED, ("chunks", (False, 0.3)), ("stop", "before"), ("wait", 3.0)]
KILLED_BEFORE_SENDING = [("silence", (1.0, True)), ("ask", 1), ("kill_host", None), ("wait", 3.0)]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), steps=st.lists(STEPS, min_size=8, max_size=40))
@example(1, ONE_ACK_LOST)
@example(1, ACK_LOST)
@example(1, HOST_KILLED_BEFORE_ACK)
@example(1, NEVER_ARRIVED)
@example(1, RESET_IN_MOTION)
@example(1, KILLED_BEFORE_SENDING)
@example(1, CLEAR_LOST_BEFORE_A_STOP)
@example(1, CLEAR_OVERTAKEN_BY_A_STOP)
def test_any_accident(seed, steps):
    play(seed, steps)


def play(seed, steps):
    story = Story(seed)
    for name, value in steps:
        getattr(story, name)(value)
        story.rig.exchange()
        story.never_without_lease()
        story.truthful()
    story.end()
    return story


def chance_step(rng):
    """The same menu as STEPS, but evenly drawn, which reaches more than a searching generator does."""
    kind = rng.choice(KINDS).KIND
    pick = rng.random()
    if pick < 0.3:
        return "ask", rng.randrange(1000)
    if pick < 0.42:
        return "person", rng.randrange(1000)
    if pick < 0.72:
        return "wait", rng.choice([0.02, 0.06, 0.1, 0.3, 0.5, 1.0, 3.0])
    return rng.choice(
        [
            ("lose", (kind, rng.randint(1, 4))),
            ("lose", (kind, rng.randint(1, 4))),
            ("lose", (m.CommandAck.KIND, rng.randint(1, 4))),
            ("lose", (m.Command.KIND, rng.randint(1, 4))),
            ("weather", (*rng.choices([0.0, 0.0, 0.0, 0.1], k=7), rng.choice([0.0, 0.0, 0.05, 0.4]))),
            ("chunks", rng.choice(CHUNKS)),
            ("stall", (rng.choice([0.1, 0.6, 2.5]), rng.random() < 0.5)),
            ("hang_up", rng.random() < 0.5),
            ("silence", (rng.choice([0.3, 1.0, 2.5, 5.0]), rng.random() < 0.5)),
            ("reset_board", rng.random() < 0.2),
            ("kill_host", None),
            ("kill_host", None),
            ("unplug", rng.choice([0.1, 2.5])),
            ("stop", rng.choice(["never", "before", "after"])),
            ("stop", rng.choice(["never", "before", "after"])),
            ("hold", None),
            ("flood", rng.choice([5, 70])),
        ]
    )


def ends_of(seeds):
    """How the commands of that many schedules ended."""
    ends: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        story = play(seed, [chance_step(rng) for _ in range(16)])
        ends.update(said[-1].status.value for said in story.rig.outcomes.values())
    return ends


@pytest.mark.slow
def test_a_thousand_evenings_of_bad_luck():
    ends = ends_of(range(1000))
    # All four ends occur often, or the test tests little.
    assert ends["done"] > 1000
    assert all(ends[status.value] > 100 for status in Status), ends


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_years_of_bad_luck():
    assert all(ends_of(range(1000, 21_000)).values())


def outcome_of_second(steps):
    """The first command after START in such a story, and how often it ran."""
    story = Story(1)
    for name, value in steps:
        getattr(story, name)(value)
        story.rig.exchange()
    story.end()
    cmd_id = sorted(story.sent)[1]
    outcome = story.rig.outcomes[cmd_id][-1]
    return outcome.status, outcome.code, story.rig.executed[cmd_id]


def test_a_repeated_frame_is_known_to_the_device():
    assert outcome_of_second(ONE_ACK_LOST) == (Status.DONE, "ok", 1)


def test_a_lost_acknowledgement_is_asked_for_not_sent_again():
    assert outcome_of_second(ACK_LOST) == (Status.DONE, "ok", 1)


def test_a_host_killed_before_the_acknowledgement_finds_its_motion_done_once():
    status, _, ran = outcome_of_second(HOST_KILLED_BEFORE_ACK)
    assert (status, ran) == (Status.DONE, 1)


def test_a_command_that_never_arrived_is_closed_when_it_is_old():
    status, code, ran = outcome_of_second([*NEVER_ARRIVED[:2], ("silence", (5.0, True)), ("wait", 8.0)])
    assert (status, code, ran) == (Status.REJECTED, "never_seen", 0)


def test_a_command_that_never_arrived_is_sent_again_while_it_is_fresh():
    assert outcome_of_second(NEVER_ARRIVED) == (Status.DONE, "ok", 1)


def test_a_reset_in_mid_motion_leaves_the_outcome_unknown():
    assert outcome_of_second(RESET_IN_MOTION) == (Status.UNKNOWN, "rebooted", 1)


def test_a_host_killed_before_sending_has_sent_nothing():
    assert outcome_of_second(KILLED_BEFORE_SENDING) == (Status.REJECTED, "never_seen", 0)


@pytest.mark.parametrize("steps", [CLEAR_LOST_BEFORE_A_STOP, CLEAR_OVERTAKEN_BY_A_STOP])
def test_a_clear_from_before_a_stop_neither_ends_it_nor_comes_again(steps):
    story = Story(1)
    for name, value in steps:
        getattr(story, name)(value)
        story.rig.exchange()
    clear = max(story.sent)
    assert story.rig.device.latches.estop
    assert story.rig.executed[clear] == 0
    story.end()
    assert story.rig.outcomes[clear][-1].status is Status.REJECTED


def test_a_clear_without_the_revision_it_saw_is_refused():
    rig = Rig()
    rig.ready()
    rig.host.estop()
    rig.run_until(lambda: rig.view.estop)
    rig.run(0.3)
    rig.host.link.request(m.Command(1, Op.CLEAR))
    rig.run(0.3)
    assert rig.device.latches.estop
    assert rig.execute(Op.CLEAR, rev=rig.view.rev - 1).code == "stale_state"
    assert rig.execute(Op.CLEAR).done  # the host names the revision that its view shows
    assert not rig.device.latches.estop
