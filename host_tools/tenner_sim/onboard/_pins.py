# virtual board: the pins of `machine`: levels, voltages and pulses as the supervisor's signals.
# MIT license; Copyright (c) 2026 the tenner authors

import _board

_PINS = 22


class Pin:
    """One GPIO. Inputs read the signal `gpioN`, outputs drive it."""

    IN = 1
    OUT = 3
    OPEN_DRAIN = 7
    PULL_DOWN = 1
    PULL_UP = 2
    PULL_HOLD = 4
    IRQ_RISING = 1
    IRQ_FALLING = 2
    WAKE_LOW = 4
    WAKE_HIGH = 5
    DRIVE_0 = 0
    DRIVE_1 = 1
    DRIVE_2 = 2
    DRIVE_3 = 3

    def __init__(self, id, mode=-1, pull=-1, *, value=None, drive=None, hold=None):
        if isinstance(id, str):
            id = int(_board.ask("pin_number " + id) or b"-1")
        if not isinstance(id, int) or not 0 <= id < _PINS:
            raise ValueError("invalid pin")
        self._id = id
        self._mode = self.IN
        self._level = 0
        self.init(mode, pull, value=value)

    def init(self, mode=-1, pull=-1, *, value=None, drive=None, hold=None):
        if mode != -1:
            self._mode = mode
            pull = 0 if pull in (-1, None) else pull
            _board.tell("pin_mode %d %d %d" % (self._id, mode, pull))
        if value is not None:
            self.value(value)

    def value(self, level=None):
        if level is None:
            if self._mode == self.OUT:
                return self._level
            return int(_board.ask("pin_read %d" % self._id))
        self._level = 1 if level else 0
        _board.tell("pin %d %d" % (self._id, self._level))

    def __call__(self, level=None):
        return self.value(level)

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)

    def toggle(self):
        self.value(not self._level)

    def irq(self, handler=None, trigger=3, *, wake=None, hard=False):
        raise NotImplementedError("the virtual board has no pin interrupts: poll Pin.value()")

    def __repr__(self):
        return "Pin(%d)" % self._id


class Signal:
    """A pin that may be active low."""

    def __init__(self, pin, invert=False):
        self._pin = pin
        self._invert = 1 if invert else 0

    def value(self, level=None):
        if level is None:
            return self._pin.value() ^ self._invert
        self._pin.value((1 if level else 0) ^ self._invert)

    def __call__(self, level=None):
        return self.value(level)

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)


def gpio(pin, default="-"):
    """The number of a pin given as Pin or int, as text; `default` for None."""
    if pin is None:
        return default
    return str(pin._id if isinstance(pin, Pin) else Pin(pin)._id)


class ADC:
    """Analog input; the voltage is the signal `gpioN.volts`. On the C3 only GPIO0..4."""

    ATTN_0DB = 0
    ATTN_2_5DB = 1
    ATTN_6DB = 2
    ATTN_11DB = 3
    WIDTH_12BIT = 12
    _FULL_SCALE_UV = (950000, 1250000, 1750000, 3100000)

    def __init__(self, pin, *, atten=0):
        self._id = int(gpio(pin))
        if self._id > 4:
            raise ValueError("invalid pin")
        self._atten = atten

    def init(self, *, atten=0):
        self._atten = atten

    def atten(self, atten):
        self._atten = atten

    def width(self, bits):
        pass

    def read_uv(self):
        volts = float(_board.ask("adc %d" % self._id))
        return min(max(int(volts * 1000000), 0), self._FULL_SCALE_UV[self._atten])

    def read_u16(self):
        return self.read_uv() * 65535 // self._FULL_SCALE_UV[self._atten]

    def read(self):
        return self.read_u16() >> 4


class PWM:
    """Pulse width; it drives the signals `gpioN.duty` (0..1) and `gpioN.hz`."""

    def __init__(self, dest, freq=5000, duty=None, *, duty_u16=None, duty_ns=None, invert=0):
        self._id = int(gpio(dest))
        self._freq = freq
        self._duty = 32768
        self.init(freq=freq, duty=duty, duty_u16=duty_u16, duty_ns=duty_ns)

    def init(self, *, freq=None, duty=None, duty_u16=None, duty_ns=None, invert=0):
        if freq is not None:
            if not 1 <= freq <= 40000000:
                raise ValueError("frequency must be from 1Hz to 40MHz")
            self._freq = freq
        if duty is not None:
            duty_u16 = duty << 6
        elif duty_ns is not None:
            duty_u16 = duty_ns * self._freq * 65536 // 1000000000
        if duty_u16 is not None:
            self._duty = min(max(duty_u16, 0), 65535)
        _board.tell("pwm %d %d %d" % (self._id, self._freq, self._duty))

    def freq(self, hz=None):
        if hz is None:
            return self._freq
        self.init(freq=hz)

    def duty(self, value=None):
        if value is None:
            return self._duty >> 6
        self.init(duty=value)

    def duty_u16(self, value=None):
        if value is None:
            return self._duty
        self.init(duty_u16=value)

    def duty_ns(self, value=None):
        if value is None:
            return self._duty * 1000000000 // (self._freq * 65536)
        self.init(duty_ns=value)

    def deinit(self):
        _board.tell("pwm %d 0 0" % self._id)
