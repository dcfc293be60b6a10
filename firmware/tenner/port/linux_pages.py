# tenner port.linux_pages: gives back the memory of program code that only the start needed.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The kernel maps sixteen pages of a program or library for each that is touched, and starting touches nearly all of them
once. Unmapped, they are the kernel's to keep or to forget; what is used again is mapped again.
"""

import asyncio

from tenner.log import log
from tenner.port.compat import const

_STARTED_S = const(5)
_DONTNEED = const(4)  # <sys/mman.h>


def let_go_later():
    """Let go of it when the agent has started; called before there is a loop, or after."""
    try:
        from threading import Timer

        timer = Timer(_STARTED_S, let_go)
        timer.daemon = True
        timer.start()
    except ImportError:
        asyncio.create_task(_wait())


async def _wait():
    await asyncio.sleep(_STARTED_S)
    let_go()


def let_go():
    """Unmap what is mapped from files and is as it is there."""
    try:
        # Found once: each search for a function touches the tables of all libraries.
        madvise = _madvise()
        spans = _clean()
    except OSError:
        return  # this kernel does not tell, or this interpreter has no way to the call
    for start, size in spans:
        madvise(start, size, _DONTNEED)
    log("app", "started: what only that needed of programs and libraries is let go")


def _madvise():
    try:
        import ffi

        return ffi.open(None).func("i", "madvise", "LLi")
    except ImportError:
        pass
    try:
        import ctypes

        function = ctypes.CDLL(None).madvise
        function.argtypes = (ctypes.c_ulong, ctypes.c_ulong, ctypes.c_int)
        return function
    except ImportError:
        raise OSError("no ffi")


def _clean(path="/proc/self/smaps"):
    """Return (start, size) of what is mapped from files, cannot be written to, and was not before either."""
    found = []
    span = None
    told = False  # of memory that is in use; qemu-user makes up a file without any
    with open(path) as file:
        for line in file:
            name, *rest = line.split()
            if name[-1:] != ":":
                # 7f0c4a000000-7f0c4a021000 r-xp 00000000 08:01 1234  /usr/lib/libc.so.6
                span = None
                if len(rest) > 4 and rest[4].startswith("/") and rest[0][1] == "-":
                    start, end = [int(part, 16) for part in name.split("-")]
                    span = (start, end - start)
                    found.append(span)
            elif span in found and name in ("Anonymous:", "Swap:") and rest[0] != "0":
                # The linker wrote there before it took the right to from itself.
                found.remove(span)
            elif name == "Rss:" and rest[0] != "0":
                told = True
    return found if told else []
