"""The agent of this repository on an interpreter of the machine, for services of others to talk to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from host_tools import FIRMWARE, interpreters

INTERPRETERS = ("cpython", "micropython", "micropython32")
KEY = "sk-test-0123456789"


@dataclass
class Said:
    """The result of one turn: the reply, the log, and the exit code."""

    text: str
    log: str
    code: int


def find(name: str) -> tuple[str, ...]:
    """The command that starts an interpreter; the test is skipped where there is none."""
    if name == "cpython":
        return (sys.executable,)
    try:
        return interpreters.FINDERS[name]().argv
    except interpreters.InterpreterMissing as exc:
        pytest.skip(str(exc))


class Agent:
    """A folder with settings and files; `once` runs one turn of it."""

    def __init__(self, root: Path, python: tuple[str, ...]) -> None:
        self.root = root
        self._python = python
        self.settings: dict[str, Any] = {}
        (root / "workspace").mkdir()
        (root / "certs").mkdir()

    def write(self, name: str, text: str) -> None:
        """Put a file into the workspace."""
        (self.root / "workspace" / name).write_text(text, encoding="utf-8")

    def set(self, **sections: Any) -> None:
        """Change sections of config.json."""
        for name, section in sections.items():
            self.settings[name] = {**self.settings.get(name, {}), **section}
        (self.root / "config.json").write_text(json.dumps(self.settings))

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "MICROPYPATH": interpreters.search_path(FIRMWARE),
            "TENNER_HOME": str(self.root),
        }

    def command(self, *options: str) -> list[str]:
        return [*self._python, "-m", "tenner", *options]

    def once(self, text: str, limit_s: int = 60) -> Said:
        """Run one turn, as a person would with --once."""
        done = subprocess.run(
            self.command("--once", text),
            cwd=FIRMWARE,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=limit_s,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert KEY not in done.stdout + done.stderr
        return Said(done.stdout.strip(), done.stderr, done.returncode)
