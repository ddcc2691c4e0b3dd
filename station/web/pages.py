"""Pages and fragments: state objects in, HTML out.

``render_page`` gives a whole page, ``render_fragment`` what the stream sends after each change; both are
the same template, so that a page that was loaded and a page that was updated cannot differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from station.guarding import SAFETY_HEADERS
from station.web.catalogue import LANGUAGES, negotiate
from station.web.hall_view import hall
from station.web.referee_view import referee
from station.web.sentences import ANSWERS
from station.web.words import Words

View = Literal["referee", "players", "wall", "head"]
"""Pages: ``referee`` and ``players`` take the table state, ``wall`` and ``head`` the central state."""

STATIC_DIR: Final = Path(__file__).parent / "static"
COOKIE_AGE_S: Final = 365 * 24 * 3600

_MODELS: Final[Mapping[str, Callable[[Mapping[str, Any], Words], dict[str, Any]]]] = {
    "referee": referee,
    "players": referee,
    "wall": hall,
    "head": hall,
}
_THEMES: Final[Mapping[str, str]] = {"referee": "light", "players": "light", "wall": "dark", "head": "light"}
_NEXT_LANGUAGE: Final = {"zh-Hans": ("en", "EN"), "en": ("zh-Hant", "繁"), "zh-Hant": ("zh-Hans", "简")}
_TILE_ROWS: Final = tuple(tuple(f"{n}{suit}" for n in range(1, 10)) for suit in "mps")
_HONOURS: Final = tuple(f"{n}z" for n in range(1, 8))
_FLOWERS: Final = tuple(f"{n}f" for n in range(1, 9))


@cache
def static_url(name: str) -> str:
    """Address of a static file with a hash of its content, so that it may be cached for ever."""
    digest = hashlib.sha256((STATIC_DIR / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={digest}"


@cache
def _sprite() -> Markup:
    """The tile drawings, once per page: no second request and no flash when a fragment comes in.

    Raises:
        FileNotFoundError: the package lacks its static files.
    """
    return Markup((STATIC_DIR / "tiles.svg").read_text("utf-8"))  # noqa: S704 (our own file)


@cache
def _environment(lang: str) -> Environment:
    words = Words.of(lang)
    env = Environment(
        loader=PackageLoader("station.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    env.install_gettext_translations(words.catalogue, newstyle=True)  # type: ignore[attr-defined]
    env.globals.update(
        lang=lang,
        next_lang=_NEXT_LANGUAGE[lang],
        static=static_url,
        tile_rows=_TILE_ROWS,
        honours=_HONOURS,
        flower_tiles=_FLOWERS,
        tile_name=words.tile,
    )
    env.filters.update(symbol=tile_symbol, signed=signed)
    return env


def tile_symbol(kind: str) -> str:
    """Fragment id of a tile in the sprite; anything unknown gives the unknown tile."""
    known = kind == "back" or (len(kind) == 2 and kind[0].isdigit() and kind[1] in "mpszf")
    return f"t-{kind}" if known else "t-unk"


def signed(amount: int) -> str:
    """``+15``, ``−5`` with a real minus sign, ``0``."""
    return f"+{amount}" if amount > 0 else f"−{-amount}" if amount < 0 else "0"


def _values(view: View, state: Mapping[str, Any], lang: str, theme: str | None) -> dict[str, Any]:
    words = Words.of(lang)
    return {
        "m": _MODELS[view](state, words),
        "view": view,
        "theme": theme if theme in ("light", "dark") else _THEMES[view],
        "errors": json.dumps({code: words.say(text) for code, text in ANSWERS.items()}, ensure_ascii=False),
    }


def render_page(view: View, state: Mapping[str, Any], lang: str, *, theme: str | None = None) -> str:
    """Render a whole page.

    Args:
        view: which page.
        state: table state for ``referee`` and ``players``, central state for ``wall`` and ``head``.
        lang: one of :data:`station.web.catalogue.LANGUAGES`.
        theme: ``light`` or ``dark``; the page's own default otherwise.
    """
    template = _environment(lang).get_template("page.html")
    return template.render(_values(view, state, lang, theme), sprite=_sprite())


def render_fragment(view: View, state: Mapping[str, Any], lang: str) -> str:
    """Render what changes on a page: one ``<div id="view">``. Arguments as in :func:`render_page`."""
    return _environment(lang).get_template(f"{view}.html").render(_values(view, state, lang, None))


def language_of(request: Request) -> str:
    """Language of a request: ``?lang=``, cookie, ``Accept-Language``, in this order."""
    return negotiate(
        request.query_params.get("lang"), request.cookies.get("lang"), request.headers.get("accept-language")
    )


def page_response(request: Request, view: View, state: Mapping[str, Any]) -> Response:
    """Answer a page request: language, theme, cookies that remember a choice, security headers."""
    lang = language_of(request)
    wish = request.query_params.get("theme")
    response = HTMLResponse(
        render_page(view, state, lang, theme=wish or request.cookies.get(f"theme-{view}")),
        headers=dict(SAFETY_HEADERS),
    )
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie("lang", lang, max_age=COOKIE_AGE_S, samesite="strict", httponly=True)
    if wish in ("light", "dark"):
        response.set_cookie(f"theme-{view}", wish, max_age=COOKIE_AGE_S, samesite="strict", httponly=True)
    return response


def plain_page(request: Request, name: str, values: Mapping[str, Any]) -> Response:
    """Answer a request for a page without a stream: template ``<name>.html`` with the values as ``m``."""
    lang = language_of(request)
    theme = request.query_params.get("theme") or request.cookies.get("theme-referee")
    html = (
        _environment(lang)
        .get_template(f"{name}.html")
        .render(m=values, sprite=_sprite(), theme=theme if theme in ("light", "dark") else "light")
    )
    response = HTMLResponse(html, headers=dict(SAFETY_HEADERS))
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie("lang", lang, max_age=COOKIE_AGE_S, samesite="strict", httponly=True)
    return response


def render_part(name: str, values: Mapping[str, Any], lang: str) -> str:
    """Render template ``<name>.html``, a part of a page, with the values as ``m``."""
    return _environment(lang).get_template(f"{name}.html").render(m=values)


async def json_object(request: Request, longest: int) -> dict[str, Any]:
    """The JSON object in a request's body of at most ``longest`` bytes; an empty body is an empty object.

    Raises:
        ValueError: it is something else. ClientDisconnect: it was not sent to its end.
    """
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > longest:
            raise ValueError("the body is too long")
    if not raw:
        return {}
    try:
        parsed = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"the body is not JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise ValueError("the body has to be a JSON object")
    return parsed


class _Static(StaticFiles):
    """Static files; with a hash in the address they never change, so they are cached for ever."""

    def file_response(
        self, full_path: Any, stat_result: Any, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        hashed = b"v=" in scope.get("query_string", b"")
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if hashed else "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def static_mount() -> Mount:
    """The route ``/static`` with style sheets, the module and the sprite."""
    return Mount("/static", _Static(directory=STATIC_DIR), name="static")


def sse(
    data: str, *, event: str | None = None, event_id: int | None = None, retry_ms: int | None = None
) -> bytes:
    """Format one server-sent event; several lines of data are split as the format demands."""
    lines = [] if retry_ms is None else [f"retry: {retry_ms}"]
    if event_id is not None:
        lines.append(f"id: {event_id}")
    if event is not None:
        lines.append(f"event: {event}")
    lines += [f"data: {line}" for line in data.splitlines() or [""]]
    return ("\n".join(lines) + "\n\n").encode()


RETRY_MS: Final = 1000
"""How soon a page whose stream has ended asks again; by themselves browsers wait for 3 s or more."""

BEAT: Final = b": still here\n\n" + sse("", event="beat")
"""Sent while nothing changes: a page that hears nothing for long knows that the connection is lost."""
