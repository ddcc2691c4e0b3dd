"""The list of enrolled tables: who may connect, until when, and who may no more.

A TOML file of the central station::

    [tables]
    T1 = "public key of table T1"

    [tables.T2]
    key = "public key of table T2"
    verify = "64 hexadecimal digits: what T2's signatures are checked with"
    expires = 2027-01-31                       # last day; a date with time and offset is the very moment
    revoked = 2026-11-30T20:00:00+08:00        # from now on: an entry with this is refused
    reason = "stolen"

    [[revoked]]                                # a key that was replaced after it had been revoked
    table = "T3"
    key = "…"
    revoked = 2026-11-30T20:00:00+08:00
    reason = "lost"

Keys are written in Z85 (https://rfc.zeromq.org/spec/32/), 40 characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w

from station.errors import KeyFileError
from station.files import replace_file
from station.link.key_files import curve_key, load_toml, raw_key

__all__ = [
    "EXPIRED",
    "REVOKED",
    "Enrolment",
    "Register",
    "Replaced",
    "load_allow_list",
    "load_register",
    "write_allow_list",
    "write_register",
]

EXPIRED, REVOKED = "expired", "revoked"
"""Reasons why the key of an entry is refused."""


class Enrolment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table's entry.

    ``key``: CURVE key (Z85). ``verify``: Ed25519 key (hex), where known. ``expires``: its last day in the
    station's local time, or the moment (a `datetime`). ``revoked``: when it was; ``reason``: why.
    """

    key: str
    verify: str | None = None
    expires: date | None = None
    revoked: date | None = None
    reason: str = ""

    def why_not(self, now: float) -> str:
        """Return why the key is refused at `now` (Unix seconds); empty when it is good."""
        if self.revoked is not None:
            return REVOKED
        return EXPIRED if self.expires is not None and now >= _end(self.expires) else ""


class Replaced(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A revoked key whose table has another one by now."""

    table: str
    key: str
    revoked: date
    reason: str = ""


_Entry = TypeVar("_Entry", Enrolment, Replaced)


class Register(msgspec.Struct, frozen=True):
    """The whole file: entries by table, and the keys that were replaced after they had been revoked."""

    tables: Mapping[str, Enrolment] = {}
    replaced: tuple[Replaced, ...] = ()

    def revoking(self, table: str, at: datetime, reason: str) -> Register:
        """Return the register with a table's key revoked.

        Raises:
            KeyFileError: there is no such table, or its key is revoked already.
        """
        entry = self.tables.get(table)
        if entry is None:
            known = ", ".join(self.tables) or "none"
            raise KeyFileError(f"There is no table {table} in the allow-list.", fix=f"It has: {known}.")
        if entry.revoked is not None:
            raise KeyFileError(
                f"The key of {table} was revoked already.", fix=f"Reason given: {entry.reason}."
            )
        entry = msgspec.structs.replace(entry, revoked=at.replace(microsecond=0), reason=reason)
        return msgspec.structs.replace(self, tables={**self.tables, table: entry})

    def enrolling(self, table: str, entry: Enrolment) -> Register:
        """Return the register with a table's new entry; a revoked key that it had stays known as revoked.

        Raises:
            KeyFileError: the key is revoked, or stands for another table.
        """
        if entry.key in {gone.key for gone in self.replaced} or any(
            old.key == entry.key and old.revoked is not None for old in self.tables.values()
        ):
            raise KeyFileError(
                "This key was revoked.",
                fix=f"Move the table's old keys away and make new ones: {table}.key",
                code="keys.revoked",
            )
        for other, old in self.tables.items():
            if old.key == entry.key and other != table:
                raise KeyFileError(
                    f"This key is enrolled for {other}.",
                    fix="Make a key for each table.",
                    code="keys.elsewhere",
                )
        before, replaced = self.tables.get(table), self.replaced
        if before is not None and before.revoked is not None:
            replaced = (*replaced, Replaced(table, before.key, before.revoked, before.reason))
        return Register({**self.tables, table: entry}, replaced)


def load_register(path: Path) -> Register:
    """Read the file, in its old form too.

    Raises:
        KeyFileError: missing, damaged, or one key stands for two tables.
    """
    if not path.exists():
        raise KeyFileError(
            f"There is no allow-list {path}.", fix="`quezhuo pair` makes it with the first table."
        )
    data = load_toml(path)
    tables = data.get("tables", {})
    if not isinstance(tables, dict):
        raise KeyFileError(f"The file {path} has no section [tables].", fix="Add it; see the documentation.")
    try:
        entries = {str(table): _enrolment(value, path) for table, value in tables.items()}
        replaced = tuple(
            _replaced(value, path) for value in msgspec.convert(data.get("revoked", []), list[Any])
        )
    except msgspec.ValidationError as error:
        raise KeyFileError(
            f"{path}: {error}.",
            fix="Each table is a section, [tables.T1], with the lines that `quezhuo keygen T1` prints.",
        ) from None
    if len({entry.key for entry in entries.values()}) != len(entries):
        raise KeyFileError(f"Two tables in {path} have the same key.", fix="Make a key for each table.")
    return Register(entries, replaced)


def write_register(path: Path, register: Register) -> None:
    """Write the file in one step; a running central station takes it over by itself. Comments are lost.

    Raises:
        KeyFileError: a key is none, or the file cannot be written.
    """
    data: dict[str, Any] = {"tables": {}}
    for table, entry in register.tables.items():
        curve_key(entry.key, path)
        raw_key(entry.verify, path)
        plain = entry == Enrolment(entry.key)
        data["tables"][table] = entry.key if plain else _plain(entry)
    if register.replaced:
        data["revoked"] = [_plain(gone) for gone in register.replaced]
    try:
        replace_file(path, tomli_w.dumps(data), mode=0o644, keep_mode=True)
    except OSError as error:
        raise KeyFileError(
            f"The allow-list {path} cannot be written: {error.strerror}.", fix="Check the folder."
        ) from error


def load_allow_list(path: Path) -> dict[str, str]:
    """Read the file: table id → public key, whether it is still good or not.

    Raises:
        KeyFileError: missing, damaged, or one key stands for two tables.
    """
    return {table: entry.key for table, entry in load_register(path).tables.items()}


def write_allow_list(path: Path, tables: Mapping[str, str | Enrolment]) -> None:
    """Write a file with these tables alone: table id → public key, or the whole entry.

    Raises:
        KeyFileError: a key is none, or the file cannot be written.
    """
    entries = {
        table: Enrolment(value) if isinstance(value, str) else value for table, value in tables.items()
    }
    write_register(path, Register(entries))


def _enrolment(value: object, path: Path) -> Enrolment:
    entry = Enrolment(value) if isinstance(value, str) else _dated(value, Enrolment)
    curve_key(entry.key, path)
    raw_key(entry.verify, path)
    return entry


def _replaced(value: object, path: Path) -> Replaced:
    gone = _dated(value, Replaced)
    curve_key(gone.key, path)
    return gone


def _dated(value: object, kind: type[_Entry]) -> _Entry:
    """Convert a section whose dates may be moments as well, which msgspec does not tell apart."""
    if not isinstance(value, dict):
        raise msgspec.ValidationError("an entry is a key or a section")
    dates = {name: value[name] for name in ("expires", "revoked") if name in value}
    for name, given in dates.items():
        if not isinstance(given, date):
            raise msgspec.ValidationError(f"{name} = {given!r} is no date")
    whole = {**value, **dict.fromkeys(dates, date.min)}
    return msgspec.structs.replace(msgspec.convert(whole, kind), **dates)


def _plain(entry: Enrolment | Replaced) -> dict[str, Any]:
    values = msgspec.structs.asdict(entry)
    return {name: value for name, value in values.items() if value not in (None, "")}


def _end(expires: date) -> float:
    """Return the moment (Unix seconds) from which on an entry counts no more."""
    if isinstance(expires, datetime):
        return expires.timestamp()
    return datetime.combine(expires + timedelta(days=1), datetime.min.time()).timestamp()
