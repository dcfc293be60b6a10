# tenner port.folders: lists a folder without following links.
# MIT license; Copyright (c) 2026 the tenner authors

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def entries(folder: str) -> "Iterator[tuple[str, str]]":
    """Yield (name, kind): "f" for a file, "d" for a folder, "" for a link, another kind or an
    unknown one."""
    if hasattr(os, "scandir"):
        with os.scandir(folder) as found:
            for one in found:
                plain = "f" if one.is_file(follow_symlinks=False) else ""
                yield one.name, "d" if one.is_dir(follow_symlinks=False) else plain
    else:
        for one in os.ilistdir(folder):
            # Some file systems do not tell the kinds.
            kind = one[1] or _kind(folder + "/" + one[0])
            yield one[0], {0x4000: "d", 0x8000: "f"}.get(kind, "")


def _kind(path):
    try:
        return os.stat(path)[0] & 0xF000
    except OSError:  # a link to nowhere
        return 0
