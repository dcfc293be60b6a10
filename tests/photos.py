"""Photos as a phone makes them: JPEG and other files of a known size, by Pillow."""

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
