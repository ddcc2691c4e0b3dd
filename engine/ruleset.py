"""A rule set of mahjong: its data, chosen options, and the steps from a claim to a verdict and a settlement.

Steps: consistent? (`engine.consistency`) → readings (`engine.decompose`) → refusals → prices → the reading
that pays the winner most. Every reading is priced, so none that pays more is ever missed. Each rule set
overrides small hooks; wildcards come with `engine.wildrules`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial

from engine import consistency
from engine.calls import CallRules
from engine.claim import DRAW, Claim, Counters, OptionValue, Seat
from engine.consistency import Bounds, Defect
from engine.decompose import Decomposition, decompositions
from engine.errors import EngineError
from engine.facts import Facts, FactValue
from engine.frozen import FrozenMap
from engine.hand import Hand
from engine.matchrules import MatchRules
from engine.melds import Meld
from engine.rulebase import OptionsChosen
from engine.ruledata import HowSpec, RuleData, TileSet
from engine.settlement import Settlement, check_chips, nothing
from engine.tiles import HAND_KINDS, Tile
from engine.verdict import Outcome, PriceItem, Problem, Verdict
from engine.wall import DealPattern, DealPlan, Slot, plan_deal
from engine.wincheck import MAX_COPIES, counts_of, wins


@dataclass(frozen=True, slots=True)
class Bill:
    """What a reading is worth: price class, items, the section that names the class, and the sums by name.

    `value` is what readings are compared by, in the winner's favour: `worth`, None = the sum of the items.
    """

    cls: str
    items: tuple[PriceItem, ...]
    section: str
    totals: Mapping[str, int] = FrozenMap()
    worth: InitVar[int | None] = None
    value: int = field(init=False)

    def __post_init__(self, worth: int | None) -> None:
        value = sum([item.amount for item in self.items]) if worth is None else worth
        object.__setattr__(self, "value", value)


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a sound hand wins: the refusals in order, else the priced readings.

    A win may come without a reading (special hands). `totals` and `items` are told even where the hand does
    not win: what it would have counted.
    """

    refusals: Sequence[Defect] = ()
    bills: Sequence[tuple[Bill, Decomposition | None]] = ()
    totals: Mapping[str, int] = field(default_factory=FrozenMap)
    items: tuple[PriceItem, ...] = ()


class RuleSet(OptionsChosen, MatchRules, CallRules):
    """Rules with their options chosen. It never changes; `with_options` returns another one."""

    def __init__(self, data: RuleData, options: Mapping[str, OptionValue] | None = None) -> None:
        super().__init__(data, options)
        self.data = data

    @property
    def players(self) -> int:
        """Number of players."""
        return self.data.players

    @property
    def tile_set(self) -> TileSet:
        """Copies of each kind."""
        return self.data.tile_set

    @property
    def hand_size(self) -> int:
        """Tiles of a hand before the draw."""
        return self.data.hand_size

    def how(self, claim: Claim) -> HowSpec | None:
        """The way to win that a claim names; None for a draw, or one the rule set does not have."""
        return self.data.hows.get(claim.how)

    def fact(self, claim: Claim, name: str) -> FactValue:
        """The value of a fact of the claim, its default where it is not given."""
        value = claim.facts.get(name)
        return self.data.facts[name].default if value is None else value

    def count(self, claim: Claim, name: str) -> int:
        """The value of a number among the facts."""
        value = self.fact(claim, name)
        return value if isinstance(value, int) else 0

    def counters(self, claim: Claim, name: str) -> Counters:
        """The value of counters among the facts."""
        value = self.fact(claim, name)
        return value if isinstance(value, Counters) else Counters()

    def tiles(self, claim: Claim, name: str) -> tuple[Tile, ...]:
        """The value of tiles among the facts."""
        value = self.fact(claim, name)
        return value if isinstance(value, tuple) else ()

    def melds_of(self, claim: Claim, seat: int) -> tuple[Meld, ...]:
        """The melds of one player."""
        if seat == claim.winner:
            return claim.melds
        return claim.shown[seat].melds if seat < len(claim.shown) else ()

    def facts_of_spread(self, tiles: Sequence[Tile], said: Facts) -> Facts:  # noqa: ARG002
        """Facts of a player which the tiles he spread show, beside those that people `said`."""
        return Facts()

    def unsaid(self, tiles: Sequence[Tile], said: Facts) -> tuple[str, ...]:  # noqa: ARG002
        """Facts of a player which his spread tiles leave open, so that somebody has to say them."""
        return ()

    def load_libraries(self) -> None:
        """Load what judging needs beyond the standard library, so that its lack shows before anybody plays.

        Raises:
            MissingExtraError: a library that is an extra is not installed.
        """

    # claim → verdict

    def check(self, claim: Claim) -> Verdict:
        """Judge a claim; the claim's own options come before those of the rule set.

        Raises:
            OptionError: the claim names an unknown option or a value which is not allowed.
        """
        rules = self.with_options(claim.options)
        return rules._check_draw(claim) if claim.how == DRAW else rules._check_win(claim)

    def _check_draw(self, claim: Claim) -> Verdict:
        found = [*consistency.draw_defects(claim, self.bounds(claim)), *self._contradictions(claim)]
        if found:
            return self._refusal([self.problem(*defect) for defect in found], claim, Judged())
        return Verdict(outcome=Outcome.DRAW, document=self.data.document, section=self.data.section(DRAW))

    def _check_win(self, claim: Claim) -> Verdict:
        found = [*consistency.defects(claim, self.bounds(claim)), *self._contradictions(claim)]
        details = [self.problem(*defect) for defect in found]
        if claim.xianggong:
            details.append(self.problem("xianggong", (), fatal=False))
        judged = Judged()
        readable = max(claim.held, default=Tile.M1) <= Tile.RED
        if readable and not any(code in consistency.TILE_DEFECTS for code, _ in found):
            judged = self.judge(claim)
            details += [self.problem(*refusal, fatal=False) for refusal in judged.refusals]
        if details:
            return self._refusal(details, claim, judged)
        return self._win(claim, judged)

    def _contradictions(self, claim: Claim) -> Iterator[Defect]:
        return (("contradictory_facts", about) for about in self.contradictions(claim))

    def _win(self, claim: Claim, judged: Judged) -> Verdict:
        best = max([bill.value for bill, _ in judged.bills])
        (bill, reading), *alike = [entry for entry in judged.bills if entry[0].value == best]
        return Verdict(
            outcome=Outcome.WIN,
            cls=bill.cls,
            decomposition=reading,
            alternatives=tuple([other for _, other in alike if other is not None]),
            items=bill.items,
            totals=bill.totals,
            warnings=tuple(self.problem(*warning, fatal=False) for warning in self.warnings(claim)),
            wild=self.wild(claim),
            document=self.data.document,
            section=bill.section,
        )

    def _refusal(self, details: Sequence[Problem], claim: Claim, judged: Judged) -> Verdict:
        fatal = any(problem.fatal for problem in details)
        return Verdict(
            outcome=Outcome.INCONSISTENT if fatal else Outcome.NO_WIN,
            details=tuple(details),
            items=judged.items,
            totals=FrozenMap(judged.totals),
            wild=self.wild(claim),
            document=self.data.document,
            section=details[0].section,
        )

    def problem(self, code: str, about: tuple[str, ...], *, fatal: bool = True) -> Problem:
        """A defect with the section of the document that speaks of it."""
        return Problem(code, self.data.section(code), about, fatal)

    # hooks of a rule set: what a claim may hold, and whether it wins

    def wild(self, claim: Claim) -> Tile | None:  # noqa: ARG002 - most rule sets have none
        """The wildcard kind of the hand; None without wildcards, or where it is not known."""
        return None

    def wild_of(self, indicator: Tile) -> Tile:  # noqa: ARG002
        """The wildcard kind for a flipped indicator.

        Raises:
            EngineError: the tile cannot be an indicator, or these rules have no wildcards.
        """
        raise EngineError(f"there are no wildcards in {self.data.title}.")

    def bounds(self, claim: Claim) -> Bounds:
        """What the rule set allows a claim to hold, put together from the hooks that follow."""
        return Bounds(
            data=self.data,
            expected=self.expected_concealed(claim),
            elsewhere=self.elsewhere(claim),
            meld_fits=partial(self.meld_fits, claim),
            indicator_taken=self.indicator_taken(claim),
        )

    def expected_concealed(self, claim: Claim) -> int:
        """How many concealed tiles the winner has without the winning tile."""
        return self.hand_size - 3 * len(claim.melds)

    def elsewhere(self, claim: Claim) -> Sequence[Tile]:  # noqa: ARG002
        """Tiles that are known to lie outside those of the claim, such as discarded wildcards."""
        return ()

    def meld_fits(self, claim: Claim, meld: Meld) -> bool:  # noqa: ARG002
        """Whether the tiles of a meld are what its kind says."""
        return meld.is_well_formed

    def indicator_taken(self, claim: Claim) -> bool:  # noqa: ARG002
        """Whether the winning tile is the indicator itself, so that it is not one copy more."""
        return False

    def contradictions(self, claim: Claim) -> Iterable[tuple[str, ...]]:  # noqa: ARG002
        """Facts of this rule set that cannot stand together, each as the facts that contradict each other."""
        return ()

    def warnings(self, claim: Claim) -> Iterable[Defect]:  # noqa: ARG002
        """Obligations that a winner has not kept; they never change the outcome."""
        return ()

    def judge(self, claim: Claim) -> Judged:
        """Say whether a sound hand wins, and price its readings."""
        readings = list(self.readings(claim))
        refusals = [*self.refuse_claim(claim)]
        reasons = [self.refuse_reading(claim, reading) for reading in readings]
        if not readings:
            refusals.append(("no_decomposition", ()))
        elif None not in reasons:
            refusals += dict.fromkeys(reason for reason in reasons if reason is not None)
        if refusals:
            return Judged(refusals)
        allowed = [reading for reading, reason in zip(readings, reasons, strict=True) if reason is None]
        return Judged(bills=list(self._priced(claim, allowed)))

    def _priced(
        self, claim: Claim, readings: Sequence[Decomposition]
    ) -> Iterator[tuple[Bill, Decomposition]]:
        """Price every reading; those that cannot differ in price share their bill."""
        bills: dict[Hashable, Bill] = {}
        for reading in readings:
            key = self.price_key(reading)
            if key not in bills:
                bills[key] = self.price(claim, reading)
            yield bills[key], reading

    def readings(self, claim: Claim) -> Iterator[Decomposition]:
        """Yield every reading of the complete hand, those with fewer substitutions first."""
        return self.decompositions(Hand(claim.concealed, claim.melds, claim.win))

    def decompositions(
        self, hand: Hand, indicator: Tile | None = None, *, claimed: bool = False  # noqa: ARG002
    ) -> Iterator[Decomposition]:  # fmt: skip
        """Yield every reading of a complete hand as sets and a pair, those with fewer substitutions first.

        `claimed`: the winning tile is another player's.

        Raises:
            EngineError: tiles that cannot be part of a set, five of a kind, or no indicator where the
                rules turn one up.
        """
        return decompositions(counts_of(hand.held), 0, None, hand.melds)

    def refuse_claim(self, claim: Claim) -> Iterable[Defect]:  # noqa: ARG002
        """Why the rules do not allow this win whatever the hand is."""
        return ()

    def refuse_reading(self, claim: Claim, reading: Decomposition) -> Defect | None:  # noqa: ARG002
        """Why the rules do not allow the win with this reading; None when they do."""
        return None

    def price_key(self, reading: Decomposition) -> Hashable:
        """What the price of a reading depends on; readings with the same key are priced once."""
        return reading

    def price(self, claim: Claim, reading: Decomposition) -> Bill:
        """What a reading is worth."""
        raise NotImplementedError

    def item(self, code: str, times: int = 1) -> PriceItem:
        """An item of the price list, taken `times`."""
        price = self.data.prices[code]
        return PriceItem(code, self.number(code) * times, price.section, price.payers, price.unit)

    def waits(self, hand: Hand, indicator: Tile | None = None) -> tuple[Tile, ...]:
        """The kinds that complete a hand by self-draw; never one of which no copy can come any more.

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        lying = [*hand.tiles] if indicator is None else [*hand.tiles, indicator]
        live = [tile for tile in HAND_KINDS if lying.count(tile) < self.tile_set.counts[tile]]
        return tuple(tile for tile in live if self.completes(hand, tile, indicator))

    def completes(self, hand: Hand, tile: Tile, indicator: Tile | None = None) -> bool:  # noqa: ARG002
        """Whether a self-drawn tile completes the hand to sets and a pair.

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        counts = counts_of((*hand.concealed, tile))
        return max(counts) <= MAX_COPIES and wins(counts)

    # money

    def settle(self, verdict: Verdict, claim: Claim, chips: Sequence[int] | None = None) -> Settlement:
        """Propose who pays what for a win or a draw. `chips` per seat, else the claim's.

        Raises:
            EngineError: the verdict is neither a win nor a draw, or the chips do not fit.
        """
        rules = self.with_options(claim.options)
        is_draw = verdict.outcome is Outcome.DRAW
        if not is_draw and (verdict.outcome is not Outcome.WIN or claim.winner is None):
            raise EngineError(f"{verdict.outcome.value} is not settled; only a win or a draw is.")
        have = claim.chips if chips is None else tuple(chips)
        if have is not None:
            check_chips(have, self.players, below_zero=rules.chips_below_zero)
        if is_draw or claim.winner is None:
            return rules.settle_draw(claim, have)
        return rules.settle_win(verdict, claim, claim.winner, have)

    def settle_win(
        self, verdict: Verdict, claim: Claim, winner: Seat, chips: Sequence[int] | None
    ) -> Settlement:
        """Who pays what for a win; `chips` None = nobody's payment is limited."""
        raise NotImplementedError

    def settle_draw(self, claim: Claim, chips: Sequence[int] | None) -> Settlement:  # noqa: ARG002
        """Who pays what when the wall is exhausted."""
        return nothing(self.players)

    def false_win(
        self, offender: Seat, chips: Sequence[int] | None = None, wins: Sequence[Claim] = ()
    ) -> Settlement:
        """What a false win costs which a referee has ruled.

        `wins` are wins of others which it spoiled, where the offender pays for those (包赔 of Xiamen).

        Raises:
            EngineError: no such seat, the chips do not fit, or `wins` without a rule for them.
        """
        if not 0 <= offender < self.players:
            raise EngineError(f"there is no seat {offender}; seats are 0 to {self.players - 1}.")
        if chips is not None:
            check_chips(chips, self.players, below_zero=self.chips_below_zero)
        if wins:
            return self.settle_spoiled(offender, chips, wins)
        return self.settle_false_win(offender, chips)

    def settle_false_win(self, offender: Seat, chips: Sequence[int] | None) -> Settlement:  # noqa: ARG002
        """Who pays what for a false win; the hand goes on unless the settlement says otherwise."""
        return nothing(self.players, hand_over=False)

    def settle_spoiled(
        self,
        offender: Seat,  # noqa: ARG002
        chips: Sequence[int] | None,  # noqa: ARG002
        wins: Sequence[Claim],  # noqa: ARG002
    ) -> Settlement:
        """Who pays what for a false win that spoiled wins of others, the fine itself included.

        Raises:
            EngineError: a claim among them does not win, or these rules have nothing of the kind.
        """
        raise EngineError(f"a false win does not pay for other wins in {self.data.title}.")

    # the deal

    @property
    def dice_throws(self) -> int:
        """How many throws of two dice find the break."""
        return self.data.deal.dice_throws

    @property
    def deal_pattern(self) -> DealPattern:
        """How the tiles are dealt."""
        deal = self.data.deal
        return DealPattern(
            players=self.players,
            stacks=deal.stacks,
            rounds=deal.rounds,
            group=deal.group,
            jump=deal.jump,
            singles=deal.singles,
            indicators=deal.indicators,
        )

    def deal_plan(self, dice: Sequence[int]) -> DealPlan:
        """Plan the deal of one hand from the faces of one throw of two dice, or of two (`dice_throws`).

        Raises:
            EngineError: another number of dice, or faces outside 1..6.
        """
        wanted = 2 * self.dice_throws
        if len(dice) != wanted:
            raise EngineError(f"this deal needs the faces of {wanted} dice, not {len(dice)}.")
        return plan_deal(self.deal_pattern, tuple(dice))

    def indicator_roller(self, plan: DealPlan) -> Seat | None:  # noqa: ARG002
        """Who rolls two more dice after the deal that find the indicator; None = its place is known."""
        return None

    def indicator_slot(
        self, plan: DealPlan, dice: Sequence[int] = (), *, replaced: int = 0, passed_over: int = 0  # noqa: ARG002
    ) -> Slot | None:  # fmt: skip
        """Where the tile to turn up lies; None = there is none.

        `dice` are those of `indicator_roller`, `replaced` tiles have been taken from the tail for flowers,
        `passed_over` flowers were turned up in its place before.
        """
        return plan.indicator
