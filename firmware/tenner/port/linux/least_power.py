# tenner port.linux.least_power: starts a program, the agent, with no more rights than it needs.
# MIT license; Copyright (c) 2026 the tenner authors
"""
usage: -m tenner.port.linux.least_power PROGRAM ARGUMENT...

systemd does this for its own services (see ctl); this program does it under any other init. Root
keeps the rights that the buses, the pins and a command's user need. Code, programs and settings
become read-only, /tmp private. It skips a step that the kernel lacks; `tenner doctor` reports
that. It becomes the program, and so takes no memory.
"""

import os
import sys

from tenner.port.compat import const
from tenner.port.linux import process
from tenner.port.linux.buses import listed
from tenner.port.linux.process import call
from tenner.port.package import package_path

# <linux/prctl.h>, <linux/capability.h>
_DROP = const(24)
_NO_NEW_PRIVS = const(38)
_CAPABILITIES = const(64)
# chown, dac_override, fowner, kill, setgid, setuid; and sys_admin, to keep a command from the
# network
KEPT = (0, 1, 3, 5, 6, 7, 21)

# <sched.h>, <sys/mount.h>
_NEWNS = const(0x00020000)
_REMOUNT = const(32)
_BIND = const(4096)
_REC = const(16384)
_SLAVE = const(1 << 19)
_FLAGS = const(1 | 2 | 4 | 8)  # read-only, no suid, no devices, no programs

_SYSTEM = ("/boot", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64")


def reduce() -> None:
    """Drop needless rights; the next program starts without them."""
    if process.user() == 0:
        _try(_freeze)
        for number in range(_CAPABILITIES):
            if number not in KEPT:
                _try(call, "prctl", _DROP, number, 0, 0, 0)
    _try(call, "prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)


def _freeze():
    """Give this process its own view of the file system, with code and settings read-only."""
    call("unshare", _NEWNS)
    # Later mounts of the system appear here too; mounts made here appear nowhere else.
    call("mount", "none", "/", 0, _REC | _SLAVE, 0)
    for path in _SYSTEM + (package_path("").rsplit("/releases/")[0],):
        if path[1:].split("/")[0] in listed("/"):
            _try(_read_only, path)
    _try(call, "mount", "tmpfs", "/tmp", "tmpfs", 2 | 4, "mode=1777,size=32m")


def _read_only(path):
    flags = os.statvfs(path)[8] & _FLAGS | 1
    call("mount", path, path, 0, _BIND | _REC, 0)
    call("mount", "none", path, 0, _REMOUNT | _BIND | flags, 0)


def _try(function, *args):
    """Call a function that some kernels and containers refuse."""
    try:
        function(*args)
    except OSError:
        pass  # the doctor looks at the result


if __name__ == "__main__":
    reduce()
    process.become(sys.argv[1], sys.argv[1:])
