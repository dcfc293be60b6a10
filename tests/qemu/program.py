"""QEMU, the machine's own or Debian's."""

from __future__ import annotations

import shutil
from pathlib import Path

from tenner_host import debian


def command(program: str, package: str) -> list[str]:
    """The command that starts `program`; `package` is Debian's package with it."""
    if shutil.which(program) is not None:
        return [program]
    own = debian.run(
        ["dpkg", "--print-architecture"], "asking for this machine's architecture"
    ).strip()
    root = debian.folder(f"qemu-{debian.SUITE}/{program}", own, [package])
    loader = next(path for path in root.glob("usr/lib/*/ld-linux-*") if path.is_file())
    libraries = loader.parent
    return [
        str(loader),
        "--library-path",
        f"{libraries}:{libraries / 'pulseaudio'}",
        str(Path(root, "usr/bin", program)),
        "-L",
        str(root / "usr/share/qemu"),
    ]
