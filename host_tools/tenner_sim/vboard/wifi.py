"""The access point, and the state of the station in the board's radio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Values of WLAN.status() on an ESP32.
IDLE = 1000
CONNECTING = 1001
GOT_IP = 1010
BEACON_TIMEOUT = 200
NO_AP_FOUND = 201
WRONG_PASSWORD = 202

#: From connect() to an address, in seconds. Real boards take 2 to 5.
JOIN_S = 0.05

ADDRESS = ("192.168.4.2", "255.255.255.0", "192.168.4.1", "192.168.4.1")
NO_ADDRESS = ("0.0.0.0", "0.0.0.0", "0.0.0.0", "0.0.0.0")


class WifiError(Exception):
    """The text of the ESP32 port's OSError."""


class Wifi:
    """One access point and one station. The link survives a soft reset, not a reset of the
    chip."""

    def __init__(self, ssid: str, password: str, rssi: int, now: Callable[[], float]) -> None:
        self.ssid = ssid
        self.password = password
        self.rssi = rssi
        self.up = True
        self._now = now
        self.chip_reset()

    def chip_reset(self) -> None:
        self._active = False
        self._wanted: tuple[str, str] | None = None
        self._status = IDLE
        self._join_at = 0.0
        self._reconnects = -1

    def switch(self, up: bool) -> None:
        """Turn the access point on or off."""
        self.status()
        self.up = up
        if not up and self._status == GOT_IP:
            self._status = BEACON_TIMEOUT if self._reconnects == 0 else CONNECTING
        elif up and self._wanted and self._status != GOT_IP and self._reconnects != 0:
            # The ESP32 keeps trying until disconnect().
            self._begin()

    @property
    def connected(self) -> bool:
        return self.status() == GOT_IP

    def _begin(self) -> None:
        self._status = CONNECTING
        self._join_at = self._now() + JOIN_S

    def status(self) -> int:
        if self._status == CONNECTING and self._wanted and self._now() >= self._join_at:
            ssid, password = self._wanted
            if not self.up or ssid != self.ssid:
                # During endless retries the status is still "no access point" between two tries.
                self._status = NO_AP_FOUND
            elif password != self.password:
                self._status = WRONG_PASSWORD
            else:
                self._status = GOT_IP
        return self._status

    def request(self, verb: str, arguments: dict[str, Any]) -> Any:
        """One call of the onboard network.WLAN; the result goes back as JSON."""
        handler = getattr(self, f"_do_{verb}")
        return handler(**arguments)

    def _do_active(self, up: bool | None = None) -> bool:
        if up is not None and up != self._active:
            reconnects = self._reconnects
            self.chip_reset()
            self._reconnects = reconnects
            self._active = up
        return self._active

    def _do_connect(self, ssid: str | None, key: str | None) -> None:
        if self.status() == CONNECTING:
            raise WifiError("Wifi Internal Error")
        if ssid is not None:
            self._wanted = (ssid, key or "")
        if self._wanted is None:
            raise WifiError("Wifi Invalid SSID")
        if self._status != GOT_IP:
            self._begin()

    def _do_disconnect(self) -> None:
        self._wanted = None
        self._status = IDLE

    def _do_status(self) -> int:
        return self.status()

    def _do_rssi(self) -> int:
        return self.rssi if self.connected else 0

    def _do_scan(self) -> list[tuple[str, int]]:
        return [(self.ssid, self.rssi)] if self.up else []

    def _do_ifconfig(self) -> tuple[str, ...]:
        return ADDRESS if self.connected else NO_ADDRESS

    def _do_ssid(self) -> str:
        return self._wanted[0] if self._wanted else ""

    def _do_reconnects(self, count: int | None = None) -> int:
        if count is not None:
            self._reconnects = count
        return self._reconnects
