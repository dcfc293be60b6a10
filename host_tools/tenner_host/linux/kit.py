"""MicroPython for any Linux: Debian's package with its own loader and libraries, in one folder.

It uses nothing of the board's own C library, so it runs on musl and on old systems alike. It comes
from Debian's signed packages, without installing them, and stays in the cache with the checksum of
every file.

Debian 13 has Mbed TLS 3.6.6, which breaks the handshake with every server that has an RSA
certificate and no TLS 1.3. The kit has the library of Debian's next release in its place.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import re
import shutil
import tempfile
import time
from pathlib import Path

from tenner_host import debian
from tenner_host.places import cache_folder, one_at_a_time

#: Debian's name of an architecture, by the output of `uname -m`.
MACHINES = {"riscv64": "riscv64", "aarch64": "arm64", "armv7l": "armhf", "x86_64": "amd64"}
ARCHITECTURES = sorted(set(MACHINES.values()))
#: MicroPython's libraries, and its loader.
_LIBRARIES = ("libc.so.", "libm.so.", "libffi.so.", "libgcc_s.so.", "libmbed", "ld-linux")
#: The name of the loader in a kit, the same for every architecture.
LOADER = "ld.so"
SUMS = "SHA256SUMS"
#: The packages of Mbed TLS, their files, and the end of a broken one's name.
_TLS = ("libmbedtls21", "libmbedx509-7", "libmbedcrypto16")
_TLS_FILES = "libmbed*.so*"
_BROKEN_TLS = ".3.6.6"
#: Debian updates its libraries now and then.
_FRESH_S = 30 * 24 * 3600

CannotFetch = debian.CannotFetch


def kit(architecture: str) -> dict[str, bytes]:
    """The files of the kit by name, from the cache or, without a fresh kit there, from Debian."""
    # Kits of older versions have the broken library.
    name = f"kit-{debian.SUITE}-tls-{architecture}"
    cached = cache_folder() / name
    found, is_fresh = _read(cached)
    if is_fresh:
        return found
    try:
        debian.check_tools()
        with one_at_a_time(name):
            # Another process may have just made it.
            newer, is_fresh = _read(cached)
            return newer if is_fresh else _make(architecture, cached)
    except CannotFetch:
        if found:
            return found
        raise


def command(folder: Path) -> tuple[str, ...]:
    """The command that starts the interpreter of a kit in `folder`."""
    return (str(folder / LOADER), "--library-path", str(folder), str(folder / "micropython"))


def checksums(files: dict[str, bytes]) -> bytes:
    """The output of `sha256sum` for the files."""
    rows = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return "".join(rows).encode()


def executable(name: str) -> bool:
    """Must this file of a kit be executable?"""
    return name in (LOADER, "micropython")


def _read(folder: Path) -> tuple[dict[str, bytes], bool]:
    """The files of a kit in the cache, none if any differs from its checksum; and whether they are
    new enough."""
    files = {}
    try:
        age_s = time.time() - (folder / SUMS).stat().st_mtime
        sums = (folder / SUMS).read_bytes()
        for row in sums.decode().splitlines():
            name = row.partition("  ")[2]
            files[name] = (folder / name).read_bytes()
    except (OSError, UnicodeDecodeError):
        return {}, False
    is_whole = checksums(files) == sums
    return (files, age_s < _FRESH_S) if is_whole else ({}, False)


def _make(architecture: str, cached: Path) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cached.parent) as work:
        root, stage = Path(work, "root"), Path(work, "kit")
        debian.unpack(architecture, ["micropython"], root)
        _renew_tls(architecture, root)
        files = _chosen(root)
        for name, data in files.items():
            path = stage / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if executable(name) else 0o644)
        (stage / SUMS).write_bytes(checksums(files))
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(cached)
        stage.rename(cached)
    return files


def _renew_tls(architecture: str, root: Path) -> None:
    """Replace a broken Mbed TLS below `root`."""
    folder = next((root / "usr/lib").glob("*-linux-gnu*"))
    found = list(folder.resolve().glob(_TLS_FILES))
    if not any(path.name.endswith(_BROKEN_TLS) for path in found):
        return
    for path in found:
        path.unlink()
    debian.unpack_testing(architecture, _TLS, root)
    for path in folder.resolve().glob(_TLS_FILES):
        if path.name.endswith(_BROKEN_TLS):
            raise CannotFetch(f"Debian's next release has Mbed TLS {_BROKEN_TLS[1:]} too")


def _chosen(root: Path) -> dict[str, bytes]:
    """The files of a kit, from the unpacked packages: the program, its libraries, and all
    licenses."""
    files = {"micropython": (root / "usr/bin/micropython").read_bytes()}
    libraries = next((root / "usr/lib").glob("*-linux-gnu*"))
    found = [
        path.absolute()
        for path in libraries.resolve().glob("*.so*")
        if path.name.startswith(_LIBRARIES)
    ]
    # The program loads a library by the name of its link, if there is one.
    behind = {path.resolve() for path in found if path.is_symlink()}
    for path in found:
        if path.is_symlink() or path not in behind:
            files[path.name] = path.read_bytes()
    loader = next(name for name in files if name.startswith("ld-linux"))
    files[LOADER] = files.pop(loader)
    sources = set()
    for path in sorted((root / "usr/share/doc").iterdir()):
        if (path / "copyright").is_file() and not path.is_symlink():
            files[f"copyright/{path.name}"] = (path / "copyright").read_bytes()
        for changes in path.glob("changelog.Debian*"):
            with gzip.open(changes, "rt", encoding="utf-8") as lines:
                sources.add(" ".join(re.findall(r"[^ ()]+", next(lines))[:2]) + "\n")
    # A recipient of the binaries must be able to find their source: Debian's, in these versions.
    files["copyright/SOURCES"] = "".join(sorted(sources)).encode()
    missing = [name for name in _LIBRARIES[:-1] if not any(one.startswith(name) for one in files)]
    if missing:
        raise CannotFetch(f"Debian's micropython came without {', '.join(missing)}*")
    return files
