# virtual board: `select` whose poll has room for many sockets.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Only `poll` differs. MicroPython on a computer keeps the files that it polls in a list. When the
list moves to a larger place, a stream without a file number gets a wrong pointer. A TLS session is
such a stream, and the interpreter crashes. A chip has no such list.
"""

import uselect
from uselect import *  # noqa: F403

_FILES = 12


def poll():
    made = uselect.poll()
    for number in range(_FILES):
        made.register(number)
    for number in range(_FILES):
        made.unregister(number)
    return made
