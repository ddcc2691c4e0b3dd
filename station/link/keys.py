"""The keys of a table or of the central station, in files.

A key pair NAME lies in two TOML files: ``NAME.key`` (mode 0600) and ``NAME.pub`` (mode 0644)::

    public = "…"     # CURVE, both files: proves who connects
    secret = "…"     # CURVE, .key alone
    verify = "…"     # Ed25519, both files: checks signatures
    signing = "…"    # Ed25519 seed, .key alone: signs checkpoints of the log

CURVE keys are written in Z85 (https://rfc.zeromq.org/spec/32/), 40 characters; Ed25519 keys
(https://www.rfc-editor.org/rfc/rfc8032) are 32 bytes as 64 hexadecimal digits. Files of before there were
signatures have the CURVE half alone. The list of enrolled tables is in `station.link.register`.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import zmq
from nacl.signing import SigningKey

from station.errors import KeyFileError
from station.files import replace_file, write_new
from station.link.allow_list import AllowList, Standing
from station.link.key_files import curve_key, load_toml, raw_key
from station.link.register import load_allow_list, write_allow_list

__all__ = [
    "AllowList",
    "KeyPair",
    "Standing",
    "add_signing",
    "generate",
    "load_allow_list",
    "load_pair",
    "load_public",
    "load_verify",
    "public_text",
    "write_allow_list",
]


class KeyPair(msgspec.Struct, frozen=True):
    """A CURVE key pair in Z85; where there is one, an Ed25519 pair in hex (``signing``: its seed)."""

    public: str
    secret: str
    signing: str | None = None
    verify: str | None = None

    @property
    def signer(self) -> bytes | None:
        """The seed (32 bytes) of the key that signs."""
        return None if self.signing is None else bytes.fromhex(self.signing)

    def __repr__(self) -> str:
        return f"KeyPair(public={self.public!r}, verify={self.verify!r}, …)"


def generate(folder: Path, name: str) -> KeyPair:
    """Draw a key pair and write ``NAME.key`` and ``NAME.pub`` into `folder`, which is created when missing.

    Raises:
        KeyFileError: one of the files exists already, or the folder cannot be written.
    """
    public, secret = (key.decode() for key in zmq.curve_keypair())
    pair = KeyPair(public, secret, *_drawn_signing())
    for suffix in (".key", ".pub"):
        if (folder / f"{name}{suffix}").exists():
            raise _exists(folder / f"{name}{suffix}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_new(folder / f"{name}.key", _secret_text(pair), mode=0o600)
        write_new(folder / f"{name}.pub", _public_text(pair), mode=0o644)
    except FileExistsError as error:
        raise _exists(Path(str(error.filename))) from None
    except OSError as error:
        raise _unwritable(folder, error) from error
    return pair


def add_signing(folder: Path, name: str) -> KeyPair:
    """Give an older key pair its Ed25519 half; the CURVE half, and with it every enrolment, stays.

    Raises:
        KeyFileError: the pair is missing or damaged, has the half already, or cannot be written.
    """
    secret_file = folder / f"{name}.key"
    old = load_pair(secret_file)
    if old.signing is not None:
        raise KeyFileError(f"The key file {secret_file} can sign already.", fix="Nothing needs to be done.")
    pair = KeyPair(old.public, old.secret, *_drawn_signing())
    try:
        replace_file(secret_file, _secret_text(pair), keep_mode=True)
        replace_file(folder / f"{name}.pub", _public_text(pair), mode=0o644, keep_mode=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return pair


def load_pair(path: Path) -> KeyPair:
    """Read a ``.key`` file.

    Raises:
        KeyFileError: missing, damaged, or readable by others.
    """
    data = load_toml(path)
    if path.stat().st_mode & 0o077:
        raise KeyFileError(f"Others may read the secret key {path}.", fix=f"Run: chmod 600 {path}")
    signing = raw_key(data.get("signing"), path)
    verify = None if signing is None else _verify_of(signing)
    if data.get("verify", verify) != verify:
        raise KeyFileError(
            f"The two signing keys in {path} do not belong together.", fix="Make new keys: quezhuo keygen"
        )
    return KeyPair(curve_key(data.get("public"), path), curve_key(data.get("secret"), path), signing, verify)


def load_public(path: Path) -> str:
    """Read the public CURVE key of a ``.pub`` (or ``.key``) file, in Z85.

    Raises:
        KeyFileError: missing or damaged.
    """
    return curve_key(load_toml(path).get("public"), path)


def load_verify(path: Path) -> str | None:
    """Read the public Ed25519 key of a ``.pub`` (or ``.key``) file, in hex; None in an older file.

    Raises:
        KeyFileError: missing or damaged.
    """
    return raw_key(load_toml(path).get("verify"), path)


def public_text(public: str, verify: str | None) -> str:
    """Return the text of a ``.pub`` file."""
    return f'public = "{public}"\n' + (f'verify = "{verify}"\n' if verify else "")


def _public_text(pair: KeyPair) -> str:
    return public_text(pair.public, pair.verify)


def _secret_text(pair: KeyPair) -> str:
    signing = f'signing = "{pair.signing}"\n' if pair.signing else ""
    return f'{_public_text(pair)}secret = "{pair.secret}"\n{signing}'


def _drawn_signing() -> tuple[str, str]:
    signing = SigningKey.generate().encode().hex()
    return signing, _verify_of(signing)


def _verify_of(signing: str) -> str:
    return SigningKey(bytes.fromhex(signing)).verify_key.encode().hex()


def _exists(path: Path) -> KeyFileError:
    return KeyFileError(
        f"The key file {path} exists already.", fix="Move it away first, or use another name."
    )


def _unwritable(folder: Path, error: OSError) -> KeyFileError:
    return KeyFileError(
        f"The key files cannot be written to {folder}: {error.strerror}.", fix="Check the folder."
    )
