"""Who pays what: from the items of a verdict to whole chips per seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.claim import Seat
from engine.errors import EngineError
from engine.frozen import FrozenMap
from engine.verdict import Payers, PriceItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """Who pays what, per seat (negative = pays), in three accounts.

    `pay` are chips, `outside` what is paid beside the stake, `deferred` fines that are collected at the end
    of the match; () means nobody. `unpaid` is what payers could not pay: it is never booked. `bank` and
    `deferred_bank` are the bank's shares. `loans` are chips a seat has to borrow before it can pay. `totals`
    are the rule set's sums per seat (lei, net), `by_seat` the items of every seat where losers score too.
    `transfers` are (payer, receiver, chips) where more than one seat is paid; () else, the winner gets all.
    `hand_over` says whether the hand ends with it, `redeal` whether the same dealer deals again without any
    change.

    Raises:
        EngineError: an account and its bank's share do not sum to 0.
    """

    pay: tuple[int, ...]
    unpaid: tuple[int, ...]
    bank: int = 0
    outside: tuple[int, ...] = ()
    deferred: tuple[int, ...] = ()
    deferred_bank: int = 0
    loans: tuple[int, ...] = ()
    items: tuple[PriceItem, ...] = ()
    by_seat: tuple[tuple[PriceItem, ...], ...] = ()
    totals: Mapping[str, tuple[int, ...]] = FrozenMap()
    transfers: tuple[tuple[int, int, int], ...] = ()
    hand_over: bool = True
    redeal: bool = False

    def __post_init__(self) -> None:
        nobody = (0,) * len(self.pay)
        for name in ("outside", "deferred", "loans"):
            object.__setattr__(self, name, getattr(self, name) or nobody)
        if sum(self.pay) + self.bank or sum(self.outside) or sum(self.deferred) + self.deferred_bank:
            raise EngineError(f"a settlement must sum to 0 per account: {self}.")


def nothing(players: int, *, redeal: bool = False, hand_over: bool = True) -> Settlement:
    """A settlement in which nobody pays."""
    return Settlement(pay=(0,) * players, unpaid=(0,) * players, redeal=redeal, hand_over=hand_over or redeal)


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


def check_chips(chips: Sequence[int], players: int, *, below_zero: bool = False) -> None:
    """Refuse chips that are not one number per seat, from 0 unless `below_zero`.

    Raises:
        EngineError: see above.
    """
    if len(chips) != players or (min(chips) < 0 and not below_zero):
        raise EngineError(f"chips must be {players} numbers from 0, not {list(chips)}.")
