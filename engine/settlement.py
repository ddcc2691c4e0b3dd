"""Who pays what: from the items of a verdict to whole chips per seat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.claim import Seat
from engine.errors import EngineError
from engine.verdict import Payers, PriceItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Chips per seat (`pay`, negative = pays), what payers could not pay (`unpaid`), and the bank's share.

    `sum(pay) + bank == 0` always. What is unpaid is never booked. `account` is "chips", or "deferred" for a
    fine that is settled at the end of the match.
    """

    pay: tuple[int, ...]
    unpaid: tuple[int, ...]
    bank: int = 0
    items: tuple[PriceItem, ...] = ()
    account: str = "chips"

    def __post_init__(self) -> None:
        if sum(self.pay) + self.bank:
            raise EngineError(f"a settlement must sum to 0: {self.pay} and bank {self.bank}.")


def nothing(players: int) -> Settlement:
    """A settlement in which nobody pays."""
    return Settlement(pay=(0,) * players, unpaid=(0,) * players)


def owed_by_seat(
    items: Sequence[PriceItem], players: int, winner: Seat, discarder: Seat | None, policy: str
) -> list[int]:
    """What each seat owes the winner.

    `policy` for a win on another's tile (rules/zhenjiang.md §6): "pei" 陪冲 every loser pays his items,
    "bao" 包冲 the discarder pays for all three, "discarder" he pays his own and the others nothing.
    """
    owed = [0] * players
    for seat in range(players):
        if seat != winner:
            owed[seat] = sum(item.amount for item in items if _owes(item, seat, discarder))
    if discarder is None or policy == "pei":
        return owed
    paid_by_discarder = sum(owed) if policy == "bao" else owed[discarder]
    return [paid_by_discarder if seat == discarder else 0 for seat in range(players)]


def _owes(item: PriceItem, seat: int, discarder: Seat | None) -> bool:
    if item.payers is Payers.EACH:
        return True
    return (seat == discarder) == (item.payers is Payers.DISCARDER)


def settle_debts(
    owed: Sequence[int], receiver: Seat, chips: Sequence[int] | None, items: tuple[PriceItem, ...]
) -> Settlement:
    """Pay one seat what the others owe it; with `chips` nobody pays more than he has.

    Raises:
        EngineError: `chips` are not one number from 0 per seat.
    """
    paid = list(owed) if chips is None else [min(debt, have) for debt, have in zip(owed, chips, strict=True)]
    pay = [-amount for amount in paid]
    pay[receiver] = sum(paid)
    return Settlement(
        pay=tuple(pay), unpaid=tuple(debt - done for debt, done in zip(owed, paid, strict=True)), items=items
    )


def check_chips(chips: Sequence[int], players: int) -> None:
    """Refuse chips that are not one number from 0 per seat.

    Raises:
        EngineError: see above.
    """
    if len(chips) != players or min(chips) < 0:
        raise EngineError(f"chips must be {players} numbers from 0, not {list(chips)}.")
