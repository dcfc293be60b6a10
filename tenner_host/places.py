"""The folders this program writes to: none of them is in an installed package."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from tenner_host import IS_INSTALLED, ROOT


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


def write_whole(path: Path, data: bytes) -> None:
    """Write a file of the cache that others may read or write at the same time: they never see a
    part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as file:
        file.write(data)
    os.replace(file.name, path)
