"""Hooks of the Chinese official rules 国标麻将 (mcr_team_event.md): fans, minimum, payment, rounds.

The fans are counted by a library (extra mcr, engine/adapters/pymahjonggb.py), never here. The verdict names
the reading it counted (engine/rules/mcr_fans.py) and, as alternatives, those that pay alike. Seven pairs,
thirteen orphans and the knitted hands have no sets; the price class names them instead of a reading. Nine
gates are counted as a whole: every reading of them pays alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from engine.claim import Claim, Seat
from engine.frozen import FrozenMap
from engine.hand import Hand
from engine.melds import MeldKind
from engine.rules.mcr_fans import FLOWERS, CountFans, FanHand, Points, counted_readings, pack_of, points_of
from engine.rules.mcr_shapes import is_special
from engine.ruleset import Bill, Judged, RuleSet
from engine.settlement import Settlement, owed_by_seat, settle_debts
from engine.tiles import Tile
from engine.verdict import Payers, PriceItem, Verdict
from engine.wincheck import MAX_COPIES, counts_of

ADAPTER = "engine.adapters.pymahjonggb"
"""What counts the fans; imported only when somebody asks."""

SECTION = "§3"

SHAPES = {
    "seven_pairs": "seven_pairs",
    "seven_shifted_pairs": "seven_pairs",
    "thirteen_orphans": "thirteen_orphans",
    "greater_honors_and_knitted_tiles": "knitted",
    "lesser_honors_and_knitted_tiles": "knitted",
    "knitted_straight": "knitted",
}
"""Fans of hands that are not four sets and a pair, with the price class that names the hand."""

NINE_GATES = "nine_gates"


class Mcr(RuleSet):
    """Four players, 144 tiles, 81 fans and a minimum of eight; points may fall below zero."""

    # what a claim may hold

    def contradictions(self, claim: Claim) -> Iterator[tuple[str, ...]]:
        """Facts about the winning tile that cannot stand together (§3)."""
        kong, rob, last, fourth = (self.fact(claim, name) for name in ("kong", "rob", "last", "fourth"))
        if kong and claim.how != "self":
            yield "kong", f"how={claim.how}"
        if kong and not any(meld.kind.is_kong for meld in claim.melds):
            yield "kong", "melds without K: or A:"
        if rob and claim.how == "self":
            yield "rob", "how=self"
        if kong and last:
            yield "kong", "last"  # a replacement comes from the tail: it is not the last tile of the wall
        if rob and last:
            yield "rob", "last"  # after the last tile there is no replacement, so no kong
        if claim.win is None:
            return
        laid = [tile for meld in claim.melds for tile in meld.tiles]
        if rob and claim.win in (*claim.concealed, *laid):
            yield "rob", f"{claim.win.id} in the hand"
        if fourth and claim.win in claim.concealed:
            yield "fourth", f"{claim.win.id} in the hand"

    # what wins, and what it is worth

    def load_libraries(self) -> None:
        """Load the library that counts the fans.

        Raises:
            MissingExtraError: it is not installed.
        """
        import_module(ADAPTER).load()

    def judge(self, claim: Claim) -> Judged:
        """Count the fans and compare them, without flowers, with the minimum (§3)."""
        if claim.win is None or not _can_be_counted(claim):
            return Judged()
        hand = self._fan_hand(claim, claim.win)
        count: CountFans = import_module(ADAPTER).fans
        fans = count(hand)
        if fans is None:
            return Judged([("no_decomposition", ())])
        points = points_of(fans)
        total = sum(points.values())
        totals = FrozenMap(fan=total)
        plain, minimum = total - points.get(FLOWERS, 0), self.number("minimum")
        if plain < minimum:
            short = ("below_minimum", (f"fan={plain}", f"minimum={minimum}"))
            return Judged([short], totals=totals, items=_items(points))
        shape = next((SHAPES[code] for code in points if code in SHAPES), None)
        bill = Bill(shape or claim.how, _items(points), SECTION, totals, worth=total)
        readings = [] if shape else list(self.readings(claim))
        if NINE_GATES not in points:
            readings = counted_readings(count, hand, readings, points)
        return Judged(bills=[(bill, reading) for reading in readings] or [(bill, None)])

    def _fan_hand(self, claim: Claim, win: Tile) -> FanHand:
        return FanHand(
            packs=tuple(map(pack_of, claim.melds)),
            concealed=claim.concealed,
            win=win,
            self_drawn=claim.how == "self",
            fourth=bool(self.fact(claim, "fourth")),
            kong=bool(self.fact(claim, "kong") or self.fact(claim, "rob")),
            last=bool(self.fact(claim, "last")),
            seat_wind=self.count(claim, "wind"),
            prevailing_wind=self.count(claim, "prevailing"),
            flowers=self.count(claim, "flowers"),
        )

    def completes(self, hand: Hand, tile: Tile, indicator: Tile | None = None) -> bool:
        """Whether a self-drawn tile completes the hand to one of its forms, whatever that is worth.

        Raises:
            EngineError: tiles that cannot be part of a set.
        """
        counts = counts_of((*hand.concealed, tile))
        return super().completes(hand, tile, indicator) or (max(counts) <= MAX_COPIES and is_special(counts))

    # money

    def settle_win(
        self,
        verdict: Verdict,
        claim: Claim,
        winner: Seat,
        chips: Sequence[int] | None,  # noqa: ARG002
    ) -> Settlement:
        """Everybody pays the base points; the discarder pays the fans, on self-draw each does (§4)."""
        payers = Payers.EACH if claim.discarder is None else Payers.DISCARDER
        section = self.data.prices["base_points"].section
        items = (self.item("base_points"), PriceItem("fan", verdict.totals["fan"], section, payers))
        owed = owed_by_seat(items, self.players, winner, claim.discarder, "pei")
        return settle_debts(owed, winner, None, items)

    def settle_false_win(self, offender: Seat, chips: Sequence[int] | None) -> Settlement:  # noqa: ARG002
        """The fine of 错和 to each of the others, booked at once; the hand goes on (§4)."""
        fine = self.item("false_win")
        others = self.players - 1
        pay = [-others * fine.amount if seat == offender else fine.amount for seat in range(self.players)]
        return Settlement(pay=tuple(pay), unpaid=(0,) * self.players, items=(fine,), hand_over=False)

    # the match

    @property
    def chips_below_zero(self) -> bool:
        """Points are written down, not paid in chips (§4)."""
        return True

    def dealer_stays(self, winner: Seat | None) -> bool:
        """The deal passes after every hand, unless the option says otherwise."""
        return self.flag("dealer_stays") and not winner

    def match_end(self, circles: int, hands: int, chips: Sequence[int]) -> str | None:  # noqa: ARG002
        """The match is over after so many rounds of the deal."""
        return "match_over" if circles >= self.number("circles") else None

    @property
    def plays_running_hand(self) -> bool:
        """What becomes of the hand that runs when time is up is an option (§1)."""
        return self.choice("running_hand") == "finish"


def _can_be_counted(claim: Claim) -> bool:
    """Whether tiles and melds are what they say; otherwise the claim is refused before anybody counts."""
    return all(tile.is_kind for tile in claim.held) and all(
        meld.is_well_formed and meld.kind is not MeldKind.SHAO for meld in claim.melds
    )


def _items(points: Points) -> tuple[PriceItem, ...]:
    return tuple(PriceItem(code, amount, SECTION, unit="fan") for code, amount in points.items())


RULES = Mcr
