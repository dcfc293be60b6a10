"""Find the MicroPython interpreters for tests, bench and the virtual board."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tenner_host.errors import reason
from tenner_host.places import cache_folder

_PROBE = (
    "import sys; v = sys.implementation; "
    "print(v[0], '.'.join(str(n) for n in v[1][:3]), 64 if sys.maxsize > 0x7fffffff else 32)"
)


class InterpreterMissing(Exception):
    """The interpreter is missing; the text gives the way to get it."""


@dataclass(frozen=True)
class Interpreter:
    """One MicroPython: its command line without the script, its version and its word size."""

    name: str
    argv: tuple[str, ...]
    version: tuple[int, ...]
    bits: int

    def command(self, *args: str | Path, heap: str | None = None) -> list[str]:
        """The command line that runs `args`, in a heap of a fixed size such as `112K` if given."""
        options = ["-X", f"heapsize={heap}"] if heap else []
        return [*self.argv, *options, *(str(arg) for arg in args)]


def search_path(*folders: str | Path) -> str:
    """`MICROPYPATH` of these folders, before the modules built into the interpreter."""
    return ":".join([*(str(folder) for folder in folders), ".frozen"])


def probe(name: str, argv: tuple[str, ...]) -> Interpreter:
    """Start the interpreter once, and read its version and word size."""
    shown = shlex.join(argv)
    try:
        done = subprocess.run(
            [*argv, "-c", _PROBE],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise InterpreterMissing(f"{name}: `{shown}` does not start: {reason(exc)}") from exc
    words = done.stdout.split()
    if done.returncode or len(words) != 3 or words[0] != "micropython":
        raise InterpreterMissing(
            f"{name}: `{shown}` is not a working MicroPython: "
            f"{(done.stderr or done.stdout).strip()[-200:] or f'exit status {done.returncode}'}"
        )
    version = tuple(int(part) for part in words[1].split("."))
    return Interpreter(name, argv, version, int(words[2]))


def _from_environment(variable: str) -> tuple[str, ...] | None:
    value = os.environ.get(variable)
    return tuple(shlex.split(value)) if value else None


@functools.cache
def find_micropython() -> Interpreter:
    """Unix MicroPython: $MICROPYTHON, else the one beside this Python, else the PATH's."""
    argv = _from_environment("MICROPYTHON")
    if argv is None:
        beside = Path(sys.executable).parent / "micropython"
        found = str(beside) if beside.exists() else shutil.which("micropython")
        if found is None:
            raise InterpreterMissing(
                "micropython: no Unix MicroPython found. On Linux x86_64 and macOS arm64 one is "
                "installed with tenner; elsewhere install your system's `micropython` package or "
                "set MICROPYTHON=/path/to/micropython."
            )
        argv = (found,)
    return probe("micropython", argv)


def unpacked_argv(folder: Path) -> tuple[str, ...]:
    """The command that starts the 32-bit interpreter in the folder it was unpacked into."""
    libraries = folder / "usr" / "lib" / "i386-linux-gnu"
    return (
        str(libraries / "ld-linux.so.2"),
        "--library-path",
        str(libraries),
        str(folder / "usr" / "bin" / "micropython"),
    )


@functools.cache
def find_micropython32() -> Interpreter:
    """MicroPython with 32-bit words, whose heap is like an ESP32's: $MICROPYTHON32 or the
    cache."""
    argv = _from_environment("MICROPYTHON32")
    if argv is not None:
        return probe("micropython32", argv)
    for folder in sorted(cache_folder().glob("micropython32-*"), reverse=True):
        if (folder / "usr" / "bin" / "micropython").exists():
            return probe("micropython32", unpacked_argv(folder))
    raise InterpreterMissing(
        "micropython32: no 32-bit MicroPython in the cache; get it with `make micropython32` "
        "(Debian on x86), or set MICROPYTHON32 to the command that starts one."
    )


FINDERS = {"micropython": find_micropython, "micropython32": find_micropython32}
