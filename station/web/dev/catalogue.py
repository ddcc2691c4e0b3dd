"""Bring the catalogues up to date with templates and code.

    python -m station.web.dev.catalogue

collects every marked sentence, adds new ones to each ``messages.po`` (empty, to be translated; in ``en`` the
sentence itself), and drops those that are gone. Existing translations are never changed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from station.web.catalogue import LANGUAGES, catalogue_path

WEB: Final = Path(__file__).parents[1]
_METHODS: Final = (("**.py", "python"), ("templates/**.html", "jinja2"))
_OPTIONS: Final = {
    "templates/**.html": {"newstyle_gettext": "true", "trim_blocks": "true", "lstrip_blocks": "true"}
}
_NOISE: Final = re.compile(
    r'"(POT-Creation|PO-Revision|Last-Translator|Language-Team|Report-Msgid|Generated-By).*\n'
)
_KEYWORDS: Final = {"_": None, "N_": None, "gettext": None, "ngettext": (1, 2), "say": None, "many": (1, 2)}


def extracted() -> Catalog:
    """All sentences that templates and code mark, with the files they stand in."""
    catalogue = Catalog()
    found = extract_from_dir(str(WEB), list(_METHODS), options_map=_OPTIONS, keywords=_KEYWORDS)
    for name, _line, message, _comments, context in found:
        if not name.startswith("dev/"):
            catalogue.add(message, locations=[(name, 0)], context=context)
    return catalogue


def load(lang: str) -> Catalog:
    """Read the catalogue of ``lang``; an empty one when there is none yet."""
    path = catalogue_path(lang)
    if not path.exists():
        return Catalog(locale=lang.replace("-", "_"))
    with path.open("rb") as source:
        return read_po(source, locale=lang.replace("-", "_"))


def update(lang: str, template: Catalog) -> list[str]:
    """Write the catalogue of ``lang`` anew and return the sentences that lack a translation."""
    old = load(lang)
    new = Catalog(locale=lang.replace("-", "_"), project="Quezhuo", version="1", charset="utf-8")
    new.fuzzy = False
    new.header_comment = f"# Sentences of the screens: {lang}. Same licence as Quezhuo."
    missing = []
    for message in sorted((m for m in template if m.id), key=lambda m: m.locations[0]):
        known = old.get(message.id, message.context)
        text = known.string if known and _complete(known) else _default(message, lang)
        new.add(message.id, text, locations=message.locations, context=message.context)
        if not text:
            missing.append(str(message.id))
    path = catalogue_path(lang)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        write_po(target, new, width=110, omit_header=False, include_lineno=False)
    path.write_text(_NOISE.sub("", path.read_text("utf-8")), "utf-8")
    return missing


def _complete(message: Message) -> bool:
    strings = message.string if isinstance(message.string, tuple | list) else (message.string,)
    return all(strings)


def _default(message: Message, lang: str) -> str | tuple[str, ...]:
    if lang != "en":
        return ""
    return tuple(message.id) if isinstance(message.id, tuple | list) else str(message.id)


def main() -> int:
    """Update every catalogue; exit status 1 when translations are missing."""
    template = extracted()
    bad = 0
    for lang in LANGUAGES:
        missing = update(lang, template)
        bad |= bool(missing)
        print(f"{lang}: {len(missing)} missing", *missing, sep="\n  ")  # noqa: T201 (a tool's answer)
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
