# tenner net.wifi: keeps the link up, with a growing pause between attempts.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenner.port import Port

_CHECK_S = const(5)  # between checks of a link that is up
_JOIN_S = const(20)  # limit of an attempt to connect
_FIRST_BACKOFF_S = const(2)
_LAST_BACKOFF_S = const(120)
_THIRD_BACKOFF_S = const(8)

#: Bytes; with less the driver loses received data, and may never connect again.
LEAST = const(8000)


class Wifi:
    """Keeps the link up; calls `linked()` after each connect. Tests can replace
    `sleep(seconds)`."""

    #: Is there a link?
    up = False
    #: Has the driver found too little memory, to start or to stay connected?
    lacks_memory = False

    def __init__(
        self,
        port: "Port",
        ssid: str,
        password: str,
        linked: "Callable[[], None]",
        sleep: "Callable[[float], Awaitable]" = asyncio.sleep,
    ) -> None:
        self._port = port
        self._ssid = ssid
        self._password = password
        self._linked = linked
        self._sleep = sleep

    async def run(self) -> None:
        """Supervise the link forever; a service of the app."""
        backoff_s = _FIRST_BACKOFF_S
        while True:
            if self._port.network_up():
                if not self.up:
                    log("wifi", "connected")
                    self.up = True
                    self._linked()
                backoff_s = _FIRST_BACKOFF_S
                await self._sleep(_CHECK_S)
            elif not await self._join(backoff_s):
                await self._sleep(backoff_s)
                backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    async def _join(self, backoff_s):
        """Try to connect; return whether there is a link."""
        if self.up:
            log("wifi", "disconnected")
            self.up = False
        left_s = _JOIN_S
        try:
            self._port.connect_network(self._ssid, self._password)
            self.lacks_memory = False
        except OSError as error:
            # The radio of an ESP32 raises while it is busy; the next attempt finds it free.
            log("wifi", "could not start to connect: %s" % error)
            self.lacks_memory = "Out of Memory" in str(error)
            left_s = 0
        while left_s and not self._port.network_up():
            await self._sleep(1)
            left_s -= 1
        if not left_s:
            port = self._port
            if backoff_s >= _THIRD_BACKOFF_S and port.shares_memory:
                self.lacks_memory = self.lacks_memory or port.system_memory()[2] < LEAST
            log("wifi", "cannot connect to %s; retry in %d s" % (self._ssid, backoff_s))
        return left_s > 0
