"""The serial loader of the virtual board's ROM: framing, strictness, and the limits of NOR
flash."""

import hashlib
import struct
import zlib

import pytest

from tenner_sim.vboard.chips import MODELS
from tenner_sim.vboard.modem import ModemLines
from tenner_sim.vboard.nor import NorError, NorFlash
from tenner_sim.vboard.rom import SYNC_DATA, SYNC_FRAME, RomLoader
from tenner_sim.vboard.slip import SlipReader, encode

SIZE = 0x400000
STUB_ENTRY = 0x403C0000


class Host:
    """The other end of the line: sends commands, takes the answers apart."""

    def __init__(self, path, chip="esp32c3", stub=False):
        path.write_bytes(b"\xff" * SIZE)
        self.flash = NorFlash(path)
        self.left = 0
        self.sent = []
        self.rom = RomLoader(MODELS[chip], self.flash, self._take, self._leave)
        self.stub = False
        if stub:
            self.command(0x05, struct.pack("<IIII", 4, 1, 4, STUB_ENTRY))
            self.block(0x07, 0, b"stub")
            self.command(0x06, struct.pack("<II", 0, STUB_ENTRY))
            assert self.sent.pop() == b"OHAI"
            self.stub = True

    def _take(self, data):
        self.sent += SlipReader().feed(data)

    def _leave(self):
        self.left += 1

    def command(self, op, data=b"", checksum=0, length=None):
        """Send one command; return the error code (0: done) and the value and data of the
        answer."""
        head = struct.pack("<BBHI", 0, op, len(data) if length is None else length, checksum)
        self.sent.clear()
        self.rom.feed(encode(head + data))
        if not self.sent:
            return None
        answer = self.sent.pop(0)
        direction, answered, size, value = struct.unpack_from("<BBHI", answer)
        assert (direction, answered, size) == (1, op, len(answer) - 8)
        cut = -2 if self.stub else -4
        status, payload = answer[cut:], answer[8:cut]
        if self.stub:
            error = status[0]
        else:
            assert (status[0] != 0) == (status[1] != 0)
            assert status[2:] == b"\0\0"
            error = status[1]
        return error, value, payload

    def block(self, op, number, data, checksum=None, size=None):
        found = 0xEF
        for byte in data:
            found ^= byte
        head = struct.pack("<IIII", len(data) if size is None else size, number, 0, 0)
        return self.command(op, head + data, found if checksum is None else checksum)[0]

    def attach(self):
        assert self.command(0x0D, bytes(8))[0] == 0
        assert (
            self.command(0x0B, struct.pack("<IIIIII", 0, SIZE, 65536, 4096, 256, 0xFFFF))[0] == 0
        )

    def begin(self, start, size, blocks, block_size, op=0x02):
        return self.command(op, struct.pack("<IIIII", size, blocks, block_size, start, 0))[0]


@pytest.fixture
def rom(tmp_path):
    host = Host(tmp_path / "flash")
    host.attach()
    return host


@pytest.fixture
def stub(tmp_path):
    return Host(tmp_path / "flash-of-stub", stub=True)


# Framing.

PACKETS = [b"plain", b"\xc0\xdb\xdc\xdd", bytes(range(256)), b"\xdb" * 5]


def test_slip_whole_and_split_at_every_byte():
    stream = b"noise" + b"".join(encode(packet) for packet in PACKETS)
    assert SlipReader().feed(stream) == PACKETS
    for cut in range(len(stream)):
        reader = SlipReader()
        assert reader.feed(stream[:cut]) + reader.feed(stream[cut:]) == PACKETS, cut
    reader = SlipReader()
    assert [one for byte in stream for one in reader.feed(bytes([byte]))] == PACKETS


def test_slip_drops_a_frame_with_a_wrong_escape_and_takes_the_next():
    reader = SlipReader()
    assert reader.feed(b"\xc0ab\xdbz\xc0" + encode(b"next")) == [b"next"]


def test_slip_gives_up_a_frame_without_an_end():
    reader = SlipReader()
    reader.feed(b"\xc0" + b"x" * (SlipReader.LIMIT + 1))
    assert not reader.in_frame
    assert reader.feed(encode(b"next")) == [b"next"]


# Talking.


def test_sync_is_answered_eight_times(rom):
    rom.sent.clear()
    rom.rom.feed(SYNC_FRAME)
    assert len(rom.sent) == 8
    assert all(struct.unpack_from("<I", answer, 4)[0] for answer in rom.sent)


def test_the_stub_says_zero_to_sync(stub):
    assert stub.command(0x08, SYNC_DATA)[:2] == (0, 0)


def test_a_wrong_sync_is_refused(rom):
    assert rom.command(0x08, SYNC_DATA[:-1])[0] == 0x05


def test_an_unknown_command_is_refused(rom, stub):
    assert rom.command(0x77)[0] == 0x05
    assert stub.command(0x77)[0] == 0xFF


def test_the_rom_has_not_what_only_the_stub_has(rom):
    for op in (0xD0, 0xD1, 0xD2, 0xD3):
        assert rom.command(op, bytes(16))[0] == 0x05
    assert rom.left == 0


def test_a_length_that_does_not_fit_is_refused(rom, stub):
    assert rom.command(0x0A, b"\0\0\0\0", length=5)[0] == 0x05
    assert rom.command(0x0A, b"\0\0\0")[0] == 0x05
    assert rom.command(0x09, bytes(17))[0] == 0x05
    assert stub.command(0x0A, b"\0\0\0")[0] == 0xC0


@pytest.mark.parametrize(("chip", "number"), [("esp32c3", 5), ("esp32s3", 9)])
def test_the_chip_tells_its_number(tmp_path, chip, number):
    host = Host(tmp_path / "flash", chip)
    assert struct.unpack("<I8xII", host.command(0x14)[2])[1] == number


def test_the_esp32_tells_its_magic_instead(tmp_path):
    host = Host(tmp_path / "flash", "esp32")
    assert host.command(0x14)[0] == 0x05
    assert host.command(0x0A, struct.pack("<I", 0x40001000))[1] == 0x00F01D83
    # and takes the shorter FLASH_BEGIN only.
    host.attach()
    assert host.begin(0, 4096, 4, 1024) == 0x05
    assert host.command(0x02, struct.pack("<IIII", 4096, 4, 1024, 0))[0] == 0


def test_registers_keep_what_the_mask_lets_through(rom):
    rom.command(0x09, struct.pack("<IIII", 0x60001234, 0xFFFF0000, 0x0FF00000, 0))
    assert rom.command(0x0A, struct.pack("<I", 0x60001234))[1] == 0x0FF00000


# Writing.


def test_flash_must_be_attached_first(tmp_path):
    host = Host(tmp_path / "flash")
    assert host.begin(0, 4096, 4, 1024) == 0x06
    assert host.command(0x13, struct.pack("<IIII", 0, 4096, 0, 0))[0] == 0x06


def test_the_rom_believes_in_two_megabytes_until_it_is_told(tmp_path):
    host = Host(tmp_path / "flash")
    host.command(0x0D, bytes(8))
    assert host.begin(0x200000, 4096, 4, 1024) == 0x06
    host.attach()
    assert host.begin(0x200000, 4096, 4, 1024) == 0


def test_the_rom_erases_all_of_the_region_first(rom):
    rom.flash.program(0, bytes(0x4000))
    assert rom.begin(0x1000, 0x1800, 6, 1024) == 0
    assert rom.flash.read(0, 0x4000) == bytes(0x1000) + b"\xff" * 0x2000 + bytes(0x1000)
    assert rom.block(0x03, 0, b"a" * 1024) == 0
    assert rom.flash.read(0x1000, 1024) == b"a" * 1024


def test_the_stub_erases_only_as_far_as_it_has_come(stub):
    stub.flash.program(0, bytes(0x8000))
    assert stub.begin(0, 0x8000, 2, 0x4000) == 0
    assert stub.flash.read(0, 0x8000) == bytes(0x8000)
    assert stub.block(0x03, 0, b"a" * 0x4000) == 0
    assert stub.flash.read(0, 0x8000) == b"a" * 0x4000 + bytes(0x4000)
    assert stub.command(0x04, struct.pack("<I", 1))[0] == 0xC8, "half of it is missing"


def test_a_wrong_checksum_writes_nothing_and_the_block_may_come_again(rom, stub):
    for host, code in ((rom, 0x07), (stub, 0xC1)):
        host.begin(0, 1024, 1, 1024)
        assert host.block(0x03, 0, b"a" * 1024, checksum=1) == code
        assert host.flash.read(0, 1024) == b"\xff" * 1024
        assert host.block(0x03, 0, b"a" * 1024) == 0


def test_blocks_come_in_their_order_and_not_too_many(rom, stub):
    for host, code in ((rom, 0x06), (stub, 0xC9)):
        host.begin(0, 2048, 2, 1024)
        assert host.block(0x03, 1, b"a" * 1024) == code
        assert host.block(0x03, 0, b"a" * 1024) == 0
        assert host.block(0x03, 0, b"a" * 1024) == code
        assert host.block(0x03, 1, b"b" * 1024) == 0
        assert host.block(0x03, 2, b"c" * 1024) == code
        assert host.flash.read(0, 4096) == b"a" * 1024 + b"b" * 1024 + b"\xff" * 2048


def test_a_block_of_a_wrong_size_is_refused(rom, stub):
    for host, length, block in ((rom, 0x05, 0x06), (stub, 0xC0, 0xC2)):
        host.begin(0, 4096, 4, 1024)
        assert host.block(0x03, 0, b"a" * 1024, size=1023) == length
        assert host.block(0x03, 0, b"a" * 1025) == block


def test_data_without_a_begin_is_refused(rom, stub):
    for host, code in ((rom, 0x06), (stub, 0xC6)):
        assert host.block(0x03, 0, b"a") == code
        host.begin(0, 4096, 1, 1024, op=0x10)
        assert host.block(0x03, 0, b"a") == code, "compressed data was announced"


def test_compressed_data(rom, stub):
    plain = bytes(range(256)) * 40
    packed = zlib.compress(plain)
    blocks = [packed[at : at + 64] for at in range(0, len(packed), 64)]
    for host in (rom, stub):
        assert host.begin(0x2000, len(plain), len(blocks), 64, op=0x10) == 0
        for number, block in enumerate(blocks):
            assert host.block(0x11, number, block) == 0
        assert host.flash.read(0x2000, len(plain)) == plain
    assert stub.command(0x12, struct.pack("<I", 1))[0] == 0
    assert stub.left == 0


def test_compressed_data_that_is_broken_or_too_much(rom, stub):
    for host, broken, too_much in ((rom, 0x0B, 0x06), (stub, 0xC7, 0xC9)):
        host.begin(0, 1024, 1, 1024, op=0x10)
        assert host.block(0x11, 0, b"not zlib") == broken
        host.begin(0, 1024, 1, 1024, op=0x10)
        assert host.block(0x11, 0, zlib.compress(bytes(1025))) == too_much
        assert host.flash.read(0, 4096) == b"\xff" * 4096


def test_a_region_outside_of_the_flash_is_refused(rom, stub):
    assert rom.begin(SIZE - 4096, 8192, 8, 1024) == 0x06
    assert stub.begin(SIZE - 4096, 8192, 8, 1024) == 0xC4
    assert stub.command(0xD1, struct.pack("<II", SIZE - 4096, 8192))[0] == 0xC4


def test_the_rom_leaves_at_the_end_and_hears_nothing_more(rom):
    rom.begin(0, 0, 0, 1024)
    assert rom.command(0x04, struct.pack("<I", 0))[0] == 0
    assert rom.left == 1
    assert rom.command(0x0A, b"\0\0\0\0") is None


def test_the_stub_goes_back_to_the_rom(stub):
    stub.begin(0, 0, 0, 1024)
    assert stub.command(0x04, struct.pack("<I", 0))[0] == 0
    stub.stub = False
    assert stub.command(0xD0)[0] == 0x05
    assert stub.left == 0


def test_memory_that_was_not_uploaded_does_not_run(rom):
    assert rom.command(0x06, struct.pack("<II", 0, STUB_ENTRY))[0] == 0x06
    rom.command(0x05, struct.pack("<IIII", 8, 2, 4, STUB_ENTRY))
    assert rom.block(0x07, 1, b"late") == 0x06
    assert rom.block(0x07, 0, b"code") == 0
    assert rom.command(0x06, struct.pack("<II", 0, STUB_ENTRY + 4))[0] == 0x06
    assert rom.command(0x06, struct.pack("<II", 0, STUB_ENTRY))[0] == 0


# Reading.


def test_md5_is_hex_from_the_rom_and_raw_from_the_stub(rom, stub):
    for host, shown in (
        (rom, lambda md5: md5.hexdigest().encode()),
        (stub, lambda md5: md5.digest()),
    ):
        host.flash.program(0x3000, b"abc")
        request = struct.pack("<IIII", 0x3000, 3, 0, 0)
        assert host.command(0x13, request)[2] == shown(hashlib.md5(b"abc"))


def test_the_rom_reads_64_bytes_at_most(rom):
    rom.flash.program(0, b"hello")
    assert rom.command(0x0E, struct.pack("<II", 0, 5))[2] == b"hello".ljust(64, b"\0")
    assert rom.command(0x0E, struct.pack("<II", 0, 65))[0] == 0x05


def test_the_stub_waits_for_acknowledgments(stub):
    stub.flash.program(0, bytes(range(256)) * 10)
    stub.command(0xD2, struct.pack("<IIII", 0, 2500, 1000, 2))
    got = stub.sent[:]
    assert [len(part) for part in got] == [1000, 1000], "two blocks ahead, no more"
    stub.sent.clear()
    stub.rom.feed(encode(struct.pack("<I", 1000)))
    assert [len(part) for part in stub.sent] == [500]
    got += stub.sent
    stub.sent.clear()
    stub.rom.feed(encode(struct.pack("<I", 2500)))
    data = b"".join(got)
    assert data == (bytes(range(256)) * 10)[:2500]
    assert stub.sent == [hashlib.md5(data).digest()]


# The flash chip.


def test_programming_only_clears_bits(tmp_path):
    (tmp_path / "flash").write_bytes(b"\xff" * 8192)
    flash = NorFlash(tmp_path / "flash")
    flash.program(4094, b"\xf0\x0f\xff\x00")
    flash.program(4094, b"\x3c\x3c\x81\xff")
    assert flash.read(4093, 6) == b"\xff\x30\x0c\x81\x00\xff"
    flash.erase(4096, 4096)
    assert flash.read(4094, 4) == b"\x30\x0c\xff\xff"
    for start, length in ((4095, 4096), (4096, 100), (8192, 4096)):
        with pytest.raises(NorError):
            flash.erase(start, length)
    with pytest.raises(NorError):
        flash.program(8190, b"abc")
    flash.close()
    assert (tmp_path / "flash").read_bytes()[4094:4096] == b"\x30\x0c"


# DTR and RTS.


class Pins:
    def __init__(self):
        self.seen = []
        self.lines = ModemLines(
            lambda: self.seen.append("held"),
            lambda strap: self.seen.append("loader" if strap else "start"),
        )

    def play(self, *steps):
        for line, on in steps:
            setattr(self.lines, line, on)
        return self.seen


def test_the_classic_reset_leads_into_the_loader():
    steps = ("dtr", False), ("rts", True), ("dtr", True), ("rts", False), ("dtr", False)
    assert Pins().play(*steps) == ["held", "loader"]


def test_rts_alone_resets():
    assert Pins().play(("rts", True), ("rts", False)) == ["held", "start"]


def test_opening_and_closing_a_port_resets_nothing():
    assert Pins().play(("dtr", True), ("rts", True), ("rts", False), ("dtr", False)) == []
