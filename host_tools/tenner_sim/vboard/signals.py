"""The signals around the board: named numbers such as `room.temperature`."""

from __future__ import annotations

import difflib
import math


class SignalError(Exception):
    """The signal does not exist, or is not a number; the text lists the existing ones."""


class Signals:
    """Values by name. Devices read them; pins and PWM outputs publish theirs here too."""

    def __init__(self, values: dict[str, float] | None = None) -> None:
        self._values: dict[str, float] = dict(values or {})

    def get(self, name: str) -> float:
        try:
            return self._values[name]
        except KeyError:
            raise SignalError(self._unknown(name)) from None

    def get_or(self, name: str, default: float) -> float:
        return self._values.get(name, default)

    def set(self, name: str, value: float) -> None:
        """Change a value. Pins (`gpio4`, `gpio4.volts`) may be new, other names must exist."""
        number = float(value)
        if not math.isfinite(number):
            raise SignalError(f"{name}: {value} is not a finite number")
        if name not in self._values and not name.startswith("gpio"):
            raise SignalError(self._unknown(name))
        self._values[name] = number

    def add(self, name: str, value: float) -> None:
        """Add a value of this name; an existing one keeps its number."""
        self._values.setdefault(name, value)

    def publish(self, name: str, value: float) -> None:
        """Set without checking the name: for outputs of the board itself."""
        self._values[name] = value

    def all(self) -> dict[str, float]:
        return dict(sorted(self._values.items()))

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._values, 1)
        hint = f"; did you mean {near[0]}?" if near else "."
        return f"there is no signal {name!r}{hint} Available: {', '.join(sorted(self._values))}"
