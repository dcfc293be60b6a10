"""Maxim DS18B20 1-Wire thermometer (data sheet 19-7487, revision 6)."""

from __future__ import annotations

from collections.abc import Iterator

from tenner_sim.vboard.devices.base import OneWireDevice, crc8_maxim

# ROM commands
_SEARCH_ROM = 0xF0
_READ_ROM = 0x33
_MATCH_ROM = 0x55
_SKIP_ROM = 0xCC
_ALARM_SEARCH = 0xEC
# Function commands (table 3)
_CONVERT = 0x44
_WRITE_SCRATCHPAD = 0x4E
_READ_SCRATCHPAD = 0xBE
_COPY_SCRATCHPAD = 0x48
_RECALL = 0xB8
_READ_POWER_SUPPLY = 0xB4

_CONVERSION_S = 0.750  # table 2, 12 bits; half of it for each bit less
_COPY_S = 0.010

#: A step of the protocol waits for a written bit (None), or offers a bit to be read.
Step = Iterator[int | None]


class DS18B20(OneWireDevice):
    """Nine bytes of scratchpad, three of EEPROM, externally powered. Value `temperature`.

    Its own fault besides the usual: `brownout` (the supply fails in every conversion, and the chip
    restarts).
    """

    OWN_FAULTS = ("bad_crc", "slow", "range", "brownout")
    VALUES = {"temperature": 19.0}
    FAMILY = 0x28

    _eeprom = bytes([0x4B, 0x46, 0x7F])  # TH, TL, configuration: 12 bits

    def power_on(self) -> None:
        self._counts = 0x0550  # "the power-on reset value of the temperature register is +85"
        self._user = bytearray(self._eeprom)
        self._next: int | None = None
        self._ready_at = 0.0
        self.reset()

    def reset(self) -> None:
        self._protocol = self._transaction()
        # The value of the next read slot, or None while the chip listens.
        self._sends = next(self._protocol)
        self._heard = 0

    def write_bit(self, bit: int) -> None:
        if self._sends is None:
            self._heard = bit
        self._step()

    def read_bit(self) -> int:
        self._finish()
        if self._sends is None:
            # A read slot starts like a written one.
            self._heard = 1
            self._step()
            return 1
        value = self._sends
        if value == _WAITING:
            return 0 if self.now() < self._ready_at else 1
        self._step()
        return value

    def _step(self) -> None:
        try:
            self._sends = next(self._protocol)
        except StopIteration:
            # Deaf until the next reset; it leaves the line alone.
            self._protocol = iter(lambda: 1, 0)
            self._sends = 1

    # The protocol as one generator a transaction: it yields None to wait for a bit, or a bit to
    # send.

    def _byte(self) -> Iterator[int | None]:
        value = 0
        for place in range(8):
            yield None
            value |= self._heard << place
        self._value = value

    @staticmethod
    def _send(data: bytes) -> Step:
        for byte in data:
            for place in range(8):
                yield byte >> place & 1

    def _transaction(self) -> Step:
        yield from self._byte()
        command = self._value
        if command in (_SEARCH_ROM, _ALARM_SEARCH):
            if command == _ALARM_SEARCH and not self._alarm():
                return
            yield from self._search()
            return
        if command == _READ_ROM:
            yield from self._send(self.rom)
        elif command == _MATCH_ROM:
            for wanted in self.rom:
                yield from self._byte()
                if self._value != wanted:
                    return
        elif command != _SKIP_ROM:
            return
        yield from self._byte()
        yield from self._function(self._value)

    def _search(self) -> Step:
        for byte in self.rom:
            for place in range(8):
                bit = byte >> place & 1
                yield bit
                yield 1 - bit
                yield None
                if self._heard != bit:
                    return

    def _function(self, command: int) -> Step:
        if command == _CONVERT:
            self._begin()
            # "will respond by transmitting 0 while in progress and 1 when done"
            while True:
                yield _WAITING
        elif command == _WRITE_SCRATCHPAD:
            for index in range(3):
                yield from self._byte()
                # Bits 0-4 and 7 of the configuration cannot be written (figure 10).
                self._user[index] = self._value if index < 2 else self._value & 0x60 | 0x1F
        elif command == _READ_SCRATCHPAD:
            yield from self._send(self._scratchpad())
        elif command == _COPY_SCRATCHPAD:
            self._eeprom = bytes(self._user)
            self._ready_at = self.takes(_COPY_S)
            while True:
                yield _WAITING
        elif command == _RECALL:
            self._user = bytearray(self._eeprom)
        elif command == _READ_POWER_SUPPLY:
            yield 1

    def _begin(self) -> None:
        bits = 9 + (self._user[2] >> 5 & 3)
        # Figure 4: sixteenths of a degree; at lower resolutions the low bits are undefined, here
        # 0.
        counts = round(self.reads("temperature", -128, 2047 / 16) * 16)
        self._next = counts >> (12 - bits) << (12 - bits)
        self._ready_at = self.takes(_CONVERSION_S / (1 << (12 - bits)))
        if self.fault == "brownout":
            self._next = None
            self._counts = 0x0550
            self._user = bytearray(self._eeprom)
            self._ready_at = self.now()

    def _finish(self) -> None:
        if self._next is not None and self.now() >= self._ready_at:
            self._counts, self._next = self._next, None

    def _scratchpad(self) -> bytes:
        self._finish()
        # Figure 9: bytes 5 to 7 are reserved.
        data = (self._counts & 0xFFFF).to_bytes(2, "little") + self._user + b"\xff\x0c\x10"
        crc = crc8_maxim(data)
        return data + bytes([crc ^ 0x55 if self.fault == "bad_crc" else crc])

    def _alarm(self) -> bool:
        self._finish()
        high, low = (byte - 256 if byte & 0x80 else byte for byte in self._user[:2])
        return not low < self._counts >> 4 < high


#: A read slot whose answer depends on the end of the operation.
_WAITING = 2
