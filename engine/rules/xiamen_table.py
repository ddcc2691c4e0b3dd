"""Xiamen mahjong at the table (xiamen.md §2 to §4): deal, place of the gold, calls, who wins at the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine import gold as golden
from engine.calls import MELDS, OWN_TURN, Call
from engine.claim import DEALER, Seat
from engine.consistency import Defect
from engine.errors import EngineError
from engine.tiles import Tile
from engine.wall import DealPattern, DealPlan, Slot
from engine.wildrules import WildRuleSet

AT_THE_START = ("tianhe", "sanjin_start", "qiangjin")
"""Ways to win before the first discard, the first of them coming first."""


class XiamenTable(WildRuleSet):
    """What is decided before anybody claims a win."""

    @property
    def hand_size(self) -> int:
        """16 or 13 tiles, chosen at set-up (§1)."""
        return self.number("hand_size")

    def wild_of(self, indicator: Tile) -> Tile:
        """The turned-up kind itself is gold (§3).

        Raises:
            EngineError: the tile cannot be gold.
        """
        if not indicator.is_kind:
            raise EngineError(f"{indicator.id} cannot be gold; turn up a suit or honour tile.")
        return indicator

    # calls (§3, §4)

    def face(self, tile: Tile, indicator: Tile | None) -> Tile:
        """White counts as the face of the gold (§3)."""
        return golden.face(tile, indicator)

    def refuse_tile(self, call: Call) -> Iterator[Defect]:
        """Nobody may take a gold (§3); in 双游 nobody may take anything (§5)."""
        if call.kind in OWN_TURN or call.kind == "pass":
            return
        if call.closed:
            yield "shuangyou_closed", (f"call={call.kind}", "closed")
        if call.indicator is not None and call.tile == call.indicator:
            yield "gold_discard_not_claimable", (f"call={call.kind}", call.tile.id)

    def refuse_call(self, call: Call) -> Iterator[Defect]:
        """Golds that would be melded, passed tiles, 有金不能平和, 跟打, 见雀碰 (§3, §4)."""
        gold = call.indicator
        laid = call.tiles if call.kind in OWN_TURN else call.own
        if call.kind in MELDS and gold is not None and gold in laid:
            yield "gold_not_melded", (gold.id,)
        if call.kind in ("pung", "win") and call.tile is not None and call.tile in call.passed:
            yield "passed_tile", (call.tile.id, "passed")
        if call.kind == "win":
            yield from self._refuse_win(call)
        if call.kind == "discard":
            yield from self._refuse_discard(call)
        if call.kind == "pass" and call.tile is not None and self.must_pung(call.own, call.tile, gold):
            yield "shown_pair", tuple(tile.id for tile in call.own)

    def _refuse_win(self, call: Call) -> Iterator[Defect]:
        if call.locked:
            yield "gold_lock", ("call=win", "locked")
        if call.indicator is not None and call.indicator in call.hand:
            yield "gold_in_hand_no_discard_win", (call.indicator.id,)

    def _refuse_discard(self, call: Call) -> Iterator[Defect]:
        may = self.choice("gold_discard") == "lock" or call.closed
        if call.indicator is not None and call.tile == call.indicator and not may:
            yield "gold_discard_forbidden", (call.tile.id,)
        if call.closed and call.tile != call.indicator and not self.flag("shuangyou_discard"):
            yield "shuangyou_closed", ("call=discard", "closed")
        first = self.must_follow(call.hand, call.discarded, call.indicator)
        if first and call.tile not in first:
            yield "must_follow", tuple(tile.id for tile in first)

    def must_follow(
        self, hand: Sequence[Tile], discarded: Sequence[Tile], gold: Tile | None
    ) -> tuple[Tile, ...]:
        """跟打 (§4): the kinds of which one must be discarded; () = any tile may go.

        They are single winds and dragons whose kind lies out; never the gold and the White for its face.
        """
        free = {gold, golden.PROXY} if gold is not None else set()
        return tuple(
            tile
            for tile in sorted(set(hand) & set(discarded) - free)
            if tile.is_honour and hand.count(tile) == 1
        )

    def must_pung(self, shown: Sequence[Tile], tile: Tile, gold: Tile | None) -> bool:
        """见雀碰 (§4): who has shown a pair must pung the tile; a gold nobody can."""
        faces = {golden.face(one, gold) for one in (*shown, tile)}
        return len(shown) == 2 and len(faces) == 1 and gold not in (*shown, tile)

    def start_winner(self, wins: Sequence[tuple[Seat, str]]) -> tuple[Seat, str]:
        """Of several wins before the first discard the one that comes first (§5).

        天和 before 三金倒 before 抢金; of equal ones the nearest after the dealer, who comes last.

        Raises:
            EngineError: no wins, or one that is not of the start.
        """
        if not wins or any(how not in AT_THE_START for _, how in wins):
            raise EngineError(f"give wins of the start: {', '.join(AT_THE_START)}.")
        return min(wins, key=lambda win: (AT_THE_START.index(win[1]), (win[0] - 1) % self.players))

    # the deal (§2, §3)

    @property
    def deal_pattern(self) -> DealPattern:
        """With hand size 13 three rounds, one tile each and 跳牌; the gold is turned up later."""
        short = self.hand_size == 13
        pattern = replace(super().deal_pattern, indicators=0)
        return replace(pattern, rounds=3, singles=True, jump=True) if short else pattern

    def deal_plan(self, dice: Sequence[int]) -> DealPlan:
        """Plan the deal; `drawable` leaves out the gold and the 16 tiles that are never drawn (§8).

        Every flower that is replaced, or passed over for the gold, is one less.

        Raises:
            EngineError: another number of dice, or faces outside 1..6.
        """
        plan = super().deal_plan(dice)
        return replace(plan, drawable=plan.drawable - self.data.deal.indicators - self.data.deal.dead)

    def indicator_roller(self, plan: DealPlan) -> Seat:
        """Who rolls the dice for the gold (§3): the next to draw, or the owner of the wall of the jump."""
        at_jump = self.choice("gold_roller") != "next_drawer"
        if at_jump and plan.jump:
            jump = next(take for take in plan.takes if take.seat == DEALER and len(take.positions) == 2)
            return plan.slot(jump.positions[0]).wall
        return Seat(1)

    def indicator_slot(
        self, plan: DealPlan, dice: Sequence[int] = (), *, replaced: int = 0, passed_over: int = 0
    ) -> Slot:
        """Where the gold lies, counted from the end of the wall by the faces of two dice (§3).

        `replaced` tiles were taken from the tail for flowers; `passed_over` flowers were turned up
        first, each of which counts one tile further.

        Raises:
            EngineError: not two faces of 1..6, negative numbers, or the wall has not so many tiles.
        """
        if len(dice) != 2 or not all(1 <= die <= 6 for die in dice) or min(replaced, passed_over) < 0:
            raise EngineError("the gold needs the faces of two dice and the numbers of flowers, from 0.")
        nth = replaced + sum(dice) - 1
        if self.choice("gold_count_unit") == "stack":
            nth = max(replaced, replaced // 2 * 2 + 2 * (sum(dice) - 1))
        if nth + passed_over >= 2 * sum(plan.stacks) - sum(plan.tiles):
            raise EngineError("the wall has not so many tiles; check the number of flowers.")
        return plan.replacement(nth + passed_over)
