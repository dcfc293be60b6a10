# tenner net.wifi: keep the link up, trying less often the longer it stays down.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.port.compat import const

_CHECK_S = const(5)  # between looks at a link that is up
_JOIN_S = const(20)  # how long an attempt to connect may take
_FIRST_BACKOFF_S = const(2)
_LAST_BACKOFF_S = const(120)


class Wifi:
    """`up` is an asyncio.Event that is set while there is a link. `sleep(seconds)` can be replaced."""

    def __init__(self, port, ssid, password, sleep=asyncio.sleep):
        self._port = port
        self._ssid = ssid
        self._password = password
        self._sleep = sleep
        self.up = asyncio.Event()

    async def run(self):
        """Supervise the link for ever; a service for the application."""
        backoff_s = _FIRST_BACKOFF_S
        while True:
            if self._port.network_up():
                if not self.up.is_set():
                    log("wifi", "connected")
                    self.up.set()
                backoff_s = _FIRST_BACKOFF_S
                await self._sleep(_CHECK_S)
                continue
            if self.up.is_set():
                log("wifi", "the link is down")
                self.up.clear()
            if not self._ssid:
                # Nothing to connect to: wired, or somebody else brings the link up.
                await self._sleep(_CHECK_S)
            elif not await self._join():
                log("wifi", "no link to %s; next try in %d s" % (self._ssid, backoff_s))
                await self._sleep(backoff_s)
                backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    async def _join(self):
        """Try once to connect; return whether there is a link."""
        try:
            self._port.connect_network(self._ssid, self._password)
        except OSError as error:
            # The radio of an ESP32 refuses while it is busy; the next attempt finds it free.
            log("wifi", "could not start to connect: %s" % error)
            return False
        for _ in range(_JOIN_S):
            if self._port.network_up():
                return True
            await self._sleep(1)
        return False
