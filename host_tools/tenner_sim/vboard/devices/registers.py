"""The base of many I2C chips: four registers of 16 bits behind a pointer."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import I2CDevice


class PointedRegisters(I2CDevice):
    """The first byte written is the pointer, the next two go to its register.

    A read returns that register, high byte first, again and again.
    """

    def power_on(self) -> None:
        self._pointer = 0
        self._got: list[int] = []

    def start(self, read: bool) -> bool:
        self._got = []
        self._low = False
        if read:
            self.before_read()
            self._word = self.register(self._pointer)
        return True

    def write(self, byte: int) -> bool:
        self._got.append(byte)
        if len(self._got) == 1:
            self._pointer = byte & 3
        elif len(self._got) == 2:
            self.store_high(self._pointer, byte)
        elif len(self._got) == 3:
            self.store(self._pointer, self._got[1] << 8 | byte)
        return True

    def read(self) -> int:
        byte = self._word & 0xFF if self._low else self._word >> 8
        self._low = not self._low
        return byte

    def before_read(self) -> None:
        """A register is about to be read."""

    def register(self, number: int) -> int:
        """The value of a register."""
        raise NotImplementedError

    def store_high(self, number: int, byte: int) -> None:
        """A first byte was written, and perhaps no second one."""

    def store(self, number: int, word: int) -> None:
        """A complete word was written."""
        raise NotImplementedError
