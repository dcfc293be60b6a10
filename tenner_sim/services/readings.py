"""Find chips, sensors, limits and values in text, for the offline model's rules."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"\b0x[0-7][0-9a-f]\b", re.I)
_CHIP = re.compile(r"\b[A-Z]{2,}[0-9]{2,}[A-Z0-9]*\b")
_BUS = re.compile(r"\bi2c[0-9]\b", re.I)
_QUANTITY = re.compile(
    r"\b(temperature|warm|warmer|hot|hotter|cold|colder|cool|degrees|celsius)\b", re.I
)

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_ABOVE = re.compile(
    r"(?:\babove|\bover|\bexceeds?|\b(?:higher|warmer|hotter|more|greater) than|>=?)\s*" + _NUMBER,
    re.I,
)
_BELOW = re.compile(
    r"(?:\bbelow|\bunder|\b(?:lower|colder|cooler|less) than|<=?)\s*" + _NUMBER, re.I
)
_OUTSIDE = re.compile(
    r"\boutside\s+(?:of\s+)?" + _NUMBER + r"\s*(?:\.\.|-|to|and)\s*" + _NUMBER, re.I
)

_LIST = re.compile(r"\[\s*\d+(?:\s*,\s*\d+)+\s*\]")
_HEX_RUN = re.compile(r"(?:\b0x[0-9a-f]{2}\b[\s,]*){2,}", re.I)
_BARE_RUN = re.compile(r"\b[0-9a-f]{2}(?:[ :][0-9a-f]{2})+\b", re.I)
_GIVEN = re.compile(
    r"\b([a-z_]\w*\.[a-z_]\w*)(?:\s*(?:=|:|\bis\b)\s*{0}|\s+{0}(?=\s*(?:[<>=!]|outside|chang)))".format(
        _NUMBER
    ),
    re.I,
)

#: Chips whose register 0 holds a temperature in the TMP102's format.
TEMPERATURE_CHIPS = ("TMP102", "TMP105", "TMP175", "LM75")


@dataclass(frozen=True)
class Chip:
    """A chip mentioned in a text, with its address and bus."""

    name: str
    address: str
    bus: str

    def __str__(self) -> str:
        return f"{self.name or 'chip'} at {self.address} on {self.bus}"


@dataclass(frozen=True)
class Verdict:
    """Whether a value passes a limit, in words."""

    crossed: bool
    words: str


def chips(text: str) -> list[Chip]:
    """Find lines such as `TMP102 at 0x48 on i2c0`, in any order of the three."""
    found: list[Chip] = []
    for line in text.splitlines():
        for address in _ADDRESS.finditer(line):
            # The chip's name usually comes before its address; else anywhere in the line.
            names = [match.group() for match in _CHIP.finditer(line, 0, address.start())]
            later = _CHIP.search(line, address.end())
            name = names[-1] if names else later.group() if later else ""
            bus = _BUS.search(line, address.end()) or _BUS.search(line)
            chip = Chip(name, address.group().lower(), bus.group().lower() if bus else "i2c0")
            if chip not in found:
                found.append(chip)
    return found


def chips_meant(task: str, system: str) -> list[Chip]:
    """Return the chips a task is about: named in it, or known from the system text."""
    own = [chip for chip in chips(task) if chip.name or _BUS.search(task)]
    if own:
        return own
    known = chips(system)
    named = {name.upper() for name in re.findall(r"\b[A-Za-z]{2,}[0-9]{2,}\w*\b", task)}
    meant = [chip for chip in known if chip.name.upper() in named]
    if not meant and asks_temperature(task):
        meant = [chip for chip in known if chip.name in TEMPERATURE_CHIPS][:1]
    return meant


def asks_temperature(text: str) -> bool:
    return _QUANTITY.search(text) is not None


def find_bytes(text: str, count: int) -> bytes | None:
    """Find the bytes read in a tool's result: `0x1f 0x80`, `[31, 128]` or `1f 80`."""
    candidates: list[bytes] = []
    for match in _LIST.finditer(text):
        numbers = [int(number) for number in re.findall(r"\d+", match.group())]
        if all(number < 256 for number in numbers):
            candidates.append(bytes(numbers))
    for match in _HEX_RUN.finditer(text):
        candidates.append(
            bytes(int(x, 16) for x in re.findall(r"0x[0-9a-fA-F]{2}", match.group()))
        )
    for match in _BARE_RUN.finditer(text):
        candidates.append(bytes(int(x, 16) for x in re.split(r"[ :]", match.group())))
    for candidate in candidates:
        if len(candidate) == count:
            return candidate
    return None


def tmp102_celsius(data: bytes) -> float:
    """Decode the TMP102's register 0: twelve bits, two's complement, 0.0625 °C each."""
    raw = (data[0] << 8 | data[1]) >> 4
    if raw & 0x800:
        raw -= 0x1000
    return raw * 0.0625


def judge(value: float, task: str, unit: str) -> Verdict | None:
    """Compare a value with the limit in the task's text; None without a limit."""
    unit = f" {unit}" if unit else ""
    outside = _OUTSIDE.search(task)
    if outside:
        low, high = float(outside.group(1)), float(outside.group(2))
        span = f"{low:g} to {high:g}{unit}"
        if low <= value <= high:
            return Verdict(False, f"within {span}")
        return Verdict(True, f"outside {span}")
    verdict: Verdict | None = None
    for pattern, word, sign in ((_ABOVE, "above", 1), (_BELOW, "below", -1)):
        match = pattern.search(task)
        if match:
            limit = float(match.group(1))
            if (value - limit) * sign > 0:
                return Verdict(True, f"{word} {limit:g}{unit}")
            verdict = verdict or Verdict(False, f"not {word} {limit:g}{unit}")
    return verdict


def given(text: str) -> list[tuple[str, float, str]]:
    """Return readings contained in the text itself, each with its line: `room.temperature 31.5 > 30`."""
    return [
        (match.group(1), float(match.group(2) or match.group(3)), line)
        for line in text.splitlines()
        for match in _GIVEN.finditer(line)
    ]


def value_in(result: str, task: str) -> tuple[str, float, str] | None:
    """Find name, value and unit in a sensor tool's result, preferring the one that the task names."""
    found: list[tuple[str, float, str]] = []
    pattern = (
        r"([A-Za-z_][\w.]*)\"?\s*(?:[:=]|is)?\s*" + _NUMBER + r"\s*(°\s?C|%|hPa|lx|mV|V|C\b)?"
    )
    for match in re.finditer(pattern, result):
        unit = (match.group(3) or "").replace(" ", "")
        found.append((match.group(1), float(match.group(2)), "°C" if unit == "C" else unit))
    for name, value, unit in found:
        if name.rpartition(".")[2].lower() in task.lower():
            return name, value, unit
    return found[0] if found else None
