"""The file of a release: a manifest in lines, its signature, then the content of its files.

    tenner-release 1
    version 0.2.0
    family esp32
    mpy 6
    start 1
    from 0.1.0
    migrates nothing
    notes Reads the SHT45.
    file 49 SHA256 __init__.py
    ...
    micropython 1659184 SHA256 5 ESP32-C3 1.27.0
    signature KEY-ID SIGNATURE

Every line but the last is signed, with its line break. The files follow in the order of their
lines, and then MicroPython itself, if the release has one. Files below page/ are for boards that
serve their page, in place of those with the same path above. firmware/tenner/update/manifest.py
reads it.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tenner_host import FIRMWARE, overlay_maps, tenner_version
from tenner_host.build import BuildError, firmware_tree
from tenner_host.errors import CommandError
from tenner_host.release.keys import key_id, public_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    from tenner_host.release.micropython import MicroPython

FORMAT = 1
#: The version of boot.py and main.py that the code needs: only the cable replaces these.
START = 1
#: Limits that a board enforces (firmware/tenner/update/manifest.py).
MANIFEST_LIMIT = 4096
NOTES_LIMIT = 300
_HOME = "/lib/tenner/"
_PAGE = "page/"
#: It belongs to the board, not to a chip family, and stays.
_OF_THE_BOARD = "pins.csv"
_VERSION = re.compile(r"\d{1,4}\.\d{1,4}\.\d{1,4}")
_FAMILIES = {"esp32": "VIRTUAL"}


@dataclass(frozen=True)
class Release:
    """The parts of a release; `files` by their path below /lib/tenner."""

    version: str
    family: str
    oldest: str
    notes: str
    files: dict[str, bytes]
    migrates: str = "nothing"
    start: int = START
    micropython: MicroPython | None = None

    def manifest(self) -> bytes:
        """Return the signed lines."""
        mpy = next(data[1] for path, data in self.files.items() if path.endswith(".mpy"))
        lines = [
            f"tenner-release {FORMAT}",
            f"version {self.version}",
            f"family {self.family}",
            f"mpy {mpy}",
            f"start {self.start}",
            f"from {self.oldest}",
            f"migrates {self.migrates}",
            f"notes {self.notes}",
        ]
        for path, data in sorted(self.files.items()):
            lines.append(f"file {len(data)} {hashlib.sha256(data).hexdigest()} {path}")
        if self.micropython:
            lines.append(self.micropython.line())
        return "".join(f"{line}\n" for line in lines).encode()

    def content(self) -> bytes:
        code = b"".join(data for _, data in sorted(self.files.items()))
        return code + (self.micropython.data if self.micropython else b"")


def code_of(version: str, family: str = "esp32", firmware: Path = FIRMWARE) -> dict[str, bytes]:
    """Return the code for a chip family, which calls itself `version`, by path below
    /lib/tenner."""
    if family not in _FAMILIES:
        raise CommandError(
            f"there is no chip family {family!r}; available: {', '.join(_FAMILIES)}"
        )
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        # The build puts the version into the code, so it must be in the source.
        source = Path(folder) / "firmware"
        shutil.copytree(firmware, source, ignore=shutil.ignore_patterns("__pycache__"))
        about = source / "tenner" / "__init__.py"
        own = f'__version__ = "{tenner_version(firmware)}"'
        about.write_text(about.read_text().replace(own, f'__version__ = "{version}"'))
        try:
            trees = [
                firmware_tree(_FAMILIES[family], workspace=False, firmware=source, page=page)
                for page in (False, True)
            ]
        except BuildError as exc:
            raise CommandError(str(exc)) from exc
    overlay_maps.keep(trees[1])
    code, with_page = _in_home(trees[0]), _in_home(trees[1])
    of_page = {name: data for name, data in with_page.items() if code.get(name) != data}
    return code | {f"{_PAGE}{name}": data for name, data in of_page.items()}


def _in_home(tree: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a release among those of a board."""
    return {
        name: data
        for path, data in tree.items()
        if path.startswith(_HOME) and (name := path.removeprefix(_HOME)) != _OF_THE_BOARD
    }


def check_version(version: str) -> str:
    """Return a version that boards can compare; CommandError for another text."""
    if not _VERSION.fullmatch(version):
        raise CommandError(f"a version is three numbers, such as 0.2.0, not {version!r}")
    return version


def check_notes(notes: str) -> str:
    """Return notes as one line of text that fits."""
    line = " ".join(notes.split())
    if len(line.encode()) > NOTES_LIMIT:
        raise CommandError(f"the notes are over {NOTES_LIMIT} bytes: shorten them")
    return line or "-"


def signed(release: Release, key: RSAPrivateKey) -> bytes:
    """Return the content of the release's file."""
    manifest = release.manifest()
    head = manifest + _signature_line(manifest, key)
    if len(head) > MANIFEST_LIMIT:
        raise CommandError(
            f"the manifest has {len(head)} bytes, and a board takes {MANIFEST_LIMIT}: shorten "
            "the notes"
        )
    return head + release.content()


def _signature_line(manifest: bytes, key: RSAPrivateKey) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    signature = key.sign(manifest, PKCS1v15(), SHA256())
    return f"signature {key_id(public_line(key))} {signature.hex()}\n".encode()


@dataclass(frozen=True)
class About:
    """The boards that a release is for; `mpy` is "" if it has a MicroPython, which is for
    `chip`."""

    version: str
    family: str
    mpy: str
    oldest: str
    chip: str = ""


def about(data: bytes) -> About:
    """Read the manifest of a release's file; the board checks its signature."""
    manifest = data[:MANIFEST_LIMIT].partition(b"\nsignature ")[0]
    lines = manifest.decode(errors="replace").split("\n")
    if lines[0] != f"tenner-release {FORMAT}":
        raise CommandError("this is no file of `tenner release`")
    fields = dict(line.split(" ", 1) for line in lines[1:] if " " in line)
    chip = fields.get("micropython", "").split(" ")[3:4]
    return About(
        check_version(fields.get("version", "")),
        fields.get("family", ""),
        "" if chip else fields.get("mpy", ""),
        check_version(fields.get("from", "")),
        *chip,
    )


def is_newer(version: str, than: str) -> bool:
    """Is a version newer than another one?"""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
