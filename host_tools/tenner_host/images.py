"""The source of a MicroPython image (file, URL, cache) and the checks of it (sha256, chip,
size)."""

from __future__ import annotations

import hashlib
import json
import re
import ssl
import struct
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from esptool.bin_image import LoadFirmwareImage
from esptool.targets import CHIP_DEFS
from esptool.util import FatalError

from tenner_host import partitions
from tenner_host.errors import CommandError, unreached
from tenner_host.partitions import Partition
from tenner_host.places import cache_folder, write_whole

_MAGIC = 0xE9
_CHIP_AT = 12
_DIGEST = 32
#: Where the chips have their boot loader, and so the beginning of a whole image.
_LOADER_OFFSETS = (0x1000, 0x0, 0x2000)
_DESCRIPTOR_MAGIC = 0xABCD5432
_MAX_BYTES = 16 << 20
_TIMEOUT_S = 30
_CHUNK = 65536
#: Wrong downloads: (first bytes, kind of file, the right one).
_OTHER_FILES = [
    (b"UF2\n", "a .uf2 file, for boards with a UF2 boot loader", "the .bin beside it"),
    (b"\x7fELF", "a program with debug data (.elf)", "the .bin beside it"),
    (b"PK\x03\x04", "a .zip archive", "the .bin in it, unpacked"),
    (b"\x1f\x8b", "a compressed archive", "the .bin in it, unpacked"),
    (b"<", "a web page", "the link to the .bin itself"),
]

#: Receives the bytes so far and the total (0: unknown).
Progress = Callable[[int, int], None]
#: Asks the owner whether to use a download: (sentence with the reason, sha256).
AskHash = Callable[[str, str], bool]


class ImageError(CommandError):
    """The image is not for this chip, is damaged, or differs from the recorded one."""

    exit_code = 6


@dataclass(frozen=True)
class Image:
    """The bytes to write at the chip's boot loader offset."""

    data: bytes
    #: File name or URL, as the owner knows it.
    source: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def chip_id(self) -> int:
        return int(struct.unpack_from("<H", self.data, _CHIP_AT)[0])


@dataclass(frozen=True)
class Contents:
    """The contents of a checked image, in flash addresses."""

    rows: list[Partition]
    version: str
    end: int


# Getting one.


def from_file(path: Path) -> Image:
    try:
        return Image(path.read_bytes(), str(path))
    except OSError as exc:
        raise ImageError(f"the image {path} cannot be read: {exc.strerror}") from exc


class Downloads:
    """Downloaded images in the user's cache, and the sha256 each URL had when it was accepted."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / "images"
        self._record = self.folder / "sha256.json"

    def known(self) -> dict[str, str]:
        """sha256 by URL."""
        try:
            found = json.loads(self._record.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def get(
        self, url: str, *, expected: str | None, ask: AskHash, progress: Progress | None = None
    ) -> Image:
        """The image at `url`, from the cache if possible. `expected` is a sha256 the owner gave;
        without it `ask` decides about a hash that is new, or differs from the recorded one.
        """
        recorded = self.known().get(url)
        cached = self._cached(url)
        if cached.is_file():
            data = cached.read_bytes()
            if hashlib.sha256(data).hexdigest() == (expected or recorded):
                return Image(data, url)
        data = download(url, progress)
        seen = hashlib.sha256(data).hexdigest()
        if expected is not None:
            if seen != expected.lower():
                raise ImageError(
                    f"{url} has sha256 {seen}, not the expected {expected}; nothing was "
                    "changed. Compare with the page it is linked from"
                )
        elif seen != recorded:
            reason = (
                f"{url} was downloaded for the first time"
                if recorded is None
                else f"{url} has changed since it was accepted (sha256 {recorded} then)"
            )
            if not ask(reason, seen):
                raise ImageError(
                    f"{reason}; its sha256 is {seen}. Nothing was changed. If that is right, pass "
                    f"--sha256 {seen}"
                )
        self._keep(url, cached, data, seen)
        return Image(data, url)

    def _cached(self, url: str) -> Path:
        name = re.sub(r"[^\w.-]", "_", urllib.parse.urlsplit(url).path.rpartition("/")[2])
        return self.folder / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{name[-80:]}"

    def _keep(self, url: str, path: Path, data: bytes, seen: str) -> None:
        records = {**self.known(), url: seen}
        for target, content in (
            (path, data),
            (self._record, json.dumps(records, indent=1, sort_keys=True).encode()),
        ):
            write_whole(target, content)


def download(url: str, progress: Progress | None = None) -> bytes:
    """The bytes at an http or https URL; certificates are verified."""
    import certifi

    context = ssl.create_default_context(cafile=certifi.where())
    request = urllib.request.Request(url, headers={"User-Agent": "tenner"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=context) as answer:
            total = int(answer.headers.get("Content-Length") or 0)
            data = bytearray()
            while chunk := answer.read(_CHUNK):
                data += chunk
                if len(data) > _MAX_BYTES:
                    raise ImageError(f"{url} is larger than any image: more than 16 MB")
                if progress:
                    progress(len(data), total)
    except urllib.error.HTTPError as exc:
        raise ImageError(f"{url} can't be downloaded: HTTP {exc.code} {exc.reason}") from exc
    except (OSError, ValueError) as exc:
        host = urllib.parse.urlsplit(url).netloc
        reason = unreached(host, exc) or f"{getattr(exc, 'reason', exc)}."
        raise ImageError(
            f"{url} can't be downloaded: {reason} A downloaded image is kept, and "
            "--image takes a file"
        ) from exc
    if total and len(data) != total:
        raise ImageError(f"{url} broke off after {len(data)} of {total} bytes; try again")
    return bytes(data)


# Checking one.


def chip_named(number: int) -> str:
    """The chip with this number in its images, as esptool names it."""
    for chip in CHIP_DEFS.values():
        if chip.IMAGE_CHIP_ID == number:
            return str(chip.CHIP_NAME)
    return f"chip number {number}"


def recognize(image: Image) -> None:
    """Raise ImageError for another kind of file, and name its kind."""
    if len(image.data) >= 24 and image.data[0] == _MAGIC:
        return
    for sign, what, instead in _OTHER_FILES:
        if image.data.lstrip().startswith(sign):
            raise ImageError(f"{image.source} is {what}; take {instead}")
    raise ImageError(f"{image.source} is not an image of an ESP32: it does not begin with 0xe9")


def check(image: Image, chip: str, offset: int, flash_size: int) -> Contents:
    """The image's contents; ImageError unless it is complete, for this chip, and fits."""
    data = image.data
    recognize(image)
    name = chip_named(image.chip_id)
    if name != chip:
        raise ImageError(
            f"{image.source} is for the {name}, and this board has an {chip}; nothing was "
            "changed. Leave out --image, and tenner picks the right one for the chip"
        )
    if offset + len(data) > flash_size:
        raise ImageError(
            f"{image.source} needs {(offset + len(data)) >> 10} KB of flash, and this board has "
            f"{flash_size >> 10} KB; is it for another variant of the board?"
        )
    _check_part(image, chip, 0, "boot loader")
    table = partitions.TABLE_OFFSET - offset
    rows = partitions.parse_table(data[table : table + partitions.TABLE_SIZE])
    application = next((row for row in rows if row.type == partitions.APP), None)
    if application is None:
        raise ImageError(
            f"{image.source} has no partition table at 0x{partitions.TABLE_OFFSET:x}: it is only "
            "a part (the application?) of an image; take the full .bin"
        )
    start = application.offset - offset
    _check_part(image, chip, start, "application")
    return Contents(rows, _version(data, start), offset + len(data))


def application_in(image: Image) -> tuple[bytes, str]:
    """The application of an image, a whole one or only that, and its version."""
    recognize(image)
    start = 0
    for offset in _LOADER_OFFSETS:
        table = partitions.TABLE_OFFSET - offset
        rows = partitions.parse_table(image.data[table : table + partitions.TABLE_SIZE])
        start = next((row.offset - offset for row in rows if row.type == partitions.APP), start)
    end = start + _check_part(image, chip_named(image.chip_id), start, "application")
    return image.data[start:end], _version(image.data, start)


def _check_part(image: Image, chip: str, start: int, what: str) -> int:
    """Check one boot loader or application as esptool does: checksum and hash must match; return
    its size."""
    size = 0
    try:
        part = LoadFirmwareImage(chip, image.data[start:])
        whole = part.checksum == part.calculate_checksum()
        size = int(part.data_length) + _DIGEST if part.append_digest else len(image.data) - start
        if part.append_digest:
            whole = whole and part.stored_digest == part.calc_digest
    except (FatalError, struct.error, TypeError, ValueError):
        whole = False
    if not whole:
        raise ImageError(
            f"{image.source} is damaged: the {what} in it is cut short or changed; download it "
            "again"
        )
    return size


def _version(data: bytes, start: int) -> str:
    """The version of the application at `start`: MicroPython's banner, else `esp_app_desc_t`."""
    banner = re.search(rb"MicroPython v?([0-9][\w.-]*) on \d{4}-", data[start:])
    if banner:
        return banner[1].decode()
    at = start + 32
    if len(data) < at + 48 or struct.unpack_from("<I", data, at)[0] != _DESCRIPTOR_MAGIC:
        return ""
    return data[at + 16 : at + 48].rstrip(b"\0").decode("ascii", "replace")
