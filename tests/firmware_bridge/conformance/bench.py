"""What a board under test offers, and the conversation with it. Scenarios use these two alone.

Time is the bench's: virtual, or real for a chip. So scenarios wait for what shall happen, never for a moment.
"""

from abc import ABC, abstractmethod

from firmware_bridge import messages as m
from firmware_bridge.codec import STOP, Frame, FrameDecoder, encode
from firmware_bridge.ops import Op, pack_args, unpack_result

SOON = 2.0
"""Seconds within which any request is answered."""

LONG = 40.0
"""Seconds within which any motion ends, or is seen to have failed."""

QUICK = (200, 200, 800, 300, 800, 300, 40, 30, 300, 30)
"""Timeouts that suit the fast machines of the benches, in 10 ms."""


class Bench(ABC):
    """One machine: a set loose in its drum, another in the tray; its walls rise in about half a second.

    `remembers`: seconds after which what happened outlives a reset.
    """

    remembers = 0.0

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Bytes to the board."""

    @abstractmethod
    def receive(self) -> bytes:
        """Bytes that came since the last call."""

    @abstractmethod
    def pass_time(self, seconds: float) -> None:
        """Time passes; the board works."""

    @abstractmethod
    def fault(self, what: str, op: Op, number: int = 0) -> None:
        """The next `op` meets a fault: `jam` or `stuck` (sensor) at place `number`, `missing` or `surplus`
        tiles (`number` of them), `lift` or `lid` that stays halfway."""

    @abstractmethod
    def repair(self) -> None:
        """A person put all of that right."""

    @abstractmethod
    def service_key(self, held: bool) -> None:
        """The service key is turned."""

    @abstractmethod
    def reset(self) -> None:
        """The board starts anew; the mechanism stays as it is."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """The end."""


class Talk:
    """A host without its link layer: each request once, each answer awaited, all events kept.

    While time passes it renews the lease, unless `alive` is False.
    """

    def __init__(self, bench):
        self.bench = bench
        self.alive = True
        self.session = 0
        self.seq = 0
        self.cmd_id = 0
        self.events = {}
        self.repeats = 0
        self.answers = []
        self._decoder = FrameDecoder()
        self._since_ping = 0.0

    # -- messages ---------------------------------------------------------------------------------

    def post(self, message, session=None):
        """Send a message; its sequence number."""
        self.seq = self.seq % 255 + 1
        session = self.session if session is None else session
        self.bench.send(encode(Frame(message.KIND, self.seq, session, message.to_bytes())))
        return self.seq

    def collect(self):
        """Take in what came."""
        for frame in self._decoder.feed(self.bench.receive()):
            message = m.parse(frame)
            if isinstance(message, m.Event | m.CommandDone):
                self.repeats += message.no in self.events
                assert self.events.setdefault(message.no, message) == message
            elif frame.seq:
                self.answers.append((frame.seq, message))

    def answer(self, kind, seq, limit=SOON):
        """The answer of that kind to the request of that number, or None when the time is over."""
        left = limit
        while True:
            self.collect()
            for number, message in self.answers:
                if number == seq and kind == message.KIND:
                    self.answers.clear()
                    return message
            if left <= 0:
                return None
            self.bench.pass_time(0.005)
            left -= 0.005

    def ask(self, message):
        """The answer to a request."""
        answer = self.answer(m.REPLIES[message.KIND], self.post(message))
        assert answer is not None, f"no answer to {message}"
        return answer

    def hello(self, session=7, **fields):
        """A new session, and a lease in it."""
        self.session = session
        welcome = self.ask(m.Hello(1, 1, 99, **fields))
        self.ping()
        return welcome

    def ping(self, lease_ms=1500):
        """Renew the lease."""
        self._since_ping = 0.0
        return self.ask(m.Ping(1, lease_ms))

    def status(self):
        """What the board tells of itself now."""
        return self.ask(m.StatusRequest())

    def stop(self):
        """The emergency stop."""
        self.bench.send(STOP)

    def outcome(self, cmd_id, close=False):
        """What the board knows of a command."""
        return self.ask(m.Query(cmd_id, close))

    # -- commands ---------------------------------------------------------------------------------

    def command(self, op, rev=m.ANY_REV, cmd_id=None, **args):
        """The acknowledgement of a new command."""
        self.cmd_id = self.cmd_id + 1 if cmd_id is None else cmd_id
        return self.ask(m.Command(self.cmd_id, op, rev, pack_args(op, args)))

    def refused(self, op, rev=m.ANY_REV, **args):
        """Why the board refuses a new command."""
        ack = self.command(op, rev, **args)
        assert (ack.verdict, ack.result) == (m.Verdict.REJECTED, m.Result.REJECTED), ack
        return ack.code

    def begin(self, op, **args):
        """A command that is accepted; its id."""
        ack = self.command(op, **args)
        assert (ack.verdict, ack.code) == (m.Verdict.ACCEPTED, 0), ack
        return self.cmd_id

    def done(self, cmd_id=None):
        """The end of a command (None: the last)."""
        cmd_id = self.cmd_id if cmd_id is None else cmd_id

        def end():
            ends = [e for e in self.events.values() if isinstance(e, m.CommandDone) and e.cmd_id == cmd_id]
            return ends[0] if ends else None

        self.until(lambda: end() is not None)
        return end()

    def do(self, op, **args):
        """A command that succeeds; what it brings back."""
        cmd_id = self.begin(op, **args)
        done = self.done(cmd_id)
        assert (done.result, done.code) == (m.Result.DONE, 0), done
        return unpack_result(op, done.values)

    def clear(self):
        """CLEAR, as a person does who sees the present state."""
        ack = self.command(Op.CLEAR, rev=self.status().state_rev)
        assert ack.verdict is m.Verdict.ACCEPTED, ack
        return self.done()

    # -- time -------------------------------------------------------------------------------------

    def wait(self, seconds):
        """Time passes, with a living host or without."""
        while seconds > 0:
            step = min(seconds, 0.02)
            self.bench.pass_time(step)
            self.collect()
            seconds -= step
            self._since_ping += step
            if self.alive and self._since_ping >= 0.3:
                self.ping()

    def until(self, condition, limit=LONG):
        """Until it holds."""
        while not condition():
            assert limit > 0, "this never happened"
            self.wait(0.02)
            limit -= 0.02

    def acknowledge(self):
        """All events have arrived."""
        self.collect()
        self.post(m.EventAck(max(self.events, default=0)))

    def reset(self):
        """The board starts anew, and so does the conversation; its WELCOME."""
        self.bench.reset()
        self.bench.receive()
        self.events.clear()
        self.answers.clear()
        self._decoder.forget()
        return self.hello(session=self.session + 1)

    def codes(self):
        """Codes of the events so far, in order."""
        return [e.code for _, e in sorted(self.events.items()) if isinstance(e, m.Event)]

    # -- the way to where a scenario begins -------------------------------------------------------

    def start(self):
        """In a session, configured for a fast machine, with no hand in play."""
        self.hello()
        config = self.ask(m.ConfigGet()).config
        report = self.ask(m.ConfigSet(m.BoardConfig(config.profile, config.walls, QUICK, config.dealt)))
        assert report.reason == 0
        self.do(Op.START)
        return self

    def built(self):
        """Started, a set built."""
        self.start()
        self.do(Op.START_BUILD)
        return self

    def raised(self):
        """The walls of hand 1 are up."""
        self.built()
        self.do(Op.RAISE_WALLS)
        return self

    def amid(self, op, **args):
        """The id of a motion that is on its way."""
        cmd_id = self.begin(op, **args)
        self.wait(0.3)
        assert [active.cmd_id for active in self.status().active] == [cmd_id]
        return cmd_id
