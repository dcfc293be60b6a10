"""A riscv64 userland from Debian's packages, run by qemu-user: the kit's MicroPython, and CPython."""

import os
import platform
import shutil
import tempfile
from pathlib import Path

from host_tools import ROOT, debian, interpreters
from host_tools.linux import kit

LIBRARIES = "usr/lib/riscv64-linux-gnu"


def cached(name, packages, architecture):
    """A folder of unpacked packages in the cache; made under another name first, so that it is whole."""
    folder = interpreters.cache_folder() / f"riscv64-{debian.SUITE}" / name
    if not folder.exists():
        debian.check_tools()
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as work:
            stage = Path(work, "root")
            debian.unpack(architecture, packages, stage)
            stage.rename(folder)
    return folder


def emulator():
    """qemu-riscv64-static, the system's or Debian's."""
    found = shutil.which("qemu-riscv64-static")
    if found:
        return found
    own = kit.MACHINES.get(platform.machine())
    if own is None:
        raise debian.CannotFetch(f"there is no qemu-user-static for {platform.machine()}")
    return str(cached("qemu", ["qemu-user-static"], own) / "usr/bin/qemu-riscv64-static")


def micropython(work):
    """The command that runs a file under the kit's MicroPython."""
    folder = work / "kit"
    for name, data in kit.kit("riscv64").items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if kit.executable(name) else 0o644)
    return [emulator(), *kit.command(folder)], {}


def cpython(work):
    """The command that runs a file under Debian's CPython."""
    root = cached("python", ["python3-minimal", "libpython3-stdlib"], "riscv64")
    libraries = root / LIBRARIES
    program = next((root / "usr/bin").glob("python3.*"))
    loader = next(libraries.glob("ld-linux-riscv64-*"))
    command = [emulator(), str(loader), "--library-path", str(libraries), str(program)]
    paths = [ROOT / "firmware", ROOT / "tests"]
    return command, {
        "PYTHONHOME": str(root / "usr"),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


INTERPRETERS = {"micropython": micropython, "cpython": cpython}
