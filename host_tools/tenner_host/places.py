"""The folders this program writes to: none of them is in an installed package."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from tenner_host import IS_INSTALLED, ROOT
from tenner_host.errors import CommandError, reason

#: Windows would change line ends.
_BINARY = getattr(os, "O_BINARY", 0)


def cache_folder() -> Path:
    """The folder for downloads: $TENNER_CACHE, else the user's cache folder (on Windows below
    %LOCALAPPDATA%)."""
    own = os.environ.get("TENNER_CACHE")
    return Path(own) if own else platformdirs.user_cache_path("tenner", appauthor=False)


def config_folder() -> Path:
    """The folder for this user's keys: $TENNER_CONFIG, else the user's folder for settings."""
    own = os.environ.get("TENNER_CONFIG")
    return Path(own) if own else platformdirs.user_config_path("tenner", appauthor=False)


def build_folder() -> Path:
    """The folder for builds and virtual boards: the checkout's `build`, else the cache."""
    return cache_folder() if IS_INSTALLED else ROOT / "build"


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Hold the lock of `name`, a place in the cache; other processes wait for it. Windows has no
    such locks, and nobody waits there."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    made = cache_folder() / name
    made.parent.mkdir(parents=True, exist_ok=True)
    with made.with_name(f".{made.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_text(path: Path) -> str:
    """The text of an owner's file; CommandError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as exc:
        raise CommandError(f"{path} cannot be read: {reason(exc)}") from exc
    except UnicodeError as exc:
        raise CommandError(f"{path} cannot be read: it is no text in UTF-8") from exc


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write a file that others may read or write at the same time: they never see a part of it,
    and an old one stays whole until the new one is. `private`: for this user's eyes alone, from
    its first byte on. CommandError if it cannot be written."""
    # A link stays one.
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_fifo() or target.is_char_device():
            target.write_bytes(data)
        else:
            _replace(target, data, 0o600 if private else 0o666)
    except OSError as exc:
        raise CommandError(f"{path} cannot be written: {reason(exc)}") from exc


def _replace(target: Path, data: bytes, mode: int) -> None:
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.tmp")
    try:
        number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        with os.fdopen(number, "wb") as file:
            file.write(data)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
