"""An emulated Linux computer as small as a LicheeRV Nano: riscv64, 256 MB, busybox, an ssh server,
no battery clock.

Kernel and programs are Debian's. Its disk is a file, so files survive a restart.
"""

from __future__ import annotations

import contextlib
import lzma
import os
import shutil
import subprocess
import time
from pathlib import Path

from tenner_host import debian
from tests.ports import free_port
from tests.qemu import program
from tests.qemu.cpio import Archive

ARCHITECTURE = "riscv64"
HOST = "licheervnano-1a2b"
#: The user who may log in besides root.
USER, USER_HOME = "pilot", "/users/pilot"
#: The host computer, seen from inside: this address reaches the host's loopback.
OUTSIDE = "10.0.2.2"
_MEMORY_MB = 256
_DISK_MB = 384
_FOLDER = f"riscv64-{debian.SUITE}"
#: In order of their dependencies.
_MODULES = (
    "failover net_failover virtio_net virtio_blk crc32c_generic libcrc32c crc16 mbcache jbd2 ext4"
).split()
#: Parts of the packages that nothing here uses.
_UNUSED = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale"),
    *("usr/lib/riscv64-linux-gnu/gconv", "usr/lib/python3.*/test"),
)
_UP = "the network is up"
_PATIENCE_S = 180

_INITIAL = """\
#!/bin/busybox sh
export PATH=/bin
busybox mount -t devtmpfs dev /dev
for module in {modules}; do busybox insmod /modules/$module.ko; done
until [ -b /dev/vda ]; do busybox sleep 0.1; done
busybox mount -t ext4 /dev/vda /disk
busybox mount -t devtmpfs dev /disk/dev
busybox mount -t proc proc /disk/proc
[ -e /disk/bin/ls ] || busybox chroot /disk busybox --install -s /bin
busybox chown -R 0:0 /disk/root
busybox chown -R 1000:1000 /disk{home}
exec busybox switch_root /disk /sbin/init
"""
_NETWORK = "ip link set lo up; ip link set eth0 up; ip address add 10.0.2.15/24 dev eth0"
# The files of a buildroot image.
_FILES = {
    "etc/passwd": (
        "root:x:0:0:root:/root:/bin/sh\nmessagebus:x:100:100::/:/bin/false\n"
        f"{USER}:x:1000:1000::{USER_HOME}:/bin/sh\n"
    ),
    "etc/group": f"root:x:0:\nmessagebus:x:100:\n{USER}:x:1000:\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/hostname": f"{HOST}\n",
    "etc/machine-id": "fedcba9876543210fedcba9876543210\n",
    "etc/inittab": (
        "::sysinit:/etc/init.d/rcS\n::shutdown:/etc/init.d/rcK\n::shutdown:/bin/umount -a -r\n"
    ),
}
_PROGRAMS = {
    "etc/init.d/rcS": f"""\
#!/bin/busybox sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t sysfs sys /sys
mkdir -p /dev/pts
mount -t devpts pts /dev/pts
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
hostname -F /etc/hostname
{_NETWORK}
for script in /etc/init.d/S??*; do $script start; done
echo "{_UP}" >/dev/console
""",
    "etc/init.d/rcK": """\
#!/bin/sh
for script in $(ls -r /etc/init.d/S??*); do $script stop; done
""",
    "etc/init.d/S50dropbear": """\
#!/bin/sh
case $1 in
start) mkdir -p /etc/dropbear && dropbear -R -s -P /run/dropbear.pid ;;
stop) kill "$(cat /run/dropbear.pid)" ;;
esac
""",
}
# Further files for a small image with systemd, without units that need missing devices.
_UNITS = "etc/systemd/system"
_MASKED = (
    "serial-getty@ttyS0.service getty.target ldconfig.service systemd-modules-load.service"
    " proc-sys-fs-binfmt_misc.automount"
).split()
_PERMIT = "".join(f"{kind} required pam_permit.so\n" for kind in ("auth", "account", "session"))
_SYSTEMD = {
    f"{_UNITS}/network.service": f"""\
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '{_NETWORK}; mkdir -p /etc/dropbear; dropbear -R -s; echo {_UP} >/dev/console'
""",
    "etc/pam.d/other": _PERMIT,
    "etc/pam.d/systemd-user": f"{_PERMIT}session optional pam_systemd.so\n",
}


class Computer:
    """One such computer in a separate folder, switched on until `close`."""

    def __init__(self, folder: Path, *, python: bool = False, systemd: bool = False) -> None:
        for tool in ("ssh", "ssh-keygen"):
            if shutil.which(tool) is None:
                raise debian.CannotFetch(f"{tool} is not here: install OpenSSH's client")
        self.folder = folder
        self._reboot = "systemctl reboot" if systemd else "reboot"
        self._qemu = program.command("qemu-system-riscv64", "qemu-system-riscv")
        self._kernel = debian.filled(
            f"{_FOLDER}/kernel",
            lambda stage: debian.unpack_alone(
                ARCHITECTURE, "linux-image-riscv64", "linux-image-", stage
            ),
        )
        self._make_keys()
        packages = [userland()] + ([cpython()] if python else [])
        if systemd:
            wanted = ["systemd", "dbus", "libpam-systemd", "libpam-modules"]
            packages.append(debian.folder(f"{_FOLDER}/systemd", ARCHITECTURE, wanted))
        self._make_disk(packages, systemd)
        (folder / "initial").write_bytes(self._initial_files(packages[0]))
        self._process: subprocess.Popen[bytes] | None = None
        self.switch_on()

    def __enter__(self) -> Computer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Its parts.

    def _make_keys(self) -> None:
        key = self.folder / "key"
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
        subprocess.run(command, check=True)
        self._port = free_port()
        (self.folder / "ssh_config").write_text(
            f"Host board\n HostName 127.0.0.1\n Port {self._port}\n User root\n"
            f" IdentityFile {key}\n"
            " IdentitiesOnly yes\n BatchMode yes\n StrictHostKeyChecking accept-new\n"
            f" UserKnownHostsFile {self.folder}/known\n GlobalKnownHostsFile /dev/null\n"
        )
        #: The command that reaches it under the name `board`.
        self.ssh = f"ssh -F {self.folder}/ssh_config"

    def _make_disk(self, packages: list[Path], systemd: bool) -> None:
        root = self.folder / "root"
        root.mkdir()
        for source in packages:
            debian.run(["cp", "-a", f"{source}/.", str(root)], "filling a disk")
        for pattern in _UNUSED:
            for path in list(root.glob(pattern)):
                shutil.rmtree(path)
        for name in ("dev", "proc", "sys", "run", "tmp", "var/log", "opt"):
            (root / name).mkdir(parents=True, exist_ok=True)
        for home in (root / "root", root / USER_HOME.lstrip("/")):
            (home / ".ssh").mkdir(parents=True)
            shutil.copy(self.folder / "key.pub", home / ".ssh/authorized_keys")
        for name in ("bin", "sbin", "lib"):
            if not (root / name).is_symlink():
                (root / name).symlink_to(f"usr/{name}")
        programs = {} if systemd else _PROGRAMS
        for name, text in {**_FILES, **(_SYSTEMD if systemd else programs)}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if name in programs else 0o644)
        if systemd:
            units = root / _UNITS
            (units / "multi-user.target.wants").mkdir()
            (units / "multi-user.target.wants/network.service").symlink_to("../network.service")
            (units / "default.target").symlink_to("/usr/lib/systemd/system/multi-user.target")
            for name in _MASKED:
                (units / name).symlink_to("/dev/null")
        init = root / "usr/sbin/init"
        init.parent.mkdir(exist_ok=True)
        init.unlink(missing_ok=True)
        init.symlink_to("../lib/systemd/systemd" if systemd else "../bin/busybox")
        self._disk = self.folder / "disk"
        with self._disk.open("wb") as disk:
            disk.truncate(_DISK_MB << 20)
        mke2fs = shutil.which("mke2fs", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if mke2fs is None:
            raise debian.CannotFetch("mke2fs is not here: install e2fsprogs")
        command = [mke2fs, "-q", "-t", "ext4", "-E", "root_owner=0:0", "-d", str(root)]
        debian.run([*command, str(self._disk)], "making a disk")
        shutil.rmtree(root)

    def _initial_files(self, packages: Path) -> bytes:
        archive = Archive()
        for name in ("dev", "disk"):
            archive.folder(name)
        archive.copy(packages / "usr/bin/busybox", "bin/busybox")
        for name in _MODULES:
            packed = next(self._kernel.rglob(f"{name}.ko.xz"))
            archive.file(f"modules/{name}.ko", lzma.decompress(packed.read_bytes()))
        archive.file("init", _INITIAL.format(modules=" ".join(_MODULES), home=USER_HOME).encode())
        return archive.packed()

    # Its life.

    def switch_on(self) -> None:
        """Switch it on, and wait until its network is up."""
        console = self.folder / "console"
        console.write_bytes(b"")
        self._process = subprocess.Popen(
            [
                *self._qemu,
                *("-machine", "virt", "-accel", "tcg", "-smp", "1", "-m", str(_MEMORY_MB)),
                *("-display", "none", "-serial", f"file:{console}", "-monitor", "none"),
                *("-kernel", str(next((self._kernel / "boot").glob("vmlinux-*")))),
                *("-initrd", str(self.folder / "initial")),
                *("-append", "console=ttyS0 quiet loglevel=1 panic=-1"),
                *("-rtc", "base=1970-01-01"),
                *("-drive", f"file={self._disk},format=raw,if=none,id=disk"),
                *("-device", "virtio-blk-pci,drive=disk"),
                *("-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{self._port}-:22"),
                *("-device", "virtio-net-pci,netdev=net,romfile="),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "qemu.log").open("wb"),
        )
        try:
            self._wait_for_starts(1)
        except BaseException:
            self.close()
            raise

    def _wait_for_starts(self, count: int) -> None:
        assert self._process is not None
        deadline = time.monotonic() + _PATIENCE_S
        while (text := self.console()).count(_UP) < count:
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self.folder / "qemu.log").read_text(errors="replace").strip()
                raise TimeoutError(f"the emulated board does not start: {said or text[-500:]}")
            time.sleep(0.1)

    def console(self) -> str:
        """Its output since it was switched on."""
        return (self.folder / "console").read_text(errors="replace")

    def restart(self) -> None:
        """Restart it as its owner would, and wait until its network is up."""
        before = self.console().count(_UP)
        self.run(self._reboot)
        self._wait_for_starts(before + 1)

    def power_off(self) -> None:
        """Pull the plug."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.power_off()
        with contextlib.suppress(OSError):
            self._disk.unlink()

    # Commands on it.

    def command(self, line: str) -> list[str]:
        """The command line that runs a line of shell there."""
        return [*self.ssh.split(), "board", line]

    def run(self, line: str) -> str:
        done = subprocess.run(
            self.command(line),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{line}: status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def set_clock(self) -> None:
        """Set its clock as NTP would."""
        self.run(f"date -s @{int(time.time())}")


def userland() -> Path:
    return debian.folder(f"{_FOLDER}/system", ARCHITECTURE, ["busybox-static", "dropbear-bin"])


def cpython() -> Path:
    """Debian's python3 with its dependencies."""
    packages = ["python3-minimal", "libpython3-stdlib"]
    return debian.folder(f"{_FOLDER}/python", ARCHITECTURE, packages)
