"""The agent of this repository on an interpreter of the machine, for services of others to talk
to."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tenner_host import FIRMWARE, interpreters
from tenner_sim import LIMIT_S

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
    """A folder with settings and files; `once` runs one turn of it, `serving` all of it."""

    def __init__(self, root: Path, python: tuple[str, ...]) -> None:
        self.root = root
        self._python = python
        self.settings: dict[str, Any] = {}
        (root / "workspace").mkdir()
        (root / "certs").mkdir()
        (root / "lib").mkdir()

    def write(self, name: str, text: str) -> None:
        """Put a file into the workspace."""
        path = self.root / "workspace" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def set(self, **sections: Any) -> None:
        """Change sections of config.json, or settings that stand in none."""
        for name, section in sections.items():
            is_section = isinstance(section, dict)
            self.settings[name] = (
                {**self.settings.get(name, {}), **section} if is_section else section
            )
        (self.root / "config.json").write_text(json.dumps(self.settings))

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "MICROPYPATH": interpreters.search_path(FIRMWARE, self.root / "lib"),
            "TENNER_HOME": str(self.root),
        }

    def trust(self, name: str, der: bytes) -> None:
        """Have it trust an authority, instead of those of the system."""
        (self.root / "certs" / f"{name}.der").write_bytes(der)

    @property
    def log(self) -> str:
        """Return its output as a service."""
        path = self.root / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait_log(self, *words: str, after: int = 0) -> str:
        """Wait until a line of the log, after so many characters, has all these words; return
        it."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            for line in self.log[after:].splitlines():
                if all(word in line for word in words):
                    return line
            time.sleep(0.1)
        raise AssertionError(f"{words} not in the log: {self.log[-2000:]}")

    @contextlib.contextmanager
    def serving(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run it as a service while the block lasts."""
        with (self.root / "log").open("ab") as log:
            process = subprocess.Popen(
                self.command(),
                cwd=FIRMWARE,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LIMIT_S)
            process.kill()
            process.wait()

    def command(self, *options: str) -> list[str]:
        return [*self._python, "-m", "tenner", *options]

    def once(self, text: str, limit_s: float = 2 * LIMIT_S) -> Said:
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
