"""Hooks of Zhenjiang mahjong 镇江麻将 (zhenjiang.md): wildcard, what may not win, what a win is worth."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.calls import Call
from engine.claim import Claim, Counters, OptionValue, Seat
from engine.consistency import Defect
from engine.decompose import Decomposition
from engine.hand import Hand
from engine.melds import Meld, MeldKind
from engine.ruledata import RuleData
from engine.ruleset import Bill
from engine.settlement import Settlement, owed_by_seat, settle_debts
from engine.tiles import Tile
from engine.verdict import PriceItem, Verdict
from engine.wall import DealPattern
from engine.wildcard import wild_after
from engine.wildrules import WildRuleSet

CLASSES = {
    "heaven": "tianhu",
    "kong_open_sub": "gk",
    "kong_open_exposed": "gk",
    "kong_open_concealed": "gk",
}
"""Price class of a whole price, where it does not bear the price's own name."""

DA_PRICES = {"shou": "first_wild", "er": "later_wild", "peng": "wild_after_pung"}
"""Price of each wildcard that the winner discarded, by its counter in `da`."""

KONG_FEES = {MeldKind.KONG: "kong_fee_exposed", MeldKind.CONCEALED_KONG: "kong_fee_concealed"}


class Zhenjiang(WildRuleSet):
    """Four players, 136 tiles, every copy of the kind after the flipped one is wild."""

    def __init__(self, data: RuleData, options: Mapping[str, OptionValue] | None = None) -> None:
        super().__init__(data, options)
        self._cycles = self.choice("dragon_order"), self.choice("honour_cycle")

    def wild_of(self, indicator: Tile) -> Tile:
        """The kind after the flipped one in its cycle (§3).

        Raises:
            EngineError: the tile cannot be an indicator.
        """
        return wild_after(indicator, *self._cycles)

    def wild_when_claimed(self) -> bool:
        """Another's wildcard has its face value unless the option says otherwise (§3)."""
        return self.choice("claimed_wild_value") == "wild"

    def da(self, claim: Claim) -> Counters:
        """Wildcards the winner has discarded and nobody claimed: 打搭 (§4 and §6)."""
        return self.counters(claim, "da")

    # what a claim may hold

    def elsewhere(self, claim: Claim) -> Sequence[Tile]:
        """Discarded wildcards lie outside the hand (§4)."""
        wild = self.wild(claim)
        return () if wild is None else (wild,) * self.da(claim).total

    def meld_fits(self, claim: Claim, meld: Meld) -> bool:
        """Three indicator tiles may be a kong (§4)."""
        of_three = self.flag("indicator_kong3") and _is_indicator_kong(meld, claim)
        return meld.is_well_formed or of_three

    def contradictions(self, claim: Claim) -> Iterator[tuple[str, ...]]:
        """天胡 comes before any discard or kong (§5); a robbed wildcard cannot have been discarded."""
        discarded = self.da(claim).total
        if claim.how == "heaven":
            if claim.melds:
                yield "how=heaven", f"melds={len(claim.melds)}"
            if discarded:
                yield "how=heaven", f"da={discarded}"
        if claim.how == "robkong" and claim.win == self.wild(claim) and claim.win is not None and discarded:
            yield "how=robkong", f"da={discarded}"
        if self.fact(claim, "punged_first") and not self._has_wild_pung(claim):
            yield "punged_first", "no pung of wildcards"

    def _has_wild_pung(self, claim: Claim) -> bool:
        punged = (MeldKind.PUNG, MeldKind.KONG)  # a pung may have become a kong
        return self.wild(claim) in {
            meld.tiles[0] for meld in claim.melds if meld.kind in punged and meld.tiles
        }

    def warnings(self, claim: Claim) -> Iterator[Defect]:
        """首搭必打 and 二搭必亮 (§4): what the winner seems not to have kept, and what the table makes of it.

        The winning tile asks for nothing: the hand was over before it could be discarded.
        """
        da = self.da(claim)
        had = claim.concealed.count(self.wild(claim)) + da.total
        unshown = had >= 2 and not da.get("er", 0) + da.get("peng", 0) and da.get("shou", 0) < 2
        kept = claim.how == "heaven"  # nobody has discarded yet
        for code, option, broken in (
            ("first_wild_not_discarded", "first_wild_must_be_discarded", had >= 1 and not da),
            ("second_wild_not_shown", "second_wild_must_be_shown", unshown),
        ):
            if broken and not kept and self.choice(option) != "off":
                yield code, (f"wildcards={had}", f"discarded={da.total}", f"{option}={self.choice(option)}")

    # what wins, and what it is worth

    def refuse_claim(self, claim: Claim) -> Iterator[Defect]:
        """Refuse a robbed kong without the option `rob_kong` (§5)."""
        if claim.how == "robkong" and not self.flag("rob_kong"):
            yield "rob_kong_not_allowed", ("how=robkong",)

    def refuse_reading(self, claim: Claim, reading: Decomposition) -> Defect | None:
        """Refuse a substitution in a win on another's tile with the option `ron_needs_natural` (§5)."""
        if _is_claimed(claim) and reading.substituted and self.flag("ron_needs_natural"):
            return "ron_with_wild_substitution", (f"how={claim.how}",)
        return None

    def price_key(self, reading: Decomposition) -> Hashable:
        """Readings differ in price only by whether a wildcard stands for another tile (§6)."""
        return reading.substituted > 0

    def price(self, claim: Claim, reading: Decomposition) -> Bill:
        """Price a reading: the highest whole price (or their sum, option `combine`) and the bonuses (§6)."""
        whole = list(self._whole_prices(claim, reading))
        best = max(whole, key=lambda item: item.amount)
        if _is_claimed(claim):
            cls, base = "discard", whole
        else:
            cls = CLASSES.get(best.code, best.code)
            base = whole if self.choice("combine") == "sum" else [best]
        return Bill(cls, (*base, *self._bonuses(claim)), best.section)

    def item(self, code: str, times: int = 1) -> PriceItem:
        """An item of the price list in chips: prices are in units of `base` (§6)."""
        return super().item(code, times * self.number("base"))

    def _whole_prices(self, claim: Claim, reading: Decomposition) -> Iterator[PriceItem]:
        """Yield the whole prices that apply, of equal ones the more special first."""
        if _is_claimed(claim):
            yield self.item("discard_other")
            yield self.item("discard_discarder")
            return
        natural = reading.substituted == 0
        if claim.how == "heaven":
            yield self.item("heaven")
        elif claim.how == "kong_ming":
            yield self.item("kong_open_exposed" if natural else "kong_open_sub")
        elif claim.how == "kong_an":
            yield self.item("kong_open_concealed" if natural else "kong_open_sub")
        if claim.how != "heaven" and self._is_any_tile_wait(claim):
            yield self.item("pao_nosub" if natural else "pao")
        yield self.item("self_nosub" if natural else "self_sub")

    def _is_any_tile_wait(self, claim: Claim) -> bool:
        """跑搭 (§5): scored on self-draw only; before 天胡 there was no wait."""
        if not self.flag("pao_da") or claim.indicator is None:
            return False
        return self.every_tile_wins(Hand(claim.concealed, claim.melds), claim.indicator)

    def _bonuses(self, claim: Claim) -> Iterator[PriceItem]:
        """Yield what is added to the price: 打搭, 成搭 and, with `kong_fee`, kongs (§6)."""
        da = self.da(claim)
        for name, code in DA_PRICES.items():
            if name in da:
                yield self.item(code, da[name])
        if self.fact(claim, "punged_first") and self.flag("punged_first_wild_counts"):
            yield self.item("punged_first_wild")
        kinds = [meld.kind for meld in claim.melds] if self.flag("kong_fee") else []
        for kind, code in KONG_FEES.items():
            if kind in kinds:
                yield self.item(code, kinds.count(kind))
        if claim.how == "discard" and claim.win == self.wild(claim):
            yield self.item("claimed_wild")

    # calls

    def tiles_fit(self, call: Call) -> bool:
        """With `indicator_kong3` three tiles of the indicator kind are a concealed kong (§4)."""
        of_three = [call.indicator] * 3 == list(call.tiles) and call.indicator is not None
        if call.kind == "kong_concealed" and of_three:
            return self.flag("indicator_kong3")
        return super().tiles_fit(call)

    # money

    def settle_win(
        self, verdict: Verdict, claim: Claim, winner: Seat, chips: Sequence[int] | None
    ) -> Settlement:
        """Losers owe their items by the policy `payment`; nobody pays more than he has (§6)."""
        owed = owed_by_seat(verdict.items, self.players, winner, claim.discarder, self.choice("payment"))
        have = chips if self.flag("cap_at_chips") else None
        return settle_debts(owed, winner, have, verdict.items)

    def settle_false_win(self, offender: Seat, chips: Sequence[int] | None) -> Settlement:  # noqa: ARG002
        """The fine of 诈胡 (§7): booked now, collected at the end of the match; the hand goes on.

        What the offender has now does not limit it: the end of the match does. Recipients: option `fine_to`.
        """
        others = self.players - 1
        fine = self.item("false_win")
        to = self.choice("fine_to")
        owed = fine.amount * others if to == "each_other" else fine.amount
        pay = [0] * self.players
        for nth in range(others if to != "bank" else 0):  # what cannot be shared goes to the nearest seats
            pay[(offender + 1 + nth) % self.players] = owed // others + (nth < owed % others)
        pay[offender] = -owed
        nobody = (0,) * self.players
        return Settlement(
            pay=nobody,
            deferred=tuple(pay),
            deferred_bank=-sum(pay),
            unpaid=nobody,
            items=(fine,),
            hand_over=False,
        )

    def dealer_stays(self, winner: Seat | None) -> bool:
        """The dealer deals again after a draw (§5), and after winning if the option says so."""
        return winner is None or (winner == 0 and self.flag("dealer_stays_on_win"))

    @property
    def chips_below_zero(self) -> bool:
        """Without the cap a payer may owe more than he has (§6)."""
        return not self.flag("cap_at_chips")

    def match_end(self, circles: int, hands: int, chips: Sequence[int]) -> str | None:  # noqa: ARG002
        """Two players without chips end the table at once (两光, §8), else four rounds of the deal (§1)."""
        if self.flag("two_broke_ends") and sum(have <= 0 for have in chips) >= 2:
            return "two_broke"
        return "match_over" if circles >= self.number("circles") else None

    @property
    def plays_running_hand(self) -> bool:
        """What becomes of the hand that runs when time is up is an option (§8)."""
        return self.choice("running_hand") == "finish"

    # the deal

    def first_dealer(self, roller: int, dice: Sequence[int]) -> int:
        """The player who is East at first: the sum counted counter-clockwise from the roller, who is 1 (§2).

        >>> from engine import rulesets
        >>> rulesets.load("zhenjiang").first_dealer(2, (3, 4))
        0
        """
        return (roller + sum(dice) - 1) % self.players

    @property
    def dice_throws(self) -> int:
        """One throw finds the break, or two (§2)."""
        return self.number("dice_throws")

    @property
    def deal_pattern(self) -> DealPattern:
        """跳牌 by option (§2)."""
        return replace(super().deal_pattern, jump=self.flag("jump"))


def _is_claimed(claim: Claim) -> bool:
    return claim.how in ("discard", "robkong")


def _is_indicator_kong(meld: Meld, claim: Claim) -> bool:
    """A concealed kong of the three live tiles of the indicator kind (§4)."""
    return meld.kind is MeldKind.CONCEALED_KONG and list(meld.tiles) == [claim.indicator] * 3


RULES = Zhenjiang
