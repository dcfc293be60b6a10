"""Aosong AHT20 humidity and temperature sensor (data sheet "AHT20 Product manuals", version
1.1)."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import I2CDevice, crc8

# 5.3, table 9.
_STATUS = 0x71
_INITIALIZE = 0xBE
_MEASURE = 0xAC
_SOFT_RESET = 0xBA
_PARAMETERS = {_INITIALIZE: [0x08, 0x00], _MEASURE: [0x33, 0x00]}

_BUSY = 0x80
_ALWAYS = 0x10  # 5.4 asks for 0x18 in the status word; this bit of it has no other name
_CALIBRATED = 0x08

_MEASUREMENT_S = 0.080  # 5.4, step 3
_INITIALIZATION_S = 0.010
_RESET_S = 0.020  # 5.5


class AHT20(I2CDevice):
    """A read always starts with the status byte. Values `temperature`, `humidity`."""

    OWN_FAULTS = ("bad_crc", "slow", "range", "brownout")
    VALUES = {"temperature": 22.0, "humidity": 45.0}

    def power_on(self) -> None:
        self._calibrated = False
        self._result = bytes(5)
        self._next: bytes | None = None  # the result of the current measurement
        self._ready_at = 0.0
        self._awake_at = 0.0
        self._got: list[int] = []

    def start(self, read: bool) -> bool:
        if self.now() < self._awake_at:
            return False
        self._got = []
        self._at = 0
        if read:
            self._frame = self._read_frame()
        return True

    def write(self, byte: int) -> bool:
        self._got.append(byte)
        command, parameters = self._got[0], self._got[1:]
        if command in _PARAMETERS:
            wanted = _PARAMETERS[command]
            if parameters != wanted[: len(parameters)]:
                return False
            if parameters == wanted:
                self._execute(command)
            return True
        if len(self._got) > 1:
            return False
        if command == _SOFT_RESET:
            self.power_on()
            self._awake_at = self.takes(_RESET_S)
        return command in (_STATUS, _SOFT_RESET)

    def read(self) -> int:
        byte = self._frame[self._at] if self._at < len(self._frame) else 0xFF
        self._at += 1
        return byte

    def _busy(self) -> bool:
        return self.now() < self._ready_at

    def _execute(self, command: int) -> None:
        if self._busy():
            return  # it ignores commands meanwhile
        if command == _INITIALIZE:
            self._calibrated = True
            self._ready_at = self.takes(_INITIALIZATION_S)
            return
        if self.dips():
            return
        # 6.1 and 6.2: RH = S/2^20 * 100, T = S/2^20 * 200 - 50; humidity first.
        top = (1 << 20) - 1
        humidity = min(round(self.reads("humidity", 0, 100) / 100 * (1 << 20)), top)
        temperature = min(round((self.reads("temperature", -50, 150) + 50) / 200 * (1 << 20)), top)
        self._next = (humidity << 20 | temperature).to_bytes(5, "big")
        self._ready_at = self.takes(_MEASUREMENT_S)

    def _read_frame(self) -> bytes:
        if self._next is not None and not self._busy():
            self._result, self._next = self._next, None
        status = _ALWAYS | (_CALIBRATED if self._calibrated else 0)
        status |= _BUSY if self._busy() else 0
        frame = bytes([status]) + self._result
        crc = crc8(frame)
        return frame + bytes([crc ^ 0x55 if self.fault == "bad_crc" else crc])
