"""Pictures as another decoder reads them: complete, and of the declared type."""

from __future__ import annotations

import io

from PIL import Image, UnidentifiedImageError

from tenner_sim.services.pictures import Picture
from tenner_sim.services.refusal import Refusal


def check(picture: Picture) -> None:
    """Raise Refusal for a picture that is damaged, or of another type."""
    try:
        with Image.open(io.BytesIO(picture.data)) as image:
            image.load()
            found = Image.MIME[image.format or ""]
    except (OSError, UnidentifiedImageError, KeyError) as exc:
        raise Refusal(f"Could not process image: {exc}") from exc
    if found != picture.media_type:
        raise Refusal(f"a picture of {found} is declared as {picture.media_type}")
