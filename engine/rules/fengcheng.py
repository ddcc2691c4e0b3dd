"""Hooks of Fengcheng mahjong 丰城麻将 (fengcheng.md): three players, and the losers' tiles count too."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from engine.claim import Claim, Seat
from engine.consistency import Bounds, Defect
from engine.decompose import Decomposition, Group, GroupKind
from engine.facts import Facts, FactValue
from engine.frozen import FrozenMap
from engine.melds import Meld, MeldKind
from engine.ruleset import Bill, RuleSet
from engine.settlement import Settlement, nothing
from engine.tiles import Tile
from engine.verdict import PriceItem, Verdict

WIND_KINDS = frozenset({Tile.EAST, Tile.SOUTH, Tile.WEST, Tile.NORTH})
DRAGON_KINDS = frozenset({Tile.WHITE, Tile.GREEN, Tile.RED})
WINDS, DRAGONS = len(WIND_KINDS), len(DRAGON_KINDS)
"""Tiles of a spread group."""

DEALER = 0

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

    def groups(self, claim: Claim, seat: int) -> int:
        """Spread groups of a player, each a set of his hand (§3); 七星 holds both."""
        groups = self.seat_number(claim, seat, "groups")
        return 2 if not groups and self.seat_fact(claim, seat, "seven_star") else groups

    def seat_number(self, claim: Claim, seat: int, name: str) -> int:
        """A number among the facts of a player."""
        value = self.seat_fact(claim, seat, name)
        return value if isinstance(value, int) else 0

    def facts_of_spread(self, tiles: Sequence[Tile], said: Facts) -> Facts:
        """Honours and their complete groups, those beyond the seven of 七星, 么鸡 (§3)."""
        honours = [tile for tile in tiles if tile.is_honour]
        groups = sum(whole <= set(honours) for whole in (WIND_KINDS, DRAGON_KINDS))
        yaoji = "single" if tiles.count(Tile.S1) == 1 else ""
        number = {"honors": len(honours)}
        if said.get("seven_star"):
            number = {"extra_honors": max(0, len(honours) - len(WIND_KINDS | DRAGON_KINDS))}
        shown: dict[str, FactValue] = {**number, "groups": groups, "yaoji": yaoji}
        return Facts({name: value for name, value in shown.items() if value})

    def unsaid(self, tiles: Sequence[Tile], said: Facts) -> tuple[str, ...]:
        """Of two 么鸡 the table does not show whether both were held at the start (§3)."""
        return ("yaoji",) if tiles.count(Tile.S1) > 1 and "yaoji" not in said else ()

    def expected_concealed(self, claim: Claim) -> int:
        """A spread group leaves three tiles less in hand: 4 + 1 replacement, or 3 without one (§3)."""
        groups = 0 if claim.winner is None else self.groups(claim, claim.winner)
        return super().expected_concealed(claim) - 3 * groups

    def bounds(self, claim: Claim) -> Bounds:
        """Spread 么鸡 and the honours of 七星 are known to lie on the table."""
        spread: list[Tile] = []
        for seat in range(self.players):
            yaoji = self.seat_fact(claim, seat, "yaoji")
            spread += [Tile.S1] * (0 if not yaoji else 1 if yaoji == "single" else 2)
            if self.seat_fact(claim, seat, "seven_star"):
                spread += [Tile(kind) for kind in range(Tile.EAST, Tile.RED + 1)]
            elif self._only_dragons(claim, seat):
                spread += [Tile.WHITE, Tile.GREEN, Tile.RED]
        return replace(super().bounds(claim), elsewhere=spread)

    def _only_dragons(self, claim: Claim, seat: int) -> bool:
        number, groups = (self.seat_number(claim, seat, name) for name in ("honors", "groups"))
        return (number, groups) == (DRAGONS, 1)

    def contradictions(self, claim: Claim) -> Iterator[tuple[str, ...]]:
        """Facts of one player that cannot stand together (§3)."""
        for seat in range(self.players):
            for one, other in self._clashes(claim, seat):
                yield f"p{seat}.{one}", f"p{seat}.{other}"

    def _clashes(self, claim: Claim, seat: int) -> Iterator[tuple[str, str]]:
        honors, groups, extra = (
            self.seat_number(claim, seat, name) for name in ("honors", "groups", "extra_honors")
        )
        star, bare, less = (
            bool(self.seat_fact(claim, seat, name))
            for name in ("seven_star", "no_honor_start", "seven_less_two")
        )
        if star and bare:
            yield "seven_star", "no_honor_start"
        if star and less:
            yield "seven_star", "seven_less_two"
        if bare and less:
            yield "no_honor_start", "seven_less_two"
        if bare and honors:
            yield "no_honor_start", f"honors={honors}"
        if less and honors and not self.flag("smoke"):
            yield "seven_less_two", f"honors={honors}"
        if star and groups == 1:
            yield "seven_star", f"groups={groups}"
        if extra and not star:
            yield f"extra_honors={extra}", "no seven_star"
        if not star and not self._honours_fit(claim, seat, honors, groups):
            yield f"honors={honors}", f"groups={groups}"

    def _honours_fit(self, claim: Claim, seat: int, honors: int, groups: int) -> bool:
        """A group has three or four tiles; whose hand is not checked need not say how many groups he has."""
        if groups == 0:
            return honors == 0 or (seat != claim.winner and honors >= DRAGONS)
        fewest, most = (DRAGONS, 4 * WINDS) if groups == 1 else (DRAGONS + WINDS, 4 * (DRAGONS + WINDS))
        return fewest <= honors <= most

    # what wins, and what it is worth

    def refuse_reading(self, claim: Claim, reading: Decomposition) -> Defect | None:  # noqa: ARG002
        """Two 么鸡 are no pair with the option `yaoji_pair` off (§3)."""
        if reading.pair.tiles[0].stands_for is Tile.S1 and not self.flag("yaoji_pair"):
            return "yaoji_no_pair", (Tile.S1.id,)
        return None

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
            *self.spread(claim, seat),
        )
        return Bill("self" if self_drawn else "discard", items, win.section)

    def _triplets(self, claim: Claim, reading: Decomposition) -> Iterator[PriceItem]:
        """By self-draw every concealed triplet counts as 韶; by discard only the completed one, as 碰 (§6)."""
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

    def spread(self, claim: Claim, seat: int) -> Iterator[PriceItem]:
        """What a player's spread tiles and starting hand count (§3)."""
        yaoji = self.seat_fact(claim, seat, "yaoji")
        star = bool(self.seat_fact(claim, seat, "seven_star"))
        number = self.seat_number(claim, seat, "extra_honors" if star else "honors")
        if star:
            yield self.item("seven_star")
        if number:
            yield self.item("spread_honour", number)
        if yaoji:
            yield self.item(f"yaoji_{yaoji}")
        if self.seat_fact(claim, seat, "no_honor_start") and self.flag("no_honor_bonus"):
            yield self.item("no_honor_start")
        if self.seat_fact(claim, seat, "seven_less_two") and self.flag("seven_less_two_bonus"):
            yield self.item("seven_less_two")

    # money

    def settle_win(
        self, verdict: Verdict, claim: Claim, winner: Seat, chips: Sequence[int] | None
    ) -> Settlement:
        """Every player's 垒 are counted and settled in pairs (§6); nobody pays for the discard itself."""
        by_seat = tuple(
            verdict.items if seat == winner else (*self.melds_lei(claim, seat), *self.spread(claim, seat))
            for seat in range(self.players)
        )
        return self._settled(by_seat, chips)

    def settle_draw(self, claim: Claim, chips: Sequence[int] | None) -> Settlement:
        """烧庄: only what was spread, and the starting hands, are settled (§5)."""
        return self._settled(tuple(tuple(self.spread(claim, seat)) for seat in range(self.players)), chips)

    def settle_false_win(self, offender: Seat, chips: Sequence[int] | None) -> Settlement:  # noqa: ARG002
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
        for one in range(self.players):
            for other in range(one + 1, self.players):
                owed = self._weight(one, other) * (lei[one] - lei[other])
                points = self._points(owed)
                net[one], net[other] = net[one] + owed, net[other] - owed
                pay[one], pay[other] = pay[one] + points, pay[other] - points
        return Settlement(
            pay=tuple(pay),
            unpaid=(0,) * self.players,
            loans=self._loans(pay, chips),
            by_seat=by_seat,
            totals=FrozenMap(lei=lei, net=tuple(net)),
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

    def dealer_stays(self, winner: Seat | None) -> bool:
        """The dealer stays only by winning; an exhausted wall 烧庄 passes the deal on (§5)."""
        return winner == DEALER


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
