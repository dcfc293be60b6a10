"""Tar archives for a Linux board: the same files give the same bytes."""

from __future__ import annotations

import io
import tarfile


def tarred(files: dict[str, bytes], mode: int = 0o644, executable: tuple[str, ...] = ()) -> bytes:
    """A tar archive whose entries belong to root; names that end in one of `executable` may be
    run."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in sorted(files.items()):
            # Without times, so that the same files give the same bytes.
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            entry.mode = 0o755 if name.endswith(executable) else mode
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
