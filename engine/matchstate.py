"""The state of a match between two steps: deal, streak, 圈 and accounts; see `engine.match` for the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from engine.accounts import Account
from engine.claim import Seat
from engine.errors import EngineError
from engine.ruleset import RuleSet

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchState:
    """State between two steps of a match.

    `dealer` and `first_dealer` are players. `streak` counts the hands the dealer has kept the deal, `circle`
    the rounds of the deal (圈) and `hand` the hands, both from 1; a hand dealt again keeps its number.

    Per player: `chips`; `outside`, what was paid beside them; `deferred`, fines to be collected at the end
    (negative = owes; what is missing to 0 is the bank's share); `loans`; `carried`, the net of finished
    stakes; `unpaid`, fines that could not be collected. `bank` and `forfeited` are chips nobody has any more.

    `barred` players may not win this hand, `dead` hands are 相公. `last_hand`: the running hand is the last
    one. `ended` says why the match is over: "match_over", "two_broke", "time_up", "closed", or None.

    Raises:
        EngineError: chips are made or lost, or below 0 where the rules have real chips.
    """

    rules: RuleSet
    dealer: int = 0
    first_dealer: int = 0
    streak: int = 0
    circle: int = 1
    hand: int = 1
    chips: Account
    outside: Account
    deferred: Account
    loans: Account
    carried: Account
    unpaid: Account
    bank: int = 0
    forfeited: int = 0
    issued: int
    barred: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()
    last_hand: bool = False
    ended: str | None = None

    def __post_init__(self) -> None:
        accounts = (self.chips, self.outside, self.deferred, self.loans, self.carried, self.unpaid)
        amounts = [*(amount for account in accounts for amount in account), self.bank, self.forfeited]
        if any(len(account) != self.players for account in accounts):
            raise EngineError(f"every account has {self.players} numbers, one per player.")
        if any(type(amount) is not int for amount in amounts):
            raise EngineError("accounts hold whole numbers.")
        have = sum(self.chips) + sum(self.carried) + self.bank + self.forfeited
        if have != self.issued + sum(self.loans) or sum(self.outside) != 0:
            raise EngineError(f"chips were made or lost: {have} of {self.issued} + {sum(self.loans)} lent.")
        if min(self.chips) < 0 and not self.rules.chips_below_zero:
            raise EngineError(f"nobody can have fewer chips than 0: {list(self.chips)}.")

    @classmethod
    def start(cls, rules: RuleSet, chips: Sequence[int] | None = None, first_dealer: int = 0) -> Self:
        """A match before its first hand; everybody has the stake unless `chips` say otherwise.

        >>> from engine import rulesets
        >>> MatchState.start(rulesets.load("zhenjiang")).chips
        (50, 50, 50, 50)

        Raises:
            EngineError: not one number per player, or no such player.
        """
        have = (rules.data.stake,) * rules.players if chips is None else tuple(chips)
        if not 0 <= first_dealer < rules.players:
            raise EngineError(f"there is no player {first_dealer}; players are 0 to {rules.players - 1}.")
        none = (0,) * rules.players
        return cls(
            rules=rules, dealer=first_dealer, first_dealer=first_dealer, chips=have, issued=sum(have),
            outside=none, deferred=none, loans=none, carried=none, unpaid=none,
        )  # fmt: skip

    # players and seats

    @property
    def players(self) -> int:
        """Number of players."""
        return self.rules.players

    def seat_of(self, player: int) -> Seat:
        """The seat of a player in the running hand."""
        return Seat((player - self.dealer) % self.players)

    def player_of(self, seat: int) -> int:
        """The player at a seat of the running hand."""
        return (seat + self.dealer) % self.players

    def by_seat(self, by_player: Sequence[T]) -> tuple[T, ...]:
        """Values per player, ordered by the seats of the running hand."""
        return tuple(by_player[self.player_of(seat)] for seat in range(self.players))

    def by_player(self, by_seat: Sequence[T]) -> tuple[T, ...]:
        """Values per seat of the running hand, ordered by player."""
        return tuple(by_seat[self.seat_of(player)] for player in range(self.players))

    @property
    def result(self) -> tuple[int, ...]:
        """What each player's result is now: chips and carried nets without what he borrowed."""
        columns = zip(self.chips, self.carried, self.loans, strict=True)
        return tuple(chips + carried - loan for chips, carried, loan in columns)
