# virtual board: the `onewire` module of MicroPython, on the supervisor's 1-Wire devices.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Same names and errors as the module that ESP32 images have; the time slots are the supervisor's.
"""

from binascii import hexlify

import _board


class OneWireError(Exception):
    pass


class OneWire:
    SEARCH_ROM = 0xF0
    MATCH_ROM = 0x55
    SKIP_ROM = 0xCC

    def __init__(self, pin):
        self.pin = pin
        self.pin.init(pin.OPEN_DRAIN, pin.PULL_UP)
        self._ask = "%d" % pin._id

    def reset(self, required=False):
        present = _board.ask("ow_reset " + self._ask) == b"1"
        if required and not present:
            raise OneWireError
        return present

    def readbit(self):
        return int(_board.ask("ow_read_bit " + self._ask))

    def readbyte(self):
        return _board.ask("ow_read %s 1" % self._ask)[0]

    def readinto(self, buf):
        _board.ask_into("ow_read %s %d" % (self._ask, len(buf)), buf)

    def writebit(self, value):
        _board.ask("ow_write_bit %s %d" % (self._ask, 1 if value else 0))

    def writebyte(self, value):
        self.write(bytes([value]))

    def write(self, buf):
        _board.ask("ow_write %s %s" % (self._ask, hexlify(buf).decode()))

    def select_rom(self, rom):
        self.reset()
        self.writebyte(self.MATCH_ROM)
        self.write(rom)

    def scan(self):
        """The ROMs of all chips, as bytearrays, by the search of Maxim's application note 187."""
        found = []
        paths = [[]]  # beginnings of ROMs that are still to be followed to their end
        # A line that is held low has a fork everywhere.
        while paths and len(found) < 255:
            rom = self._follow(paths.pop(), paths)
            if rom is not None:
                found.append(rom)
        return found

    def _follow(self, path, paths):
        """Search along `path` and then by the zeros, and add to `paths` where a one was
        possible."""
        if not self.reset():
            return None
        self.writebyte(self.SEARCH_ROM)
        rom = bytearray(8)
        bits = []
        for place in range(64):
            bit = self.readbit()
            complement = self.readbit()
            if bit and complement:
                return None  # nobody answers
            if place < len(path):
                bit = path[place]
            elif not bit and not complement:
                paths.append(bits + [1])
            self.writebit(bit)
            bits.append(bit)
            rom[place >> 3] |= bit << (place & 7)
        return rom

    def crc8(self, data):
        crc = 0
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x8C if crc & 1 else 0)
        return crc
