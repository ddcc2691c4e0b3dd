"""What binds a log to something outside its file: an expected hash, or a signature."""

from __future__ import annotations

import msgspec

from station.errors import ConfigError
from station.log.chain import HASH_SIZE, LOG_ID_SIZE, Stored

__all__ = ["Anchor", "Expected", "expected", "qr_text"]

_QR = "QZ1"


class Anchor(msgspec.Struct, frozen=True):
    """An entry that is bound to something outside.

    Args:
        by: ``expected`` (hash known from elsewhere), ``checkpoint`` (signature), or ``chain`` (signature of
            before the file was rebuilt: it binds its chain alone).
        pos: position of the entry in the file.
        log: id of its chain in hex.
        source: who sent it; empty for the owner of the file.
        seq: its number in its chain.
        key: public key of the signature in hex.
        why: what the checkpoint was made for.
    """

    by: str
    pos: int
    log: str
    source: str
    seq: int
    key: str | None = None
    why: str | None = None


class Expected(msgspec.Struct, frozen=True):
    """A hash known from elsewhere; with `log_id` and `seq` also the entry that has to have it."""

    hash: bytes
    log_id: bytes | None = None
    seq: int | None = None

    def fits(self, item: Stored) -> bool:
        """Tell whether an entry is the one that is expected."""
        if self.log_id is None:
            return self.hash in (item.hash, item.entry.hash)
        entry = item.entry
        return (entry.log_id, entry.seq, entry.hash) == (self.log_id, self.seq, self.hash)


def qr_text(log_id: bytes, seq: int, digest: bytes) -> str:
    """Give the text of the QR code on a result sheet: ``QZ1:LOGID:SEQ:HASH``, byte strings in hex."""
    return f"{_QR}:{log_id.hex()}:{seq}:{digest.hex()}".upper()


def expected(text: bytes | str | None) -> Expected | None:
    """Read an expected hash, given as 32 bytes, as 64 hex digits or as the text of a sheet's QR code.

    Raises:
        ConfigError: it is none of these.
    """
    if text is None:
        return None
    try:
        found = Expected(text) if isinstance(text, bytes) else _read(text.strip())
    except ValueError:
        found = Expected(b"")
    sizes = (len(found.hash), LOG_ID_SIZE if found.log_id is None else len(found.log_id))
    if sizes != (HASH_SIZE, LOG_ID_SIZE):
        raise ConfigError(
            f"The expected hash has to be {2 * HASH_SIZE} hexadecimal digits, or the text of the QR code.",
            fix="Copy it from the result sheet.",
        )
    return found


def _read(text: str) -> Expected:
    if not text.upper().startswith(f"{_QR}:"):
        return Expected(bytes.fromhex(text))
    _, log_id, seq, digest = text.split(":")
    return Expected(bytes.fromhex(digest), bytes.fromhex(log_id), int(seq))
