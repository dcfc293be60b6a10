# tenner port.linux.namespace: isolates a command's files and network when the agent is not root.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The command sees the system's programs, the workspace (only `exec/` is writable), its own /tmp and
/proc, five devices, and no network unless the owner allows it. The agent's other files, its
process, and sockets of other programs are not there. Names and numbers are those of <sched.h> and
<sys/mount.h>.
"""

import os

from tenner.port.compat import const
from tenner.port.linux.buses import listed
from tenner.port.linux.process import call

_NEWNS = const(0x00020000)
_NEWIPC = const(0x08000000)
_NEWUSER = const(0x10000000)
_NEWPID = const(0x20000000)
_NEWNET = const(0x40000000)

_RDONLY = const(1)
_NOSUID = const(2)
_NODEV = const(4)
_NOEXEC = const(8)
_REMOUNT = const(32)
_BIND = const(4096)
_REC = const(16384)
_PRIVATE = const(1 << 18)

_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "etc")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SIZE = "size=16m,mode=700"
# Mount points for the new root: one that hides no part of the workspace.
_PLACES = ("/mnt", "/srv", "/media", "/opt")


def enter(uid: int, gid: int, network: bool) -> None:
    """Give this process its own namespaces; that of processes begins with its first child."""
    kinds = _NEWUSER | _NEWNS | _NEWPID | _NEWIPC
    try:
        call("unshare", kinds if network else kinds | _NEWNET)
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", "%d %d 1" % (uid, uid)),
            ("gid_map", "%d %d 1" % (gid, gid)),
        ):
            with open("/proc/self/" + name, "w") as file:
                file.write(text)
    except OSError:
        raise OSError(
            "this kernel gives users no namespaces, so a command could read the settings: run "
            "the agent as root, who gives commands another user"
        )


def furnish(workspace: str, folder: str) -> None:
    """Make the new root and enter its workspace; the first process of the namespaces calls
    this."""
    call("mount", "none", "/", 0, _REC | _PRIVATE, 0)
    top = [place for place in _PLACES if place[1:] in listed("/") and _apart(place, workspace)][0]
    call("mount", "tmpfs", top, "tmpfs", _NOSUID | _NODEV, _SIZE)
    for name in ("tmp", "proc", "dev"):
        os.mkdir(top + "/" + name)
    call("mount", "tmpfs", top + "/tmp", "tmpfs", _NOSUID | _NODEV, _SIZE)
    call("mount", "proc", top + "/proc", "proc", _NOSUID | _NODEV | _NOEXEC, 0)
    for name in _SYSTEM:
        leads = bytearray(256)
        try:
            size = call("readlink", "/" + name, leads, len(leads))
            call("symlink", bytes(leads[:size]).decode(), top + "/" + name)
        except OSError:
            if name in listed("/"):
                _bind("/" + name, top)
    for name in _DEVICES:
        with open(top + "/dev/" + name, "w"):
            call("mount", "/dev/" + name, top + "/dev/" + name, 0, _BIND, 0)
    _bind(workspace, top)
    # A remount must repeat the restrictions that the file system already has.
    flags = os.statvfs(workspace)[8] & (_NOSUID | _NODEV | _NOEXEC) | _RDONLY
    call("mount", "none", top + workspace, 0, _REMOUNT | _BIND | flags, 0)
    _bind(folder, top)
    call("mount", "none", top, 0, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV, 0)
    call("chroot", top)
    call("chdir", workspace)


def _bind(path, top):
    made = top
    for name in path.split("/")[1:]:
        if name not in listed(made):
            os.mkdir(made + "/" + name)
        made += "/" + name
    call("mount", path, top + path, 0, _BIND | _REC, 0)


def _apart(place, path):
    return path != place and not path.startswith(place + "/")
