# virtual board: `time` as on an ESP32: whole seconds since 2000, 2000-01-01 until somebody sets
# it. MIT license; Copyright (c) 2026 the tenner authors

import _board
import utime
from utime import *  # noqa: F403

_EPOCH = 946684800


def time():
    return int(utime.time()) + _board.clock_offset() - _EPOCH


def time_ns():
    return utime.time_ns() + (_board.clock_offset() - _EPOCH) * 1000000000


def gmtime(seconds=None):
    return utime.gmtime((time() if seconds is None else int(seconds)) + _EPOCH)[:8]


def localtime(seconds=None):
    return gmtime(seconds)


def mktime(parts):
    # The supervisor starts the interpreter with TZ=UTC0, so this mktime counts in UTC.
    return int(utime.mktime(tuple(parts[:8]) + (0,))) - _EPOCH
