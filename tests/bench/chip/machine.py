# bench chip: the least of `machine` that a turn with one I2C reading needs; C on the chip, so kept
# tiny.
PWRON_RESET = 1
SOFT_RESET = 5


def reset_cause():
    return 1


def unique_id():
    return b"\x24\x0a\xc4\x00\x00\x01"


class Pin:
    def __init__(self, number, *args, **options):
        pass


class I2C:
    def __init__(self, *args, **options):
        pass

    def scan(self):
        return [72]

    def writeto(self, address, data):
        if address != 72:
            raise OSError(19)  # ENODEV

    def readfrom_mem_into(self, address, register, buf, addrsize=8):
        buf[0] = 0x1F
        buf[1] = 0x80


class RTC:
    def datetime(self, when):
        pass
