"""Create or refresh .venv for a make target; do nothing if it is ready.

Only the standard library, and only syntax that Python 3.8 can read: an old Python must be able to
run this far and print a sentence about its age.
"""

import argparse
import hashlib
import importlib.util
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from typing import Callable, List, Optional, Sequence, TextIO

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST = (3, 10)
# Published drivers that the tests compare with the virtual chips; the file says why they are
# installed apart.
PUBLISHED = os.path.join(ROOT, "tests", "host", "published_drivers.txt")
# The metadata of the installed package has the version from here.
VERSION = os.path.join(ROOT, "firmware", "tenner", "__init__.py")
# Every set of packages with the sets it contains.
CONTAINS = {"run": ("run",), "test": ("run", "test"), "docs": ("run", "test", "docs")}


class SetupError(Exception):
    """One clear sentence for the person at the terminal."""


def version_text(version: Sequence[int]) -> str:
    return ".".join(str(part) for part in version)


def starts(name: str) -> bool:
    """True if this command exists and runs (a version manager's stand-in may not)."""
    try:
        done = subprocess.run(
            [name, "-c", "pass"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def check_version(
    version: Sequence[int], executable: str, starts: Callable[[str], bool] = starts
) -> None:
    """Refuse a Python that is too old and name a newer one that is on the PATH."""
    if tuple(version[:2]) >= OLDEST:
        return
    text = "tenner needs Python %s or newer; found %s (%s)." % (
        version_text(OLDEST),
        version_text(version[:3]),
        executable,
    )
    for minor in range(14, OLDEST[1] - 1, -1):
        name = "python3.%d" % minor
        if starts(name):
            raise SetupError("%s Try: make PYTHON=%s" % (text, name))
    raise SetupError(text + " Install a newer one and run: make PYTHON=/path/to/python3")


def check_venv(
    version: Sequence[int],
    find: Callable[[str], object] = importlib.util.find_spec,
    which: Callable[[str], Optional[str]] = shutil.which,
) -> None:
    """Refuse a Python without venv or pip, as Debian and Ubuntu ship it, with the command that
    helps."""
    missing = [name for name in ("venv", "ensurepip") if find(name) is None]
    if not missing:
        return
    text = "Python's %s module is missing, so no virtual environment can be made." % missing[0]
    if which("apt-get"):
        name = "python%s-venv" % version_text(version[:2])
        raise SetupError("%s Run: sudo apt install %s" % (text, name))
    raise SetupError(
        text + " Install your system's package for it, or use another Python: make PYTHON=..."
    )


def wanted_stamp(version: Sequence[int]) -> str:
    """The content of the stamp: these packages, for this Python, in this place."""
    content = b""
    for path in (os.path.join(ROOT, "pyproject.toml"), PUBLISHED, VERSION):
        with open(path, "rb") as f:
            content += f.read()
    digest = hashlib.sha256(content).hexdigest()
    return "%s %s %s\n" % (digest, version_text(version[:2]), ROOT)


def stamp_path(venv: str, extra: str) -> str:
    return os.path.join(venv, "tenner-%s.stamp" % extra)


def read_stamp(venv: str, extra: str) -> str:
    try:
        with open(stamp_path(venv, extra)) as f:
            return f.read()
    except OSError:
        return ""


def is_ready(venv: str, extra: str, version: Sequence[int]) -> bool:
    """True if the packages are installed already; costs one small read."""
    stamp = wanted_stamp(version)
    return any(
        read_stamp(venv, other) == stamp for other, holds in CONTAINS.items() if extra in holds
    )


def venv_python(venv: str) -> str:
    return os.path.join(venv, "bin", "python")


def venv_works(venv: str, version: Sequence[int]) -> bool:
    """True if .venv is complete and made by the same minor version of Python."""
    code = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [venv_python(venv), "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0 and done.stdout.decode().strip() == version_text(version[:2])


def last_error(text: str) -> str:
    """The line of pip's output with the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no output"])[-1].replace("ERROR: ", "", 1)


class Progress:
    """One line about the step that runs: at a terminal it moves, elsewhere each new phase is a
    line of its own."""

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._moves = stream.isatty()
        self._now = now
        self._begin = now()
        self._phases: List[str] = []
        self._text = ""
        self._found = 0

    def line(self, line: str) -> None:
        """A line of pip's output."""
        word, _, rest = line.strip().partition(" ")
        name = re.split(r"[ <>=!~;(\[]", rest, maxsplit=1)[0]
        if word == "Collecting":
            self._found += 1
            self._show("finding packages", "%d: %s" % (self._found, name))
        elif word == "Downloading":
            self._show("downloading", rest.rpartition("/")[2].partition(" ")[0])
        elif line.startswith("Installing collected packages: "):
            self._show("installing", line.partition(": ")[2].strip())
        elif word == "Building":
            self._show("building", rest.rpartition(": ")[2])
        else:
            self.tick()

    def _show(self, phase: str, detail: str) -> None:
        if not self._moves and phase not in self._phases:
            self._stream.write("  %s ...\n" % phase)
            self._stream.flush()
        self._phases.append(phase)
        self._text = " ".join((phase, detail)).strip()
        self.tick()

    def tick(self) -> None:
        """Show that it still works."""
        if self._moves:
            text = "  %3d s  %s" % (self._now() - self._begin, self._text)
            self._stream.write("\r\033[K" + text[: shutil.get_terminal_size().columns - 1])
            self._stream.flush()

    def end(self) -> None:
        if self._moves:
            self._stream.write("\r\033[K")
            self._stream.flush()


def run_logged(command: Sequence[str], log_path: str, step: str) -> None:
    """Run one step with its output in the log and its progress on the screen; a failure becomes
    one sentence."""
    progress = Progress(sys.stdout)
    lines: "queue.Queue[Optional[str]]" = queue.Queue()
    output: List[str] = []
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=dict(os.environ, PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )

    def read() -> None:
        assert process.stdout is not None
        for data in process.stdout:
            lines.put(data.decode("utf-8", "replace"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        with open(log_path, "a", encoding="utf-8") as log:
            log.write("$ %s\n" % " ".join(command))
            while True:
                try:
                    line = lines.get(timeout=1)
                except queue.Empty:
                    progress.tick()
                    continue
                if line is None:
                    break
                log.write(line)
                log.flush()
                output.append(line)
                progress.line(line)
        process.wait()
    finally:
        progress.end()
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode:
        raise SetupError(
            "%s failed: %s (whole log: %s)" % (step, last_error("".join(output)), log_path)
        )


def install(venv: str, extra: str, version: Sequence[int]) -> None:
    """Make the environment if necessary and install; the stamp comes last, so that an interrupted
    install is repeated.
    """
    for name in CONTAINS:
        if os.path.exists(stamp_path(venv, name)):
            os.remove(stamp_path(venv, name))
    # Metadata of an older version beside the sources would hide that of the installed package.
    shutil.rmtree(os.path.join(ROOT, "tenner.egg-info"), ignore_errors=True)
    build = os.path.join(ROOT, "build")
    os.makedirs(build, exist_ok=True)
    log_path = os.path.join(build, "setup.log")
    open(log_path, "wb").close()
    if not venv_works(venv, version):
        check_venv(version)
        print(
            "Creating %s with Python %s ..." % (os.path.relpath(venv), version_text(version[:3]))
        )
        sys.stdout.flush()
        command = [sys.executable, "-m", "venv", "--clear", venv]
        run_logged(command, log_path, "Creating the virtual environment")
    print(
        (
            "Installing the Python packages for `make %s` (once; a minute or two; the log is "
            "build/setup.log) ..."
        )
        % extra
    )
    sys.stdout.flush()
    pip = [venv_python(venv), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command = pip + ["--editable", ".[%s]" % extra]
    run_logged(command, log_path, "Installing the Python packages")
    if extra == "test":
        apart = ["--no-deps", "--upgrade", "--target", os.path.join(venv, "published-drivers")]
        run_logged(pip + apart + ["-r", PUBLISHED], log_path, "Installing published drivers")
    temporary = stamp_path(venv, extra) + ".tmp"
    with open(temporary, "w") as f:
        f.write(wanted_stamp(version))
    os.replace(temporary, stamp_path(venv, extra))


def main(argv: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--extra", choices=sorted(CONTAINS), default="run")
    parser.add_argument("--venv", default=os.path.join(ROOT, ".venv"))
    args = parser.parse_args(argv)
    version = tuple(sys.version_info[:3])
    try:
        check_version(version, sys.executable)
        if not is_ready(args.venv, args.extra, version):
            install(args.venv, args.extra, version)
    except SetupError as exc:
        print(exc, file=sys.stderr)
        return 1
    except OSError as exc:
        print("The set-up could not go on: %s" % exc, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up interrupted; the next run does it again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
