"""Words of one language: tiles, winds, places and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from station.web.catalogue import N_, translations
from station.web.sentences import SENTENCES

_SUITS: Final = {"m": N_("%(n)s Character"), "p": N_("%(n)s Dot"), "s": N_("%(n)s Bamboo")}
_SHORT: Final = {"m": N_("%(n)s Char"), "p": N_("%(n)s Dot"), "s": N_("%(n)s Bam")}
_NAMES: Final = {
    "1z": N_("East wind"),
    "2z": N_("South wind"),
    "3z": N_("West wind"),
    "4z": N_("North wind"),
    "5z": N_("White dragon"),
    "6z": N_("Green dragon"),
    "7z": N_("Red dragon"),
    "1f": N_("Spring"),
    "2f": N_("Summer"),
    "3f": N_("Autumn"),
    "4f": N_("Winter"),
    "5f": N_("Plum"),
    "6f": N_("Orchid"),
    "7f": N_("Bamboo flower"),
    "8f": N_("Chrysanthemum"),
    "back": N_("Face down"),
    "?": N_("Unknown tile"),
}
_WINDS: Final = {"1z": N_("E"), "2z": N_("S"), "3z": N_("W"), "4z": N_("N")}

TILE_PARAMS: Final = frozenset({"tile", "wild", "indicator", "kind"})
PLACE_PARAMS: Final = frozenset({"place", "from", "winner", "thrower", "wall"})


class Words:
    """All words of one language. ``Words.of(lang)`` keeps one per language."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.catalogue = translations(lang)

    @staticmethod
    @cache
    def of(lang: str) -> Words:
        """Return the words of ``lang``."""
        return Words(lang)

    def say(self, text: str, **params: object) -> str:
        """Translate a marked text and fill its parameters in."""
        translated = self.catalogue.gettext(text)
        return translated % params if params else translated

    def many(self, one: str, other: str, n: int) -> str:
        """Translate a text that depends on a number; ``%(n)s`` is the number."""
        return self.catalogue.ngettext(one, other, n) % {"n": n}

    def tile(self, kind: str, *, short: bool = False) -> str:
        """Name of a tile kind: ``7m`` → ``7 万``. An unknown id is shown as it is."""
        if kind in _NAMES:
            return self.say(_NAMES[kind])
        if len(kind) == 2 and kind[1] in _SUITS:
            return self.say((_SHORT if short else _SUITS)[kind[1]], n=kind[0])
        return kind

    def wind(self, kind: str) -> str:
        """One-letter (one-character) name of a wind tile id."""
        return self.say(_WINDS[kind]) if kind in _WINDS else kind

    def code(self, table: Mapping[str, str], code: str | None) -> str:
        """Sentence of ``code`` in ``table``; an unknown code is shown as it is."""
        if not code:
            return ""
        return self.say(table[code]) if code in table else code

    def sentence(
        self, code: str, params: Mapping[str, Any] | None = None, names: Mapping[int, str] | None = None
    ) -> str:
        """Sentence of any code with parameters; never raises.

        Args:
            code: a stable code; ``JAM(2)`` is read as code ``JAM`` with place 2.
            params: parameters by name; tile ids and places are put into words.
            names: place → name, for place parameters.
        """
        values = dict(params or {})
        head, bracket, rest = code.partition("(")
        if bracket and code not in SENTENCES:
            values.setdefault("place", int(rest[:-1]) if rest[:-1].isdigit() else rest[:-1])
            code = head
        text = SENTENCES.get(code)
        if text is None:
            return code if not params else f"{code} {_plain(params)}"
        spoken = {key: self._param(key, value, names or {}) for key, value in values.items()}
        try:
            return self.catalogue.gettext(text) % spoken
        except (KeyError, TypeError, ValueError):
            return f"{code} {_plain(values)}".strip()

    def _param(self, key: str, value: Any, names: Mapping[int, str]) -> str:
        if key in TILE_PARAMS and isinstance(value, str):
            return self.tile(value)
        if key in PLACE_PARAMS and isinstance(value, int):
            return names.get(value, str(value + 1))
        if key == "fault" and isinstance(value, str):
            return self.sentence(value, None, names)
        return str(value)


def _plain(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in params.items())
