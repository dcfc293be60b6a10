"""Photos as a phone makes them, by Pillow, and a voice note of a known size."""

from __future__ import annotations

import functools
import io
import random

from PIL import Image


@functools.cache
def photo(width: int = 800, height: int = 600, kind: str = "JPEG", quality: int = 87) -> bytes:
    """Return a picture of soft noise, which compresses as badly as leaves do."""
    random.seed(width * height)
    coarse = Image.frombytes(
        "RGB", (width // 9, height // 9), random.randbytes(width // 9 * (height // 9) * 3)
    )
    out = io.BytesIO()
    coarse.resize((width, height), Image.Resampling.BICUBIC).save(out, kind, quality=quality)
    return out.getvalue()


@functools.cache
def sizes() -> dict[tuple[int, int], bytes]:
    """Return the sizes that Telegram makes of a photo."""
    return {size: photo(*size) for size in ((90, 67), (320, 240), (800, 600), (1280, 960))}


def voice_note(seconds: int = 8) -> bytes:
    """Return bytes like those of Opus in Ogg; the stand-in that hears them looks at the mark."""
    random.seed(seconds)
    return b"OggS\0\2" + random.randbytes(seconds * 3000) + b"\r\n--\r\n"
