# tenner port.linux.ioctl: device files of Linux under CPython (fcntl) and Unix MicroPython (ffi).
# MIT license; Copyright (c) 2026 the tenner authors
"""
I2C, SPI and GPIO reach their devices by `open_file`, `ioctl`, `address` and `close`. `struct`
builds a structure that points to others from the addresses of buffers made by `room`. The caller
keeps those buffers in a variable until the call returns. Neither interpreter moves a buffer.
"""

import os

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array

_O_RDWR = const(2)
_O_CLOEXEC = const(0x80000)  # a program that the agent starts gets no bus

try:
    import fcntl
    from array import array

    def open_file(path: str) -> int:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def close(fd: int) -> None:
        os.close(fd)

    def ioctl(fd: int, request: int, argument: bytearray | int) -> int:
        """Call with a number, or with a bytearray that the kernel reads and writes."""
        if isinstance(argument, int):
            return fcntl.ioctl(fd, request, argument)
        return fcntl.ioctl(fd, request, argument, True)

    def room(content: bytes | int) -> "array":
        """Return a new buffer with these bytes, or with so many zeros."""
        return array("B", bytes(content))

    def address(buffer: "array") -> int:
        return buffer.buffer_info()[0]

except ImportError:
    import uctypes

    try:
        import ffi

        _libc = ffi.open(None)
        _open = _libc.func("i", "open", "si")
        _close = _libc.func("i", "close", "i")
        _ioctl = _libc.func("i", "ioctl", "iLL")
    except ImportError:

        def _open(path, flags):
            raise OSError("this MicroPython has no ffi, and so no way to a bus: take Debian's")

    def _checked(result):
        if result < 0:
            raise OSError(os.errno())
        return result

    def open_file(path: str) -> int:
        return _checked(_open(path, _O_RDWR | _O_CLOEXEC))

    def close(fd: int) -> None:
        _close(fd)

    def ioctl(fd: int, request: int, argument: bytearray | int) -> int:
        """Call with a number, or with a bytearray that the kernel reads and writes."""
        if not isinstance(argument, int):
            argument = uctypes.addressof(argument)
        return _checked(_ioctl(fd, request, argument))

    def room(content: bytes | int) -> "array | bytearray":
        """Return a new buffer with these bytes, or with so many zeros."""
        return bytearray(content)

    def address(buffer: "array | bytearray") -> int:
        return uctypes.addressof(buffer)


def open_device(path: str, module: str) -> int:
    """Open a device file; OSError is a sentence that says what to do, such as to load the kernel's
    `module`."""
    try:
        return open_file(path)
    except OSError as error:
        code = error.args[0]
        if not isinstance(code, int):
            raise
    if code in (1, 13):  # EPERM, EACCES
        raise OSError("no permission for %s: %s" % (path, _who_may(path)))
    if code in (2, 6, 19):  # ENOENT, ENXIO, ENODEV
        raise OSError("%s is not there: try `modprobe %s`, as root" % (path, module))
    if code == 16:
        raise OSError("%s is in use by another program (EBUSY)" % path)
    raise OSError(code, path)


def _who_may(path):
    group = _group(os.stat(path)[5])
    if group == "root":
        return (
            "only root has it. Run the agent as root, or give the file to a group by a udev rule"
        )
    return "it belongs to the group %s. As root: `usermod -aG %s USER`, then log in again" % (
        group,
        group,
    )


def _group(gid):
    try:
        with open("/etc/group") as file:
            for line in file:
                cells = line.split(":")
                if len(cells) > 2 and cells[2] == str(gid):
                    return cells[0]
    except OSError:
        pass
    return str(gid)
