"""What the host knows about its machine: values for the table process and the screen. No behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Flag, StrEnum, auto
from typing import Final

from firmware_bridge.interlock import (
    Allowed,
    Decision,
    Fault,
    Lid,
    Magazine,
    Reason,
    Refused,
    State,
    Surface,
    may_move,
)
from firmware_bridge.ops import Op, Quad, Value


class LinkState(StrEnum):
    """The line to the machine in one word. Only UP and RECOVER take commands."""

    CLOSED = "closed"
    """`run` is not running."""
    PORT_MISSING = "port_missing"
    PORT_BUSY = "port_busy"
    PORT_DENIED = "port_denied"
    PORT_AMBIGUOUS = "port_ambiguous"
    """Several adapters share the configured name, or it is one that does not last: nothing is opened."""
    PORT_ERROR = "port_error"
    CONNECTING = "connecting"
    """The port is open; waiting for the machine to introduce itself."""
    UP = "up"
    SUSPECT = "suspect"
    """Nothing valid came for a while, or a request stayed without answer; asking anew."""
    DOWN = "down"
    RECOVER = "recover"
    """Connected, but the machine was powered up: a person must say START or ADOPT."""
    UID_MISMATCH = "uid_mismatch"
    """Another board than the configured one answers."""
    VERSION_MISMATCH = "version_mismatch"
    """Its protocol was made from another definition: it is looked at, and nothing is sent that moves."""
    CONFIG_MISMATCH = "config_mismatch"
    """Its walls or times are not the wanted ones; they are set when it rests. Nothing moves until then."""


class Capability(Flag):
    """What a machine can do as it is attached. The one definition for drivers, table and screens."""

    NONE = 0
    MOVES = auto()
    """Carries out motions that it is asked for. Without it a person does every step, and we watch."""
    CYCLES = auto()
    """Closes, builds and raises when asked. Without it a press opens the machine and its own cycle does
    the rest, begun by whoever pushed the tiles in."""
    COUNTS = auto()
    """Reports stacks and tiles per place."""
    MODE = auto()
    """Takes the setting (walls, times) that is chosen for it. Without it people set the machine itself."""
    DEALS = auto()
    """Deals tiles to the places, or tells when they were taken from the walls."""
    DICE = auto()
    """Throws the machine's dice."""
    PIPS = auto()
    """Tells what the dice show."""
    INDICATOR = auto()
    """Flips the indicator."""
    LAMPS = auto()
    """Lights the lamps of the places."""
    INHIBIT = auto()
    """The machine's own button is dead while the interlock is locked. Without it the interlock is advice."""
    LID = auto()
    """Tells whether the lid is open."""
    SERVICE = auto()
    """Homes and jogs for a technician."""
    RECOVERS = auto()
    """Finishes or lowers a motion that was cut; without it a person ends it by hand."""


NATIVE: Final = ~Capability.NONE
"""A machine on our own board with everything."""

NEEDS: Final[Mapping[Op, Capability]] = {
    Op.OPEN_LID: Capability.MOVES,
    Op.CLOSE_LID: Capability.CYCLES,
    Op.START_BUILD: Capability.CYCLES,
    Op.RAISE_WALLS: Capability.CYCLES,
    Op.DEAL: Capability.DEALS,
    Op.LOWER: Capability.RECOVERS,
    Op.RESUME: Capability.RECOVERS,
    Op.ROLL_DICE: Capability.DICE,
    Op.FLIP_INDICATOR: Capability.INDICATOR,
    Op.LAMP: Capability.LAMPS,
    Op.HOME: Capability.SERVICE,
    Op.JOG: Capability.SERVICE,
}
"""What an operation takes; one that is not named takes a machine that moves at all."""


def supports(able: Capability, op: Op) -> bool:
    """Whether a machine that is able to do this knows the operation."""
    return NEEDS.get(op, Capability.MOVES) in able


class Status(StrEnum):
    """How a command ended, as far as the host can prove.

    DONE: carried out exactly once. REJECTED: nothing moved, and by this id nothing ever will.
    FAILED: it began, once, and ended before its goal. UNKNOWN: it ran once or not at all; look.
    """

    DONE = "done"
    FAILED = "failed"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one command.

    `code` is a stable identifier (`ok`, a refusal such as `interlock`, a fault such as `jam`,
    or `link_down`, `never_seen`, `rebooted`, ...). `result` holds what the machine reports, by name:
    `dice` (a, b), `stacks` or `tiles` per place. `seconds` is how long the machine was busy.
    `cmd_id` is 0 when nothing was sent.
    """

    status: Status
    code: str
    cmd_id: int
    op: Op
    result: Mapping[str, Value] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def done(self) -> bool:
        """The goal is reached."""
        return self.status is Status.DONE


@dataclass(frozen=True, slots=True)
class FaultReport:
    """A fault with its place (None: of no place) and a count (tiles missing, else 0)."""

    fault: Fault
    place: int | None = None
    count: int = 0

    @property
    def code(self) -> str:
        """Stable identifier, such as `jam`."""
        return self.fault.name.lower()


@dataclass(frozen=True, slots=True)
class ActiveOp:
    """A motion that runs now."""

    cmd_id: int
    op: Op


@dataclass(frozen=True, slots=True)
class MachineEvent:
    """Something the machine reported by itself. `no` counts within one `boot_id`; `t_dev` in seconds."""

    no: int
    boot_id: int
    code: str
    args: tuple[int, ...] = ()
    t_dev: float = 0.0


@dataclass(frozen=True, slots=True)
class LinkStats:
    """Counters of the line since the bridge was made; times in seconds.

    `rx_bad`: pieces that were no frame. `rx_ignored`: good frames of another session, and echoes. `opens`: of
    the port; `sessions`: WELCOMEs. `srtt`, `rttvar`: smoothed round trip and its variation in this session
    (None: not measured yet), `rto` the timeout made of them. `disturbed`: share 0..1 of the latest frames
    that arrived damaged or had to be sent again.
    """

    tx_frames: int = 0
    tx_bytes: int = 0
    rx_frames: int = 0
    rx_bytes: int = 0
    rx_bad: int = 0
    rx_ignored: int = 0
    retransmits: int = 0
    sessions: int = 0
    opens: int = 0
    srtt: float | None = None
    rttvar: float | None = None
    rto: float = 0.25
    disturbed: float = 0.0

    @property
    def reconnects(self) -> int:
        """Sessions after the first."""
        return max(0, self.sessions - 1)


@dataclass(frozen=True, slots=True)
class MachineView:
    """The last the host knows. While the link is down it is old.

    `progress` stacks built per place beneath, `walls` stacks standing on the surface, `dealt` tiles
    dealt per place, `lift` percent of the lift's way. `capabilities`: what the machine can do as it is
    attached. `lease` is true while the machine lets itself be moved. `code` is the one sentence code for the
    screen (`machine.ok`, `machine.fault.jam`, ...).
    """

    link: LinkState = LinkState.CLOSED
    capabilities: Capability = NATIVE
    surface: Surface = Surface.UNKNOWN
    magazine: Magazine = Magazine.UNKNOWN
    lid: Lid = Lid.OPEN
    locked: bool = True
    hand_no: int | None = None
    uid: str = ""
    port: str = ""
    """Address of the port in use."""
    boot_id: int = 0
    profile: str = ""
    reset_cause: str = ""
    rev: int = 0
    lease: bool = False
    hold: bool = False
    estop: bool = False
    faults: tuple[FaultReport, ...] = ()
    cut: tuple[Op, ...] = ()
    active: tuple[ActiveOp, ...] = ()
    progress: Quad = (0, 0, 0, 0)
    walls: Quad = (0, 0, 0, 0)
    dealt: Quad = (0, 0, 0, 0)
    plan: Quad = (0, 0, 0, 0)
    drum: bool = False
    taken: bool = False
    service: bool = False
    lift: int = 0
    dice: tuple[int, int] | None = None
    indicator_up: bool = False
    overdue: tuple[Op, ...] = ()
    """Commands that run for longer than they may."""
    unwritten: bool = False
    """The command ledger can not be written, so nothing new is moved; tried again without end."""
    noisy: bool = False
    """More than 1 % of the latest frames arrived damaged or had to be sent again."""
    attempt: int = 0
    """Failed tries to open the port in a row."""
    detail: str = ""
    """One plain sentence about the port, when there is something to say."""
    code: str = "machine.closed"

    @property
    def ready(self) -> bool:
        """Commands are taken."""
        return self.link in (LinkState.UP, LinkState.RECOVER)

    @property
    def advisory(self) -> bool:
        """The interlock is advice: nothing keeps the machine's own button from taking tiles in."""
        return Capability.INHIBIT not in self.capabilities

    @property
    def fault(self) -> str | None:
        """Code of the first fault, or None."""
        return self.faults[0].code if self.faults else None

    def state(self) -> State:
        """The same as the interlock's value."""
        return State(
            surface=self.surface,
            magazine=self.magazine,
            lid=self.lid,
            locked=self.locked,
            hand_no=self.hand_no,
            lease=self.lease,
            estop=self.estop,
            hold=self.hold,
            faults=frozenset(report.fault for report in self.faults),
            running=frozenset(active.op for active in self.active),
            cut=frozenset(self.cut),
            drum=self.drum,
            taken=self.taken,
            service=self.service,
            stacks=self.progress,
            walls=self.walls,
            plan=self.plan,
        )

    def may(self, op: Op | str, **args: Value) -> Decision:
        """What the device would say now, as far as the host knows: to show or hide a button."""
        wanted = Op.of(op)
        if not supports(self.capabilities, wanted):
            return Refused(Reason.UNSUPPORTED)
        decision = may_move(self.state(), wanted, args)
        uncounted = Capability.COUNTS not in self.capabilities
        # Counts that nobody takes can not be wrong here; the device has the last word.
        return Allowed() if uncounted and decision == Refused(Reason.COUNTS) else decision


def sentence_code(view: MachineView) -> str:
    """The most important thing to say about the machine, as a stable identifier."""
    if not view.ready:
        return f"machine.{view.link.value}"
    if view.estop:
        return "machine.estop"
    if view.link is LinkState.RECOVER:
        return "machine.recover"
    if view.hold:
        return "machine.hold"
    if view.fault is not None:
        return f"machine.fault.{view.fault}"
    if view.overdue:
        return "machine.overdue"
    if view.unwritten:
        return "machine.unwritten"
    if view.active:
        return "machine.moving"
    return "machine.noisy" if view.noisy else "machine.ok"
