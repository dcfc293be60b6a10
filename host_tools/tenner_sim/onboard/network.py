# virtual board: the `network` module of the ESP32 port; the access point is the supervisor.
# MIT license; Copyright (c) 2026 the tenner authors

import json

import _board

STAT_IDLE = 1000
STAT_CONNECTING = 1001
STAT_GOT_IP = 1010
STAT_BEACON_TIMEOUT = 200
STAT_NO_AP_FOUND = 201
STAT_WRONG_PASSWORD = 202
STAT_ASSOC_FAIL = 203
STAT_HANDSHAKE_TIMEOUT = 204

STA_IF = 0
AP_IF = 1

_hostname = "mpy-esp32c3"
_country = "XX"


def hostname(name=None):
    global _hostname
    if name is None:
        return _hostname
    if len(name) > 32:
        raise ValueError
    _hostname = name


def country(code=None):
    global _country
    if code is None:
        return _country
    _country = code


def ipconfig(param=None, **options):
    if param == "prefer":
        return 4
    if param is not None:
        raise ValueError("unknown config param")


class WLAN:
    """The station interface. The access-point interface exists and can do nothing."""

    IF_STA = STA_IF
    IF_AP = AP_IF
    SEC_OPEN = 0
    SEC_WPA2 = 3
    PM_NONE = 0
    PM_PERFORMANCE = 1
    PM_POWERSAVE = 2

    def __init__(self, interface=STA_IF):
        if interface not in (STA_IF, AP_IF):
            raise ValueError("invalid WLAN interface identifier")
        self._station = interface == STA_IF

    def _ask(self, verb, **arguments):
        return json.loads(_board.ask("wifi " + verb + " " + json.dumps(arguments)))

    def active(self, up=None):
        if not self._station:
            return False
        if up is None:
            return self._ask("active")
        return self._ask("active", up=bool(up))

    def connect(self, ssid=None, key=None, *, bssid=None):
        self._need_station()
        self._ask("connect", ssid=ssid, key=key)

    def disconnect(self):
        self._need_station()
        self._ask("disconnect")

    def isconnected(self):
        return self._station and self._ask("status") == STAT_GOT_IP

    def status(self, param=None):
        if param is None:
            return self._ask("status") if self._station else STAT_IDLE
        if param == "rssi":
            return self._ask("rssi")
        raise ValueError("unknown status param")

    def scan(self):
        """[(ssid, bssid, channel, RSSI, security, hidden)]"""
        self._need_station()
        return [
            (ssid.encode(), b"\x02\x00\x00\x00\x00\x01", 6, rssi, 3, False)
            for ssid, rssi in self._ask("scan")
        ]

    def ifconfig(self, config=None):
        """(address, netmask, gateway, DNS)"""
        return tuple(self._ask("ifconfig"))

    def ipconfig(self, param=None, **options):
        if param is None:
            return None
        address, mask, gateway, _ = self._ask("ifconfig")
        if param == "addr4":
            return (address, mask)
        if param == "gw4":
            return gateway
        if param == "has_dhcp4":
            return address != "0.0.0.0"
        if param == "dhcp4":
            return True
        raise ValueError("unknown config param")

    def config(self, *names, **options):
        if options:
            for name in options:
                if name == "reconnects":
                    self._ask("reconnects", count=options[name])
                elif name not in (
                    "pm",
                    "txpower",
                    "hostname",
                    "channel",
                    "protocol",
                    "dhcp_hostname",
                ):
                    raise ValueError("unknown config param")
            return None
        if len(names) != 1:
            raise TypeError("can query only one param")
        name = names[0]
        if name == "mac":
            return _board.ask("unique_id")
        if name in ("ssid", "essid"):
            return self._ask("ssid")
        if name == "reconnects":
            return self._ask("reconnects")
        if name == "channel":
            return 6
        if name in ("hostname", "dhcp_hostname"):
            return _hostname
        if name == "pm":
            return self.PM_PERFORMANCE
        if name == "txpower":
            return 20
        raise ValueError("unknown config param")

    def _need_station(self):
        if not self._station:
            raise OSError("STA required")
        if not self._ask("active"):
            raise OSError("Wifi Not Started")
