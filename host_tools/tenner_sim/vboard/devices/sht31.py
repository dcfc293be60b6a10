"""Sensirion SHT31 humidity and temperature sensor (data sheet SHT3x-DIS, version 7)."""

from __future__ import annotations

from tenner_sim.vboard.devices.sensirion import SensirionDevice

# Single shot (4.3, table 9): command, seconds it takes at most (table 4), clock stretching.
_SINGLE_SHOT = {
    0x2C06: (0.0155, True),
    0x2C0D: (0.0065, True),
    0x2C10: (0.0045, True),
    0x2400: (0.0155, False),
    0x240B: (0.0065, False),
    0x2416: (0.0045, False),
}
# Periodic (4.5, table 10): seconds between measurements.
_PERIODIC = {
    0x2032: 2.0,
    0x2024: 2.0,
    0x202F: 2.0,
    0x2130: 1.0,
    0x2126: 1.0,
    0x212D: 1.0,
    0x2236: 0.5,
    0x2220: 0.5,
    0x222B: 0.5,
    0x2334: 0.25,
    0x2322: 0.25,
    0x2329: 0.25,
    0x2737: 0.1,
    0x2721: 0.1,
    0x272A: 0.1,
    0x2B32: 0.25,  # ART, 4 Hz (4.7)
}
_FETCH = 0xE000
_BREAK = 0x3093
_SOFT_RESET = 0x30A2
_HEATER_ON = 0x306D
_HEATER_OFF = 0x3066
_READ_STATUS = 0xF32D
_CLEAR_STATUS = 0x3041
_SERIAL_NUMBER = 0x3780

# Status register (4.11, table 17).
_ALERT_PENDING = 0x8000
_HEATER = 0x2000
_RESET_DETECTED = 0x0010
_COMMAND_FAILED = 0x0002
_CLEARED = 0x8C10

_SERIAL = 0x54454E31


class SHT31(SensirionDevice):
    """Commands of 16 bits."""

    def power_on(self) -> None:
        super().power_on()
        self._status = _ALERT_PENDING | _RESET_DETECTED
        self._command: list[int] = []
        self._stretch = False
        self._next_at = 0.0  # when a periodic measurement has a new result
        self._period: float | None = None

    def start(self, read: bool) -> bool:
        if not read:
            self._command = []
            return True
        if not self._output:
            return False  # no command came before: the read header is not acknowledged (4.4)
        if self.now() < self._ready_at and not self._stretch:
            return False  # still measuring (4.4, figure of table 9)
        return True

    def write(self, byte: int) -> bool:
        self._command.append(byte)
        if len(self._command) == 2:
            return self._execute((self._command[0] << 8) | byte)
        return True

    def _execute(self, command: int) -> bool:
        self._status &= ~_COMMAND_FAILED
        if command in _SINGLE_SHOT and self._period is None:
            seconds, self._stretch = _SINGLE_SHOT[command]
            if not self.dips():
                self._measure()
                self._ready_at = self.takes(seconds)
        elif command in _PERIODIC and self._period is None:
            self._period = _PERIODIC[command]
            self._next_at = self.now() + self._period
            self._output = []
        elif command == _FETCH and self._period is not None:
            # No new data: the next read header is not acknowledged (4.6).
            self._output = []
            if self.now() >= self._next_at:
                self._next_at = self.now() + self._period
                self._measure()
        elif command == _BREAK:
            self._period = None
        elif command == _SOFT_RESET:
            self.power_on()
        elif command in (_HEATER_ON, _HEATER_OFF):
            self._status &= ~_HEATER
            self._status |= _HEATER if command == _HEATER_ON else 0
        elif command == _READ_STATUS:
            self.answer(self._status)
        elif command == _CLEAR_STATUS:
            self._status &= ~_CLEARED
        elif command == _SERIAL_NUMBER:
            self.answer(_SERIAL >> 16, _SERIAL & 0xFFFF)
        else:
            self._status |= _COMMAND_FAILED
            return False
        return True

    def _measure(self) -> None:
        """4.13: T = -45 + 175 S/(2^16-1), RH = 100 S/(2^16-1)."""
        temperature = round((self.reads("temperature", -45, 130) + 45) / 175 * 65535)
        humidity = round(self.reads("humidity", 0, 100) / 100 * 65535)
        self.answer(temperature, humidity)
