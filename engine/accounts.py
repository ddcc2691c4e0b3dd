"""Sums of accounts, one number per player, and the collection of deferred fines. Whole chips only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Account = tuple[int, ...]
"""One number per player."""


def add(*accounts: Sequence[int]) -> Account:
    """The sum of accounts, player by player.

    >>> add((1, 2), (3, -2))
    (4, 0)
    """
    return tuple(map(sum, zip(*accounts, strict=True)))


def shared(total: int, claims: Sequence[int]) -> Account:
    """A whole amount shared in proportion to claims; what is left over goes to the largest remainders.

    Of equal remainders the first get it. Nobody gets more than his claim while `total` is within their sum.

    >>> shared(9, (6, 6, 6)), shared(4, (6, 6, 0))
    ((3, 3, 3), (2, 2, 0))
    >>> shared(5, (1, 2, 3))
    (1, 2, 2)
    """
    whole = sum(claims)
    if whole == 0:
        return tuple(claims)
    parts = [total * claim // whole for claim in claims]
    order = sorted(range(len(claims)), key=lambda nth: -(total * claims[nth] % whole))
    for nth in order[: total - sum(parts)]:
        parts[nth] += 1
    return tuple(parts)


class Collected(NamedTuple):
    """What became of deferred fines: change of chips per player, the bank's share, what stays unpaid."""

    chips: Account
    bank: int
    unpaid: Account


def collect(deferred: Sequence[int], chips: Sequence[int], *, limited: bool) -> Collected:
    """Collect deferred fines: who owes pays, `limited` to his chips, and creditors get equal parts of theirs.

    What is missing to 0 in `deferred` is the bank's.

    >>> collect((6, -18, 6, 6), (50, 9, 50, 50), limited=True)
    Collected(chips=(3, -9, 3, 3), bank=0, unpaid=(0, 9, 0, 0))
    """
    owed = [max(0, -amount) for amount in deferred]
    paid = [min(debt, max(0, have)) if limited else debt for debt, have in zip(owed, chips, strict=True)]
    *received, bank = shared(sum(paid), [*(max(0, amount) for amount in deferred), -sum(deferred)])
    return Collected(
        chips=tuple(gain - loss for gain, loss in zip(received, paid, strict=True)),
        bank=bank,
        unpaid=tuple(debt - done for debt, done in zip(owed, paid, strict=True)),
    )
