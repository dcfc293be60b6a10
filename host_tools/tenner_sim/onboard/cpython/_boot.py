# virtual board: turns CPython into the board: the same modules, files below a root folder.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`time` and `socket` are part of CPython and cannot be replaced by a file, so the functions that
matter are replaced in place; `gc` learns to tell how much memory there is. The epoch stays 1970,
as everywhere on CPython.
"""

import gc
import os
import resource
import socket
import sys
import termios
import time
import traceback

import _board

# Python's memory on a board with 8 MB of PSRAM.
_HEAP = 8 * 1024 * 1024

_real_time_ns = time.time_ns
_real_getaddrinfo = socket.getaddrinfo
_real_gmtime = time.gmtime


def _time_ns():
    return _real_time_ns() + _board.clock_offset() * 1000000000


def _time():
    return _time_ns() / 1e9


def _gmtime(seconds=None):
    return _real_gmtime(_time() if seconds is None else seconds)


def _getaddrinfo(host, port, *args, **kwargs):
    if host is None or not isinstance(port, (int, str)) or not str(port).isdigit():
        return _real_getaddrinfo(host, port, *args, **kwargs)
    name = host.decode() if isinstance(host, bytes) else host
    relay = int(_board.ask("resolve %s %d" % (name, int(port))))
    if relay == 0:
        return _real_getaddrinfo(host, port, *args, **kwargs)
    return _real_getaddrinfo("127.0.0.1", relay, *args, **kwargs)


def _mem_alloc():
    """The most memory this process has had; CPython sets itself no bound."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _mem_free():
    return _HEAP


def _run(path, names):
    if not os.path.exists(path):
        return
    try:
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec")
        exec(code, names)
    except SystemExit:
        _board.lost("softreset")
    except BaseException:
        traceback.print_exc()


def _whole_lines():
    """CPython's prompt wants a terminal that edits lines, ends them at Return and echoes."""
    settings = termios.tcgetattr(0)
    settings[0] |= termios.ICRNL
    settings[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, settings)


def start():
    """Boot in the folder TENNER_ROOT, then offer a prompt as the board's REPL does."""
    time.time_ns = _time_ns
    time.time = _time
    time.gmtime = _gmtime
    time.localtime = _gmtime
    socket.getaddrinfo = _getaddrinfo
    gc.mem_alloc = _mem_alloc
    gc.mem_free = _mem_free
    root = os.environ["TENNER_ROOT"]
    os.chdir(root)
    sys.path.insert(0, os.path.join(root, "lib"))
    _board.tell("up 0 0")
    names = {"__name__": "__main__"}
    _run("boot.py", names)
    _run("main.py", names)
    import code

    _whole_lines()
    code.interact(banner="CPython " + sys.version.split()[0], local=names, exitmsg="")


if __name__ == "__main__":
    start()
