"""The emulated modules: one script, the same answers under MicroPython and CPython."""

import pytest

from tenner_sim.vboard import VirtualBoard


def outcome(board):
    board.wait_for("=== end ===")
    return (
        board.serial_log.replace("\r\n", "\n")
        .partition("=== begin ===\n")[2]
        .partition("=== end ===")[0]
    )


def run(script, runtime, prepare=None):
    main = "print('=== begin ===')\n" + script + "\nprint('=== end ===')\n"
    with VirtualBoard({"/main.py": main.encode()}, runtime=runtime, power=False) as board:
        if prepare:
            prepare(board)
        board.power_on()
        return outcome(board)


both = pytest.mark.parametrize("runtime", ["micropython", "cpython"])

BUSES = """
import errno
import machine
from machine import I2C, SPI, Pin, SoftI2C, SoftSPI

i2c = I2C(0, scl=Pin(5), sda=Pin(4), freq=100000)
print(i2c.scan())
print(i2c.readfrom_mem(0x48, 0, 2))
buf = bytearray(2)
i2c.readfrom_mem_into(0x48, 3, buf)
print(bytes(buf))
print(i2c.writeto(0x48, b"\\x02"), i2c.readfrom(0x48, 2))
i2c.writeto_mem(0x48, 2, b"\\x10\\x20")
print(i2c.writevto(0x48, [b"\\x02"], False), i2c.readfrom(0x48, 2))
i2c.writeto_mem(0x50, 0x0123, b"stored", addrsize=16)
machine.lightsleep(12)
print(i2c.readfrom_mem(0x50, 0x0123, 6, addrsize=16))
try:
    i2c.readfrom(0x10, 1)
except OSError as exc:
    print("absent", exc.errno == errno.ENODEV)
print("soft", SoftI2C(Pin(5), Pin(4)).scan())
print("other pins", I2C(0, scl=Pin(1), sda=Pin(0)).scan())
for make in (lambda: I2C(1), lambda: SPI(0), lambda: Pin(22), lambda: Pin("NOPE")):
    try:
        make()
    except ValueError as exc:
        print("ValueError", exc)
spi = SPI(1, 1000000, sck=Pin(6), mosi=Pin(7), miso=Pin(2))
cs = Pin(10, Pin.OUT, value=1)
print("not selected", spi.read(4))
cs(0)
print("frame", spi.read(4))
cs(1)
cs.value(0)
buf = bytearray(4)
SoftSPI(sck=Pin(6), mosi=Pin(7), miso=Pin(2)).write_readinto(b"\\0" * 4, buf)
cs.on()
print("frame", bytes(buf))
"""

BUSES_OUT = """\
[68, 72, 80]
b'\\xf5\\xc0'
b'P\\x00'
1 b'K\\x00'
1 b'\\x10 '
b'stored'
absent True
soft [68, 72, 80]
other pins []
ValueError I2C(1) doesn't exist
ValueError SPI(0) doesn't exist
ValueError invalid pin
ValueError invalid pin
not selected b'\\xff\\xff\\xff\\xff'
frame b'\\x0b@\\x19\\x00'
frame b'\\x0b@\\x19\\x00'
"""


@both
def test_buses_read_the_world(runtime):
    assert run(BUSES, runtime, lambda board: board.set("room.temperature", -10.25)) == BUSES_OUT


FAULTS = """
import errno
from machine import I2C
bus = I2C(0)
try:
    bus.readfrom_mem(0x48, 0, 2)
except OSError as exc:
    print(exc.errno == errno.ETIMEDOUT, exc.errno == errno.ENODEV)
"""


@both
@pytest.mark.parametrize(
    ("device", "kind", "shown"),
    [
        ("tmp102", "absent", "False True\n"),
        ("tmp102", "nack", "False True\n"),
        ("sht31", "stuck", "True False\n"),
    ],
)
def test_a_device_shows_its_fault(runtime, device, kind, shown):
    assert run(FAULTS, runtime, lambda board: board.fault(device, kind)) == shown


PINS = """
import machine
from machine import ADC, PWM, Pin, Signal
led = Pin("LED", Pin.OUT)
led.on()
print(led, led(), Pin("GPIO9", Pin.IN, Pin.PULL_UP)(), Pin(1, Pin.IN, Pin.PULL_DOWN).value())
print(Pin(0, Pin.IN).value())
led.toggle()
print(led.value(), Signal(led, invert=True).value())
Signal(led, invert=True).off()
print(led.value())
adc = ADC(Pin(1), atten=ADC.ATTN_11DB)
print(adc.read_uv(), adc.read_u16(), adc.read())
pwm = PWM(Pin(8), freq=1000, duty_u16=16384)
print(pwm.freq(), pwm.duty_u16(), pwm.duty(), pwm.duty_ns())
print(machine.reset_cause() == machine.PWRON_RESET, len(machine.unique_id()), machine.freq())
rtc = machine.RTC()
print(rtc.memory(), rtc.memory(b"abc"), rtc.memory())
rtc.datetime((2026, 2, 28, 5, 1, 2, 3, 0))
print(rtc.datetime()[:6])
import esp32
print(esp32.mcu_temperature(), len(esp32.idf_heap_info(esp32.HEAP_DATA)[0]))
nvs = esp32.NVS("app")
nvs.set_i32("count", -7)
nvs.set_blob("name", b"x\\x00y")
nvs.commit()
buf = bytearray(8)
print(nvs.get_i32("count"), nvs.get_blob("name", buf), bytes(buf[:3]))
try:
    nvs.get_i32("missing")
except OSError as exc:
    print(exc)
"""

PINS_OUT = """\
Pin(3) 1 1 0
1
0 1
1
1550000 32767 2047
1000 16384 256 250000
True 6 160000000
b'' None b'abc'
(2026, 2, 28, 5, 1, 2)
38 4
-7 3 b'x\\x00y'
ESP_ERR_NVS_NOT_FOUND
"""


@both
def test_pins_clock_and_chip(runtime):
    def prepare(board):
        board.set("gpio0", 1)
        board.set("gpio1.volts", 1.55)

    assert run(PINS, runtime, prepare) == PINS_OUT


def test_outputs_reach_the_world():
    script = (
        "from machine import PWM, Pin\nPin(3, Pin.OUT, value=1)\nPWM(Pin(1), duty_u16=32768)\n"
    )
    with VirtualBoard({"/main.py": script.encode()}) as board:
        board.wait_for(">>> ")
        assert board.get("gpio3") == 1
        assert board.get("gpio1.duty") == pytest.approx(0.5, abs=0.001)
        assert board.get("gpio1.hz") == 5000


WIFI = """
import network
import time

def wait(wanted):
    for _ in range(1000):
        if wlan.status() == wanted:
            return wlan.isconnected()
        time.sleep(0.005)
    return wlan.status()

wlan = network.WLAN(network.WLAN.IF_STA)
print(wlan.active(), wlan.status() == network.STAT_IDLE, wlan.isconnected())
try:
    wlan.connect("virtual", "tenner-virtual")
except OSError as exc:
    print(exc)
print(wlan.active(True), [row[0] for row in wlan.scan()])
wlan.connect("virtual", "wrong")
print(wait(network.STAT_WRONG_PASSWORD), wlan.ifconfig()[0])
wlan.connect("elsewhere", "x")
print(wait(network.STAT_NO_AP_FOUND))
wlan.disconnect()
wlan.connect("virtual", "tenner-virtual")
try:
    wlan.connect("virtual", "tenner-virtual")
except OSError as exc:
    print(exc)
print(wait(network.STAT_GOT_IP), wlan.ipconfig("addr4"), wlan.status("rssi"), wlan.config("ssid"))
wlan.config(reconnects=3)
print(wlan.config("reconnects"), len(wlan.config("mac")))
try:
    wlan.config(nonsense=1)
except ValueError as exc:
    print(exc)
wlan.disconnect()
print(wlan.status() == network.STAT_IDLE, wlan.ipconfig("addr4")[0])
"""

WIFI_OUT = """\
False True False
Wifi Not Started
True [b'virtual']
False 0.0.0.0
False
Wifi Internal Error
True ('192.168.4.2', '255.255.255.0') -52 virtual
3 6
unknown config param
True 0.0.0.0
"""


@both
def test_the_wlan_connects(runtime):
    assert run(WIFI, runtime) == WIFI_OUT


NTP = """
import network, ntptime, time
ntptime.host = "time.example"
try:
    ntptime.settime()
except OSError as exc:
    print(exc.errno)
wlan = network.WLAN()
wlan.active(True)
wlan.connect("virtual", "tenner-virtual")
while not wlan.isconnected():
    time.sleep(0.005)
ntptime.settime()
print(time.gmtime()[:3], abs(ntptime.time() - time.time()) < 60)
"""


@both
def test_ntp_sets_the_time(runtime):
    shown = run(NTP, runtime, lambda board: board.clock(time_s=1900000000))
    if runtime == "cpython":
        shown = shown.replace("time.struct_time", "")
    assert shown == "-202\n(2030, 3, 17) True\n"
