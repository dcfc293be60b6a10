"""Small ARM computers in software, with Debian's kernel and interpreters, for tests of real buses.

What is needed comes from Debian's mirror once, into the cache: the kernel and its device trees, an armhf
userland of busybox and both interpreters, and QEMU where the machine has none. Nothing is installed.
"""

import gzip
import json
import lzma
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from host_tools import FIRMWARE, debian, interpreters

HERE = Path(__file__).resolve().parent
MODULES = ("gpio-mxc", "i2c-imx", "spi-imx", "gpio-aspeed", "i2c-aspeed", "i2c-dev")
LIBRARIES = "usr/lib/arm-linux-gnueabihf"
#: What the interpreters are linked with.
LIBRARY_NAMES = ("libc.", "libm.", "libffi.", "libgcc_s.", "libmbed", "libz.", "libexpat.", "ld-")
#: Parts of Python's library that no tool imports; unpacking them takes the guest seconds.
UNUSED = (
    "_pyrepl config-3 curses dbm email ensurepip http idlelib multiprocessing pydoc_data sqlite3 test "
    "tkinter turtledemo unittest venv wsgiref xml zipfile"
).split()

# Runs one line after another; what a line starts shares its input, so an agent can be talked to.
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
        folder = interpreters.cache_folder() / f"kernel-{debian.SUITE}"
        userland = ("busybox-static", "micropython", "python3-minimal", "libpython3-stdlib")
        self.userland = _cached(
            folder / "userland", lambda stage: debian.unpack("armhf", userland, stage)
        )
        self.kernel = _cached(
            folder / "kernel",
            lambda stage: debian.unpack_alone("armhf", "linux-image-armmp", "linux-image-", stage),
        )
        self.release = next((self.kernel / "usr/lib/modules").iterdir()).name
        self.qemu = ["qemu-system-arm"]
        if shutil.which(self.qemu[0]) is None:
            own = debian.run(["dpkg", "--print-architecture"], "asking what this machine is")
            root = _cached(
                folder / "qemu",
                lambda stage: debian.unpack(own.strip(), ["qemu-system-arm"], stage),
            )
            self.qemu = _unpacked_qemu(root)

    def image(self):
        return self.kernel / "boot" / f"vmlinuz-{self.release}"

    def device_tree(self, name):
        return self.kernel / "usr/lib" / f"linux-image-{self.release}" / f"{name}.dtb"


def _cached(folder, fetch):
    """The folder; filled by `fetch` under another name first, so that it is whole once it is there."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as work:
            stage = Path(work, "root")
            fetch(stage)
            stage.rename(folder)
    return folder


def _unpacked_qemu(root):
    """How QEMU is started from the folder it was unpacked into."""
    loader = next(path for path in root.glob("usr/lib/*/ld-linux-*") if path.is_file())
    libraries = loader.parent
    return [
        str(loader),
        "--library-path",
        f"{libraries}:{libraries / 'pulseaudio'}",
        str(root / "usr/bin/qemu-system-arm"),
        "-L",
        str(root / "usr/share/qemu"),
    ]


class Archive:
    """A cpio archive, of which the kernel makes its first file system."""

    def __init__(self):
        self._data = bytearray()
        self._folders = set()
        self._inode = 0

    def file(self, name, data, mode=0o100755):
        folder = os.path.dirname(name)
        if folder and folder not in self._folders:
            self._folders.add(folder)
            self.file(folder, b"", 0o040755)
        self._inode += 1
        path = name.encode() + b"\0"
        numbers = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        self._data += b"070701" + b"".join(b"%08X" % number for number in numbers) + path
        self._data += b"\0" * (-len(self._data) % 4) + data + b"\0" * (-len(data) % 4)

    def link(self, name, target):
        self.file(name, target.encode(), 0o120777)

    def copy(self, source, name):
        """One file or link, from the host."""
        if source.is_symlink():
            self.link(name, os.readlink(source))
        else:
            self.file(name, source.read_bytes())

    def tree(self, source, name, unused=()):
        for path in sorted(source.rglob("*")):
            place = path.relative_to(source).as_posix()
            if path.is_file() and not place.startswith(tuple(unused)):
                self.copy(path, f"{name}/{place}")

    def packed(self):
        self.file("TRAILER!!!", b"", 0)
        return gzip.compress(bytes(self._data), 1)


def initial_files(packages, files):
    """The guest's whole file system; `files` are more of them by name."""
    archive = Archive()
    for folder in ("proc", "sys", "dev", "tmp"):
        archive.file(folder, b"", 0o040755)
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
    """The guest did not answer, or not as it should; the text is what it printed last."""


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

    def wait_for(self, start, limit_s=120):
        """The rest of the next line that starts so; the lines before it are dropped."""
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
