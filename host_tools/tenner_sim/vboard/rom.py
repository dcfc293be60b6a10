"""The serial loader in the chip's ROM, and the stub that esptool uploads to replace it.

It is as strict as a real one: lengths, checksums and sequence numbers must match. A client must
attach the flash before using it, and the ROM refuses commands of the stub. The uploaded stub is
machine code of another processor and never runs: this module gives its answers.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

from tenner_sim.vboard.chips import ChipModel
from tenner_sim.vboard.flashing import Write, WriteError
from tenner_sim.vboard.nor import NorError, NorFlash
from tenner_sim.vboard.slip import SlipReader, encode

#: The payload of SYNC, and its frame, which no application's traffic contains by chance.
SYNC_DATA = b"\x07\x07\x12\x20" + b"\x55" * 32
SYNC_FRAME = b"\xc0\x00\x08\x24\x00\x00\x00\x00\x00" + SYNC_DATA + b"\xc0"
_SYNC_REPLIES = 8
_SYNC_VALUE = 0x20120707

_CHECKSUM_SEED = 0xEF
_FLASH_BEGIN, _FLASH_DATA, _FLASH_END = 0x02, 0x03, 0x04
_MEM_BEGIN, _MEM_END, _MEM_DATA = 0x05, 0x06, 0x07
_SYNC, _WRITE_REG, _READ_REG = 0x08, 0x09, 0x0A
_SPI_SET_PARAMS, _SPI_ATTACH, _READ_FLASH_SLOW = 0x0B, 0x0D, 0x0E
_CHANGE_BAUD_RATE = 0x0F
_DEFL_BEGIN, _DEFL_DATA, _DEFL_END = 0x10, 0x11, 0x12
_FLASH_MD5, _SECURITY_INFO = 0x13, 0x14
_ERASE_FLASH, _ERASE_REGION, _READ_FLASH, _RUN_USER_CODE = 0xD0, 0xD1, 0xD2, 0xD3

# ROM and stub number their errors differently.
_ERRORS = {
    #                   ROM   stub
    "bad_length": (0x05, 0xC0),
    "bad_checksum": (0x07, 0xC1),
    "bad_block_size": (0x06, 0xC2),
    "unknown_command": (0x05, 0xFF),
    "failed": (0x06, 0xC4),
    "not_writing": (0x06, 0xC6),
    "inflate": (0x0B, 0xC7),
    "not_enough_data": (0x06, 0xC8),
    "too_much_data": (0x06, 0xC9),
}

#: Before SPI_SET_PARAMS the ROM assumes a flash of this size.
_ROM_FLASH_SIZE = 0x200000
_SLOW_READ = 64

# Commands of the flash chip, and bits of the SPI controller.
_SPI_USER_BIT = 1 << 18
_READ_ID, _READ_STATUS, _READ_SFDP = 0x9F, 0x05, 0x5A
_WINBOND = 0xEF
_SFDP = b"SFDP".ljust(64, b"\xff")


class _Refused(Exception):
    """Answer with an error; the text is a key of _ERRORS."""


class RomLoader:
    """From a reset with the boot strap pulled, to the next reset."""

    def __init__(
        self,
        model: ChipModel,
        flash: NorFlash,
        send: Callable[[bytes], None],
        leave: Callable[[], None],
    ) -> None:
        """`send` takes bytes for the serial line; `leave` starts the program in flash."""
        self._model = model
        self._flash = flash
        self._send = send
        self._leave = leave
        self._left = False
        self._restart()

    def _restart(self) -> None:
        self._slip = SlipReader()
        self._registers = {**self._model.registers, **self._model.mac_words}
        self._stub = False
        self._attached = False
        self._flash_size = _ROM_FLASH_SIZE
        self._memory: tuple[int, int] | None = None
        self._memory_next = 0
        self._uploaded: list[range] = []
        self._write: Write | None = None
        self._reading: _Reading | None = None

    @property
    def in_frame(self) -> bool:
        """Whether the reader is inside a frame, where any byte may be data."""
        return self._slip.in_frame

    def feed(self, data: bytes) -> None:
        """Bytes from the host."""
        for packet in self._slip.feed(data):
            if self._left:
                return
            if self._reading and len(packet) == 4:
                self._acknowledged(int.from_bytes(packet, "little"))
            elif len(packet) >= 8 and packet[0] == 0:
                self._packet(packet)

    def _packet(self, packet: bytes) -> None:
        _, command, length, checksum = struct.unpack_from("<BBHI", packet)
        data = packet[8:]
        self._reading = None
        try:
            handler = self._handler(command)
            if len(data) != length:
                raise _Refused("bad_length")
            handler(command, data, checksum)
        except (_Refused, WriteError) as exc:
            self._reply(command, error=_ERRORS[str(exc)][self._stub])
        except NorError:
            self._reply(command, error=_ERRORS["failed"][self._stub])
        except struct.error:
            self._reply(command, error=_ERRORS["bad_length"][self._stub])

    def _handler(self, command: int) -> Callable[[int, bytes, int], None]:
        handler = _STUB_ONLY.get(command) if self._stub else None
        handler = handler or _COMMANDS.get(command)
        if handler is None or (command == _SECURITY_INFO and not self._model.security_info):
            raise _Refused("unknown_command")
        bound: Callable[[int, bytes, int], None] = handler.__get__(self)
        return bound

    def _reply(self, command: int, value: int = 0, data: bytes = b"", error: int = 0) -> None:
        if self._stub:
            status = bytes([error, 0])
        else:
            status = bytes([1 if error else 0, error, 0, 0])
        length = len(data) + len(status)
        self._send(encode(struct.pack("<BBHI", 1, command, length, value) + data + status))

    # Talking.

    def _sync(self, command: int, data: bytes, checksum: int) -> None:
        if data != SYNC_DATA:
            raise _Refused("bad_length")
        for _ in range(_SYNC_REPLIES):
            self._reply(command, 0 if self._stub else _SYNC_VALUE)

    def _change_baud_rate(self, command: int, data: bytes, checksum: int) -> None:
        struct.unpack("<II", data)
        self._reply(command)

    def _security_info(self, command: int, data: bytes, checksum: int) -> None:
        # Flags, key purposes and counters of a chip without any protection; its number; version 0.
        self._reply(command, 0, struct.pack("<I8xII", 0, self._model.image_id, 0))

    # Registers; some of them reach the flash chip.

    def _read_register(self, command: int, data: bytes, checksum: int) -> None:
        (address,) = struct.unpack("<I", data)
        self._reply(command, self._registers.get(address, 0))

    def _write_register(self, command: int, data: bytes, checksum: int) -> None:
        if not data or len(data) % 16:
            raise _Refused("bad_length")
        for address, value, mask, _delay_us in struct.iter_unpack("<IIII", data):
            value = self._registers.get(address, 0) & ~mask | value & mask
            if address == self._model.spi_base and value & _SPI_USER_BIT:
                self._flash_command()
                value &= ~_SPI_USER_BIT
            self._registers[address] = value
        self._reply(command)

    def _flash_command(self) -> None:
        """A transfer to the flash chip: USER2 holds the command, W0 receives the answer."""
        base = self._model.spi_base
        command = self._registers.get(base + self._model.spi_user2, 0) & 0xFF
        answer = 0
        if command == _READ_ID:
            capacity = self._flash.size.bit_length() - 1
            answer = _WINBOND | 0x40 << 8 | capacity << 16
        elif command == _READ_SFDP:
            address = self._registers.get(base + 4, 0)
            # The ESP32 sends the uppermost 24 bits of the register, the others the lowest.
            at = (address >> 8 if self._model.name == "esp32" else address) & 0x3F
            answer = int.from_bytes(_SFDP[at : at + 4], "little")
        self._registers[base + self._model.spi_w0] = answer

    # Memory: how the stub comes in.

    def _memory_begin(self, command: int, data: bytes, checksum: int) -> None:
        size, blocks, block_size, address = struct.unpack("<IIII", data)
        if size > blocks * block_size:
            raise _Refused("bad_length")
        self._memory = (address, size)
        self._memory_next = 0
        self._reply(command)

    def _memory_data(self, command: int, data: bytes, checksum: int) -> None:
        number, block = _block(data, checksum)
        if self._memory is None or number != self._memory_next:
            raise _Refused("failed")
        self._memory_next += 1
        address, left = self._memory
        if len(block) > left:
            raise _Refused("bad_length")
        self._uploaded.append(range(address, address + len(block)))
        self._memory = (address + len(block), left - len(block))
        self._reply(command)

    def _memory_end(self, command: int, data: bytes, checksum: int) -> None:
        stay, entry = struct.unpack("<II", data)
        if not stay and not any(entry in segment for segment in self._uploaded):
            raise _Refused("failed")
        self._reply(command)
        self._memory = None
        if not stay:
            self._stub = True
            self._attached = True
            self._flash_size = self._flash.size
            self._uploaded.clear()
            self._send(encode(b"OHAI"))

    # Flash.

    def _attach(self, command: int, data: bytes, checksum: int) -> None:
        if len(data) != (4 if self._stub else 8):
            raise _Refused("bad_length")
        self._attached = True
        self._reply(command)

    def _set_parameters(self, command: int, data: bytes, checksum: int) -> None:
        _, size, _, _, _, _ = struct.unpack("<IIIIII", data)
        self._flash_size = min(size, self._flash.size)
        self._reply(command)

    def _region(self, start: int, length: int) -> None:
        if not self._attached or start + length > self._flash_size:
            raise _Refused("failed")

    def _flash_begin(self, command: int, data: bytes, checksum: int) -> None:
        if len(data) != (20 if self._stub or self._model.security_info else 16):
            raise _Refused("bad_length")
        size, blocks, block_size, start = struct.unpack_from("<IIII", data)
        self._region(start, size)
        self._write = Write(
            self._flash,
            start,
            size,
            blocks,
            block_size,
            compressed=command == _DEFL_BEGIN,
            erase_first=not self._stub,
        )
        self._reply(command)

    def _flash_data(self, command: int, data: bytes, checksum: int) -> None:
        if self._write is None or self._write.compressed != (command == _DEFL_DATA):
            raise _Refused("not_writing")
        self._write.block(*_block(data, checksum))
        self._reply(command)

    def _flash_end(self, command: int, data: bytes, checksum: int) -> None:
        (stay,) = struct.unpack("<I", data)
        write, self._write = self._write, None
        if write is None:
            raise _Refused("not_writing")
        if not write.complete and self._stub:
            raise _Refused("not_enough_data")
        self._reply(command)
        if not self._stub:
            # The ROM starts the application, even if told to stay.
            self._run_application()
        elif not stay:
            # The strap is unchanged since the reset: back into the ROM's own loader.
            self._restart()

    def _md5(self, command: int, data: bytes, checksum: int) -> None:
        start, length, _, _ = struct.unpack("<IIII", data)
        self._region(start, length)
        digest = self._flash.md5(start, length)
        self._reply(command, 0, digest if self._stub else digest.hex().encode())

    def _read_slowly(self, command: int, data: bytes, checksum: int) -> None:
        start, length = struct.unpack("<II", data)
        self._region(start, length)
        if length > _SLOW_READ:
            raise _Refused("bad_length")
        self._reply(command, 0, self._flash.read(start, length).ljust(_SLOW_READ, b"\0"))

    # Commands of the stub only.

    def _erase_flash(self, command: int, data: bytes, checksum: int) -> None:
        self._flash.erase(0, self._flash.size)
        self._reply(command)

    def _erase_region(self, command: int, data: bytes, checksum: int) -> None:
        self._flash.erase(*struct.unpack("<II", data))
        self._reply(command)

    def _read_flash(self, command: int, data: bytes, checksum: int) -> None:
        start, length, block_size, window = struct.unpack("<IIII", data)
        self._reading = _Reading(self._flash.read(start, length), block_size, window)
        self._reply(command)
        self._acknowledged(0)

    def _acknowledged(self, count: int) -> None:
        assert self._reading is not None
        for packet in self._reading.next(count):
            self._send(encode(packet))
        if self._reading.done:
            self._reading = None

    def _run_user_code(self, command: int, data: bytes, checksum: int) -> None:
        self._run_application()

    def _run_application(self) -> None:
        self._left = True
        self._leave()


class _Reading:
    """READ_FLASH of the stub: blocks ahead of the host's acknowledgments, at most `window` of
    them."""

    def __init__(self, data: bytes, block_size: int, window: int) -> None:
        self._data = data
        self._block_size = block_size
        self._ahead = block_size * window
        self._sent = 0
        self.done = False

    def next(self, acknowledged: int) -> list[bytes]:
        """The blocks to send once so many bytes have arrived."""
        packets = []
        while self._sent < min(len(self._data), acknowledged + self._ahead):
            packet = self._data[self._sent : self._sent + self._block_size]
            packets.append(packet)
            self._sent += len(packet)
        if acknowledged >= len(self._data):
            packets.append(hashlib.md5(self._data).digest())
            self.done = True
        return packets


def _block(data: bytes, checksum: int) -> tuple[int, bytes]:
    """Number and contents of a data block; checks its length and checksum."""
    size, number, _, _ = struct.unpack_from("<IIII", data)
    block = data[16:]
    if len(block) != size:
        raise _Refused("bad_length")
    found = _CHECKSUM_SEED
    for byte in block:
        found ^= byte
    if found != checksum:
        raise _Refused("bad_checksum")
    return number, block


_COMMANDS = {
    _SYNC: RomLoader._sync,
    _READ_REG: RomLoader._read_register,
    _WRITE_REG: RomLoader._write_register,
    _SECURITY_INFO: RomLoader._security_info,
    _CHANGE_BAUD_RATE: RomLoader._change_baud_rate,
    _MEM_BEGIN: RomLoader._memory_begin,
    _MEM_DATA: RomLoader._memory_data,
    _MEM_END: RomLoader._memory_end,
    _SPI_ATTACH: RomLoader._attach,
    _SPI_SET_PARAMS: RomLoader._set_parameters,
    _FLASH_BEGIN: RomLoader._flash_begin,
    _FLASH_DATA: RomLoader._flash_data,
    _FLASH_END: RomLoader._flash_end,
    _DEFL_BEGIN: RomLoader._flash_begin,
    _DEFL_DATA: RomLoader._flash_data,
    _DEFL_END: RomLoader._flash_end,
    _FLASH_MD5: RomLoader._md5,
    _READ_FLASH_SLOW: RomLoader._read_slowly,
}
_STUB_ONLY = {
    _ERASE_FLASH: RomLoader._erase_flash,
    _ERASE_REGION: RomLoader._erase_region,
    _READ_FLASH: RomLoader._read_flash,
    _RUN_USER_CODE: RomLoader._run_user_code,
}
