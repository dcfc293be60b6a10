"""The content of a Linux release: the agent, its start scripts, and the interpreter unless the
board has one."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tenner_host import BOARDS, tenner_version
from tenner_host.build import BuildError, linux_tree
from tenner_host.errors import CommandError
from tenner_host.linux import kit
from tenner_host.tarball import tarred

_ONBOARD = Path(__file__).parent / "onboard"
#: The interpreters: the kit's MicroPython, or the board's own python3.
RUNTIMES = ("micropython", "cpython")
SUMS = kit.SUMS
#: Shell scripts of a release: the first starts the agent, the second runs it as a service.
PROGRAMS = ("tenner-agent", "ctl")
EXECUTABLE = (*PROGRAMS, "kit/ld.so", "kit/micropython")


@dataclass(frozen=True)
class Release:
    """Every file by its path below the release's folder, SHA256SUMS among them."""

    files: dict[str, bytes]

    @property
    def name(self) -> str:
        """The start of a hash over everything: two releases of the same name are equal."""
        return hashlib.sha256(self.files[SUMS]).hexdigest()[:12]

    @property
    def hashes(self) -> dict[str, str]:
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}

    def packed(self, names: Iterable[str]) -> bytes:
        """Some of the files as a tar.gz: every board's tar or its shell can read gzip."""
        chosen = {name: self.files[name] for name in names}
        return gzip.compress(tarred(chosen, executable=EXECUTABLE), 6, mtime=0)


def build(
    runtime: str,
    architecture: str | None,
    board: str | None,
    *,
    own_kit: dict[str, bytes] | None = None,
    extra: dict[str, bytes] | None = None,
) -> Release:
    """The release for a board; CommandError if this computer cannot build it. With `own_kit` it
    fetches nothing."""
    try:
        tree = linux_tree(mpy=runtime == "micropython", board=board)
    except BuildError as exc:
        raise CommandError(str(exc)) from exc
    files = {f"lib/{name}": data for name, data in tree.items()}
    for name in PROGRAMS:
        files[name] = (_ONBOARD / f"{name}.sh").read_bytes()
    files["RELEASE"] = f"tenner {tenner_version()}\nruntime {runtime}\n".encode()
    if runtime == "micropython":
        assert architecture is not None
        try:
            interpreter = own_kit or kit.kit(architecture)
        except kit.CannotFetch as exc:
            raise CommandError(
                f"no MicroPython for {architecture}: {exc}. On a machine with Debian's package "
                "tools `make package` makes a package to pass with --package; `--runtime "
                "cpython` uses the board's own python3"
            ) from exc
        files.update({f"kit/{name}": data for name, data in interpreter.items()})
    files.update(extra or {})
    files[SUMS] = kit.checksums(files)
    return Release(files)


def linux_boards() -> dict[str, dict[str, object]]:
    """board.json of every Linux board in boards/, by name."""
    found = {
        path.parent.name: json.loads(path.read_bytes()) for path in BOARDS.glob("*/board.json")
    }
    return {
        name: about
        for name, about in sorted(found.items())
        if about.get("platform") == "linux" and "architecture" in about
    }
