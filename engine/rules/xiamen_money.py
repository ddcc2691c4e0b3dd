"""Money in Xiamen mahjong (xiamen.md §7, §9): base, three equal payments, bonuses, 杀三, 诈胡 and 包赔."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.claim import DEALER, Claim, Seat
from engine.errors import EngineError
from engine.frozen import FrozenMap
from engine.rules.xiamen_table import XiamenTable
from engine.settlement import Settlement, settle_debts
from engine.verdict import Outcome, PriceItem, Verdict

YOUJIN = {"youjin": 0, "shuangyou": 1, "sanyou": 2}
"""Ways to win in which any tile wins: how many golds have been discarded on the way."""


class XiamenMoney(XiamenTable):
    """What wins and rulings cost; chips in one account, bonuses and fines in another beside them."""

    def base_item(self, claim: Claim, seat: Seat) -> PriceItem:
        """底 of a player: the dealer's doubles with every hand he has kept the deal (§7)."""
        if seat != DEALER:
            return self.item("base_other")
        return self.item("base_dealer", 2 ** self.count(claim, "streak"))

    def settle_win(
        self, verdict: Verdict, claim: Claim, winner: Seat, chips: Sequence[int] | None
    ) -> Settlement:
        """Each of the three pays alike, no more than his chips; bonuses go beside them (§7)."""
        automatic = claim.how == "sanyou" and self.choice("sanyou") == "auto_kill"
        owed = [self._owed(verdict, claim, winner, Seat(seat)) for seat in range(self.players)]
        if automatic and chips is not None:
            owed = [0 if seat == winner else have for seat, have in enumerate(chips)]
        settled = settle_debts(owed, winner, chips, verdict.items)
        others = [seat for seat in range(self.players) if seat != winner]
        emptied = chips is not None and all(chips[seat] + settled.pay[seat] == 0 for seat in others)
        kill = [self.item("kill_three")] if emptied or automatic else []
        bonus = [item for item in (*verdict.items, *kill) if item.unit == "outside"]
        each = sum(item.amount for item in bonus)
        killed = sum(item.amount for item in kill)
        return replace(
            settled,
            outside=_from_each(each, winner, self.players),
            items=(*verdict.items, *kill),
            totals=FrozenMap(kill_three=_from_each(killed, winner, self.players)) if kill else FrozenMap(),
        )

    def _owed(self, verdict: Verdict, claim: Claim, winner: Seat, seat: Seat) -> int:
        if seat == winner:
            return 0
        base, water, times = (verdict.totals[name] for name in ("base", "water", "times"))
        if seat == DEALER and self.flag("dealer_loser_pays_dealer_base"):
            base = self.base_item(claim, DEALER).amount
        return (base + water) * times

    def settle_false_win(self, offender: Seat, chips: Sequence[int] | None) -> Settlement:  # noqa: ARG002
        """诈胡 (§9): half a 课 to each other player beside the chips; the hand is void and dealt again."""
        nobody = (0,) * self.players
        fine = self.item("false_win")
        return Settlement(
            pay=nobody,
            unpaid=nobody,
            outside=_to_each(fine.amount, offender, self.players),
            items=(fine,),
            redeal=True,
        )

    def settle_spoiled(
        self, offender: Seat, chips: Sequence[int] | None, wins: Sequence[Claim]
    ) -> Settlement:
        """包赔 (§9): besides the fine the offender alone pays what every 游金 of the go-round would have got.

        Each is counted on the chips before the ruling. What the offender's chips do not cover he owes beside
        them, as he does the fine; the nearest seats counter-clockwise get the chips first.

        Raises:
            EngineError: a claim that is no winning 游金, 双游 or 三游 of another player, or two of one seat.
        """
        seats = [claim.winner for claim in wins]
        if offender in seats or len(set(seats)) != len(seats):
            raise EngineError(f"name every 游金 of another than seat {offender} once, not of seats {seats}.")
        order = sorted(wins, key=lambda claim: ((claim.winner or 0) - offender) % self.players)
        left = None if chips is None else chips[offender]
        pay = [0] * self.players
        outside = list(_to_each(self.item("false_win").amount, offender, self.players))
        for claim in order:
            due = self._due(claim, offender, chips)
            winner = claim.winner or 0
            paid = due.pay[winner] if left is None else min(left, due.pay[winner])
            left = None if left is None else left - paid
            beside = due.outside[winner] + due.pay[winner] - paid
            for account, amount in ((pay, paid), (outside, beside)):
                account[winner] += amount
                account[offender] -= amount
        return replace(self.settle_false_win(offender, chips), pay=tuple(pay), outside=tuple(outside))

    def _due(self, claim: Claim, offender: Seat, chips: Sequence[int] | None) -> Settlement:
        """What a spoiled 游金 would have got."""
        verdict = self.check(claim)
        if claim.how not in YOUJIN or verdict.outcome is not Outcome.WIN:
            raise EngineError(
                f"how={claim.how} of seat {claim.winner} is no winning 游金 that {offender} pays."
            )
        return self.settle(verdict, claim, chips)

    def stake_is_over(self, chips: Sequence[int]) -> bool:
        """杀三 ends the 课: three players without chips (§7)."""
        return sum(have == 0 for have in chips) == self.players - 1


def _to_each(amount: int, payer: Seat, players: int) -> tuple[int, ...]:
    """An amount to each other player from one."""
    return tuple(-amount * (players - 1) if seat == payer else amount for seat in range(players))


def _from_each(amount: int, receiver: Seat, players: int) -> tuple[int, ...]:
    """An amount from each other player to one."""
    return tuple(-share for share in _to_each(amount, receiver, players))
