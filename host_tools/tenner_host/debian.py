"""Debian packages for benches and kits, without touching the system.

A private apt state resolves and downloads them for any architecture, and dpkg-deb unpacks them.
This installs nothing, needs no root rights, and leaves the machine's own package lists unchanged.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tenner_host.errors import reason
from tenner_host.places import cache_folder, one_at_a_time

SUITE = "trixie"
#: One release by both of its names: while a mirror synchronizes, the lists of one may not fit
#: their signature.
_NAMES = (SUITE, "stable")
_NEXT = ("forky", "testing")
# An older keyring verifies the newer suite as well; newer systems end the name in .pgp.
KEYRINGS = [
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
]


class CannotFetch(Exception):
    """The reason, in one sentence, that this machine cannot get Debian's packages."""


def run(command: Sequence[str], what: str) -> str:
    """Run one command; turn a failure into a sentence with its last line."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as exc:
        raise CannotFetch(f"{what}: {reason(exc)}") from exc
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("E: ")] or lines[-1:]
        raise CannotFetch(f"{what}: {errors[0] if errors else f'exit status {done.returncode}'}")
    return done.stdout


def check_tools() -> None:
    """Raise early, with the reason, where it cannot work."""
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise CannotFetch(f"needs Debian's package tools; {tool} is not here")


def find_mirror(rows: str) -> str:
    """Debian's own main mirror among the machine's package sources.

    `rows` is the output of `apt-get indextargets`: URI, origin and label with bars between them.
    The
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


def private_apt(
    state: Path,
    architecture: str,
    uri: str,
    key: Path,
    source: bool = False,
    names: Sequence[str] = _NAMES,
) -> list[str]:
    """The apt-get command line whose whole state, with current package lists, is in `state`;
    `source`: sources, too. `names` are those of one release."""
    for name in ("etc/preferences.d", "lists/partial", "cache/archives/partial", "dpkg"):
        (state / name).mkdir(parents=True)
    (state / "dpkg/status").touch()
    sources = state / "etc/sources.list"
    options = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": state / "etc/preferences.d",
        "Dir::State": state,
        "Dir::State::Lists": state / "lists",
        "Dir::State::Status": state / "dpkg/status",
        "Dir::Cache": state / "cache",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
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
    for suite in names:
        lines = [f"deb [arch={architecture} signed-by={key}] {uri} {suite} main\n"]
        if source:
            # The machine's own list may lack sources.
            lines.append(f"deb-src [signed-by={key}] {uri} {suite} main\n")
        sources.write_text("".join(lines))
        try:
            run([*command, "update"], "reading Debian's package list")
            break
        except CannotFetch:
            if suite == names[-1]:
                raise
    return command


def unpack(architecture: str, packages: Sequence[str], into: Path) -> None:
    """Unpack packages and their dependencies below the folder `into`."""
    uri, key = mirror(), keyring()
    shown = " ".join(packages)
    with tempfile.TemporaryDirectory(prefix=".apt-", dir=into.parent) as work:
        state = Path(work)
        apt = private_apt(state, architecture, uri, key)
        run([*apt, "install", "--download-only", *packages], f"downloading {shown}")
        _unpack_all(state / "cache/archives", into)


def unpack_testing(architecture: str, packages: Sequence[str], into: Path) -> None:
    """Unpack these packages of Debian's next release, and none of their dependencies."""
    uri, key = mirror(), keyring()
    with tempfile.TemporaryDirectory(prefix=".apt-", dir=into.parent) as work:
        state = Path(work)
        apt = private_apt(state, architecture, uri, key, names=_NEXT)
        archives = state / "cache/archives"
        command = ["sh", "-c", 'cd "$0" && exec "$@"', str(archives), *apt, "download"]
        run([*command, *packages], f"downloading {' '.join(packages)}")
        _unpack_all(archives, into)


def unpack_source(package: str, into: Path) -> None:
    """Unpack the source of a package, with Debian's changes, as the folder `into`."""
    uri, key = mirror(), keyring()
    with tempfile.TemporaryDirectory(prefix=".apt-", dir=into.parent) as work:
        state = Path(work)
        apt = private_apt(state, "i386", uri, key, source=True)
        archives = state / "cache/archives"
        command = ["sh", "-c", 'cd "$0" && exec "$@"', str(archives)]
        run([*command, *apt, "source", "--download-only", package], f"downloading {package}")
        described = next(archives.glob("*.dsc"), None)
        if described is None:
            raise CannotFetch(f"Debian has no source of {package}")
        # apt has verified the files with the archive's key.
        unpacker = ["dpkg-source", "--no-check", "-x", str(described), str(into)]
        run(unpacker, f"unpacking the source of {package}")


def unpack_alone(architecture: str, package: str, prefix: str, into: Path) -> None:
    """Unpack the one package, named by `prefix` and its version, that the metapackage `package`
    needs."""
    uri, key = mirror(), keyring()
    with tempfile.TemporaryDirectory(prefix=".apt-", dir=into.parent) as work:
        state = Path(work)
        apt = private_apt(state, architecture, uri, key)
        listed = run([*apt, "install", "--print-uris", package], f"finding {package}")
        rows = [row.split() for row in listed.splitlines() if row.startswith("'")]
        names = [row[1].split("_")[0] for row in rows if row[1].startswith(prefix)]
        if not names:
            raise CannotFetch(f"Debian's {package} needs no {prefix}* any more")
        archives = state / "cache/archives"
        # `download` ignores dependencies and the cache: it writes into the working folder.
        command = ["sh", "-c", 'cd "$0" && exec "$@"', str(archives), *apt, "download", names[0]]
        run(command, f"downloading {names[0]}")
        _unpack_all(archives, into)


def folder(name: str, architecture: str, packages: Sequence[str]) -> Path:
    """The folder `name` of the cache with these packages and their dependencies unpacked."""
    return filled(name, lambda stage: unpack(architecture, packages, stage))


def filled(name: str, fill: Callable[[Path], None]) -> Path:
    """The folder `name` of the cache; renamed into place after it is filled, so that it is
    complete."""
    made = cache_folder() / name
    if made.exists():
        return made
    check_tools()
    with one_at_a_time(name):
        if not made.exists():
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=made.parent) as work:
                stage = Path(work, "root")
                fill(stage)
                stage.rename(made)
    return made


def _unpack_all(archives: Path, into: Path) -> None:
    into.mkdir(exist_ok=True)
    for archive in sorted(archives.glob("*.deb")):
        run(["dpkg-deb", "-x", str(archive), str(into)], f"unpacking {archive.name}")
