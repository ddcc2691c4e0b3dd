"""What a rule set says about the time between hands: deal, end of a match, loans, dead hands.

Hooks with defaults; `engine.match` asks them. They get plain values, so that no rule set knows a match.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.claim import Seat


class MatchRules:
    """Defaults: the winning dealer and the dealer of a draw stay, no limit but time, no loans."""

    @property
    def chips_below_zero(self) -> bool:
        """Whether an account may be below 0: points that are written down instead of chips."""
        return False

    def dealer_stays(self, winner: Seat | None) -> bool:
        """Whether the dealer deals again; `winner` None = a draw."""
        return winner is None or winner == 0

    def match_end(self, circles: int, hands: int, chips: Sequence[int]) -> str | None:  # noqa: ARG002
        """Why the match ends after so many finished circles of the deal and hands, None = it goes on.

        `chips` are per player. Words: "match_over", "two_broke".
        """
        return None

    def stake_is_over(self, chips: Sequence[int]) -> bool:  # noqa: ARG002
        """Whether everybody begins anew with the stake and the net is carried (杀三 ends the 课)."""
        return False

    @property
    def lends(self) -> bool:
        """Whether a player may borrow chips; they are subtracted from his result."""
        return False

    @property
    def false_win_kills(self) -> bool:
        """Whether a false winner's hand is dead (相公) instead of only barred from winning."""
        return False

    @property
    def plays_running_hand(self) -> bool:
        """Whether the hand that runs when time is up is played to its end and counts."""
        return False
