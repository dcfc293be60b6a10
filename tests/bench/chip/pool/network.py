# bench chip: Wi-Fi that takes as much of ESP-IDF's memory as on a chip (ESP32, MicroPython
# 1.26.1).
import esp32

_DRIVER = 26  # blocks; 39 KB
_CONNECTION = 4
_BLOCK = 1500

_taken = []
_connected = False


def _take(count):
    for _ in range(count):
        block = esp32.take(_BLOCK)
        if not block:
            raise OSError("WiFi Out of Memory")
        _taken.append(block)


class WLAN:
    def __init__(self, *args):
        if len(_taken) < _DRIVER:
            _take(_DRIVER - len(_taken))

    def active(self, on=None):
        return True

    def isconnected(self):
        return _connected

    def disconnect(self):
        pass

    def connect(self, ssid, password):
        global _connected
        _take(_DRIVER + _CONNECTION - len(_taken))
        _connected = True

    def status(self, what):
        return -50
