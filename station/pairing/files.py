"""What pairing leaves behind: the table's keys and its [central] section, the station's allow-list."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from station.errors import ConfigError, KeyFileError, PairingError
from station.files import replace_file
from station.link.key_files import bytes_of, text_of
from station.link.keys import KeyPair, add_signing, generate, load_pair, public_text
from station.link.register import REVOKED, Enrolment, Register, load_register, write_register
from station.pairing.protocol import Candidate, Identity, Offer, refused

__all__ = ["edited", "enrol", "identity_of", "table_keys", "write_offer"]

STATION_KEYS: Final = {"central": "keys/central.pub", "central.standby": "keys/standby.pub"}
"""Where a station's public key goes, from the configuration's folder, by the section that names it."""


def identity_of(pair: KeyPair) -> Identity:
    """Return a key pair as the protocol wants it."""
    verify = None if pair.verify is None else bytes.fromhex(pair.verify)
    return Identity(bytes_of(pair.public), bytes_of(pair.secret), verify)


def enrol(path: Path, candidate: Candidate, *, replace: bool) -> None:
    """Write a table into the allow-list; the same table with the same key may come again.

    Args:
        path: the allow-list; made when missing.
        candidate: the table.
        replace: whether it may take the place of a table of that name with another key.

    Raises:
        PairingError: with a code of `station.pairing.protocol.REFUSALS`.
    """
    key = text_of(candidate.public)
    try:
        register = load_register(path) if path.exists() else Register()
        before = register.tables.get(candidate.table)
        if before is not None and before.key != key and before.revoked is None and not replace:
            raise refused("taken")
        if before is not None and before.key == key and before.revoked is not None:
            raise refused(REVOKED)
        expires = before.expires if before is not None and before.key == key else None
        entry = Enrolment(key, candidate.verify.hex(), expires)
        write_register(path, register.enrolling(candidate.table, entry))
    except KeyFileError as error:
        known = {"keys.revoked": REVOKED, "keys.elsewhere": "key_elsewhere"}
        if error.code in known:
            raise refused(known[error.code]) from None
        raise PairingError(error.message, fix=error.fix, code="pairing.not_stored") from None


def table_keys(path: Path) -> KeyPair:
    """Return the keys of a table for pairing: those it has, completed by the half that signs, or new ones.

    Args:
        path: its ``.key`` file.

    Raises:
        KeyFileError: the file is damaged, or cannot be written.
    """
    if not path.exists():
        return generate(path.parent, path.stem)
    pair = load_pair(path)
    return pair if pair.signing is not None else add_signing(path.parent, path.stem)


def write_offer(
    config: Path, offer: Offer, secret_key: Path, public_key: Path | None, *, section: str = "central"
) -> Path:
    """Write what the station told into the table's configuration and its key file.

    Args:
        config: the table's configuration; its comments stay.
        offer: what the station told.
        secret_key: the table's ``.key`` file.
        public_key: where the station's key lies now; None: nowhere yet.
        section: ``central``, or ``central.standby`` for the second station.

    Returns:
        the station's key file.

    Raises:
        ConfigError: the configuration cannot be changed by a program; nothing was written.
    """
    base = config.absolute().parent
    public_key = public_key or base / STATION_KEYS[section]
    text = edited(
        config.read_text(encoding="utf-8"),
        key_file=_from(base, secret_key),
        endpoint=offer.endpoint,
        public_key=_from(base, public_key),
        section=section,
    )
    verify = None if offer.verify is None else offer.verify.hex()
    try:
        public_key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(public_key, public_text(text_of(offer.public), verify), mode=0o644, keep_mode=True)
        replace_file(config, text, mode=0o644, keep_mode=True)
    except OSError as error:
        raise ConfigError(f"{config} cannot be written: {error.strerror}.", fix="Check the folder.") from None
    return public_key


def edited(text: str, *, key_file: str, endpoint: str, public_key: str, section: str = "central") -> str:
    """Return a table's configuration with these three settings; every other line stays as it is.

    Args:
        text: the file.
        key_file: the table's own keys.
        endpoint, public_key: of the station.
        section: where these two go: ``central`` or ``central.standby``.

    Raises:
        ConfigError: it is written in a way that this cannot change safely.
    """
    settings = {"endpoint": endpoint, "public_key": public_key}
    wanted = tomllib.loads(text)
    wanted["secret_key"] = key_file
    place = wanted
    for name in section.split("."):
        place[name] = place = dict(place.get(name, {}))
    place.update(settings)
    lines = text.splitlines()
    top = _first_header(lines)
    lines[:top] = _set(lines[:top], {"secret_key": key_file})
    header = re.compile(rf"\s*\[\s*{section.replace('.', '[ ]*[.][ ]*')}\s*\]")
    begin = next((i for i, line in enumerate(lines) if header.match(line)), None)
    if begin is None:
        lines += ["", f"[{section}]", *(f"{name} = {_quoted(value)}" for name, value in settings.items())]
    else:
        end = begin + 1 + _first_header(lines[begin + 1 :])
        lines[begin + 1 : end] = _set(lines[begin + 1 : end], settings)
    changed = "\n".join(lines) + "\n"
    if _parsed(changed) != wanted:
        raise ConfigError(
            "The configuration is written in a way that only a person can change.",
            fix=f"Set secret_key = {_quoted(key_file)} and in [{section}] endpoint = {_quoted(endpoint)}, "
            f"public_key = {_quoted(public_key)}",
        )
    return changed


def _first_header(lines: list[str]) -> int:
    """Return the index of the first section's header, comments right above it included."""
    header = re.compile(r"\s*\[{1,2}[^\[\]]+\]{1,2}\s*(#.*)?$")
    at = next((i for i, line in enumerate(lines) if header.match(line)), None)
    if at is None:
        return len(lines)
    while at > 0 and (lines[at - 1].lstrip().startswith("#") or not lines[at - 1].strip()):
        at -= 1
    return at


def _set(lines: list[str], values: dict[str, str]) -> list[str]:
    """Return the lines of one section with these values, in their place or at the end."""
    done = list(lines)
    for name, value in values.items():
        setting = re.compile(rf"(\s*{name}\s*=\s*)(\"[^\"]*\"|'[^']*')(.*)$")
        at = next((i for i, line in enumerate(done) if setting.match(line)), None)
        if at is None:
            done.append(f"{name} = {_quoted(value)}")
        else:
            found = setting.match(done[at])
            assert found is not None
            done[at] = f"{found[1]}{_quoted(value)}{found[3]}"
    return done


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _from(base: Path, path: Path) -> str:
    """Return a path as it stands in a file of this folder."""
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)
