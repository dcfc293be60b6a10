"""Files in calls of the Bot API: the form they come in, and pictures, checked as the API does."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass

_BOUNDARY = re.compile(
    r"multipart/form-data\s*;\s*boundary=(\"?)([0-9A-Za-z'()+_,./:=? -]{1,70})\1$"
)
_PARAMETER = re.compile(r';\s*([a-z]+)="([^"\r\n]*)"')
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: The API's limits of a photo: bytes, width and height together, and their ratio.
MAX_PHOTO, _MAX_SIDES, _MAX_RATIO = 10 * 1024 * 1024, 10_000, 20
#: Samples of a pixel, by the color type of a PNG.
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


@dataclass
class Upload:
    """A file in a form."""

    name: str
    media_type: str
    data: bytes


def form(content_type: str, body: bytes) -> dict[str, str | Upload]:
    """The parts of a form by name: files, and texts; ValueError where the API refuses it."""
    found = _BOUNDARY.match(content_type)
    if not found:
        raise ValueError("boundary not found")
    line = b"--" + found[2].encode()
    if not body.startswith(line + b"\r\n"):
        raise ValueError("expected boundary")
    end = body.rfind(b"\r\n" + line + b"--")
    if end < 0 or body[end + len(line) + 4 :] not in (b"", b"\r\n"):
        raise ValueError("no closing boundary")
    parts: dict[str, str | Upload] = {}
    for part in body[len(line) + 2 : end].split(b"\r\n" + line + b"\r\n"):
        head, blank, data = part.partition(b"\r\n\r\n")
        if not blank:
            raise ValueError("no headers of a part")
        name, value = _part(head.decode("utf-8"), data)
        if name in parts:
            raise ValueError(f"{name} stands twice")
        parts[name] = value
    return parts


def _part(head: str, data: bytes) -> tuple[str, str | Upload]:
    headers = {}
    for line in head.split("\r\n"):
        key, colon, value = line.partition(":")
        if not colon or not key.strip():
            raise ValueError("malformed header of a part")
        headers[key.strip().lower()] = value.strip()
    disposition = headers.get("content-disposition", "")
    parameters = dict(_PARAMETER.findall(disposition))
    if not disposition.startswith("form-data;") or not parameters.get("name"):
        raise ValueError("a part without a name")
    if "filename" not in parameters:
        return parameters["name"], data.decode("utf-8")
    kind = headers.get("content-type", "application/octet-stream")
    return parameters["name"], Upload(parameters["filename"], kind, data)


def photo_problem(data: bytes) -> str | None:
    """Why the API takes these bytes for no photo; None where it takes them."""
    if len(data) > MAX_PHOTO:
        return "Request Entity Too Large"
    try:
        width, height = png_size(data)
    except (ValueError, struct.error, zlib.error):
        return "IMAGE_PROCESS_FAILED"
    if width + height > _MAX_SIDES or max(width, height) > _MAX_RATIO * min(width, height):
        return "PHOTO_INVALID_DIMENSIONS"
    return None


def png_size(data: bytes) -> tuple[int, int]:
    """(width, height) of a PNG that is whole: chunks, check sums, all rows."""
    if not data.startswith(_SIGNATURE):
        raise ValueError("no PNG")
    at, kinds, packed, size = len(_SIGNATURE), list[bytes](), b"", (0, 0)
    raw_bytes = 0
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + length]
        (check,) = struct.unpack_from(">I", data, at + 8 + length)
        if check != zlib.crc32(kind + content):
            raise ValueError("wrong check sum of a chunk")
        if kind == b"IHDR":
            width, height, depth, color, *rest = struct.unpack(">IIBBBBB", content)
            if rest != [0, 0, 0] or not width or not height:
                raise ValueError("unknown kind of PNG")
            size = (width, height)
            raw_bytes = height * (1 + (width * depth * _SAMPLES[color] + 7) // 8)
        packed += content if kind == b"IDAT" else b""
        kinds.append(kind)
        at += 12 + length
    if kinds[:1] != [b"IHDR"] or kinds[-1] != b"IEND" or kinds.count(b"IEND") > 1:
        raise ValueError("chunks in the wrong order")
    decoder = zlib.decompressobj()
    if len(decoder.decompress(packed)) != raw_bytes or not decoder.eof or decoder.unused_data:
        raise ValueError("not all rows")
    return size
