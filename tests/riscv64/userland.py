"""A riscv64 userland from Debian's packages, run by qemu-user: the kit's MicroPython, and
CPython."""

import os
import platform
import shutil

from tenner_host import ROOT, debian, interpreters
from tenner_host.linux import kit
from tests.qemu import riscv64

LIBRARIES = "usr/lib/riscv64-linux-gnu"


#: QEMU's name of an architecture, by Debian's.
MACHINES = {"riscv64": "riscv64", "arm64": "aarch64", "armhf": "arm", "amd64": "x86_64"}


def emulator(architecture="riscv64"):
    """qemu-riscv64-static and its like, the system's or Debian's."""
    program = f"qemu-{MACHINES[architecture]}-static"
    found = shutil.which(program)
    if found:
        return found
    own = kit.MACHINES.get(platform.machine())
    if own is None:
        raise debian.CannotFetch(f"there is no qemu-user-static for {platform.machine()}")
    root = debian.folder(f"qemu-{debian.SUITE}/qemu-user-static", own, ["qemu-user-static"])
    return str(root / "usr/bin" / program)


def micropython(work):
    """The command that runs a file under the kit's MicroPython."""
    folder = work / "kit"
    for name, data in kit.kit("riscv64").items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if kit.executable(name) else 0o644)
    paths = [ROOT / "tests/micropython", ROOT / "firmware", ROOT / "tests"]
    command = [emulator(), *kit.command(folder), "-X", "heapsize=4M"]
    return command, {"MICROPYPATH": interpreters.search_path(*paths)}


def cpython(work):
    """The command that runs a file under Debian's CPython."""
    root = riscv64.cpython()
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
