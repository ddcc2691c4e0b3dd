"""Text of tiles, melds, hands and whole claims; every claim also has a JSON form with the same data.

Grammar: rules README, "One line of text"; `docs/notation.md` sums it up. `parse_` and `format_` are inverse.
A refused text raises one of three siblings, each with the `position` of the first wrong character:

* `InvalidNotation`: the text cannot be read at all;
* `IllegalNotation`: it can be read, but names something that does not exist or is not allowed there;
* `AmbiguousNotation`: it says one thing twice.

Whether a claim is *consistent*, and whether it *wins*, is asked elsewhere: `RuleSet.check`.
"""

from __future__ import annotations

from engine.text.claimobject import claim_from_object, claim_to_object
from engine.text.claimtext import format_claim, parse_claim, parse_hand
from engine.text.tiletext import (
    AmbiguousNotation,
    IllegalNotation,
    InvalidNotation,
    NotationError,
    format_meld,
    format_tiles,
    parse_meld,
    parse_tiles,
)

__all__ = [
    "AmbiguousNotation",
    "IllegalNotation",
    "InvalidNotation",
    "NotationError",
    "claim_from_object",
    "claim_to_object",
    "format_claim",
    "format_meld",
    "format_tiles",
    "parse_claim",
    "parse_hand",
    "parse_meld",
    "parse_tiles",
]
