"""A tree of files as a ROMFS partition, in the format of `mpremote romfs build`."""

from __future__ import annotations

from typing import Any

from mpremote.romfs import VfsRomWriter


def image(tree: dict[str, bytes]) -> bytes:
    """The partition that holds `tree`, paths such as `/lib/tenner/app.mpy` and contents."""
    folders: dict[str, Any] = {}
    for path, data in tree.items():
        *parents, name = path.strip("/").split("/")
        place = folders
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = data
    writer = VfsRomWriter()
    _write(writer, folders)
    return bytes(writer.finalise())


def _write(writer: VfsRomWriter, folder: dict[str, Any]) -> None:
    for name, content in sorted(folder.items()):
        if isinstance(content, dict):
            writer.opendir(name)
            _write(writer, content)
            writer.closedir()
        else:
            writer.mkfile(name, content)
