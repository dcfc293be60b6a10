# tenner port.linux.sandbox: runs the model's commands where they reach nothing but the workspace.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A supervisor, forked from the agent, starts the command, watches it, and in the end kills its
entire process tree. Only the agent has the other end of its control pipe: when that closes, for
any reason, the supervisor ends too.

Root gives the command a separate user, who owns nothing but `exec/` in the workspace; the
supervisor kills all processes of that user. Any other user's command gets namespaces
(`namespace`). Where the kernel has none, nothing runs.
"""

import os
from binascii import crc32

from tenner.port.compat import const
from tenner.port.linux import process, sandbox_supervisor
from tenner.port.linux.buses import first_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: The folder of the workspace that a command may write to.
FOLDER = "exec"

_FIRST_USER = const(58000)
_USERS = const(1000)

# Devices that would bypass the rules of other tools where anybody may open them.
_DEVICES = ("i2c-", "spidev", "gpiochip", "gpiomem", "mem", "port")


class Sandbox:
    """`root` is the agent's folder, `settings` the file of its secrets; `start` runs one command
    at a time."""

    def __init__(self, root: str, workspace: str, settings: str) -> None:
        if not workspace.startswith("/"):
            workspace = os.getcwd() + "/" + workspace
        self.workspace = workspace
        self.folder = workspace + "/" + FOLDER
        self.rooted = process.user() == 0
        self.uid = process.user()
        self.gid = process.group()
        # A command that could make tools/ or drivers/ could have the agent run its code.
        for path in (workspace, workspace + "/tools", workspace + "/drivers", self.folder):
            try:
                os.mkdir(path)
            except OSError as error:
                if error.args[0] != 17:  # EEXIST
                    raise
        if self.rooted:
            self.uid = self.gid = user_of_its_own(root)
            _check_devices()
            _hide(root, settings)
            process.chown(self.folder, self.uid, self.gid)
            process.chmod(self.folder, 0o700)
            self._show(workspace)

    def start(self, path: str, words: list[str], limits: tuple[int, int, bool]) -> "Running":
        """Start the program `path`; `limits` is (seconds, MB of memory, may it reach the
        network)."""
        output, out = process.pipe()
        status, tell = process.pipe()
        control, hold = process.pipe()
        pid = process.fork()
        if pid == 0:
            # The child never returns to the agent's code.
            sandbox_supervisor.supervise(self, path, words, limits, out, tell, control)
        for fd in (out, tell, control):
            process.close(fd)
        return Running(pid, output, status, hold)

    def _show(self, folder):
        """Let the command's user read the workspace; files of another group stay unchanged."""
        mode, _, gid, _ = process.owner(folder)
        self._share(folder, mode, gid, 0o050)
        for name, kind in process.entries(folder):
            path = folder + "/" + name
            if kind == "d" and path != self.folder:
                self._show(path)
            elif kind == "f":
                mode, _, gid, links = process.owner(path)
                if links == 1:
                    self._share(path, mode, gid, 0o040)

    def _share(self, path, mode, gid, bits):
        if gid == 0:
            process.chown(path, -1, self.gid)
        if gid in (0, self.gid) and mode & bits != bits:
            process.chmod(path, mode & 0o7777 | bits)


class Running:
    """A command that runs."""

    def __init__(self, pid: int, output: int, status: int, hold: int) -> None:
        self._pid = pid
        self._output = output
        self._status = status
        self._hold = hold
        self._text = b""
        self._buf = bytearray(4096)

    def poll(self, take: "Callable[[memoryview], None]") -> str:
        """Pass new output to `take`, a part at a time. Return "" until the command has ended: then
        "CODE REASON"."""
        ended = self._told()
        # Read after the status: output from before the end is complete by now.
        for _ in range(16 if not ended else 64):
            count = process.read_into(self._output, self._buf)
            if not count:
                break
            take(memoryview(self._buf)[:count])
        return ended

    def stop(self) -> None:
        """Have the supervisor end it."""
        if self._hold >= 0:
            process.close(self._hold)
            self._hold = -1

    def gone(self) -> bool:
        """Stop it; True when nothing of it is left."""
        self.stop()
        done = self._pid < 0 or process.wait(self._pid)
        if done == (0, 0):
            return False
        if self._pid >= 0:
            self._pid = -1
            process.close(self._output)
            process.close(self._status)
        return True

    def _told(self):
        count = process.read_into(self._status, self._buf)
        if count:
            self._text += bytes(self._buf[:count])
        elif count == 0 and not self._text:
            return "1 its supervisor was killed"
        return self._text.decode() if count == 0 else ""


def user_of_its_own(root: str) -> int:
    """Return the number of an unused user, the same each time for one agent."""
    taken = []
    try:
        with open("/etc/passwd") as file:
            taken = [line.split(":")[2] for line in file if line.count(":") > 2]
    except OSError:
        pass  # a machine without users but root
    uid = _FIRST_USER + crc32(root.encode()) % _USERS
    while str(uid) in taken:
        uid += 1
    return uid


def _check_devices():
    for name in os.listdir("/dev"):
        if name.startswith(_DEVICES):
            if process.owner("/dev/" + name)[0] & 0o006:
                raise OSError(
                    "exec is off: anybody may open /dev/%s, so a command could go round the "
                    "rules of other"
                    " tools. As root: `chmod o-rw /dev/%s`" % (name, name)
                )


def _hide(root, settings):
    """Take private files and folders from everybody but their owner."""
    private = [root + "/state", root + "/certs", settings]
    private.append(settings.rpartition("/")[0] + "/environment")
    for name in os.listdir(root):
        if name.startswith("config.json"):
            private.append(root + "/" + name)
    for path in private:
        try:
            mode = process.owner(path)[0]
        except OSError:
            continue  # not there
        if mode & 0o077:
            process.chmod(path, mode & 0o700)
    if process.owner(root)[0] & 0o001:
        if first_line("/proc/sys/fs/protected_hardlinks") != "1":
            raise OSError(
                "exec is off: anybody may enter %s and make hard links to files in it. As root: "
                "`chmod 700 %s`"
                " or `sysctl fs.protected_hardlinks=1`" % (root, root)
            )
