"""Boards to deploy to: a real sshd on the loopback, and behind it a folder that is a whole busybox
system.

The folder is the root of everything that runs there (chroot), so an agent is installed into
/opt, /etc and /var as on a board. It has no processes in /proc, no systemd, and no C library but
the kit's.
"""

import contextlib
import os
import platform
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

from tenner_host import build, debian, places
from tenner_host.linux import kit, release
from tenner_host.linux.release import Release
from tests.ports import free_port

#: The command that sshd runs in place of the requested one, which comes as a variable.
CHROOT = "/usr/sbin/chroot"
_INSIDE = (
    "exec /usr/sbin/chroot --userspec={account} {root} "
    '/bin/env -i HOME={home} USER={name} PATH=/bin /bin/sh -c "$SSH_ORIGINAL_COMMAND"'
)
#: The user of a board who is not root: name, number and home folder.
PILOT = ("pilot", 1000, "/users/pilot")


class Unavailable(Exception):
    """Why there can be no bench on this machine, in one sentence."""


def busybox():
    """Debian's static busybox for this machine, from the cache."""
    cached = places.cache_folder() / f"busybox-{debian.SUITE}-{architecture()}"
    if not cached.exists():
        debian.check_tools()
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cached.parent) as work:
            root = Path(work, "root")
            debian.unpack(architecture(), ["busybox-static"], root)
            (root / "usr/bin/busybox").rename(cached)
    return cached


def architecture():
    return kit.MACHINES.get(platform.machine(), "amd64")


def check():
    """Unavailable, with the reason, where the bench cannot be."""
    if os.geteuid() != 0:
        raise Unavailable("a folder that is a board's root needs root rights")
    for tool in ("/usr/sbin/sshd", "ssh", "ssh-keygen"):
        if shutil.which(tool) is None:
            raise Unavailable(f"{tool} is not here: install openssh-server")
    with tempfile.TemporaryDirectory() as folder:
        try:
            Path(_device(folder, "null", 3)).write_bytes(b"")
            subprocess.run([CHROOT, "/", "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as exc:
            raise Unavailable(f"no devices or other roots may be made here: {exc}") from exc
    try:
        busybox()
        kit.kit(architecture())
    except debian.CannotFetch as exc:
        raise Unavailable(str(exc)) from exc


def _device(folder, name, number):
    """Make one of the kernel's memory devices, such as null, and return its path."""
    path = os.path.join(folder, name)
    os.mknod(path, stat.S_IFCHR, os.makedev(1, number))
    os.chmod(path, 0o666)
    return path


class Server:
    """One sshd with throw-away keys, and the board behind it."""

    def __init__(self, folder, account=("root", 0, "/root")):
        self.folder = folder
        self._account = account
        self.root = folder / "board"
        self.project = folder / "project"
        self.project.mkdir()
        self._make_root()
        self._make_keys()
        self._sshd = None
        self.boot()
        self.start()

    # --- the board

    def _make_root(self):
        for name in ("bin", "dev", "etc/init.d", "tmp", "run", "root", "opt", "var/log", "lib"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(busybox(), self.root / "bin/busybox")
        (self.root / "bin/busybox").chmod(0o755)
        listed = subprocess.run(
            [busybox(), "--list"], capture_output=True, text=True, check=True
        ).stdout
        for name in listed.split():
            if name != "busybox":
                (self.root / "bin" / name).symlink_to("busybox")
        (self.root / "etc/init.d/rcS").write_text("#!/bin/sh\n")
        name, number, home = self._account
        (self.root / "etc/passwd").write_text(f"{name}:x:{number}:{number}::{home}:/bin/sh\n")
        self.path(home).mkdir(parents=True, exist_ok=True)
        os.chown(self.path(home), number, number)
        (self.root / "etc/machine-id").write_text("0123456789abcdef\n")
        for name, number in (("null", 3), ("zero", 5), ("urandom", 9)):
            _device(self.root / "dev", name, number)

    def path(self, name):
        """Where a file of the board lies on this machine."""
        return self.root / name.lstrip("/")

    def boot(self):
        """Do the steps of the kernel and init when the board is switched on."""
        boot_id = self.root / "proc/sys/kernel/random/boot_id"
        boot_id.parent.mkdir(parents=True, exist_ok=True)
        boot_id.write_text(f"{uuid.uuid4()}\n")
        for script in sorted((self.root / "etc/init.d").glob("S??*")):
            subprocess.run(
                [CHROOT, self.root, f"/etc/init.d/{script.name}", "start"],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": "/bin", "HOME": "/root"},
            )

    def power_off(self):
        """End every process of the board at once; empty /run."""
        wait(self._kill, "everything on the board to end")
        shutil.rmtree(self.root / "run")
        (self.root / "run").mkdir()

    def _kill(self):
        """Kill the board's processes; return whether there was none. Another may have begun while
        the list was read."""
        found = self.processes()
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not found

    def processes(self, word=b""):
        """Processes whose root is the board's, with `word` in their command line."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and os.readlink(entry / "root") == str(self.root):
                    if word in (entry / "cmdline").read_bytes():
                        found.append(int(entry.name))
        return found

    def agents(self):
        return self.processes(b"-m\0tenner")

    # --- the way to it

    def _make_keys(self):
        for name in ("host", "user"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name],
                check=True,
            )
        self.port = free_port()
        public = (self.folder / "host.pub").read_text()
        (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {public}")
        (self.folder / "authorized").write_bytes((self.folder / "user.pub").read_bytes())
        name, number, home = self._account
        inside = _INSIDE.format(account=f"{number}:{number}", name=name, home=home, root=self.root)
        (self.folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host\n"
            f"PidFile none\nAuthorizedKeysFile {self.folder}/authorized\n"
            "PasswordAuthentication no\n"
            f"KbdInteractiveAuthentication no\nPermitRootLogin yes\nUsePAM no\nStrictModes no\n"
            f"ForceCommand {inside}\n"
        )
        (self.folder / "ssh_config").write_text(
            f"Host board\n HostName 127.0.0.1\n Port {self.port}\n User root\n"
            f" IdentityFile {self.folder}/user\n IdentitiesOnly yes\n BatchMode yes\n"
            f" UserKnownHostsFile {self.folder}/known\n GlobalKnownHostsFile /dev/null\n"
        )
        self.ssh = f"ssh -F {self.folder}/ssh_config"

    def start(self):
        """Switch on the network: sshd listens."""
        os.makedirs("/run/sshd", exist_ok=True)
        self._sshd = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", self.folder / "sshd_config"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "sshd.log").open("ab"),
        )
        wait(self._listens, "sshd to listen")

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def logins(self):
        """How often somebody has logged in."""
        return (self.folder / "sshd.log").read_text().count("Accepted publickey")

    def connections(self):
        """The processes of sshd that serve somebody."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                stat_line = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(stat_line[1]) == self._sshd.pid:
                    found.append(int(entry.name))
        return found

    def cut(self):
        """The network goes away: every connection ends."""
        for pid in self.connections():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self):
        self._sshd.kill()
        self._sshd.wait()
        self.cut()
        self.power_off()


def changed(made, **files):
    """The same release with other files; a name is a module, its text Python."""
    new = {name: data for name, data in made.files.items() if name != release.SUMS}
    for name, source in files.items():
        path = f"lib/tenner/{name}.mpy"
        new[path] = build.compile_module(source.encode(), f"tenner.{name}")
    new[release.SUMS] = release.kit.checksums(new)
    return Release(new)


def wait(condition, what, limit_s=120):
    """Until the condition holds; the test fails when it never does."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {limit_s} s for {what}")
        time.sleep(0.02)
