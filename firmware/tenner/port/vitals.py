# tenner port.vitals: an ESP32's own values: its temperature and its Wi-Fi signal.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from network import WLAN


def vitals(wlan: "WLAN") -> dict[str, float]:
    """Return the available ones of `temperature` and `rssi`."""
    import esp32

    values = {}
    if hasattr(esp32, "mcu_temperature"):
        values["temperature"] = esp32.mcu_temperature()
    elif hasattr(esp32, "raw_temperature"):
        # The first ESP32 reports degrees Fahrenheit.
        values["temperature"] = round((esp32.raw_temperature() - 32) / 1.8, 1)
    if wlan.isconnected():
        values["rssi"] = wlan.status("rssi")
    return values
