"""A match: what goes on between hands. Every step returns the next state; nothing ever changes.

Accounts are per *player*: player p sat at seat p when player 0 dealt, counter-clockwise (a table uses its
places). Seats are those of the running hand, 0 = dealer. What differs between rule sets is asked of them
(`engine.matchrules`). Chips are conserved: Σ chips + Σ carried + bank + forfeited = issued + Σ loans; what is
paid outside the chips sums to 0. Both are checked whenever a state is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.accounts import Account, add, collect
from engine.calls import Award, Want
from engine.claim import DRAW, Claim, Facts, Seat
from engine.errors import EngineError
from engine.matchstate import MatchState
from engine.settlement import Settlement
from engine.tiles import Tile
from engine.verdict import Outcome, Problem, Verdict


class Match(MatchState):
    """A match under way.

    >>> from engine import rulesets
    >>> match = Match.start(rulesets.load("zhenjiang"))
    >>> match.draw().match.streak
    1
    """

    __slots__ = ()

    # a hand

    def claim(self, claim: Claim) -> Played:
        """Judge a claim of the running hand; a win or a draw is settled and booked, and the next hand begins.

        What the match knows is supplied: chips, streak and the like, 相公.

        Raises:
            EngineError: the match is over.
            OptionError: see `RuleSet.check`.
        """
        self._need_running()
        claim = self.supplied(claim)
        verdict = self._barred_or(self.rules.check(claim), claim)
        if verdict.outcome not in (Outcome.WIN, Outcome.DRAW):
            return Played(self, verdict, None)
        settlement = self.rules.settle(verdict, claim, self.by_seat(self.chips))
        return Played(self.book(settlement, claim.winner), verdict, settlement)

    def draw(self) -> Played:
        """The wall is exhausted and nothing lies open that counts; otherwise claim it with `how` = draw."""
        return self.claim(Claim(how=DRAW))

    def supplied(self, claim: Claim) -> Claim:
        """The claim with what the match knows: chips, 相公, and facts whose role is streak, round or seat."""
        data = self.rules.data
        winner = claim.winner
        known = {"streak": self.streak, "round": (self.circle - 1) % self.players, "seat": winner or 0}
        facts = {
            name: known[spec.role]
            for name, spec in data.facts.items()
            if name not in claim.facts and known.get(spec.role, 0)
        }
        dead = winner is not None and self.player_of(winner) in self.dead
        chips = self.by_seat(self.chips) if "chips" in data.keys else None
        facts_now = Facts({**claim.facts, **facts}) if facts and claim.how != DRAW else claim.facts
        return replace(claim, chips=chips, facts=facts_now, xianggong=claim.xianggong or dead)

    def _barred_or(self, verdict: Verdict, claim: Claim) -> Verdict:
        """The verdict, unless the winner made a false win in this hand: then he may not win."""
        if claim.winner is None or self.player_of(claim.winner) not in self.barred:
            return verdict
        first = [problem for problem in verdict.details if problem.fatal or problem.code == "xianggong"]
        barred = Problem("barred", self.rules.data.section("barred"), (f"seat={claim.winner}",), fatal=False)
        details = (*first, barred, *verdict.details[len(first) :])
        fatal = any(problem.fatal for problem in first)
        return Verdict(
            outcome=Outcome.INCONSISTENT if fatal else Outcome.NO_WIN,
            details=details,
            totals=verdict.totals,
            wild=verdict.wild,
            document=verdict.document,
            section=details[0].section,
        )

    def award(
        self, tile: Tile, discarder: Seat, wants: Sequence[Want], *, indicator: Tile | None = None
    ) -> Award:
        """Who gets a tile; who is barred or 相公 may not win with it (see `RuleSet.award`).

        Raises:
            EngineError: the match is over, or no such seat.
        """
        self._need_running()
        may_not_win = {self.seat_of(player): "barred" for player in self.barred}
        may_not_win |= {self.seat_of(player): "xianggong" for player in self.dead}
        return self.rules.award(tile, discarder, wants, indicator=indicator, may_not_win=may_not_win)

    def book(self, settlement: Settlement, winner: Seat | None = None) -> Match:
        """Book a settlement, per seat of the running hand; when the hand is over, the next one begins.

        Raises:
            EngineError: the match is over, or the settlement takes chips nobody has.
        """
        self._need_running()
        after = replace(
            self,
            chips=add(self.chips, self.by_player(settlement.loans), self.by_player(settlement.pay)),
            loans=add(self.loans, self.by_player(settlement.loans)),
            outside=add(self.outside, self.by_player(settlement.outside)),
            deferred=add(self.deferred, self.by_player(settlement.deferred)),
            bank=self.bank + settlement.bank,
        )
        if settlement.redeal:
            return after.redeal()
        return after._next_hand(winner) if settlement.hand_over else after

    def _next_hand(self, winner: Seat | None) -> Match:
        stays = self.rules.dealer_stays(winner)
        dealer = self.dealer if stays else (self.dealer + 1) % self.players
        circle = self.circle + (not stays and dealer == self.first_dealer)
        after = replace(
            self._with_new_stake(),
            dealer=dealer,
            streak=self.streak + 1 if stays else 0,
            circle=circle,
            hand=self.hand + 1,
            barred=(),
            dead=(),
        )
        end = self.rules.match_end(circle - 1, self.hand, after.chips)
        return replace(after, ended=end or ("time_up" if self.last_hand else None))

    def _with_new_stake(self) -> Match:
        """The next 课 if this one is over: everybody has the stake again, the net is carried."""
        if not self.rules.stake_is_over(self.chips):
            return self
        stake = (self.rules.data.stake,) * self.players
        net = tuple(have - begun for have, begun in zip(self.chips, stake, strict=True))
        return replace(self, chips=stake, carried=add(self.carried, net))

    # rulings

    def false_win(self, offender: Seat, wins: Sequence[Claim] = ()) -> Played:
        """A referee rules a false win: fine, and the offender may not win this hand.

        `wins` are wins of others which it spoiled (包赔); what the match knows is supplied to them.

        Raises:
            EngineError: the match is over, no such seat, or see `RuleSet.false_win`.
        """
        self._need_running()
        spoiled = tuple(map(self.supplied, wins))
        settlement = self.rules.false_win(offender, self.by_seat(self.chips), spoiled)
        ruled = self.xianggong(offender) if self.rules.false_win_kills else self._with(barred=offender)
        return Played(ruled.book(settlement), None, settlement)

    def xianggong(self, seat: Seat) -> Match:
        """A referee rules a dead hand (相公): it may not win this hand and pays as a loser.

        Raises:
            EngineError: the match is over, or no such seat.
        """
        return self._with(dead=seat)

    def _with(self, *, dead: Seat | None = None, barred: Seat | None = None) -> Match:
        self._need_running()
        for seat in (dead, barred):
            if seat is not None and not 0 <= seat < self.players:
                raise EngineError(f"there is no seat {seat}; seats are 0 to {self.players - 1}.")
        more_dead = () if dead is None else (self.player_of(dead),)
        more_barred = () if barred is None else (self.player_of(barred),)
        return replace(
            self,
            dead=tuple(sorted({*self.dead, *more_dead})),
            barred=tuple(sorted({*self.barred, *more_barred})),
        )

    def redeal(self) -> Match:
        """The hand is dealt again: same dealer, streak and number; nobody is barred or dead any more.

        Raises:
            EngineError: the match is over.
        """
        self._need_running()
        return replace(self, barred=(), dead=())

    def time_up(self, *, running: bool = True) -> Match:
        """Time is up. A hand that is `running` is broken off, or played to its end where the rules say so.

        Raises:
            EngineError: the match is over.
        """
        self._need_running()
        if running and self.rules.plays_running_hand:
            return replace(self, last_hand=True)
        return replace(self, ended="time_up")

    def close(self) -> Match:
        """The end of the match: deferred fines are collected, as far as there are chips.

        Borrowed chips stay where they are; `result` has them subtracted.
        """
        fines = collect(self.deferred, self.chips, limited=not self.rules.chips_below_zero)
        return replace(
            self,
            chips=add(self.chips, fines.chips),
            bank=self.bank + fines.bank,
            unpaid=add(self.unpaid, fines.unpaid),
            deferred=(0,) * self.players,
            ended=self.ended or "closed",
        )

    # chips of one player

    def loan(self, player: int, amount: int) -> Match:
        """A player borrows chips.

        Raises:
            EngineError: the rules know no loans, no such player, or not a positive amount.
        """
        if not self.rules.lends:
            raise EngineError(f"nobody can borrow chips in {self.rules.data.title}.")
        moved = self._only(player, amount)
        return replace(self, chips=add(self.chips, moved), loans=add(self.loans, moved))

    def repay(self, player: int, amount: int) -> Match:
        """A player gives borrowed chips back.

        Raises:
            EngineError: no such player, not a positive amount, or more than he has or borrowed.
        """
        moved = self._only(player, -amount, self.chips, self.loans)
        return replace(self, chips=add(self.chips, moved), loans=add(self.loans, moved))

    def forfeit(self, player: int, amount: int) -> Match:
        """Chips of a player are taken out of play.

        Raises:
            EngineError: no such player, not a positive amount, or more than he has.
        """
        moved = self._only(player, -amount, self.chips)
        return replace(self, chips=add(self.chips, moved), forfeited=self.forfeited + amount)

    def _only(self, player: int, amount: int, *limits: Account) -> Account:
        """An account in which one player gets (or, negative, loses) an amount."""
        if not 0 <= player < self.players:
            raise EngineError(f"there is no player {player}; players are 0 to {self.players - 1}.")
        most = min((limit[player] for limit in limits), default=abs(amount))
        if amount == 0 or (amount < 0) != bool(limits) or abs(amount) > most:
            raise EngineError(f"{abs(amount)} chips of player {player} cannot be moved; at most {most}.")
        return tuple(amount if nth == player else 0 for nth in range(self.players))

    def _need_running(self) -> None:
        if self.ended is not None:
            raise EngineError(f"the match is over ({self.ended}).")


@dataclass(frozen=True, slots=True)
class Played:
    """A step of a match: the match after it, and what was judged and settled (None = nothing was)."""

    match: Match
    verdict: Verdict | None
    settlement: Settlement | None
