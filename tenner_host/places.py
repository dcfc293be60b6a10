"""The folders this program writes to: none of them is in an installed package."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from tenner_host import IS_INSTALLED, ROOT


def cache_folder() -> Path:
    """The folder for downloads: $TENNER_CACHE, else the user's cache folder (on Windows below %LOCALAPPDATA%)."""
    own = os.environ.get("TENNER_CACHE")
    return Path(own) if own else platformdirs.user_cache_path("tenner", appauthor=False)


def build_folder() -> Path:
    """The folder for builds and virtual boards: the checkout's `build`, else the cache."""
    return cache_folder() if IS_INSTALLED else ROOT / "build"
