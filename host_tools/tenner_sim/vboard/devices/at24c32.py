"""Atmel AT24C32 EEPROM, 4096 bytes (data sheet 0336K)."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import I2CDevice

SIZE = 4096
PAGE = 32
_WRITE_CYCLE_S = 0.010  # AC characteristics: 10 ms at most


class AT24C32(I2CDevice):
    """A word address of two bytes, then data. Contents survive a power cut."""

    _memory: bytearray | None = None

    @property
    def memory(self) -> bytearray:
        if self._memory is None:
            self._memory = bytearray(b"\xff" * SIZE)
        return self._memory

    def power_on(self) -> None:
        self._address = 0
        self._busy_until = 0.0
        self._begin()

    def _begin(self) -> None:
        self._address_bytes: list[int] = []
        self._page: dict[int, int] = {}

    def start(self, read: bool) -> bool:
        # A repeated START after data is not a STOP: the page is dropped, not written.
        self._begin()
        # "Acknowledge polling": it answers nothing during its write cycle.
        return self.now() >= self._busy_until

    def write(self, byte: int) -> bool:
        if len(self._address_bytes) < 2:
            self._address_bytes.append(byte)
            if len(self._address_bytes) == 2:
                # The first four bits are don't care.
                self._address = ((self._address_bytes[0] << 8) | byte) % SIZE
            return True
        self._page[self._address] = byte
        # "Page write": only the lower five bits increment, so the page rolls over.
        self._address = (self._address & ~(PAGE - 1)) | ((self._address + 1) & (PAGE - 1))
        return True

    def read(self) -> int:
        byte = self.memory[self._address]
        # "Sequential read": rolls over at the end of the memory.
        self._address = (self._address + 1) % SIZE
        return byte

    def stop(self) -> None:
        if self._page:
            for address, byte in self._page.items():
                self.memory[address] = byte
            self._busy_until = self.now() + _WRITE_CYCLE_S
        self._begin()
