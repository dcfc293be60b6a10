"""Pictures in a request to the model: strict base64, and the type that their first bytes show."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from .refusal import Refusal

_DATA_URL = re.compile(r"data:([a-z]+/[a-z+.-]+);base64,")
#: As the providers document them.
_MOST_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True)
class Picture:
    """A picture of a message."""

    media_type: str
    data: bytes

    def __str__(self) -> str:
        return f"{self.media_type}, {len(self.data)} bytes"


def of_part(part: dict[str, Any]) -> Picture:
    """The picture of a part `image_url`; a stand-in fetches none by an address."""
    url = part["image_url"]["url"]
    match = _DATA_URL.match(url)
    if match is None:
        raise Refusal(
            "Failed to download image. Expected a base64-encoded data URL with an image MIME "
            "type.",
            code="invalid_image_url",
        )
    data = _decoded(url[match.end() :], "Invalid base64 image_url.")
    if kind(data) is None or kind(data) != match[1]:
        raise Refusal(
            "You uploaded an unsupported image. Please make sure your image has of one the "
            "following formats: ['png', 'jpeg', 'gif', 'webp'].",
            code="invalid_image_format",
        )
    return Picture(match[1], data)


def of_block(block: dict[str, Any], where: str) -> Picture:
    """The picture of a block `image`."""
    source = block["source"]
    place = f"{where}.image.source.base64"
    if source["type"] != "base64":
        raise Refusal(f"{place}: a stand-in fetches no pictures")
    data = _decoded(source["data"], f"{place}.data: Input should be valid base64")
    if len(data) > _MOST_BYTES:
        raise Refusal(
            f"{place}: image exceeds 5 MB maximum: {len(data)} bytes > {_MOST_BYTES} bytes"
        )
    if kind(data) is None:
        raise Refusal("Could not process image")
    if kind(data) != source["media_type"]:
        raise Refusal(
            f"{place}.data: Image does not match the provided media type {source['media_type']}"
        )
    return Picture(source["media_type"], data)


def kind(data: bytes) -> str | None:
    """The media type of a picture by its first bytes; None for anything else."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _decoded(text: str, problem: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error as exc:
        raise Refusal(problem) from exc
    if not data or base64.b64encode(data).decode() != text:
        raise Refusal(problem)
    return data
