"""Fetch Debian's 32-bit MicroPython into the cache, without touching the system.

Its words and heap blocks are the size of an ESP32's, so a heap limit there is a real memory test.
A private apt state resolves and downloads the packages, dpkg-deb unpacks them; nothing is
installed, no root rights are needed, and the folder appears in the cache only when it works.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from host_tools import interpreters

SUITE = "trixie"
ARCHITECTURE = "i386"
# An older keyring verifies the newer suite as well; newer systems end the name in .pgp.
KEYRINGS = [
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
]


class CannotFetch(Exception):
    """Why there is no 32-bit interpreter to be had on this machine, in one sentence."""


def run(command: list[str], what: str) -> str:
    """Run one command; a failure becomes a sentence with its last line."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as exc:
        raise CannotFetch(f"{what}: {exc}") from exc
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("E: ")] or lines[-1:]
        raise CannotFetch(f"{what}: {errors[0] if errors else f'exit status {done.returncode}'}")
    return done.stdout


def check_machine() -> None:
    """Refuse early, with the reason, where it cannot work."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "i686", "i386"):
        raise CannotFetch(f"needs Linux on x86, this is {platform.system()} {platform.machine()}")
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise CannotFetch(f"needs Debian's package tools; {tool} is not here")


def find_mirror(rows: str) -> str:
    """Debian's own main mirror among the machine's package sources.

    `rows` is what `apt-get indextargets` printed: URI, origin and label with bars between them. The
    origin is empty before the first `apt-get update`.
    """
    for row in rows.splitlines():
        uri, origin, label = (row.split("|") + ["", ""])[:3]
        if origin in ("Debian", "") and label in ("Debian", "") and "security" not in uri:
            if not origin and "ubuntu" in uri:
                continue
            return uri
    raise CannotFetch("this machine's apt knows no Debian mirror; set TENNER_DEBIAN_MIRROR to one")


def mirror() -> str:
    own = os.environ.get("TENNER_DEBIAN_MIRROR")
    if own:
        return own
    form = "$(REPO_URI)|$(ORIGIN)|$(LABEL)"
    command = ["apt-get", "indextargets", "--format", form, "Created-By: Packages"]
    return find_mirror(run(command, "asking apt for its mirrors"))


def keyring() -> Path:
    for path in KEYRINGS:
        if path.exists():
            return path
    raise CannotFetch(
        "Debian's archive keys are not here; install the package debian-archive-keyring"
    )


def private_apt(state: Path, uri: str, key: Path) -> list[str]:
    """The apt-get command line whose whole state is in `state`."""
    for name in ("etc/preferences.d", "lists/partial", "cache/archives/partial", "dpkg"):
        (state / name).mkdir(parents=True)
    (state / "dpkg/status").touch()
    sources = state / "etc/sources.list"
    sources.write_text(f"deb [arch={ARCHITECTURE} signed-by={key}] {uri} {SUITE} main\n")
    options = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": state / "etc/preferences.d",
        "Dir::State": state,
        "Dir::State::Lists": state / "lists",
        "Dir::State::Status": state / "dpkg/status",
        "Dir::Cache": state / "cache",
        "APT::Architecture": ARCHITECTURE,
        "APT::Architectures": ARCHITECTURE,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root",
        "APT::Update::Error-Mode": "any",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Debug::NoLocking": "1",
    }
    command = ["apt-get", "-q", "-y"]
    for name, value in options.items():
        command += ["-o", f"{name}={value}"]
    return command


def fetch() -> interpreters.Interpreter:
    """Download, unpack, try, and only then move into the cache."""
    check_machine()
    uri, key = mirror(), keyring()
    cache = interpreters.cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as work:
        apt = private_apt(Path(work, "apt"), uri, key)
        run([*apt, "update"], "reading Debian's package list")
        run([*apt, "install", "--download-only", "micropython"], "downloading micropython")
        archives = sorted(Path(work, "apt/cache/archives").glob("*.deb"))
        stage = Path(work, "root")
        stage.mkdir()
        for archive in archives:
            run(["dpkg-deb", "-x", str(archive), str(stage)], f"unpacking {archive.name}")
        try:
            found = interpreters.probe("micropython32", interpreters.unpacked_argv(stage))
        except interpreters.InterpreterMissing as exc:
            raise CannotFetch(f"it does not run here: {exc}") from exc
        target = cache / ("micropython32-" + ".".join(str(part) for part in found.version))
        if target.exists():
            shutil.rmtree(target)
        stage.rename(target)
    return interpreters.find_micropython32()


def main() -> int:
    try:
        try:
            found = interpreters.find_micropython32()
        except interpreters.InterpreterMissing:
            print("Fetching the 32-bit MicroPython (about 4 MB) ...", flush=True)
            found = fetch()
    except (CannotFetch, interpreters.InterpreterMissing, OSError) as exc:
        print(f"No 32-bit MicroPython: {exc}", file=sys.stderr)
        return 1
    version = ".".join(str(part) for part in found.version)
    print(f"micropython32 {version} ({found.bits} bit): {found.argv[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
