# virtual board: the `dht` module of MicroPython, on the supervisor's DHT sensors.
# MIT license; Copyright (c) 2026 the tenner authors

import _board


class DHTBase:
    def __init__(self, pin):
        self.pin = pin
        self.buf = bytearray(5)

    def measure(self):
        _board.ask_into("dht %d" % self.pin._id, self.buf)
        if sum(self.buf[:4]) & 0xFF != self.buf[4]:
            raise Exception("checksum error")


class DHT11(DHTBase):
    def humidity(self):
        return self.buf[0]

    def temperature(self):
        return self.buf[2]


class DHT22(DHTBase):
    def humidity(self):
        return (self.buf[0] << 8 | self.buf[1]) / 10

    def temperature(self):
        tenths = (self.buf[2] & 0x7F) << 8 | self.buf[3]
        return (-tenths if self.buf[2] & 0x80 else tenths) / 10
