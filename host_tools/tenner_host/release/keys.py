"""The keys of releases. The private half of the owner's key stays on this computer; its public
half, and that of the project's key, go to boards over the cable."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenner_host import FIRMWARE, libraries
from tenner_host.errors import CommandError
from tenner_host.places import config_folder, write_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

#: The public keys that a board accepts, one a line: `rsa MODULUS`, in hex.
ON_BOARD = "/lib/release.keys"
BITS = (2048, 3072)
EXPONENT = 65537
#: The public key of the project's own releases, as a line of that file.
PROJECT = FIRMWARE / "release.keys"
_NAME = "release-key.pem"


class LibraryMissing(CommandError):
    """The library that makes keys and signatures is not installed."""


def place() -> Path:
    """Return the file of the private key."""
    return config_folder() / _NAME


def new_key(bits: int = BITS[0]) -> Path:
    """Make a key and return its file; an existing one is never replaced."""
    rsa, serialization = _library()
    path = place()
    if path.exists():
        raise CommandError(
            f"{path} is there already: boards that know it would refuse releases of a new one. "
            "Move it away first"
        )
    key = rsa.generate_private_key(EXPONENT, bits)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    # Private from its first byte on.
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        try:
            file.write(pem)
            file.flush()
            write_whole(_public_place(path), public_line(key).encode())
        except BaseException:
            # Half a key would stand in the way of the next one.
            path.unlink()
            raise
    return path


def ensure() -> bool:
    """Make the owner's key if there is none; return False without the library for that."""
    if not place().exists():
        try:
            new_key()
        except FileExistsError:
            pass  # another setup has just made it
        except LibraryMissing:
            return False
    return True


def load(path: Path | None = None) -> RSAPrivateKey:
    """Return the private key, the owner's without `path`; CommandError if it is missing, damaged
    or readable by others."""
    rsa, serialization = _library()
    path = path or place()
    try:
        pem = path.read_bytes()
    except FileNotFoundError:
        raise CommandError(
            f"there is no key to sign with at {path}: `tenner release --new-key` makes one"
        ) from None
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise CommandError(f"others may read {path}: run `chmod 600 {path}`")
    try:
        key = serialization.load_pem_private_key(pem, None)
    except (ValueError, TypeError) as exc:
        raise CommandError(f"{path} isn't a private key in PEM form: {exc}") from exc
    if not isinstance(key, rsa.RSAPrivateKey) or key.key_size not in BITS:
        raise CommandError(f"{path} is no RSA key of {' or '.join(map(str, BITS))} bits")
    if key.public_key().public_numbers().e != EXPONENT:
        raise CommandError(f"{path} has another exponent than {EXPONENT}")
    found: RSAPrivateKey = key
    return found


def public_line(key: RSAPrivateKey) -> str:
    """Return the line of `ON_BOARD` for a key."""
    return f"rsa {key.public_key().public_numbers().n:x}\n"


def key_id(line: str) -> str:
    """Return the short name of a public key, which a release states."""
    return hashlib.sha256(line.split()[1].encode()).hexdigest()[:16]


def board_files(there: Container[str] = ()) -> dict[str, bytes]:
    """Return the file of public keys by its path on a board with the files `there`; {} if a
    computer without a key would remove the owner's from it."""
    path = _public_place(place())
    if path.is_file():
        return {ON_BOARD: PROJECT.read_bytes() + path.read_bytes()}
    return {} if ON_BOARD in there else {ON_BOARD: PROJECT.read_bytes()}


def has_own() -> bool:
    """Has this computer a key of its owner?"""
    return _public_place(place()).is_file()


def _public_place(path: Path) -> Path:
    return path.with_suffix(".pub")


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa
    except ImportError:
        raise LibraryMissing(libraries.missing("signing", libraries.CRYPTOGRAPHY)) from None
    return rsa, serialization
