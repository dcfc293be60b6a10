"""The supported chips as seen by their serial loader, by esptool and in a boot loader's image."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

_MAKER = bytes.fromhex("7c2c67")


def mac_of(name: str | None) -> bytes:
    """The station MAC of the board of that name, also its machine.unique_id()."""
    return _MAKER + (hashlib.sha256(name.encode()).digest()[:3] if name else b"\0\0\1")


@dataclass(frozen=True)
class ChipModel:
    """One kind of chip, with addresses from its technical reference manual."""

    name: str
    #: The chip number in an image's header.
    image_id: int
    #: The ROM's address of the boot loader.
    bootloader_offset: int
    #: Load addresses for the segments of a stand-in image.
    dram: int
    iram: int
    drom: int
    banner: bytes
    flash_boot: bytes
    download_boot: bytes
    #: The SPI controller of the flash: base, and the offsets of USER, USER2 and W0 from it.
    spi_base: int
    spi_user: int
    spi_user2: int
    spi_w0: int
    #: Supports GET_SECURITY_INFO, which returns the chip number; and the longer FLASH_BEGIN that
    #: comes with it.
    security_info: bool
    #: Address of the MAC.
    mac_at: int
    registers: dict[int, int] = field(default_factory=dict)
    mac: bytes = mac_of(None)

    @property
    def mac_words(self) -> dict[int, int]:
        """The registers that hold the MAC."""
        return {
            self.mac_at: int.from_bytes(self.mac[2:], "big"),
            self.mac_at + 4: int.from_bytes(self.mac[:2], "big"),
        }


MODELS = {
    model.name: model
    for model in (
        ChipModel(
            name="esp32",
            image_id=0,
            bootloader_offset=0x1000,
            dram=0x3FFF0000,
            iram=0x40080400,
            drom=0x3F400020,
            banner=b"ets Jul 29 2019 12:21:46\r\n\r\n",
            flash_boot=b"boot:0x13 (SPI_FAST_FLASH_BOOT)",
            download_boot=b"boot:0x3 (DOWNLOAD_BOOT(UART0/UART1/SDIO_REI_REO_V2))",
            spi_base=0x3FF42000,
            spi_user=0x1C,
            spi_user2=0x24,
            spi_w0=0x80,
            security_info=False,
            registers={
                # A word of the ROM by which tools know the chip, and the UART's clock divider
                # that tells 115200 Bd from a 40 MHz crystal.
                0x40001000: 0x00F01D83,
                0x3FF40014: 347,
            },
            mac_at=0x3FF5A004,
        ),
        ChipModel(
            name="esp32c3",
            image_id=5,
            bootloader_offset=0x0,
            dram=0x3FCD5810,
            iram=0x403CC710,
            drom=0x3C000020,
            banner=b"ESP-ROM:esp32c3-api1-20210207\r\nBuild:Feb  7 2021\r\n",
            flash_boot=b"boot:0xc (SPI_FAST_FLASH_BOOT)",
            download_boot=b"boot:0x4 (DOWNLOAD(USB/UART0/1))",
            spi_base=0x60002000,
            spi_user=0x18,
            spi_user2=0x20,
            spi_w0=0x58,
            security_info=True,
            # Block 1 of the eFuses: the MAC; then revision 0.4 and 4 MB of flash in the package.
            mac_at=0x60008844,
            registers={0x60008850: 4 << 18 | 1 << 27},
        ),
        ChipModel(
            name="esp32s3",
            image_id=9,
            bootloader_offset=0x0,
            dram=0x3FCE3810,
            iram=0x403C9700,
            drom=0x3C000020,
            banner=b"ESP-ROM:esp32s3-20210327\r\nBuild:Mar 27 2021\r\n",
            flash_boot=b"boot:0x8 (SPI_FAST_FLASH_BOOT)",
            download_boot=b"boot:0x0 (DOWNLOAD(USB/UART0))",
            spi_base=0x60002000,
            spi_user=0x18,
            spi_user2=0x20,
            spi_w0=0x58,
            security_info=True,
            mac_at=0x60007044,
        ),
    )
}
