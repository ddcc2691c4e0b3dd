"""What a few tiles lying together show: the patterns of melds, flowers and honours. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = [
    "BACK",
    "DRAGONS",
    "WINDS",
    "YAOJI",
    "HandShape",
    "is_flower",
    "is_meld",
    "lay_meld",
    "meld_faces",
    "meld_letter",
]

BACK: Final = "back"
YAOJI: Final = "1s"
WINDS: Final = frozenset({"1z", "2z", "3z", "4z"})
DRAGONS: Final = frozenset({"5z", "6z", "7z"})
_PATTERNS: Final = {"xxx": "P", "xxxx": "K", "bxxb": "A", "xbx": "H"}
"""Meld letters of alike tiles by pattern: x open, b face down."""


@dataclass(frozen=True, slots=True)
class HandShape:
    """What a hand of the rule set in play may hold.

    ``tiles``: concealed tiles of a hand without melds that waits for one more (13 or 16); ``melds``: letters
    of the notation (``C`` chow, ``P`` pung, ``K`` exposed and ``A`` concealed kong, ``H`` 韶); ``spread``:
    whether honours and 么鸡 are spread (Fengcheng §3); ``red``: whether some fives are red; ``covered``:
    whether tiles may lie face down apart from the others, as before a player without a claim.
    """

    tiles: int = 13
    melds: str = "CPKA"
    spread: bool = False
    red: bool = False
    covered: bool = False

    def meld(self, kinds: Sequence[str]) -> str | None:
        """Letter of the meld that tiles show, None where they show none that this rule set has."""
        letter = meld_letter(kinds)
        return letter if letter is not None and letter in self.melds else None


def is_flower(kind: str) -> bool:
    """Tell whether a tile id is a flower's."""
    return kind.endswith("f")


def meld_letter(kinds: Sequence[str]) -> str | None:
    """Letter of the meld that tiles show in this order, None for none.

    Three face-down tiles are a 韶 not opened.

    >>> [meld_letter(kinds.split()) for kinds in ("3m 1m 2m", "back 5z 5z back", "5z back 5z", "5z 5z back")]
    ['C', 'A', 'H', None]
    """
    faces = [kind for kind in kinds if kind != BACK]
    if not faces:
        return "H" if len(kinds) == 3 else None
    if len(set(faces)) == 1:
        return _PATTERNS.get("".join("b" if kind == BACK else "x" for kind in kinds))
    return "C" if len(kinds) == len(faces) and _is_run(faces) else None


def _is_run(kinds: Sequence[str]) -> bool:
    suits = {kind[-1] for kind in kinds}
    if len(kinds) != 3 or len(suits) != 1 or not suits <= {"m", "p", "s"}:
        return False
    ranks = sorted(int(kind[:-1]) for kind in kinds)
    return [rank - ranks[0] for rank in ranks] == [0, 1, 2]


def is_meld(kinds: Sequence[str]) -> bool:
    """Tell whether tiles lie as a meld of any rule set."""
    return meld_letter(kinds) is not None


def meld_faces(kinds: Sequence[str]) -> tuple[str, ...] | None:
    """Return the tiles of a meld as a person counts them, None for no meld and for a 韶 not opened.

    >>> meld_faces(("back", "5z", "5z", "back")), meld_faces(("5z", "back", "5z"))
    (('5z', '5z', '5z', '5z'), ('5z', '5z', '5z'))
    """
    letter, faces = meld_letter(kinds), [kind for kind in kinds if kind != BACK]
    if letter is None or not faces:
        return None
    return tuple(sorted(kinds)) if letter == "C" else (faces[0],) * len(kinds)


def lay_meld(letter: str, kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the tiles of a meld as they lie on the table when it is settled; inverse of `meld_faces`.

    >>> lay_meld("A", ["5z"] * 4), lay_meld("H", ["5z"] * 3), lay_meld("C", ["1m", "2m", "3m"])
    (('back', '5z', '5z', 'back'), ('5z', 'back', '5z'), ('1m', '2m', '3m'))
    """
    covered = {"A": (0, 3), "H": (1,)}.get(letter, ())
    return tuple(BACK if k in covered else kind for k, kind in enumerate(kinds))
