"""The project's own tools on real kernels: `make test-kernel`.

Two computers in software (no KVM), Debian's kernel on both. The sabrelite has a TMP105 and a clock
on I2C and a flash chip on SPI; an absent address costs it 0.3 s and ETIMEDOUT. The ast2600-evb
answers at once.
"""

import os
import re

import pytest

from kernel.emulator import Agent, Guest, Packages
from tenner_host import debian

# Names that stay the same at every boot: nodes of the device tree, labels of GPIO chips.
PINS = b"""\
I2C0,/soc/bus@2100000/i2c@21a0000
I2C1,/soc/bus@2100000/i2c@21a4000,shared: for the test
SPI0,/soc/bus@2000000/spba-bus@2000000/spi@2008000
D0,20ac000.gpio:9
D1,20ac000.gpio:10,reserved: for the test
"""
SENSORS = b'{"room": {"driver": "tmp102", "bus": "i2c0", "address": "0x48"}}'


@pytest.fixture(scope="session")
def packages():
    try:
        return Packages()
    except (debian.CannotFetch, OSError) as exc:
        if os.environ.get("TENNER_REQUIRE_KERNEL") == "1":
            pytest.fail(f"kernel bench: {exc}", pytrace=False)
        pytest.skip(f"kernel bench: {exc}")


@pytest.fixture(scope="session")
def sabrelite(packages):
    tmp105 = "tmp105,id=tmp0,bus=i2c-bus.0,address=0x48"
    guest = Guest(
        packages,
        "sabrelite",
        "imx6q-sabrelite",
        "ttymxc1,115200",
        ["-m", "512", "-smp", "1", "-serial", "null", "-serial", "stdio"]
        + ["-device", tmp105, "-device", "ds1338,bus=i2c-bus.0,address=0x68"],
        {"tenner/tenner/pins.csv": PINS, "workspace/SENSORS.json": SENSORS},
    )
    try:
        # The flash chip of the board, for spidev instead of the kernel's own driver.
        device = "/sys/bus/spi/devices/spi0.0"
        guest.shell(f"until [ -e {device} -a -e /dev/i2c-0 ]; do sleep 0.1; done")
        guest.shell(f"echo spidev > {device}/driver_override")
        guest.shell("echo spi0.0 > /sys/bus/spi/drivers/spidev/bind")
        # The kernel takes the clock, as on boards that have one.
        guest.shell("echo ds1307 0x68 > /sys/bus/i2c/devices/i2c-0/new_device")
        yield guest
    finally:
        guest.close()


@pytest.fixture(scope="session")
def ast2600(packages):
    guest = Guest(
        packages,
        "ast2600-evb",
        "aspeed-ast2600-evb",
        "ttyS4,115200",
        ["-m", "1G", "-serial", "stdio"]
        + ["-device", "tmp105,id=tmp0,bus=aspeed.i2c.bus.3,address=0x4d"],
        {},
    )
    try:
        guest.shell("until [ -e /dev/i2c-7 ]; do sleep 0.1; done")
        yield guest
    finally:
        guest.close()


@pytest.fixture(scope="module", params=["micropython", "python3"])
def interpreter(request):
    return request.param


@pytest.fixture(scope="module")
def board(sabrelite, interpreter):
    agent = Agent(sabrelite, interpreter)
    yield agent
    agent.close()


@pytest.fixture(scope="module")
def server(ast2600, interpreter):
    agent = Agent(ast2600, interpreter)
    yield agent
    agent.close()


def celsius(answer):
    """Degrees in the answer of the i2c tool, `0x17 0x80 (23 128)`."""
    high, low = re.fullmatch(r"0x.. 0x.. \((\d+) (\d+)\)", answer).groups()
    raw = int(high) << 8 | int(low)
    return (raw - 65536 if raw & 0x8000 else raw) / 256


# --- sabrelite


def test_the_tool_follows_a_temperature_that_is_set_from_outside(sabrelite, board):
    # Twelve bits, as the driver expects them.
    written = board.call("i2c", action="write", address="0x48", register=1, data=[0x60])
    assert written == "wrote 1 bytes to 0x48"
    for millidegrees in (23500, -10250, 84000):
        sabrelite.set_property("/machine/peripheral/tmp0", "temperature", millidegrees)
        answer = board.call("i2c", action="read", address=0x48, register=0, length=2)
        assert celsius(answer) == millidegrees / 1000
    # Two transfers with a pause between them, instead of one with a repeated start.
    answer = board.call("i2c", action="write_read", address=0x48, data=[0], length=2, delay_ms=1)
    assert celsius(answer) == 84


def test_a_sensor_by_name(sabrelite, board):
    sabrelite.set_property("/machine/peripheral/tmp0", "temperature", 31500)
    assert board.call("sensor", action="read", name="room").startswith("room: temperature 31.5 ")


def test_an_address_that_a_kernel_driver_has(board):
    text = board.call("i2c", action="read", address=0x68, register=0, length=7)
    assert text == "error: 0x68 on i2c0 is in use by a kernel driver (EBUSY)"


def test_an_absent_address_of_an_adapter_that_only_waits(board):
    text = board.call("i2c", action="read", address=0x49)
    assert text.startswith("error: bus i2c0 stuck low (ETIMEDOUT)")
    assert text.endswith("or no chip at 0x49")


def test_a_bus_that_is_shared_with_the_network_is_refused(board):
    text = board.call("i2c", action="scan", bus="i2c1")
    assert text == (
        "error: i2c1 is shared: for the test. If you do without that, set i2c.i2c1.shared to true"
    )


def test_the_flash_chip_says_what_it_is(board):
    assert board.call("spi", action="list") == "spi0.0"
    jedec = board.call("spi", action="transfer", data=[0x9F, 0, 0, 0], speed=1000000)
    assert jedec == "0x00 0xbf 0x25 0x41 (0 191 37 65)"


def test_a_transfer_that_is_too_long_for_the_driver(board):
    assert board.call("spi", action="read", length=4096).startswith("4096 bytes, the first 300")
    assert "spi: length must" in board.call("spi", action="read", length=4097)


def test_a_line_is_driven_and_read_back(board):
    for level in (1, 0):
        expected = f"pin D0 (20ac000.gpio:9) is at {level}"
        assert board.call("gpio", action="write", pin="D0", value=level) == expected
        assert board.call("gpio", action="read", pin="D0") == expected
    assert board.call("gpio", action="pulse", pin="d0", ms=1).endswith("is at 0")
    assert "is reserved: for the test" in board.call("gpio", action="read", pin="D1")
    assert "there is no" in board.call("gpio", action="read", pin="D7")


def test_a_scan_that_would_take_half_a_minute_ends_before(board):
    text = board.call("i2c", action="scan")
    assert text.startswith("error: scan given up at 0x") and "waits for absent chips" in text


def test_smbus_calls_put_the_same_bytes_on_the_wires(sabrelite, board):
    sabrelite.set_property("/machine/peripheral/tmp0", "temperature", 26250)
    plain = board.call("i2c", action="read", address=0x48, register=0, length=2)
    board.call("forget", bus="i2c0", functions=1)
    assert board.call("i2c", action="read", address=0x48, register=0, length=2) == plain
    assert board.call("i2c", action="write", address=0x48, register=2, data=[0x4B, 0x10])
    assert board.call("i2c", action="read", address=0x48, register=2, length=2).startswith(
        "0x4b 0x10"
    )


# --- ast2600-evb


def test_a_scan_finds_what_is_there(server):
    assert server.call("i2c", action="scan", bus="i2c-3") == "i2c-3: 0x4d"
    assert server.call("i2c", action="scan", bus="i2c-7").startswith("i2c-7: 0x50 (usually AT24")
    assert "nothing answered" in server.call("i2c", action="scan", bus="i2c-1")


def test_an_absent_address(server):
    assert server.call("i2c", action="read", bus="i2c-3", address=0x49) == (
        "error: no answer at 0x49 on i2c-3 (ENXIO): wiring, power, or address pin? scan found: "
        "0x4d"
    )


def test_buses_go_by_the_kernels_names_where_no_pins_csv_has_others(server):
    text = server.call("i2c", action="scan", bus="i2c-99")
    assert "there is no" in text and "i2c-0, i2c-1, i2c-12" in text


def test_an_eeprom_with_registers_of_sixteen_bits(server):
    where = {"bus": "i2c-7", "address": 0x50, "register": 0x0123, "register_bits": 16}
    data = [1, 2, 0xA5, 255]
    assert "wrote 4" in server.call("i2c", action="write", data=data, **where)
    assert (
        server.call("i2c", action="read", length=4, **where) == "0x01 0x02 0xa5 0xff (1 2 165 255)"
    )
