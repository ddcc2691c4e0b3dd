"""Translations, read from the ``.po`` files themselves.

There is no compile step: a ``.po`` of a few hundred sentences is parsed once per language in some
milliseconds (a test holds it below 50 ms), so nothing that is generated has to be packed or kept in step.
"""

from __future__ import annotations

import gettext
import io
from functools import cache
from pathlib import Path
from typing import Final

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LANGUAGES: Final[tuple[str, ...]] = ("zh-Hans", "zh-Hant", "en")
"""Languages of the screens as BCP 47 tags, the default first."""

DEFAULT_LANGUAGE: Final = LANGUAGES[0]

LOCALE_DIR: Final = Path(__file__).parent / "locale"


def N_(text: str) -> str:  # noqa: N802 (the name gettext tools look for)
    """Mark ``text`` for extraction; translated later, where the language is known."""
    return text


def catalogue_path(lang: str) -> Path:
    """Where the catalogue of ``lang`` lies."""
    return LOCALE_DIR / lang.replace("-", "_") / "LC_MESSAGES" / "messages.po"


@cache
def translations(lang: str) -> gettext.GNUTranslations:
    """Return the translations of ``lang`` (one of :data:`LANGUAGES`).

    Raises:
        FileNotFoundError: there is no such catalogue.
    """
    with catalogue_path(lang).open("rb") as source:
        catalogue = read_po(source, locale=lang.replace("-", "_"))
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def negotiate(query: str | None, cookie: str | None, accept: str | None) -> str:
    """Choose the language of a page: what the address says, else the cookie, else the browser.

    Args:
        query: value of ``?lang=``, if any.
        cookie: value of the ``lang`` cookie, if any.
        accept: the ``Accept-Language`` header, if any.
    """
    for wish in (query, cookie):
        if wish in LANGUAGES:
            return str(wish)
    return _from_header(accept or "") or DEFAULT_LANGUAGE


def _from_header(accept: str) -> str | None:
    ranked: list[tuple[float, str]] = []
    for part in accept.split(","):
        tag, _, weight = part.strip().partition(";q=")
        try:
            ranked.append((float(weight or 1), tag.strip().lower()))
        except ValueError:
            continue
    for quality, tag in sorted(ranked, key=lambda pair: -pair[0]):
        lang = _match(tag)
        if quality > 0 and lang:
            return lang
    return None


def _match(tag: str) -> str | None:
    if tag.startswith("zh"):
        return "zh-Hant" if any(part in tag for part in ("hant", "-tw", "-hk", "-mo")) else "zh-Hans"
    return "en" if tag == "en" or tag.startswith("en-") else None
