# virtual board: `ntptime`; the supervisor answers as the time server.
# MIT license; Copyright (c) 2026 the tenner authors

import _board

host = "pool.ntp.org"
timeout = 1


def _unix_time():
    return int(_board.ask("ntp %s" % host))


def time():
    """Seconds since the epoch of this platform's `time` module."""
    from time import gmtime

    return _unix_time() - (946684800 if gmtime(0)[0] == 2000 else 0)


def settime():
    _board.ask("rtc %d" % _unix_time())
