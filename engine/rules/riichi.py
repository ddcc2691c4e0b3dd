"""Hooks of riichi mahjong 立直麻将 (riichi.md): facts that contradict each other, payment, rotation.

Yaku, fu and points are counted by a library (extra riichi, engine/adapters/riichi.py), never here. The
verdict names the reading it counted and, as alternatives, those that pay alike (engine/rules/riichi_hand.py);
seven pairs and thirteen orphans have no reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module

from engine.claim import DEALER, Claim, Seat
from engine.frozen import FrozenMap
from engine.hand import Hand
from engine.melds import MeldKind
from engine.rules.mcr_shapes import is_thirteen_orphans
from engine.rules.riichi_hand import CountHan, RiichiHand, Table, block_of, counted_readings
from engine.ruleset import Bill, Judged, RuleSet
from engine.settlement import Settlement
from engine.tiles import Tile
from engine.verdict import Payers, PriceItem, Verdict
from engine.wincheck import MAX_COPIES, counts_of

ADAPTER = "engine.adapters.riichi"
"""What counts han and fu; imported only when somebody asks."""

SECTION = "§4"

PAIRS = 7

WITHOUT_READING = frozenset({"chiitoitsu", "kokushi", "daburu_kokushi"})

FIVES = (Tile.M5, Tile.P5, Tile.S5)

ALONE = ("riichi", "double_riichi", "ippatsu", "kong", "last")
"""What cannot be in the first turn before any call; a first draw is worth its yakuman without it."""


class Riichi(RuleSet):
    """Four players, 136 tiles, at least one yaku; points may fall below zero."""

    # what a claim may hold

    def contradictions(self, claim: Claim) -> Iterator[tuple[str, ...]]:
        """Facts that cannot stand together (§3)."""
        has = {name for name in self.data.facts if self.fact(claim, name)}
        yield from self._riichi_clashes(claim, has)
        if "kong" in has and claim.how != "self":
            yield "kong", f"how={claim.how}"
        if "kong" in has and not any(meld.kind.is_kong for meld in claim.melds):
            yield "kong", "melds without K: or A:"
        if "rob" in has and claim.how == "self":
            yield "rob", "how=self"
        if "rob" in has and claim.win in (*claim.concealed, *_laid(claim)) and claim.win is not None:
            yield "rob", f"{claim.win.id} in the hand"
        for one, other in (("last", "kong"), ("last", "rob"), ("ippatsu", "kong")):
            if {one, other} <= has:
                yield one, other
        yield from self._first_clashes(claim, has)
        yield from self._red_clashes(claim)

    def _riichi_clashes(self, claim: Claim, has: set[str]) -> Iterator[tuple[str, ...]]:
        declared = has & {"riichi", "double_riichi"}
        if len(declared) == 2:
            yield "riichi", "double_riichi"
        for name in sorted(declared):
            if any(meld.kind is not MeldKind.CONCEALED_KONG for meld in claim.melds):
                yield name, "open melds"
        for name in ("ippatsu", "ura"):
            if name in has and not declared:
                yield name, "no riichi"
        below, above = len(self.tiles(claim, "ura")), len(self.tiles(claim, "dora"))
        if below > above:
            yield f"ura={below} tiles", f"dora={above} tiles"

    def _first_clashes(self, claim: Claim, has: set[str]) -> Iterator[tuple[str, ...]]:
        if "first" not in has:
            return
        if claim.how != "self":
            yield "first", f"how={claim.how}"
        if claim.melds:
            yield "first", f"melds={len(claim.melds)}"
        for name in ALONE:
            if name in has:
                yield "first", name

    def _red_clashes(self, claim: Claim) -> Iterator[tuple[str, ...]]:
        """One five of each suit is red: of four one must be, and of none it cannot."""
        red = self.count(claim, "red")
        if not self.flag("red_fives"):
            if red:
                yield f"red={red}", "red_fives=false"
            return
        copies = Counter((*claim.held, *_laid(claim)))
        fewest = sum(copies[five] == MAX_COPIES for five in FIVES)
        most = sum(copies[five] > 0 for five in FIVES)
        if red < fewest:
            yield f"red={red}", f"four fives of {fewest} suits"
        if red > most:
            yield f"red={red}", f"fives of {most} suits"

    # what wins, and what it is worth

    def load_libraries(self) -> None:
        """Load the library that counts han and fu.

        Raises:
            MissingExtraError: it is not installed.
        """
        import_module(ADAPTER).load()

    def judge(self, claim: Claim) -> Judged:
        """Count yaku and fu; without a yaku the hand does not win (§4)."""
        if claim.win is None or not self._can_be_counted(claim):
            return Judged()
        hand = self._riichi_hand(claim, claim.win)
        count: CountHan = import_module(ADAPTER).value
        answer = count(hand)
        if isinstance(answer, str):
            return Judged([(answer, ())])
        codes = {code for code, _ in answer.yaku}
        items = [PriceItem(code, han, SECTION, unit="han") for code, han in answer.yaku]
        if not answer.yakuman:
            items += [PriceItem(code, fu, SECTION, unit="fu") for code, fu in answer.fu_items]
        totals = FrozenMap(
            han=answer.han, fu=answer.fu, points=answer.points, points_others=answer.points_others
        )
        bill = Bill(answer.level or claim.how, tuple(items), SECTION, totals, worth=answer.points)
        readings = [] if codes & WITHOUT_READING else list(self.readings(claim))
        named = counted_readings(count, hand, readings, answer)
        return Judged(bills=[(bill, reading) for reading in named] or [(bill, None)])

    def _can_be_counted(self, claim: Claim) -> bool:
        """Whether tiles and facts are sound; otherwise the claim is refused before anybody counts."""
        kinds = all(
            tile.is_kind for tile in (*claim.held, *self.tiles(claim, "dora"), *self.tiles(claim, "ura"))
        )
        melds = all(meld.is_well_formed and meld.kind is not MeldKind.SHAO for meld in claim.melds)
        seats = claim.winner is not None and claim.winner < self.players
        return kinds and melds and seats and not any(self.contradictions(claim))

    def _riichi_hand(self, claim: Claim, win: Tile) -> RiichiHand:
        flags = ("riichi", "double_riichi", "ippatsu", "kong", "rob", "last", "first")
        return RiichiHand(
            tiles=(*_laid(claim), *claim.held),
            blocks=tuple(map(block_of, claim.melds)),
            win=win,
            self_drawn=claim.how == "self",
            seat_wind=claim.winner or 0,
            round_wind=self.count(claim, "prevailing"),
            table=Table(
                open_tanyao=self.flag("open_tanyao"),
                red_fives=self.flag("red_fives"),
                kiriage=self.flag("kiriage"),
                double_yakuman=self.flag("double_yakuman"),
                counted_yakuman=self.choice("counted_yakuman") == "yakuman",
            ),
            dora=self.tiles(claim, "dora"),
            ura=self.tiles(claim, "ura"),
            red=self.count(claim, "red"),
            **{name: bool(self.fact(claim, name)) for name in flags},
        )

    def completes(self, hand: Hand, tile: Tile, indicator: Tile | None = None) -> bool:
        """Whether a self-drawn tile completes the hand to one of its forms, with or without a yaku.

        Raises:
            EngineError: tiles that cannot be part of a set.
        """
        counts = counts_of((*hand.concealed, tile))
        seven_pairs = sorted(counts)[-PAIRS:] == [2] * PAIRS
        return super().completes(hand, tile, indicator) or seven_pairs or is_thirteen_orphans(counts)

    # money

    def settle_win(
        self,
        verdict: Verdict,
        claim: Claim,
        winner: Seat,
        chips: Sequence[int] | None,  # noqa: ARG002
    ) -> Settlement:
        """The discarder pays all; on self-draw everybody pays, the dealer more (§5). Counters are added."""
        points, others = verdict.totals["points"], verdict.totals["points_others"]
        honba = self.count(claim, "honba")
        pay = [0] * self.players
        if claim.discarder is not None:
            pay[claim.discarder] = -points - honba * (self.players - 1) * self.number("honba_points")
        else:
            for seat in range(self.players):
                share = points if seat == DEALER or winner == DEALER else others
                pay[seat] = 0 if seat == winner else -share - honba * self.number("honba_points")
        pay[winner] = -sum(pay)
        payers = Payers.EACH if claim.discarder is None else Payers.DISCARDER
        times = honba if claim.discarder is None else honba * (self.players - 1)
        counters = PriceItem(
            "honba_points", self.number("honba_points") * times, self.data.section("honba_points"), payers
        )
        return Settlement(pay=tuple(pay), unpaid=(0,) * self.players, items=(counters,) if honba else ())

    def settle_false_win(self, offender: Seat, chips: Sequence[int] | None) -> Settlement:  # noqa: ARG002
        """Chombo: a mangan back, and the hand is dealt again (§6)."""
        fine = self.item("chombo")
        pay = [fine.amount // (2 if DEALER in (seat, offender) else 4) for seat in range(self.players)]
        pay[offender] -= sum(pay)
        return Settlement(pay=tuple(pay), unpaid=(0,) * self.players, items=(fine,), redeal=True)

    # the match

    @property
    def chips_below_zero(self) -> bool:
        """Points are written down (§6)."""
        return True

    def dealer_stays(self, winner: Seat | None) -> bool:
        """The dealer stays by winning, after a draw only with the option (§6)."""
        return winner == DEALER or (winner is None and self.flag("dealer_stays_on_draw"))

    def match_end(self, circles: int, hands: int, chips: Sequence[int]) -> str | None:  # noqa: ARG002
        """The match is over after so many rounds of the deal (§6)."""
        return "match_over" if circles >= self.number("circles") else None

    @property
    def plays_running_hand(self) -> bool:
        """What becomes of the hand that runs when time is up is an option (§6)."""
        return self.choice("running_hand") == "finish"


def _laid(claim: Claim) -> tuple[Tile, ...]:
    return tuple(tile for meld in claim.melds for tile in meld.tiles)


RULES = Riichi
