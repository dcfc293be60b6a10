"""The libraries that a few commands need, and that `tenner` comes without."""

from __future__ import annotations

import sys
from pathlib import Path

#: As in pyproject.toml, which a test compares: the extras `mqtt`, `plot`, `release` and `run`.
MATPLOTLIB = "matplotlib>=3.10,<4"
PAHO_MQTT = "paho-mqtt>=2.1,<3"
CRYPTOGRAPHY = "cryptography>=42"
TRUSTME = "trustme>=1.2,<2"


def how_to_install(requirement: str, prefix: str = "", python: str = "") -> str:
    """The command that brings a library to where this program runs: pipx and uv keep an
    environment for `tenner` alone, which a plain `pip install` misses."""
    parts = Path(prefix or sys.prefix).parts
    if "pipx" in parts:
        return f"pipx inject tenner '{requirement}'"
    if "uv" in parts:
        return f"uv tool install tenner --with '{requirement}'"
    return f"{python or sys.executable} -m pip install '{requirement}'"


def missing(what: str, requirement: str) -> str:
    """The sentence for a command that lacks a library."""
    library = requirement.partition(">")[0]
    return f"{what} needs the library {library}: {how_to_install(requirement)}"
