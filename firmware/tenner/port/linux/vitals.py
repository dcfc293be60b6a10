# tenner port.linux.vitals: a Linux board's own values: temperature, load, memory, Wi-Fi.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.port.linux.buses import first_line, listed

_ZONES = "/sys/class/thermal/"
_COLDEST = const(-60000)  # thousandths of a degree: a zone beyond is switched off
_HOTTEST = const(150000)
_UNKNOWN = const(-256)  # dBm, of a link that is down


def vitals(top: str = "") -> dict[str, float]:
    """
    Return the available values: `temperature`, `load` of the last minute, `memory` (percent that
    programs take) and `rssi`. `top` is the folder of /proc and /sys.
    """
    values = {}
    for name, read in (
        ("temperature", _temperature),
        ("load", _load),
        ("memory", _memory),
        ("rssi", _rssi),
    ):
        try:
            value = read(top)
        except (OSError, ValueError, IndexError):
            continue  # this kernel does not have it, or has it in another form
        if value is not None:
            values[name] = value
    return values


def _temperature(top):
    """Return the processor's temperature, or the first zone's when none names the processor."""
    first = None
    for zone in listed(top + _ZONES):
        folder = top + _ZONES + zone
        text = first_line(folder + "/temp") if zone.startswith("thermal_zone") else ""
        if not text or not _COLDEST < int(text) < _HOTTEST:
            continue
        kind = first_line(folder + "/type").lower()
        if "cpu" in kind or "soc" in kind or "x86_pkg" in kind:
            return int(text) / 1000
        if first is None:
            first = int(text) / 1000
    return first


def _load(top):
    return float(first_line(top + "/proc/loadavg").split()[0])


def _memory(top):
    kb = {}
    with open(top + "/proc/meminfo") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in ("MemTotal", "MemAvailable"):
                kb[name] = int(rest.split()[0])
    if len(kb) < 2 or not kb["MemTotal"]:
        return None
    return round(100 * (1 - kb["MemAvailable"] / kb["MemTotal"]), 1)


def _rssi(top):
    """Return the signal of the first interface with a link, in dBm."""
    with open(top + "/proc/net/wireless") as file:
        for line in file:
            name, colon, rest = line.partition(":")
            level = float(rest.split()[2]) if colon else 0
            # Old drivers give a byte without its sign.
            if level > 0:
                level -= 256
            if _UNKNOWN < level < 0:
                return int(level)
    return None
