# tenner sensors.bh1750: BH1750 light sensor on I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus, address (0x23).

ROHM technical note 11046EDT01, 2011.11: "Instruction Set Architecture", "Measurement time" (180 ms
at most), "How to calculate the data", "Adjust measurement result" (MTreg 69; 31 in sunlight).
"""

from tenner.sensors.checks import wait_ms
from tenner.sensors.i2cbus import bad, check_zeros, chip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    bus, address = chip(port, cfg, 0x23)
    data = bytearray(2)
    for mtreg in (69, 31):
        # Zero may mean dark, not done yet, or a lost supply, and the chip does not say which.
        for ms in (180, 360):
            # On, clear the result, MTreg in two parts, measure once: separate instructions.
            for byte in (1, 7, 0x40 | mtreg >> 5, 0x60 | mtreg & 31, 0x20):
                data[0] = byte
                bus.writeto(address, data[:1])
            await wait_ms(ms)
            bus.readfrom_into(address, data)
            counts = data[0] << 8 | data[1]
            if counts:
                break
        check_zeros(bus, cfg, data)
        if counts < 0xFFFF:
            return {"light": round(counts / 1.2 * 69 / mtreg, 1)}
    raise bad(cfg, "gets more light than the 121557 lx it can measure")
