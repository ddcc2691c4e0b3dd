"""Hooks of Zhenjiang mahjong 镇江麻将 (rules/zhenjiang.md): what may not win, and what a win is worth."""

from __future__ import annotations

from collections.abc import Iterator

from engine.claim import Claim, How
from engine.consistency import Defect
from engine.decompose import Decomposition
from engine.hand import Hand
from engine.melds import MeldKind
from engine.ruleset import Bill, RuleSet
from engine.verdict import PriceItem

CLASSES = {
    "heaven": "tianhu",
    "kong_open_sub": "gk",
    "kong_open_exposed": "gk",
    "kong_open_concealed": "gk",
}
"""Price class of a whole price, where it does not bear the price's own name."""


class Zhenjiang(RuleSet):
    """Four players, 136 tiles, every copy of the kind after the flipped one is wild."""

    def refuse_claim(self, claim: Claim) -> Iterator[Defect]:
        """Refuse a robbed kong without the option `rob_kong` (§5)."""
        if claim.how is How.ROBKONG and not self.flag("rob_kong"):
            yield "rob_kong_not_allowed", ("how=robkong",)

    def refuse_reading(self, claim: Claim, reading: Decomposition) -> Defect | None:
        """Refuse a substitution in a win on another's tile with the option `ron_needs_natural` (§5)."""
        if claim.how.is_from_another and reading.substituted and self.flag("ron_needs_natural"):
            return "ron_with_wild_substitution", (f"how={claim.how.value}",)
        return None

    def price(self, hand: Hand, claim: Claim, reading: Decomposition) -> Bill:
        """Price a reading: the highest whole price (or their sum, option `combine`) and the bonuses (§6)."""
        whole = list(self._whole_prices(hand, claim, reading))
        best = max(whole, key=lambda item: item.amount)
        if claim.how.is_from_another:
            cls, base = "discard", whole
        else:
            cls, base = (
                CLASSES.get(best.code, best.code),
                whole if self.choice("combine") == "sum" else [best],
            )
        return Bill(cls, (*base, *self._bonuses(claim, hand)), best.section)

    def _whole_prices(self, hand: Hand, claim: Claim, reading: Decomposition) -> Iterator[PriceItem]:
        """Yield the whole prices that apply, of equal ones the more special first."""
        if claim.how.is_from_another:
            yield self.item("discard_other")
            yield self.item("discard_discarder")
            return
        natural = reading.substituted == 0
        if claim.how is How.HEAVEN:
            yield self.item("heaven")
        elif claim.how is How.KONG_MING:
            yield self.item("kong_open_exposed" if natural else "kong_open_sub")
        elif claim.how is How.KONG_AN:
            yield self.item("kong_open_concealed" if natural else "kong_open_sub")
        if claim.how is not How.HEAVEN and self._is_any_tile_wait(hand, claim):
            yield self.item("pao_nosub" if natural else "pao")
        yield self.item("self_nosub" if natural else "self_sub")

    def _is_any_tile_wait(self, hand: Hand, claim: Claim) -> bool:
        """跑搭 (§5): scored on self-draw only; before 天胡 there was no wait."""
        indicator = claim.indicator
        return self.flag("pao_da") and indicator is not None and self.every_tile_wins(hand, indicator)

    def _bonuses(self, claim: Claim, hand: Hand) -> Iterator[PriceItem]:
        """Yield what is added to the price: 打搭, 成搭 and, with `kong_fee`, kongs (§6)."""
        kinds = [meld.kind for meld in hand.melds] if self.flag("kong_fee") else []
        added = {
            "first_wild": claim.da.shou,
            "later_wild": claim.da.er,
            "wild_after_pung": claim.da.peng,
            "kong_fee_exposed": kinds.count(MeldKind.KONG),
            "kong_fee_concealed": kinds.count(MeldKind.CONCEALED_KONG),
            "claimed_wild": int(self._claims_wild(claim)),
        }
        return (self.item(code, times) for code, times in added.items() if times)

    def _claims_wild(self, claim: Claim) -> bool:
        """成搭: 打搭放冲, the winning tile is a *discarded* wildcard."""
        if claim.how is not How.DISCARD or claim.indicator is None:
            return False
        return claim.win == self.wild_of(claim.indicator)


RULES = Zhenjiang
