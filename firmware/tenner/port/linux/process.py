# tenner port.linux.process: processes of Linux under CPython (ctypes) and Unix MicroPython (ffi).
# MIT license; Copyright (c) 2026 the tenner authors
"""
The agent uses the functions here. Only a process that was just forked uses `call`, which takes the
name of a function of the C library: CPython loads ctypes for it.
"""

import os
import struct

from tenner.port import package
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EAGAIN = const(11)
_ECHILD = const(10)
_NOHANG = const(1)
_SETFL = const(4)  # fcntl
_NONBLOCK = const(2048)
_RDONLY_CLOEXEC = const(0x80000)

try:
    from os import fork

    leave = os._exit
    close = os.close
    kill = os.kill
    chown = os.chown
    chmod = os.chmod
    user = os.getuid
    group = os.getgid

    def call(name: str, *args: "Any") -> int:
        """Call a function of the C library with numbers, text and buffers; OSError when it
        fails."""
        import ctypes

        given = []
        for one in args:
            if isinstance(one, bytearray):
                one = (ctypes.c_char * len(one)).from_buffer(one)
            elif isinstance(one, int):
                one = ctypes.c_long(one)
            given.append(one.encode() if isinstance(one, str) else one)
        result = getattr(ctypes.CDLL(None, use_errno=True), name)(*given)
        if result < 0:
            raise OSError(ctypes.get_errno(), name)
        return result

    def pipe() -> tuple[int, int]:
        """Return (file descriptor to read from, which never waits, and one to write to)."""
        ends = os.pipe()
        os.set_blocking(ends[0], False)
        return ends

    def read_into(fd: int, buf: bytearray) -> int | None:
        """Return the number of bytes read, 0 at the end, None when none has come yet."""
        try:
            return os.readv(fd, [buf])
        except BlockingIOError:
            return None

    def wait(pid: int) -> tuple[int, int] | None:
        """Return (process, status) of a child that ended; (0, 0) when none did yet; None without a
        child."""
        try:
            return os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return None

    def limit(kind: int, value: int) -> None:
        import resource

        resource.setrlimit(kind, (value, value))

    def execute(path: str, words: list[str], environment: list[str] | tuple[str, ...]) -> None:
        """Become the program `path`."""
        os.execve(path, words, dict([row.split("=", 1) for row in environment]))

    become = os.execv

    entries = package.entries

except ImportError:
    from array import array

    import uctypes

    try:
        import ffi

        _libc = ffi.open(None)
    except ImportError:
        _libc = None

    def call(name: str, *args: "Any") -> int:
        """Call a function of the C library with numbers, text and buffers; OSError when it
        fails."""
        if _libc is None:
            raise OSError("this MicroPython has no ffi, and so no way to a process: take Debian's")
        kinds = "".join(["l" if isinstance(one, int) else "p" for one in args])
        result = _libc.func("i", name, kinds)(*args)
        if result < 0:
            raise OSError(os.errno(), name)
        return result

    def fork() -> int:
        return call("fork")

    def leave(code: int) -> None:
        call("_exit", code)

    def close(fd: int) -> None:
        call("close", fd)

    def kill(pid: int, signal: int) -> None:
        call("kill", pid, signal)

    def chown(path: str, uid: int, gid: int) -> None:
        call("chown", path, uid, gid)

    def chmod(path: str, mode: int) -> None:
        call("chmod", path, mode)

    def user() -> int:
        return call("getuid")

    def group() -> int:
        return call("getgid")

    def pipe() -> tuple[int, int]:
        """Return (file descriptor to read from, which never waits, and one to write to)."""
        ends = bytearray(8)
        call("pipe2", ends, _RDONLY_CLOEXEC)
        reader, writer = struct.unpack("ii", ends)
        call("fcntl", reader, _SETFL, _NONBLOCK)
        return reader, writer

    def read_into(fd: int, buf: bytearray) -> int | None:
        """Return the number of bytes read, 0 at the end, None when none has come yet."""
        try:
            return call("read", fd, buf, len(buf))
        except OSError as error:
            if error.args[0] != _EAGAIN:
                raise
            return None

    def wait(pid: int) -> tuple[int, int] | None:
        """Return (process, status) of a child that ended; (0, 0) when none did yet; None without a
        child."""
        status = bytearray(4)
        try:
            return call("waitpid", pid, status, _NOHANG), struct.unpack("i", status)[0]
        except OSError as error:
            if error.args[0] != _ECHILD:
                raise
            return None

    def limit(kind: int, value: int) -> None:
        call("prlimit64", 0, kind, bytearray(struct.pack("QQ", value, value)), 0)

    def execute(path: str, words: list[str], environment: list[str] | tuple[str, ...]) -> None:
        """Become the program `path`."""
        kept = [[bytes(one, "utf-8") + b"\0" for one in some] for some in (words, environment)]
        tables = [array("P", [uctypes.addressof(one) for one in some] + [0]) for some in kept]
        call("execve", path, *tables)

    def become(path: str, words: list[str]) -> None:
        """Become the program `path`, with the same environment."""
        kept = [bytes(one, "utf-8") + b"\0" for one in words]
        call("execv", path, array("P", [uctypes.addressof(one) for one in kept] + [0]))

    def entries(folder: str) -> list[str]:
        """Yield the same as `folders.entries`, also on file systems that do not report the kind of
        an entry."""
        for entry in os.ilistdir(folder):
            path = folder + "/" + entry[0]
            kind = entry[1] or (0 if _is_link(path) else os.stat(path)[0] & 0xF000)
            yield entry[0], {0x4000: "d", 0x8000: "f"}.get(kind, "")

    def _is_link(path):
        try:
            return call("readlink", path, bytearray(1), 1) >= 0
        except OSError:
            return False


def owner(path: str) -> tuple[int, int, int, int]:
    """Return (mode, user, group, number of links) of the file or folder that `path` leads to."""
    stat = os.stat(path)
    return stat[0], stat[4], stat[5], stat[3]
