"""All drivers on a whole virtual board: the firmware's port and drivers, the onboard modules, the
chips, in real time."""

import json

import pytest

from tenner_host.build import firmware_tree, linux_tree
from tenner_sim.vboard import VirtualBoard

MAIN = b"""\
import asyncio, json, sys
from tenner.port.esp32 import Port
from tenner.sensors.reading import Sensors

root = "." if sys.implementation.name == "cpython" else ""
sensors = Sensors(Port(root), root + "/workspace")

async def read(name):
    try:
        print("\\n@", json.dumps([name, await sensors.read(name)]))
    except Exception as exc:
        print("\\n@", json.dumps([name, str(exc)]))

async def main():
    for name in sensors.names():
        await read(name)

asyncio.run(main())
print("=== end ===")
"""

#: Pins that the virtual board has no use for.
PINS = b"SPI0_CS1,GPIO3\nSPI0_CS2,GPIO0\nD18,GPIO18\nD19,GPIO19\nD20,GPIO20\n"
FREE = (b"USB_DM,", b"USB_DP,", b"UART0_RX,", b"LED,", b"A0,")

#: The wired chips: chip, bus, address, its entry in SENSORS.json, the set value and the expected
#: reading.
WIRED = {
    "a_tmp": (
        "LM75",
        "i2c0",
        "0x4f",
        {"driver": "lm75", "address": "0x4f"},
        {"temperature": -12.5},
    ),
    "b_sht3": (
        None,
        "",
        "",
        {"driver": "sht31"},
        {"temperature": 24.0, "humidity": 55.0},
    ),
    "c_sht4": (
        "SHT40",
        "i2c0",
        "0x45",
        {"driver": "sht40", "address": 0x45},
        {"temperature": -20.0, "humidity": 3.0},
    ),
    "d_aht": (
        "AHT20",
        "i2c0",
        "0x38",
        {"driver": "aht20"},
        {"temperature": -5.0, "humidity": 99.0},
    ),
    "e_bme": (
        "BME280",
        "i2c0",
        "0x76",
        {"driver": "bme280"},
        {"temperature": 12.3, "pressure": 987.6, "humidity": 31.0},
    ),
    "f_bmp": (
        "BMP280",
        "i2c0",
        "0x77",
        {"driver": "bme280", "address": "0x77"},
        {"temperature": -30.5, "pressure": 700.0},
    ),
    "g_light": ("BH1750", "i2c0", "0x23", {"driver": "bh1750"}, {"light": 20000.0}),
    "h_volts": (
        "ADS1115",
        "i2c0",
        "0x49",
        {"driver": "ads1115", "address": "0x49", "channel": "0-1"},
        {"voltage": -1.0},
    ),
    "i_oven": (
        "MAX31855",
        "spi0.gpio0",
        None,
        {"driver": "max31855", "bus": "spi0.2"},
        {"temperature": -100.25, "internal": -1.5},
    ),
    "j_kiln": (
        "MAX6675",
        "spi0.gpio3",
        None,
        {"driver": "max6675", "bus": "spi0.1"},
        {"temperature": 900.25},
    ),
    "k_level": (
        "MCP3008",
        "spi0.0",
        None,
        {"driver": "mcp3008", "bus": "spi0.0", "channel": 7, "value": "level", "scale": 10},
        {"level": 22.5},
    ),
    "l_probe": (
        "DS18B20",
        "gpio18",
        None,
        {"driver": "ds18b20", "pin": "D18"},
        {"temperature": -10.125},
    ),
    "m_air": (
        "DHT22",
        "gpio19",
        None,
        {"driver": "dht22", "pin": 19},
        {"temperature": -0.5, "humidity": 12.3},
    ),
    "n_adc": (None, "", "", {"driver": "adc", "pin": "A1"}, {"voltage": 0.75}),
    "o_door": (None, "", "", {"driver": "gpio", "pin": "D20", "pull": "up"}, {"state": 1}),
}


def tree(mpy):
    files = firmware_tree("VIRTUAL", mpy=False)
    if mpy:
        # One by one, for main.py here imports the port and the sensors alone.
        files = {name: data for name, data in files.items() if not name.endswith(".py")}
        files |= {f"/lib/{name}": data for name, data in linux_tree(mpy=True).items()}
    table = {name: settings for name, (_, _, _, settings, _) in WIRED.items()}
    rows = files["/lib/tenner/pins.csv"].splitlines(keepends=True)
    kept = b"".join(row for row in rows if not row.startswith(FREE))
    return files | {
        "/boot.py": b"",
        "/main.py": MAIN,
        "/workspace/SENSORS.json": json.dumps(table | {"z_board": {"driver": "cpu"}}).encode(),
        "/lib/tenner/pins.csv": kept + PINS,
    }


def wire(board):
    board.detach("oven")
    for name, (chip, bus, address, _, values) in WIRED.items():
        if chip is None:
            continue
        board.attach(name, chip, bus, address)
        for value_name, value in values.items():
            if value_name not in ("voltage", "level"):
                board.set(f"{name}.{value_name}", value)
    board.set("h_volts.in0", 1.0)
    board.set("h_volts.in1", 2.0)
    board.set("k_level.ch7", 2.25)
    board.set("gpio1.volts", 0.75)


@pytest.mark.parametrize("runtime", ["micropython", "micropython32", "cpython"])
def test_all_sensors_of_a_board(runtime, request):
    # The interpreter's fixture skips with the reason where there is none.
    interpreter = None if runtime == "cpython" else request.getfixturevalue(runtime)
    kind = "cpython" if runtime == "cpython" else "micropython"
    with VirtualBoard(
        tree(kind != "cpython"), runtime=kind, interpreter=interpreter, power=False
    ) as board:
        wire(board)
        board.power_on()
        board.wait_for("=== end ===")
        lines = [line for line in board.serial_log.splitlines() if line.startswith("@ ")]
    seen = dict(json.loads(line[2:]) for line in lines)
    for name, (_, _, _, _, values) in WIRED.items():
        assert isinstance(seen[name], dict), seen[name]
        assert seen[name] == pytest.approx(values, rel=0.002, abs=0.03), name
    assert seen["z_board"]["temperature"] == 38
    assert seen["z_board"]["heap_used"] > 0
