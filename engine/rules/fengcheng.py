"""Hooks of Fengcheng mahjong 丰城麻将 (fengcheng.md): three players, and the losers' tiles count too."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from engine.calls import Call
from engine.claim import DEALER, Claim, Seat
from engine.consistency import Defect
from engine.decompose import Decomposition, Group, GroupKind
from engine.facts import Facts, FactValue
from engine.frozen import FrozenMap
from engine.hand import Hand
from engine.melds import Meld, MeldKind
from engine.rules.fengcheng_spread import DRAGONS, HONOURS, WINDS, Spread, surely_spread
from engine.ruleset import Bill, RuleSet
from engine.settlement import Settlement, nothing
from engine.tiles import Tile
from engine.verdict import PriceItem, Verdict

MELD_PRICES = {
    MeldKind.PUNG: "pung",
    MeldKind.SHAO: "shao",
    MeldKind.KONG: "kong",
    MeldKind.CONCEALED_KONG: "concealed_kong",
}
"""First word of a meld's price; a chow has none (§6)."""


class Fengcheng(RuleSet):
    """Three players, 102 tiles, five sets and a pair; every player's open tiles are counted in 垒."""

    # what a claim may hold

    def spread_of(self, claim: Claim, seat: int) -> Spread:
        """What a player spread, and what his starting hand was (§3)."""
        return Spread.of(claim.shown[seat].facts if seat < len(claim.shown) else {})

    def facts_of_spread(self, tiles: Sequence[Tile], said: Facts) -> Facts:
        """Honours and their complete groups, those beyond the seven of 七星, 么鸡 (§3)."""
        honours = [tile for tile in tiles if tile.is_honour]
        groups = sum(set(whole) <= set(honours) for whole in (WINDS, DRAGONS))
        yaoji = "single" if tiles.count(Tile.S1) == 1 else ""
        number = {"honors": len(honours)}
        if said.get("seven_star"):
            number = {"extra_honors": max(0, len(honours) - len(HONOURS))}
        shown: dict[str, FactValue] = {**number, "groups": groups, "yaoji": yaoji}
        return Facts({name: value for name, value in shown.items() if value})

    def unsaid(self, tiles: Sequence[Tile], said: Facts) -> tuple[str, ...]:
        """Of two 么鸡 the table does not show whether both were held at the start (§3)."""
        return ("yaoji",) if tiles.count(Tile.S1) > 1 and "yaoji" not in said else ()

    def expected_concealed(self, claim: Claim) -> int:
        """A spread group leaves three tiles less in hand: 4 + 1 replacement, or 3 without one (§3)."""
        sets = 0 if claim.winner is None else self.spread_of(claim, claim.winner).sets
        return super().expected_concealed(claim) - 3 * sets

    def elsewhere(self, claim: Claim) -> Sequence[Tile]:
        """Spread tiles lie on the table, as far as the facts say which they are."""
        return self._surely_spread(claim)[0]

    def _surely_spread(self, claim: Claim) -> tuple[Sequence[Tile], bool]:
        spreads = [self.spread_of(claim, seat) for seat in range(self.players)]
        melds = [*claim.melds, *(meld for entry in claim.shown for meld in entry.melds)]
        return surely_spread(spreads, [*claim.held, *(tile for meld in melds for tile in meld.tiles)])

    def contradictions(self, claim: Claim) -> Iterator[tuple[str, ...]]:
        """Facts of one player that cannot stand together, or honours that cannot all be there (§3)."""
        laid = []
        for seat in range(self.players):
            spread = self.spread_of(claim, seat)
            for clash in spread.clashes(smoke=self.flag("smoke"), in_hand=seat == claim.winner):
                yield tuple(name if name.startswith("no ") else f"p{seat}.{name}" for name in clash)
            if spread.laid_honours:
                laid.append(f"p{seat} spread {spread.laid_honours} honours")
        if laid and not self._surely_spread(claim)[1]:
            yield (*laid, "the honours of the claim")

    # what wins, and what it is worth

    def refuse_reading(self, claim: Claim, reading: Decomposition) -> Defect | None:  # noqa: ARG002
        """Two 么鸡 are no pair with the option `yaoji_pair` off (§3)."""
        if reading.pair.tiles[0].stands_for is Tile.S1 and not self.flag("yaoji_pair"):
            return "yaoji_no_pair", (Tile.S1.id,)
        return None

    def completes(self, hand: Hand, tile: Tile, indicator: Tile | None = None) -> bool:
        """Whether a self-drawn tile completes the hand; a 么鸡 can only be one of the pair (§3).

        Raises:
            EngineError: tiles that cannot be part of a set, or five of a kind.
        """
        has_yaoji = Tile.S1 in (*hand.concealed, tile)
        return super().completes(hand, tile, indicator) and (self.flag("yaoji_pair") or not has_yaoji)

    def price_key(self, reading: Decomposition) -> Hashable:
        """Readings differ in price only by their concealed triplets (§6)."""
        return tuple(group.tiles[0].stands_for for group in reading.sets if _is_concealed_triplet(group))

    def price(self, claim: Claim, reading: Decomposition) -> Bill:
        """The winner's 垒: the win, concealed triplets that count, melds, spread tiles (§6)."""
        self_drawn = claim.how == "self"
        win = self.item("win_self" if self_drawn else "win_discard")
        seat = claim.winner or 0
        items = (
            win,
            *self._triplets(claim, reading),
            *self.melds_lei(claim, seat),
            *self.spread_lei(claim, seat),
        )
        return Bill("self" if self_drawn else "discard", items, win.section)

    def _triplets(self, claim: Claim, reading: Decomposition) -> Iterator[PriceItem]:
        """By self-draw every concealed triplet counts as 韶 (§6).

        By discard only that which the tile completes out of a pair, as 碰; three in hand that were not laid
        as 韶 count nothing.
        """
        for group in reading.sets:
            if not _is_concealed_triplet(group):
                continue
            tile = group.tiles[0].stands_for
            if claim.how == "self":
                yield self.item(f"shao_{_class(tile)}")
            elif tile == claim.win and claim.concealed.count(tile) == 2:
                yield self.item(f"pung_{_class(tile)}")

    def melds_lei(self, claim: Claim, seat: int) -> Iterator[PriceItem]:
        """What a player's melds count (§6); a kong replaces its 韶 or pung."""
        for meld in self.melds_of(claim, seat):
            if meld.kind in MELD_PRICES:
                yield self.item(f"{MELD_PRICES[meld.kind]}_{_class(_kind_of(meld))}")

    def spread_lei(self, claim: Claim, seat: int) -> Iterator[PriceItem]:
        """What a player's spread tiles and starting hand count (§3)."""
        spread = self.spread_of(claim, seat)
        if spread.seven_star:
            yield self.item("seven_star")
        if spread.paid_honours:
            yield self.item("spread_honour", spread.paid_honours)
        if spread.yaoji:
            yield self.item(f"yaoji_{spread.yaoji}")
        if spread.no_honor_start and self.flag("no_honor_bonus"):
            yield self.item("no_honor_start")
        if spread.seven_less_two and self.flag("seven_less_two_bonus"):
            yield self.item("seven_less_two")

    # money

    def settle_win(
        self, verdict: Verdict, claim: Claim, winner: Seat, chips: Sequence[int] | None
    ) -> Settlement:
        """Every player's 垒 are counted and settled in pairs (§6); nobody pays for the discard itself."""
        by_seat = tuple(
            verdict.items if seat == winner else (*self.melds_lei(claim, seat), *self.spread_lei(claim, seat))
            for seat in range(self.players)
        )
        return self._settled(by_seat, chips)

    def settle_draw(self, claim: Claim, chips: Sequence[int] | None) -> Settlement:
        """烧庄: only what was spread, and the starting hands, are settled (§5)."""
        return self._settled(
            tuple(tuple(self.spread_lei(claim, seat)) for seat in range(self.players)), chips
        )

    def settle_false_win(self, offender: Seat, chips: Sequence[int] | None) -> Settlement:
        """By default nothing: the offender's hand is dead and the referee may rule more (§7)."""
        fine = self._points(self.number("false_win_lei"))
        if not fine:
            return nothing(self.players, hand_over=False)
        others = self.players - 1
        pay = tuple(-fine * others if seat == offender else fine for seat in range(self.players))
        return Settlement(
            pay=pay,
            unpaid=(0,) * self.players,
            loans=self._loans(pay, chips),
            items=(self.item("false_win_lei"),),
            hand_over=False,
        )

    def _settled(self, by_seat: tuple[tuple[PriceItem, ...], ...], chips: Sequence[int] | None) -> Settlement:
        lei = tuple(sum(item.amount for item in items) for items in by_seat)
        net, pay = [0] * self.players, [0] * self.players
        transfers: list[tuple[int, int, int]] = []
        for one in range(self.players):
            for other in range(one + 1, self.players):
                owed = self._weight(one, other) * (lei[one] - lei[other])
                points = self._points(owed)
                net[one], net[other] = net[one] + owed, net[other] - owed
                pay[one], pay[other] = pay[one] + points, pay[other] - points
                if points:
                    payer, receiver = (other, one) if points > 0 else (one, other)
                    transfers.append((payer, receiver, abs(points)))
        return Settlement(
            pay=tuple(pay),
            unpaid=(0,) * self.players,
            loans=self._loans(pay, chips),
            by_seat=by_seat,
            totals=FrozenMap(lei=lei, net=tuple(net)),
            transfers=tuple(transfers),
        )

    def _weight(self, one: int, other: int) -> int:
        """How often two players settle the difference of their 垒 (option `settlement`, §6)."""
        with_dealer = DEALER in (one, other)
        if self.choice("settlement") == "dealer_only":
            return int(with_dealer)
        return 2 if with_dealer and self.choice("settlement") == "pairwise_dealer2" else 1

    def _points(self, lei: int) -> int:
        """Chips for 垒, half rounded up on both sides of the table alike (option `lei_per_point`, §6)."""
        per_point = self.number("lei_per_point")
        points = (2 * abs(lei) + per_point) // (2 * per_point)
        return points if lei > 0 else -points

    def _loans(self, pay: Sequence[int], chips: Sequence[int] | None) -> tuple[int, ...]:
        """What each must borrow before he can pay, in whole loans (§8)."""
        if chips is None:
            return (0,) * self.players
        unit = self.number("loan_unit")
        short = (max(0, -(have + amount)) for have, amount in zip(chips, pay, strict=True))
        return tuple(-(-lacking // unit) * unit for lacking in short)

    # between the hands

    lends = True
    """Who is broke borrows from the referee (§8)."""

    false_win_kills = True
    """A false winner's hand is dead, and the hand goes on (§7)."""

    plays_running_hand = True
    """The hand that runs when time is up counts (§8)."""

    def dealer_stays(self, winner: Seat | None) -> bool:
        """The dealer stays only by winning; an exhausted wall 烧庄 passes the deal on (§5)."""
        return winner == DEALER

    # calls

    def refuse_tile(self, call: Call) -> Iterator[Defect]:
        """Only honours and 么鸡 are ever spread (§3)."""
        spread = call.tiles if call.kind == "spread" else ()
        for tile in sorted({tile for tile in spread if not (tile.is_honour or tile is Tile.S1)}):
            yield "not_spreadable", (tile.id,)

    def refuse_call(self, call: Call) -> Iterator[Defect]:
        """A discard is konged only by a declared 韶, and 韶 tiles stay where they lie (§4)."""
        if call.kind == "kong" and not call.shao:
            yield "kong_needs_shao", (f"seat={call.seat}",)
        if call.kind == "discard" and call.shao:
            yield "shao_is_fixed", (f"seat={call.seat}",)


def _is_concealed_triplet(group: Group) -> bool:
    return group.kind is GroupKind.PUNG and not group.melded


def _kind_of(meld: Meld) -> Tile:
    return meld.tiles[0]


def _class(tile: Tile) -> str:
    """Middle tiles, ends and honours have prices of their own (§6)."""
    if tile.is_honour:
        return "honour"
    return "end" if tile.rank in (1, 9) else "low"


RULES = Fengcheng
