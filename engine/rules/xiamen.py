"""Hooks of Xiamen mahjong 厦门麻将 (xiamen.md): gold and its White proxy, what wins, and its water."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from engine import gold as golden
from engine.claim import DEALER, Claim
from engine.consistency import Defect
from engine.decompose import Decomposition, GroupKind
from engine.frozen import FrozenMap
from engine.hand import Hand
from engine.melds import Meld, MeldKind
from engine.rules.xiamen_money import YOUJIN, XiamenMoney
from engine.rules.xiamen_table import AT_THE_START
from engine.ruleset import Bill, Judged
from engine.tiles import Tile
from engine.verdict import PriceItem
from engine.wildrules import known
from engine.wincheck import every_tile_wins

GOLD_COPIES = 3
"""Copies of the gold kind that are in play; the fourth lies turned up."""

THREE_GOLDS = ("sanjin_start", "sanjin_mid")
UNCHANGED = ("sanjin_start", "tianting", "tianhe", "qiangjin")
"""Ways to win with the dealt tiles, so without melds."""

FAMILIES = (frozenset(map(Tile, range(34, 38))), frozenset(map(Tile, range(38, 42))))
"""春夏秋冬 and 梅兰菊竹."""

MELD_WATER = {
    MeldKind.PUNG: (None, "water_pung_honour"),
    MeldKind.KONG: ("water_kong", "water_kong_honour"),
    MeldKind.CONCEALED_KONG: ("water_concealed_kong", "water_concealed_kong_honour"),
}
"""Price of a meld of suit tiles and of honours (§6)."""


class Xiamen(XiamenMoney):
    """Four players, 144 tiles; the turned-up kind is gold and wild, White stands for its face."""

    # gold (§3)

    def split(self, hand: Hand, indicator: Tile, *, claimed: bool = False) -> tuple[list[int], int]:  # noqa: ARG002
        """Counts of the natural tiles by face, and the number of golds; nobody can claim a gold.

        Raises:
            EngineError: tiles that cannot be part of a set.
        """
        return golden.split(hand.held, self.wild_of(indicator))

    def decompositions(
        self, hand: Hand, indicator: Tile | None = None, *, claimed: bool = False  # noqa: ARG002
    ) -> Iterator[Decomposition]:  # fmt: skip
        """Yield every reading of a complete hand, those in which fewer golds substitute first.

        Raises:
            EngineError: tiles that cannot be part of a set, five of a kind, or no gold.
        """
        found = golden.readings(hand.held, self.wild_of(known(indicator)), hand.melds)
        return self.fitting(found)

    def any_tile_readings(self, hand: Hand, indicator: Tile) -> Iterator[Decomposition]:
        """Yield every way to split all tiles but one gold into sets (游金, §5).

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        gold = self.wild_of(indicator)
        if not every_tile_wins(*golden.split(hand.concealed, gold)):
            return iter(())
        return self.fitting(golden.any_tile_readings(hand.concealed, gold, hand.melds))

    def every_tile_wins(self, hand: Hand, indicator: Tile) -> bool:
        """Whether all tiles but one gold split into sets, so that any tile wins (游金, §5).

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        return any(True for _ in self.any_tile_readings(hand, indicator))

    def golds(self, claim: Claim) -> int:
        """Golds in the hand, drawn or robbed ones included (§6)."""
        gold = self.wild(claim)
        return (*claim.held, *self.tiles(claim, "drawn")).count(gold) if gold is not None else 0

    # what a claim may hold

    def elsewhere(self, claim: Claim) -> Sequence[Tile]:
        """Discarded golds lie out (§5)."""
        gold = self.wild(claim)
        out = YOUJIN.get(claim.how, 0) or int(bool(self.fact(claim, "gold_discarded")))
        return () if gold is None else (gold,) * out

    def meld_fits(self, claim: Claim, meld: Meld) -> bool:
        """Golds are not melded, and White is their face (§3)."""
        gold = self.wild(claim)
        faces = tuple(golden.face(tile, gold) for tile in meld.tiles)
        return gold not in meld.tiles and Meld(meld.kind, faces).is_well_formed

    def indicator_taken(self, claim: Claim) -> bool:
        """抢金 takes the turned-up gold (§5)."""
        return claim.how == "qiangjin" and claim.win == claim.indicator

    def contradictions(self, claim: Claim) -> Iterator[tuple[str, ...]]:
        """Facts that cannot stand together: dealt hands, 抢金 without the gold, facts of other wins."""
        said = f"how={claim.how}"
        if claim.indicator is not None and claim.indicator.is_flower:
            yield f"flip={claim.indicator.id}", f"ruleset={self.id}"
        if claim.how in UNCHANGED and claim.melds:
            yield said, f"melds={len(claim.melds)}"
        if claim.how == "qiangjin" and claim.win is not None and claim.win != claim.indicator:
            yield said, f"win={claim.win.id}"
        yield from ((said, fact) for fact in self._idle_facts(claim))

    def _idle_facts(self, claim: Claim) -> Iterator[str]:
        """Facts given that this way to win cannot have."""
        drawn = self.tiles(claim, "drawn")
        if drawn and (claim.how not in YOUJIN or len(drawn) > 1 or drawn[0].is_flower):
            yield f"drawn={''.join(tile.id for tile in drawn)}"
        if self.fact(claim, "kong_same_round") and (
            claim.how not in YOUJIN or not _has_concealed_kong(claim)
        ):
            yield "kong_same_round"
        if self.fact(claim, "pung_same_round") and claim.how != "robkong":
            yield "pung_same_round"
        if claim.how in AT_THE_START:
            yield from (name for name in ("gold_discarded", "passed") if name in claim.facts)

    # what wins

    def judge(self, claim: Claim) -> Judged:
        """Say whether a sound hand wins; 三金倒 needs no sets, 游金 a hand that any tile completes."""
        if self.wild(claim) is None or self.how(claim) is None:
            return Judged()
        if claim.how in THREE_GOLDS:
            return self._judge_three_golds(claim)
        return self._judge_any_tile(claim) if claim.how in YOUJIN else super().judge(claim)

    def _judge_three_golds(self, claim: Claim) -> Judged:
        refusals = list(self.refuse_claim(claim))
        dealt = claim.held if claim.how == "sanjin_mid" or claim.winner == DEALER else claim.concealed
        golds = dealt.count(claim.indicator) if claim.indicator is not None else 0
        if golds < GOLD_COPIES:
            refusals.append(("not_three_gold", (f"how={claim.how}", f"golds={golds}")))
        return Judged(refusals) if refusals else Judged(bills=[(self._bill(claim, None), None)])

    def _judge_any_tile(self, claim: Claim) -> Judged:
        refusals = list(self.refuse_claim(claim))
        hand = Hand(claim.concealed, claim.melds)
        found = list(self.any_tile_readings(hand, claim.indicator)) if claim.indicator is not None else []
        if not found:
            refusals.append(("not_any_tile_wait", (f"how={claim.how}",)))
        drawn = self.tiles(claim, "drawn")
        if found and drawn and drawn[0].is_kind and claim.indicator is not None:
            complete = Hand(claim.concealed, claim.melds, drawn[0])
            found += self.decompositions(complete, claim.indicator)
        return Judged(refusals) if refusals else Judged(bills=list(self._priced(claim, found)))

    def refuse_claim(self, claim: Claim) -> Iterator[Defect]:
        """Why the rules do not allow this win whatever the hand is (§3 to §5)."""
        said = f"how={claim.how}"
        if self.fact(claim, "gold_discarded") and not claim.xianggong and not YOUJIN.get(claim.how, 0):
            if self.choice("gold_discard") == "forbidden":
                yield "xianggong", ("gold_discarded", "gold_discard=forbidden")
            elif _on_anothers_tile(claim):
                yield "gold_lock", (said, "gold_discarded")
        if _on_anothers_tile(claim):
            yield from self._refuse_anothers_tile(claim, said)
        if self.fact(claim, "pung_same_round"):
            yield "rob_kong_not_allowed", (said, "pung_same_round")
        if self.fact(claim, "kong_same_round"):
            yield "youjin_after_concealed_kong", (said, "kong_same_round")
        if claim.how == "sanjin_mid" and self.choice("midgame_three_gold") == "must_youjin":
            yield "midgame_three_gold_not_allowed", (said, "midgame_three_gold=must_youjin")

    def _refuse_anothers_tile(self, claim: Claim, said: str) -> Iterator[Defect]:
        gold = self.wild(claim)
        if gold is not None and gold in claim.concealed:
            yield "gold_in_hand_no_discard_win", (said, f"{gold.id} in the hand")
        if claim.win == gold and gold is not None:
            yield "gold_discard_not_claimable", (said, f"win={gold.id}")
        if claim.how != "robkong" and claim.win in self.tiles(claim, "passed") and claim.win is not None:
            yield "passed_tile", (f"win={claim.win.id}", "passed")

    # what it is worth (§5 to §7)

    def price_key(self, reading: Decomposition) -> Hashable:
        """Readings differ in price only by their natural concealed triplets (§6)."""
        return tuple(_natural_triplets(reading))

    def price(self, claim: Claim, reading: Decomposition) -> Bill:
        """Price a reading: (base + water) × times from each, and the bonus outside the chips."""
        return self._bill(claim, reading)

    def _bill(self, claim: Claim, reading: Decomposition | None) -> Bill:
        base = self.base_item(claim, claim.winner or DEALER)
        water = tuple(self._water(claim, reading))
        times = self.item(f"times_{claim.how}")
        sum_of_water = sum(item.amount for item in water)
        bonus = [self.item(f"bonus_{claim.how}")] if f"bonus_{claim.how}" in self.data.prices else []
        return Bill(
            cls=claim.how,
            items=(base, *water, times, *(item for item in bonus if item.amount)),
            section=times.section,
            totals=FrozenMap(base=base.amount, water=sum_of_water, times=times.amount),
            worth=(base.amount + sum_of_water) * times.amount,
        )

    def _water(self, claim: Claim, reading: Decomposition | None) -> Iterator[PriceItem]:
        """Yield the items of water (§6); without a reading, in 三金倒, triplets do not count."""
        gold = self.wild(claim)
        flowers = self.tiles(claim, "flowers")
        codes = ["water_gold"] * self.golds(claim) + ["water_flower"] * len(flowers)
        codes += ["water_family"] * sum(family <= set(flowers) for family in FAMILIES)
        for meld in claim.melds:
            suited, honour = MELD_WATER.get(meld.kind, (None, None))
            honours = any(golden.face(tile, gold).is_honour for tile in meld.tiles)
            codes.append((honour if honours else suited) or "")
        for tile in _natural_triplets(reading) if reading is not None else ():
            if not (_on_anothers_tile(claim) and tile == claim.win and claim.concealed.count(tile) < 3):
                honours = golden.face(tile, gold).is_honour
                codes.append("water_triplet_honour" if honours else "water_triplet")
        for code in dict.fromkeys(filter(None, codes)):
            item = self.item(code, codes.count(code))
            if item.amount:
                yield item


def _on_anothers_tile(claim: Claim) -> bool:
    """Whether the winning tile is another's: 平和, 抢杠, and 天听 with a discarder."""
    return claim.how in ("ping", "robkong") or (claim.how == "tianting" and claim.discarder is not None)


def _natural_triplets(reading: Decomposition) -> Iterator[Tile]:
    """The kinds of the concealed triplets without gold."""
    for group in reading.sets:
        if group.kind is GroupKind.PUNG and not group.melded:
            tiles = {tile.actual for tile in group.tiles}
            if reading.wild not in tiles:
                yield group.tiles[0].actual


def _has_concealed_kong(claim: Claim) -> bool:
    return any(meld.kind is MeldKind.CONCEALED_KONG for meld in claim.melds)


RULES = Xiamen
