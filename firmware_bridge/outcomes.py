"""When who waits for a command is told: its end, that it is overdue, or that nobody knows. Pure.

Times in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from firmware_bridge.commands import CommandDesk, Ended, OpenCommand
from firmware_bridge.machine import Outcome, Status
from firmware_bridge.ops import Op

SLACK: Final = 5.0
"""Seconds beyond its time after which a command is overdue; a board that works gives up earlier."""

ASK_AGAIN: Final = 5.0
"""Seconds between two questions for a command that is overdue."""

UNKNOWN_AFTER: Final = 10.0
"""Seconds without a session after which who waits for a command is told UNKNOWN (`link_down`)."""


class Outcomes:
    """Ends of the commands of one desk, told at the right moment.

    Args:
        desk: keeps the commands.
        time_for: seconds that an operation may take.
    """

    def __init__(self, desk: CommandDesk, time_for: Callable[[Op], float]) -> None:
        self._desk = desk
        self._time_for = time_for
        self._awaiting_view: list[Ended] = []
        self._waiting: set[int] = set()
        self._disconnected_at: float | None = None

    def wait_for(self, cmd_id: int) -> None:
        """Somebody waits for this command."""
        self._waiting.add(cmd_id)

    @property
    def waiting(self) -> int:
        """For how many commands somebody waits."""
        return len(self._waiting)

    @property
    def behind(self) -> bool:
        """Whether an end is known that the view does not show yet."""
        return bool(self._awaiting_view)

    def line(self, up: bool, now: float) -> None:
        """Whether there is a session."""
        if up:
            self._disconnected_at = None
        elif self._disconnected_at is None:
            self._disconnected_at = now

    def deadline(self, up: bool) -> float | None:
        """When something is due next; `up`: there is a session."""
        times = []
        if self._waiting and self._disconnected_at is not None:
            times.append(self._disconnected_at + UNKNOWN_AFTER)
        if up:
            ends = (self._end_of(command) for command in self._desk.open.values())
            times += [end for end in ends if end is not None]
        return min(times, default=None)

    def release(self, shown: int | None) -> Iterator[Outcome]:
        """Ends to tell, but not before the view shows what they changed.

        `shown`: the revision that it shows, -1 for none yet; None: no session lives whose view could follow.
        """
        ended_now, self._awaiting_view = self._awaiting_view + self._desk.finished, []
        self._desk.finished = []
        for ended in ended_now:
            if shown is not None and ended.rev is not None and shown < ended.rev:
                self._awaiting_view.append(ended)
            else:
                self._desk.told(ended.outcome)
                self._waiting.discard(ended.outcome.cmd_id)
                yield ended.outcome

    def late(self, now: float) -> list[tuple[int, OpenCommand]]:
        """Commands to ask for now, with their ids: overdue, and not asked for lately."""
        late = []
        for cmd_id, command in self._desk.open.items():
            end = self._end_of(command)
            if end is not None and now >= end:
                command.ask_at = now + ASK_AGAIN
                late.append((cmd_id, command))
        return late

    def overdue(self) -> tuple[Op, ...]:
        """Operations that have not ended in their time."""
        return tuple(c.intent.op for c in self._desk.open.values() if c.overdue)

    def give_up(self, now: float) -> list[Outcome]:
        """What is told those who wait, when the line was away for too long; the end is still asked for."""
        if self._disconnected_at is None or now - self._disconnected_at < UNKNOWN_AFTER:
            return []
        commands = {cmd_id: self._desk.open.get(cmd_id) for cmd_id in sorted(self._waiting)}
        self._waiting.clear()
        return [
            Outcome(Status.UNKNOWN, "link_down", cmd_id, command.intent.op)
            for cmd_id, command in commands.items()
            if command is not None
        ]

    def _end_of(self, command: OpenCommand) -> float | None:
        """When it becomes overdue, or is asked for again; None while that can not be said."""
        if command.since is None:
            return None
        return command.ask_at or command.since + self._time_for(command.intent.op) + SLACK
