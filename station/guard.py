"""Who may ask a web application of ours for what: judged before any route is reached.

A page of another site can make a browser send requests to us (cross-site request forgery), and a name under
a stranger's control can be made to lead here (DNS rebinding). Both are told by headers that a page cannot
forge: ``Host``, ``Origin`` and ``Sec-Fetch-Site`` (https://fetch.spec.whatwg.org/#origin-header,
https://www.w3.org/TR/fetch-metadata/). Everything here is pure; `station.guarding` is the middleware.

* Every request names one host of ours (`Names`).
* What may change something comes from a page of ours: ``Sec-Fetch-Site: same-origin``, or an ``Origin`` equal
  to ``Host`` (browsers leave ``Sec-Fetch-*`` out where the address is neither HTTPS nor loopback). Without
  both, only a program on this very computer is heard, and only one without the marks of a browser.
* Its body is JSON, or there is none: what a form can send without asking first (``text/plain``,
  ``application/x-www-form-urlencoded``, ``multipart/form-data``) is not taken.
* Methods are what they say: no header overrides one.
* What only reads is not given to pages of other sites either, but for a link that somebody follows.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from station.addresses import is_loopback, unmapped

__all__ = ["OVERRIDES", "READING", "REFUSALS", "Asked", "Names", "Refusal", "judge"]

READING: Final = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""
METHODS: Final = READING | {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
OVERRIDES: Final = ("x-http-method-override", "x-http-method", "x-method-override")
"""Headers by which other servers take another method than the request's."""
_BROWSER: Final = ("cookie", "referer", "accept-language")
"""Headers that browsers send and plain programs do not."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_ANYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 (compared with, not bound to)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not taken: HTTP status, stable code, one sentence."""

    status: int
    code: str
    sentence: str


_HOST = Refusal(403, "foreign_host", "This name does not belong to this server; add it to http_names.")
_ORIGIN = Refusal(403, "cross_origin", "Requests from other sites are refused.")
_NO_ORIGIN = Refusal(403, "no_origin", "Requests that do not say which page they come from are refused.")
_TYPE = Refusal(415, "content_type", "The body has to be application/json.")
_OVERRIDE = Refusal(403, "method_override", "A method can't be overridden by a header.")
_METHOD = Refusal(405, "method", "There is no such method here.")
TOO_LARGE: Final = Refusal(413, "too_large", "The body is too long.")
TOO_SLOW: Final = Refusal(408, "too_slow", "The request was not sent to its end in time.")
MALFORMED: Final = Refusal(400, "malformed", "This is no request.")

REFUSALS: Final = (_HOST, _ORIGIN, _NO_ORIGIN, _TYPE, _OVERRIDE, _METHOD, TOO_LARGE, TOO_SLOW, MALFORMED)
"""Every refusal there is."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names by which an application may be asked for.

    Args:
        bound: the address it listens at.
        machine: names of this computer.
        more: names from the configuration (``http_names``).
    """

    bound: str
    machine: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    def include(self, name: str, reached: str) -> bool:
        """Whether a host name or address is ours, for a connection that reached us at address `reached`.

        An address is ours when the connection came to it: an address cannot be made to lead elsewhere.
        """
        name = name.lower().rstrip(".")
        if name in _lower(self.more):
            return True
        local = is_loopback(self.bound)
        if name in _LOOPBACK and (local or self.bound in _ANYWHERE):
            return True
        if local:
            return name == self.bound
        if _is_address(name):
            return unmapped(name) in (self.bound, unmapped(reached))
        return name in _lower((*self.machine, *(f"{machine}.local" for machine in self.machine)))


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a request before its body is read.

    `headers`: (name in lower case, value) as they came. `reached`: the address the connection came to,
    `client` the one it came from; empty where unknown.
    """

    method: str
    headers: tuple[tuple[str, str], ...]
    scheme: str = "http"
    reached: str = ""
    client: str = ""

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for header, value in self.headers if header == name]

    def first(self, name: str) -> str | None:
        """The header's first value, if it was sent."""
        return next(iter(self.all(name)), None)


def judge(asked: Asked, names: Names) -> Refusal | None:
    """Say why a request is refused; None: it is taken."""
    hosts = asked.all("host")
    if len(hosts) != 1 or not names.include(_without_port(hosts[0]), asked.reached):
        return _HOST
    if any(asked.all(header) for header in OVERRIDES):
        return _OVERRIDE
    if asked.method not in METHODS:
        return _METHOD
    if asked.method in READING:
        return _ORIGIN if _read_by_others(asked) else None
    return _forged(asked, hosts[0]) or _unfit_body(asked)


def _read_by_others(asked: Asked) -> bool:
    """Whether a page of another site wants to take something in; following a link is no such thing."""
    site, mode = asked.first("sec-fetch-site"), asked.first("sec-fetch-mode")
    return site in ("cross-site", "same-site") and mode != "navigate"


def _forged(asked: Asked, host: str) -> Refusal | None:
    sites, origins = asked.all("sec-fetch-site"), asked.all("origin")
    if any(site != "same-origin" for site in sites):
        return _ORIGIN
    if any(origin.lower() != f"{asked.scheme}://{host.lower()}" for origin in origins):
        return _ORIGIN
    if sites or origins:
        return None
    return None if is_loopback(asked.client) and not _is_browser(asked) else _NO_ORIGIN


def _is_browser(asked: Asked) -> bool:
    if (asked.first("user-agent") or "").startswith("Mozilla/"):
        return True
    return any(name in _BROWSER or name.startswith("sec-") for name, _ in asked.headers)


def _unfit_body(asked: Asked) -> Refusal | None:
    types = asked.all("content-type")
    if not types:  # nothing is sent then, or it is not said what: both as an object of ours, or not at all
        empty = asked.first("content-length") in (None, "0") and not asked.all("transfer-encoding")
        return None if empty else _TYPE
    plain = [value.partition(";")[0].strip().lower() for value in types]
    return None if plain == ["application/json"] else _TYPE


def _without_port(host: str) -> str:
    """The host in a Host header: ``[::1]:80`` gives ``::1``; anything malformed gives nothing of ours."""
    if host.startswith("["):
        name, closed, port = host[1:].partition("]")
        return name if closed and _is_port(port) else ""
    name, colon, port = host.partition(":")
    return name if _is_port(colon + port) else ""


def _is_port(text: str) -> bool:
    return not text or (text[0] == ":" and text[1:].isascii() and text[1:].isdigit())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _lower(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names if name}
