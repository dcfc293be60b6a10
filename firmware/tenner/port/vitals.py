# tenner port.vitals: what an ESP32 can tell of itself: its temperature and how well it hears Wi-Fi.
# MIT license; Copyright (c) 2026 the tenner authors


def vitals(wlan):
    """Return the values there are, of `temperature` and `rssi`."""
    import esp32

    values = {}
    if hasattr(esp32, "mcu_temperature"):
        values["temperature"] = esp32.mcu_temperature()
    elif hasattr(esp32, "raw_temperature"):
        # The first ESP32 tells it in degrees Fahrenheit.
        values["temperature"] = round((esp32.raw_temperature() - 32) / 1.8, 1)
    if wlan.isconnected():
        values["rssi"] = wlan.status("rssi")
    return values
