"""Small ARM computers in software, with Debian's kernel and interpreters, for tests of real buses.

Its parts come from Debian's mirror once, into the cache: the kernel and its device trees, an armhf
userland of busybox and both interpreters, and QEMU where the machine has none. Nothing is
installed.
"""

import json
import lzma
import os
import select
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from tenner_host import FIRMWARE, debian
from tests.qemu import program
from tests.qemu.cpio import Archive

HERE = Path(__file__).resolve().parent
MODULES = ("gpio-mxc", "i2c-imx", "spi-imx", "gpio-aspeed", "i2c-aspeed", "i2c-dev")
LIBRARIES = "usr/lib/arm-linux-gnueabihf"
#: The libraries of the interpreters.
LIBRARY_NAMES = (
    *("libc.", "libm.", "libffi.", "libgcc_s.", "libz.", "libzstd.", "libexpat.", "ld-"),
    *("libmbed", "libssl.", "libcrypto."),
)
#: Parts of Python's library that no tool imports; unpacking them takes the guest seconds.
UNUSED = (
    "_pyrepl config-3 curses dbm email ensurepip http idlelib multiprocessing pydoc_data sqlite3 "
    "test tkinter turtledemo unittest venv wsgiref xml zipfile"
).split()

# Runs one line after another; a program that a line starts shares its input, so a test can talk to
# an agent.
INIT = b"""\
#!/bin/busybox sh
export PATH=/usr/bin:/bin PYTHONHOME=/usr PYTHONPATH=/tenner MICROPYPATH=/tenner:.frozen
busybox mount -t proc proc /proc
busybox --install -s /bin
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*.ko; do insmod $module; done 2>/dev/null
insmod /modules/i2c-dev.ko 2>/dev/null
stty -echo -onlcr
echo "guest is up"
while read -r line; do eval "$line"; echo "status $?"; done
"""


class Packages:
    """Folders of unpacked packages in the cache; made where they are not there yet."""

    def __init__(self):
        debian.check_tools()
        folder = f"kernel-{debian.SUITE}"
        userland = ("busybox-static", "micropython", "python3-minimal", "libpython3-stdlib")
        self.userland = debian.folder(f"{folder}/userland", "armhf", userland)
        self.kernel = debian.filled(
            f"{folder}/kernel",
            lambda stage: debian.unpack_alone("armhf", "linux-image-armmp", "linux-image-", stage),
        )
        self.release = next((self.kernel / "usr/lib/modules").iterdir()).name
        self.qemu = program.command("qemu-system-arm", "qemu-system-arm")

    def image(self):
        return self.kernel / "boot" / f"vmlinuz-{self.release}"

    def device_tree(self, name):
        return self.kernel / "usr/lib" / f"linux-image-{self.release}" / f"{name}.dtb"


def initial_files(packages, files):
    """The guest's whole file system; `files` are more of them by name."""
    archive = Archive()
    for folder in ("proc", "sys", "dev", "tmp"):
        archive.folder(folder)
    user = packages.userland
    archive.link("bin", "usr/bin")
    archive.link("lib", "usr/lib")
    for path in sorted((user / LIBRARIES).glob("*.so*")):
        if path.name.startswith(LIBRARY_NAMES):
            archive.copy(path, f"{LIBRARIES}/{path.name}")
    loader = next((user / "usr/lib").glob("ld-linux*"))
    archive.copy(loader, f"usr/lib/{loader.name}")
    python = next((user / "usr/lib").glob("python3.*"))
    for name in ("busybox", "micropython", python.name):
        archive.copy(user / "usr/bin" / name, f"usr/bin/{name}")
    archive.link("usr/bin/python3", python.name)
    archive.tree(python, f"usr/lib/{python.name}", UNUSED)
    for path in sorted(packages.kernel.rglob("*.ko.xz")):
        name = path.name.removesuffix(".ko.xz")
        if name in MODULES:
            archive.file(f"modules/{name}.ko", lzma.decompress(path.read_bytes()))
    archive.tree(FIRMWARE / "tenner", "tenner/tenner", ("__pycache__",))
    archive.copy(HERE / "guest.py", "tenner/guest.py")
    for name, data in files.items():
        archive.file(name, data)
    archive.file("init", INIT)
    return archive.packed()


class GuestError(AssertionError):
    """The guest did not answer, or not as it should; the text is its last output."""


class Guest:
    """One emulated computer, from power-on to `close`."""

    def __init__(self, packages, machine, device_tree, console, options, files):
        self._folder = tempfile.TemporaryDirectory(prefix="tenner-kernel-")
        folder = Path(self._folder.name)
        files_image = folder / "files.gz"
        files_image.write_bytes(initial_files(packages, files))
        self._monitor = folder / "monitor"
        command = [
            *packages.qemu,
            *(
                "-machine",
                machine,
                "-accel",
                "tcg",
                "-display",
                "none",
                "-no-reboot",
                "-nic",
                "none",
            ),
            *("-kernel", str(packages.image()), "-dtb", str(packages.device_tree(device_tree))),
            *("-initrd", str(files_image)),
            *("-append", f"console={console} rdinit=/init quiet loglevel=1 panic=-1"),
            *("-qmp", f"unix:{self._monitor},server=on,wait=off"),
            *options,
        ]
        self._output = b""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            self.wait_for("guest is up")
        except BaseException:
            self.close()
            raise

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._folder.cleanup()

    def send(self, line):
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def wait_for(self, start, limit_s=600):
        """The rest of the next line that starts so; the lines before it are dropped. A busy
        computer emulates slowly."""
        deadline = time.monotonic() + limit_s
        dropped = []
        while True:
            while b"\n" in self._output:
                line, self._output = self._output.split(b"\n", 1)
                text = line.decode(errors="replace").rstrip("\r")
                if text.startswith(start):
                    return text[len(start) :].strip()
                dropped.append(text)
            shown = "\n".join(dropped[-20:])
            left = deadline - time.monotonic()
            if left < 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise GuestError(f"no {start!r} from the guest in {limit_s} s:\n{shown}")
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                raise GuestError(f"the guest ended:\n{shown}")
            self._output += data

    def shell(self, line):
        """Run a line of shell; it must succeed."""
        self.send(line)
        status = self.wait_for("status ")
        if status != "0":
            raise GuestError(f"{line}: status {status}")

    def set_property(self, path, name, value):
        """Change a property of an emulated device, as a change of the world around the board."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self._monitor))
            with monitor.makefile("rw") as stream:
                stream.readline()
                arguments = {"path": path, "property": name, "value": value}
                for command in (
                    {"execute": "qmp_capabilities"},
                    {"execute": "qom-set", "arguments": arguments},
                ):
                    stream.write(json.dumps(command) + "\n")
                    stream.flush()
                    answer = json.loads(stream.readline())
                    if "error" in answer:
                        raise GuestError(f"{path}: {answer['error']['desc']}")


class Agent:
    """The tools of the agent, run in the guest by one of its interpreters."""

    def __init__(self, guest, interpreter):
        self._guest = guest
        guest.send(f"{interpreter} /tenner/guest.py")
        self.interpreter = guest.wait_for("> ready")

    def close(self):
        self._guest.send("")
        self._guest.wait_for("status ")

    def call(self, tool, **args):
        """The answer of a tool to the model."""
        self._guest.send(json.dumps([tool, args]))
        return json.loads(self._guest.wait_for("> "))
