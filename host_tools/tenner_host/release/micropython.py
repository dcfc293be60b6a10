"""MicroPython itself as a part of a release: the application of an image for one kind of chip."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from tenner_host.images import ImageError, application_in, chip_named, from_file

#: The oldest release that the agent runs on, and the first that loads .mpy version 6.
_OLDEST = (1, 22)


@dataclass(frozen=True)
class MicroPython:
    """An application for one kind of chip."""

    data: bytes
    #: Its number in the header of images, and its name.
    chip_id: int
    chip: str
    version: str

    def line(self) -> str:
        """Return its line of a manifest."""
        digest = hashlib.sha256(self.data).hexdigest()
        size = len(self.data)
        return f"micropython {size} {digest} {self.chip_id} {self.chip} {self.version}"


def load(path: Path) -> MicroPython:
    """The MicroPython in an image, a whole one or only its application (.app-bin); ImageError if
    it cannot be in a release."""
    image = from_file(path)
    data, version = application_in(image)
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not numbers:
        raise ImageError(f"{path} does not say which MicroPython it is; take an official image")
    if (int(numbers[1]), int(numbers[2])) < _OLDEST:
        raise ImageError(f"{path} has MicroPython {version}, and the agent needs 1.22 or newer")
    return MicroPython(data, image.chip_id, chip_named(image.chip_id), version)
