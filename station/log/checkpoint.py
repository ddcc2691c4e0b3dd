"""Signed checkpoints: entries that bind a log, up to themselves, to a key that its file does not hold.

Whoever can write the file can make a new chain; without the key he cannot sign it. The signature (Ed25519,
https://www.rfc-editor.org/rfc/rfc8032) covers two heads: that of the chain which the checkpoint continues, so
that anyone with a copy of this chain can check it, and that of the file, with all its chains.
Pure: nothing in here reads a clock or a disk.
"""

from __future__ import annotations

import struct

import msgspec
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

from station.log.chain import Entry, Head

__all__ = ["CHECKPOINT", "SEED_SIZE", "Checkpoint", "body_of", "message", "misfit", "read"]

CHECKPOINT = "log.checkpoint"
"""Kind of the entry."""
SEED_SIZE = 32
"""Size of the secret that a signing key is made from, in bytes."""
_MAGIC = b"QZ-checkpoint-1"
_FIXED = struct.Struct(">Q32sQ32s")


class Checkpoint(msgspec.Struct, frozen=True):
    """Body of a checkpoint; byte strings in hex.

    Args:
        v: version of the body.
        seq: seq of the last entry before it in its chain (0: none).
        head: hash of that entry.
        pos: position of the last entry before it in its author's file.
        hash: store hash of that position.
        why: what it was made for, for example ``session.closed``.
        key: public key (32 bytes) that `sig` holds under.
        sig: Ed25519 signature (64 bytes) of `message`.
    """

    v: int
    seq: int
    head: str
    pos: int
    hash: str
    why: str
    key: str
    sig: str


_decoder = msgspec.json.Decoder(Checkpoint)


def message(log_id: bytes, head: Head, store: Head, why: str) -> bytes:
    """Give the bytes that are signed: both heads, in a form that can be read in one way only."""
    name = why.encode()
    return b"".join((_MAGIC, log_id, _FIXED.pack(head.seq, head.hash, store.seq, store.hash), name))


def body_of(seed: bytes, log_id: bytes, head: Head, store: Head, why: str) -> bytes:
    """Sign two heads and give the body of the entry.

    Args:
        seed: the signing key's secret (32 bytes).
        log_id: id of the chain that the entry will continue.
        head: head of this chain.
        store: head of the file.
        why: what it is made for.

    Raises:
        ValueError: the seed has not 32 bytes.
    """
    if len(seed) != SEED_SIZE:
        raise ValueError(f"the seed of a signing key has {SEED_SIZE} bytes, not {len(seed)}")
    key = SigningKey(seed)
    signature = key.sign(message(log_id, head, store, why)).signature
    return msgspec.json.encode(
        Checkpoint(
            1,
            head.seq,
            head.hash.hex(),
            store.seq,
            store.hash.hex(),
            why,
            bytes(key.verify_key).hex(),
            signature.hex(),
        )
    )


def read(body: bytes) -> Checkpoint | None:
    """Read the body of a checkpoint; None when it is none."""
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def misfit(entry: Entry, store: Head | None) -> str | None:
    """Say what does not fit in a checkpoint, or None.

    Args:
        entry: the entry; its own hash and its place in its chain were checked before.
        store: head of the author's file before it; None where that is not known, in a copy.
    """
    found = read(entry.body)
    if found is None or found.v != 1:
        return "it is no checkpoint of a known form"
    if (found.seq, found.head) != (entry.seq - 1, entry.prev.hex()):
        return "it was signed for another place of its chain"
    if store is not None and (found.pos, found.hash) != (store.seq, store.hash.hex()):
        return "it was signed for another content of the file"
    try:
        head, signed = Head(found.seq, entry.prev), Head(found.pos, bytes.fromhex(found.hash))
        data = message(entry.log_id, head, signed, found.why)
        VerifyKey(bytes.fromhex(found.key)).verify(data, bytes.fromhex(found.sig))
    except (CryptoError, ValueError, TypeError, struct.error):
        return "its signature does not hold"
    return None
