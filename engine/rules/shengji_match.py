"""A match of 升级 between two pairs as a value (rules/shengji.md §1 to §3): bank, levels, penalties.

Seats are 0..3 counter-clockwise, pairs 0 and 1; seat s belongs to pair s mod 2. Steps return a new match.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.errors import EngineError
from engine.rules.shengji import DealEntry, DealResult, Penalty, Shengji, Side
from engine.tournament.scores import DRAW, LOSS, WIN
from engine.verdict import Problem

SEATS = 4


class PenaltyLocked(EngineError):
    """The next deal has started, so nobody asks any more about faults of the one before (§3)."""


@dataclass(frozen=True, slots=True)
class RunningDeal:
    """A deal that is being played: seat of the banker, and the penalties so far."""

    banker: int
    penalties: tuple[Penalty, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """A deal that is booked. `levels` by pair and `bank`, the pair that has it, are those after the deal.

    `stopped`: the rise ended at a must-play level. `warnings` are those of the banker (`Match.warnings`).
    """

    banker: int
    entry: DealEntry
    result: DealResult
    levels: tuple[int, int]
    bank: int
    stopped: bool
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class MatchResult:
    """Levels and match points of both pairs: more levels win 2, equal levels 1 each (§1)."""

    levels: tuple[int, int]
    points: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A match so far. `locked`: the penalties of the last booked deal can no longer change.

    `redeals` counts the deals that were given up; nothing of them is booked.
    """

    rules: Shengji
    deals: tuple[Deal, ...] = ()
    running: RunningDeal | None = None
    locked: bool = False
    time_up: bool = False
    redeals: int = 0

    @property
    def levels(self) -> tuple[int, int]:
        """Levels by pair."""
        start = self.rules.number("start_level")
        return self.deals[-1].levels if self.deals else (start, start)

    @property
    def bank(self) -> int | None:
        """The pair that has the bank; None before the first deal, where the first to bid takes it."""
        return self.deals[-1].bank if self.deals else None

    @property
    def next_bankers(self) -> tuple[int, ...]:
        """Seats that can be banker next: within a pair they take turns 轮庄 (§2)."""
        if self.bank is None:
            return tuple(range(SEATS))
        seats = tuple(range(self.bank, SEATS, 2))
        last = self._last_banker(self.bank)
        return seats if last is None else tuple(seat for seat in seats if seat != last)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is wrong with the banker of the running deal.

        "banker_twice": the same player as in the deal before; the cards are dealt again, sides unchanged.
        "banker_out_of_turn": the partner's turn, counted over deals of the other pair between them.
        """
        return () if self.running is None else tuple(self._warnings(self.running.banker))

    def _warnings(self, banker: int) -> Iterator[Problem]:
        if banker in self.next_bankers:
            return
        code = "banker_twice" if self.deals[-1].banker == banker else "banker_out_of_turn"
        yield Problem(code, self.rules.data.section(code), (f"banker={banker}",), fatal=False)

    def _last_banker(self, pair: int) -> int | None:
        return next((deal.banker for deal in reversed(self.deals) if deal.banker % 2 == pair), None)

    def start(self, banker: int) -> Match:
        """Start a deal; from now on the one before takes no more penalties (§3).

        Raises:
            EngineError: a deal is running, time is up, or the seat is not one of the pair with the bank.
        """
        if self.running is not None:
            raise EngineError("a deal is running; finish it or deal again first.")
        if self.time_up:
            raise EngineError("time is up; no deal starts any more.")
        if not 0 <= banker < SEATS or self.bank not in (None, banker % 2):
            seats = "0 to 3" if self.bank is None else f"{self.bank} or {self.bank + 2}"
            raise EngineError(f"seat {banker} cannot be banker; the bank is with seat {seats}.")
        return replace(self, running=RunningDeal(banker), locked=True)

    def redeal(self) -> Match:
        """Give up the running deal; the same pair keeps the bank, and nothing is booked (§2).

        Raises:
            EngineError: no deal is running.
        """
        self._need_running()
        return replace(self, running=None, redeals=self.redeals + 1)

    def penalize(self, pair: int, fault: str, count: int = 1) -> Match:
        """Enter a fault (§3) in the running deal, or in the last one as long as no other has started.

        Raises:
            PenaltyLocked: the deal before the running one, or before one that was given up.
            EngineError: no deal yet, no such pair or fault, or a count that cannot be.
        """
        if pair not in (0, 1):
            raise EngineError(f"there is no pair {pair}; pairs are 0 and 1.")
        if self.running is not None:
            penalty = self.rules.penalty(_side(pair, self.running.banker), fault, count)
            running = replace(self.running, penalties=(*self.running.penalties, penalty))
            return replace(self, running=running)
        if not self.deals:
            raise EngineError("no deal has started, so there is nothing to penalize.")
        if self.locked:
            raise PenaltyLocked("the next deal has started, so faults of the one before are settled.")
        last = self.deals[-1]
        penalty = self.rules.penalty(_side(pair, last.banker), fault, count)
        entry = replace(last.entry, penalties=(*last.entry.penalties, penalty))
        return replace(self, deals=self.deals[:-1])._book(last.banker, entry)

    def finish(
        self, tricks: int = 0, bottom: int = 0, last: str | None = None, *, forced_lost: bool = False
    ) -> Match:
        """Book the running deal; the values are those of `DealEntry`, its other facts are known here.

        Raises:
            EngineError: no deal is running, or see `Shengji.score`.
        """
        running = self._need_running()
        entry = DealEntry(
            tricks=tricks,
            bottom=bottom,
            last=last,
            penalties=running.penalties,
            defender_on_must_play=self.rules.is_must_play(self.levels[1 - running.banker % 2]),
            forced_lost=forced_lost,
        )
        return self._book(running.banker, entry)

    def _book(self, banker: int, entry: DealEntry) -> Match:
        result = self.rules.score(entry)
        bank = banker % 2 if result.side is Side.BANKER else 1 - banker % 2
        levels = list(self.levels)
        levels[bank] = self.rules.rise(self.levels[bank], result.levels)
        deal = Deal(
            banker=banker,
            entry=entry,
            result=result,
            levels=(levels[0], levels[1]),
            bank=bank,
            stopped=levels[bank] - self.levels[bank] < result.levels,
            warnings=tuple(self._warnings(banker)),
        )
        return replace(self, deals=(*self.deals, deal), running=None, locked=False)

    def stop(self) -> Match:
        """Time is up: no deal starts any more; a running one counts only with `count_running_deal` (§1)."""
        running = self.running if self.rules.flag("count_running_deal") else None
        return replace(self, time_up=True, running=running)

    @property
    def result(self) -> MatchResult:
        """Levels and match points.

        Raises:
            EngineError: time is not up, or a deal still has to be finished.
        """
        if not self.time_up or self.running is not None:
            raise EngineError("the match is still running; stop it, and finish the deal that counts.")
        one, other = self.levels
        if one == other:
            return MatchResult(self.levels, (DRAW, DRAW))
        return MatchResult(self.levels, (WIN, LOSS) if one > other else (LOSS, WIN))

    def _need_running(self) -> RunningDeal:
        if self.running is None:
            raise EngineError("no deal is running; start one first.")
        return self.running


def _side(pair: int, banker: int) -> Side:
    return Side.BANKER if pair == banker % 2 else Side.DEFENDER
