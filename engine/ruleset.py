"""A rule set: its data, chosen options, and the steps from a claim to a verdict and a settlement.

Steps: consistent? (`engine.consistency`) → readings (`engine.decompose`) → refusals → prices → the reading
that pays the winner most. Each rule set overrides the small hooks `refuse_claim`, `refuse_reading`, `price`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from engine import consistency
from engine.claim import Claim, How, Options, OptionValue, Seat
from engine.decompose import Decomposition, decompositions
from engine.errors import EngineError
from engine.hand import Hand
from engine.options import resolve
from engine.ruledata import RuleData, TileSet
from engine.settlement import Settlement, check_chips, nothing, owed_by_seat, settle_debts
from engine.tiles import HAND_KINDS, Tile
from engine.verdict import Outcome, PriceItem, Problem, Verdict
from engine.wall import DealPattern, DealPlan, plan_deal
from engine.wildcard import SUIT_CYCLES, honour_cycles, next_in_cycle
from engine.wincheck import MAX_COPIES, counts_of, every_tile_wins, wins


class Bill(NamedTuple):
    """What a reading is worth: price class, items, and the section that names the class."""

    cls: str
    items: tuple[PriceItem, ...]
    section: str

    @property
    def total(self) -> int:
        """What the items sum to; readings are compared by it."""
        return sum(item.amount for item in self.items)


class RuleSet:
    """Rules with their options chosen. It never changes; `with_options` returns another one."""

    def __init__(self, data: RuleData, options: Mapping[str, OptionValue] | None = None) -> None:
        self.data = data
        self.options: Options = resolve(data.options, options or {})

    def __repr__(self) -> str:
        default = resolve(self.data.options, {})
        chosen = {name: value for name, value in self.options.items() if value != default[name]}
        return f"rulesets.load({self.id!r}, {chosen!r})"

    @property
    def id(self) -> str:
        """The id, e.g. "zhenjiang"."""
        return self.data.id

    @property
    def hash(self) -> str:
        """SHA-256 over the data file's content and all option values, as hexadecimal text."""
        text = json.dumps([self.data.digest, dict(self.options)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def players(self) -> int:
        """Number of players."""
        return self.data.players

    @property
    def tile_set(self) -> TileSet:
        """Copies of each kind."""
        return self.data.tile_set

    def with_options(self, options: Mapping[str, OptionValue]) -> Self:
        """Return the same rules with some options chosen anew.

        Raises:
            OptionError: an unknown option or a value which is not allowed.
        """
        return type(self)(self.data, {**self.options, **options}) if options else self

    def flag(self, name: str) -> bool:
        """Value of a yes/no option."""
        return self.options[name] is True

    def number(self, name: str) -> int:
        """Value of a number option or a price."""
        return int(self.options[name])

    def choice(self, name: str) -> str:
        """Value of a choice option."""
        return str(self.options[name])

    # wildcards and readings

    def wild_of(self, indicator: Tile) -> Tile:
        """The wildcard kind for a flipped indicator (rules/zhenjiang.md §3).

        Raises:
            EngineError: the tile cannot be an indicator.
        """
        honours = honour_cycles(self.choice("dragon_order"), self.choice("honour_cycle"))
        return next_in_cycle(indicator, (*SUIT_CYCLES, *honours))

    def decompositions(
        self, hand: Hand, indicator: Tile, *, claimed: bool = False
    ) -> Iterator[Decomposition]:
        """Yield every reading of a complete hand, those with fewer substitutions first.

        `claimed`: the winning tile is another player's; a wildcard among such has its face value only
        (option `claimed_wild_value`). Without `wild_fifth_copy` readings with a fifth copy are left out.

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        wild = self.wild_of(indicator)
        counts, wilds = self._split_wilds(hand, wild, claimed=claimed)
        for reading in decompositions(counts, wilds, wild, hand.melds):
            if self.flag("wild_fifth_copy") or _copies_fit(reading):
                yield reading

    def _split_wilds(self, hand: Hand, wild: Tile, *, claimed: bool) -> tuple[list[int], int]:
        """Counts of the natural tiles and number of free wildcards among the concealed and winning tiles."""
        counts = counts_of(hand.held)
        at_face = hand.win == wild and claimed and self.choice("claimed_wild_value") == "face"
        wilds = counts[wild] - at_face
        counts[wild] = int(at_face)
        return counts, wilds

    def waits(self, hand: Hand, indicator: Tile) -> tuple[Tile, ...]:
        """The kinds that complete a hand by self-draw; never one of which no copy can come any more.

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        lying = [*hand.concealed, *(tile for meld in hand.melds for tile in meld.tiles), indicator]
        live = [tile for tile in self.tile_set.kinds if lying.count(tile) < self.tile_set.counts[tile]]
        return tuple(tile for tile in live if self._completes(hand, indicator, tile))

    def _completes(self, hand: Hand, indicator: Tile, tile: Tile) -> bool:
        complete = Hand(hand.concealed, hand.melds, tile)
        counts, wilds = self._split_wilds(complete, self.wild_of(indicator), claimed=False)
        if max(counts) > MAX_COPIES or not wins(counts, wilds):
            return False
        return self.flag("wild_fifth_copy") or any(True for _ in self.decompositions(complete, indicator))

    def every_tile_wins(self, hand: Hand, indicator: Tile) -> bool:
        """Whether every one of the 34 kinds completes the hand (跑搭, rules/zhenjiang.md §5).

        Without `wild_fifth_copy` a kind of which the hand has four can never do so.

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        before = Hand(hand.concealed, hand.melds)
        counts, wilds = self._split_wilds(before, self.wild_of(indicator), claimed=False)
        if not every_tile_wins(counts, wilds):
            return False
        return self.flag("wild_fifth_copy") or all(
            self._completes(before, indicator, kind) for kind in HAND_KINDS
        )

    # claim → verdict

    def check(self, claim: Claim) -> Verdict:
        """Judge a claim; the claim's own options come before those of the rule set.

        Raises:
            OptionError: the claim names an unknown option or a value which is not allowed.
        """
        rules = self.with_options(claim.options)
        return rules._check_draw(claim) if claim.how is How.DRAW else rules._check_win(claim)

    def _check_draw(self, claim: Claim) -> Verdict:
        details = tuple(self._problem(*defect) for defect in consistency.draw_defects(claim, self.data))
        section = details[0].section if details else self.data.section("draw")
        outcome = Outcome.INCONSISTENT if details else Outcome.DRAW
        return Verdict(outcome=outcome, details=details, document=self.data.document, section=section)

    def _check_win(self, claim: Claim) -> Verdict:
        wild = self._wild_if_known(claim)
        found = consistency.defects(claim, self.data, wild, kong_of_three=self.flag("indicator_kong3"))
        details = [self._problem(*defect) for defect in found]
        readings: list[Decomposition] = []
        if not {"tile_count", "fifth_copy", "foreign_tile", "unknown_tile"} & {d.code for d in details}:
            readings = self._candidates(claim)
            details += self._not_won(claim, readings, known=wild is not None)
        elif claim.xianggong:
            details.append(self._problem("xianggong", (), fatal=False))
        if details:
            return self._refusal(details, wild)
        hand = Hand(claim.concealed, claim.melds, claim.win)
        allowed = [reading for reading in readings if self.refuse_reading(claim, reading) is None]
        bills = [(self.price(hand, claim, reading), reading) for reading in allowed]
        bill, best = max(bills, key=lambda priced: priced[0].total)
        return Verdict(
            outcome=Outcome.WIN,
            cls=bill.cls,
            decomposition=best,
            items=bill.items,
            wild=wild,
            document=self.data.document,
            section=bill.section,
        )

    def _wild_if_known(self, claim: Claim) -> Tile | None:
        if claim.indicator is None or not claim.indicator.is_kind:
            return None
        return self.wild_of(claim.indicator)

    def _problem(self, code: str, about: tuple[str, ...], *, fatal: bool = True) -> Problem:
        return Problem(code, self.data.section(code), about, fatal)

    def _candidates(self, claim: Claim) -> list[Decomposition]:
        """The readings to be priced: the first without and the first with a substitution.

        Readings of one hand differ in price only by that; a test compares with all readings.
        """
        if claim.indicator is None:
            return []
        hand = Hand(claim.concealed, claim.melds, claim.win)
        first: dict[bool, Decomposition] = {}
        for reading in self.decompositions(hand, claim.indicator, claimed=claim.how.is_from_another):
            first.setdefault(reading.substituted > 0, reading)
            if reading.substituted or not reading.as_itself:
                break
        return list(first.values())

    def _not_won(self, claim: Claim, readings: list[Decomposition], *, known: bool) -> Iterator[Problem]:
        """Yield why a sound hand does not win: 相公, then special refusals, then no reading at all."""
        if claim.xianggong:
            yield self._problem("xianggong", (), fatal=False)
        refusals = [*self.refuse_claim(claim)]
        reasons = [self.refuse_reading(claim, reading) for reading in readings]
        if reasons and None not in reasons:
            refusals += dict.fromkeys(reason for reason in reasons if reason is not None)
        for code, about in refusals:
            yield self._problem(code, about, fatal=False)
        if known and not readings:
            yield self._problem("no_decomposition", (), fatal=False)

    def _refusal(self, details: Sequence[Problem], wild: Tile | None) -> Verdict:
        fatal = any(problem.fatal for problem in details)
        return Verdict(
            outcome=Outcome.INCONSISTENT if fatal else Outcome.NO_WIN,
            details=tuple(details),
            wild=wild,
            document=self.data.document,
            section=details[0].section,
        )

    # hooks of a rule set

    def refuse_claim(self, claim: Claim) -> Iterator[consistency.Defect]:
        """Yield why the rules do not allow this win whatever the hand is."""
        raise NotImplementedError

    def refuse_reading(self, claim: Claim, reading: Decomposition) -> consistency.Defect | None:
        """Say why the rules do not allow the win with this reading; None when they do."""
        raise NotImplementedError

    def price(self, hand: Hand, claim: Claim, reading: Decomposition) -> Bill:
        """Say what a reading is worth."""
        raise NotImplementedError

    def item(self, code: str, times: int = 1) -> PriceItem:
        """An item of the price list, in chips, taken `times`."""
        price = self.data.prices[code]
        amount = self.number(code) * self.number("base") * times
        return PriceItem(code, amount, price.section, price.payers)

    # money and deal

    def settle(self, verdict: Verdict, claim: Claim, chips: Sequence[int] | None = None) -> Settlement:
        """Propose who pays what for a win; for a draw nobody pays. `chips` per seat, else the claim's.

        Raises:
            EngineError: the verdict is neither a win nor a draw, or the chips do not fit.
        """
        rules = self.with_options(claim.options)
        if verdict.outcome is Outcome.DRAW:
            return nothing(self.players)
        if verdict.outcome is not Outcome.WIN or claim.winner is None:
            raise EngineError(f"{verdict.outcome.value} is not settled; only a win or a draw is.")
        owed = owed_by_seat(
            verdict.items, self.players, claim.winner, claim.discarder, rules.choice("payment")
        )
        have = rules._cap(claim.chips if chips is None else chips)
        return settle_debts(owed, claim.winner, have, verdict.items)

    def _cap(self, chips: Sequence[int] | None) -> Sequence[int] | None:
        if chips is None or not self.flag("cap_at_chips"):
            return None
        check_chips(chips, self.players)
        return chips

    def false_win(self, offender: Seat, chips: Sequence[int] | None = None) -> Settlement:
        """The fine of a false win 诈胡 which a referee has ruled (rules/zhenjiang.md §7).

        It is booked now and settled at the end of the match, so by default it is not limited; give `chips`
        to limit it to what the offender has then. Recipients: option `fine_to`.

        Raises:
            EngineError: no such seat, or the chips do not fit.
        """
        if not 0 <= offender < self.players:
            raise EngineError(f"there is no seat {offender}; seats are 0 to {self.players - 1}.")
        others = self.players - 1
        fine = self.item("false_win")
        to = self.choice("fine_to")
        owed = fine.amount * others if to == "each_other" else fine.amount
        have = self._cap(chips)
        paid = owed if have is None else min(owed, have[offender])
        pay = [0] * self.players
        for nth in range(others if to != "bank" else 0):  # what cannot be shared goes to the nearest seats
            pay[(offender + 1 + nth) % self.players] = paid // others + (nth < paid % others)
        pay[offender] = -paid
        unpaid = [0] * self.players
        unpaid[offender] = owed - paid
        return Settlement(
            pay=tuple(pay), unpaid=tuple(unpaid), bank=-sum(pay), items=(fine,), account="deferred"
        )

    def dealer_stays(self, winner: Seat | None) -> bool:
        """Whether the dealer deals again; `winner` None = a draw (rules/zhenjiang.md §5)."""
        return winner is None or (winner == 0 and self.flag("dealer_stays_on_win"))

    def deal_plan(self, dice: Sequence[int]) -> DealPlan:
        """Plan the deal of one hand from the faces of one throw of two dice, or of two (`dice_throws`).

        Raises:
            EngineError: another number of dice, or faces outside 1..6.
        """
        wanted = 2 * self.number("dice_throws")
        if len(dice) != wanted:
            raise EngineError(f"this deal needs the faces of {wanted} dice, not {len(dice)}.")
        deal = self.data.deal
        pattern = DealPattern(
            players=self.players,
            stacks=deal.stacks,
            rounds=deal.rounds,
            group=deal.group,
            jump=self.flag("jump"),
            indicators=deal.indicators,
        )
        return plan_deal(pattern, tuple(dice))


def _copies_fit(reading: Decomposition) -> bool:
    """Whether no kind occurs more often than there are copies, wildcards counted by what they stand for."""
    kinds = {tile.stands_for for group in reading.groups for tile in group.tiles}
    return all(reading.copies(kind) <= MAX_COPIES for kind in kinds)
