# tenner test fakes: a board without hardware, for tests on every interpreter.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.gpio import Gpio
from tenner.sensors.reading import Sensors
from tenner.store import files
from tenner.store.appendlog import dumps
from tenner.store.config import Config
from tenner.tools import prepare
from tenner.tools.registry import Registry


class FakeI2C:
    """A bus with register chips: `chips` is {address: {register: bytes}}; absent ones raise
    ENODEV."""

    def __init__(self, chips=None):
        self.chips = {} if chips is None else chips
        #: Every transfer, as (verb, address, ...), in order.
        self.log = []
        #: Set to an errno to make every transfer fail with it.
        self.fails = None

    def _chip(self, address):
        if self.fails:
            raise OSError(self.fails, "as the test wants it")
        if address not in self.chips:
            raise OSError(19)
        return self.chips[address]

    def scan(self):
        if self.fails:
            raise OSError(self.fails, "as the test wants it")
        return sorted([address for address in self.chips if address >= 8])

    def readfrom_into(self, address, buf):
        chip = self._chip(address)
        self.log.append(("read", address, len(buf)))
        _fill(buf, chip.get(None, b""))

    def writeto(self, address, buf, stop=True):
        self._chip(address)
        self.log.append(("write", address, bytes(buf)))
        return len(buf)

    def readfrom_mem_into(self, address, register, buf, *, addrsize=8):
        chip = self._chip(address)
        self.log.append(("read_mem", address, register, len(buf), addrsize))
        _fill(buf, chip.get(register, b""))

    def writeto_mem(self, address, register, buf, *, addrsize=8):
        self._chip(address)[register] = bytes(buf)
        self.log.append(("write_mem", address, register, bytes(buf), addrsize))


def _fill(buf, data):
    for index in range(len(buf)):
        buf[index] = data[index] if index < len(data) else 0xFF


class FakeSPI:
    """A bus with one device that answers with `answer`; `fails` is raised by a transfer."""

    def __init__(self, answer=b""):
        self.answer = answer
        #: ("init", speed, mode, bits), ("cs", level) and ("transfer", bytes), in order.
        self.log = []
        self.fails = None

    def cs(self, level):
        self.log.append(("cs", level))

    def init(self, *, baudrate, polarity, phase, bits):
        if bits != 8:
            raise ValueError("bits must be 8")
        self.log.append(("init", baudrate, polarity << 1 | phase, bits))

    def write_readinto(self, data, buf):
        self.log.append(("transfer", bytes(data)))
        if self.fails:
            raise self.fails
        _fill(buf, self.answer)


class FakePins(Gpio):
    """Pins of the rows of a `pins.csv`; `log` lists the calls, `levels` the inputs."""

    def __init__(self, text, log, levels):
        super().__init__("")
        self._text = text
        self.log = log
        self.levels = levels

    def rows(self):
        for line in self._text.split():
            name, gpio, note = (line + ",").split(",", 2)
            yield name, int(gpio[4:]), note.strip(",").replace("_", " ")

    def pin(self, name, use, value=None):
        gpio = self._usable(name, use)[1]
        self.log.append((use, gpio, value))
        return FakePin(self, gpio)

    def adc(self, name):
        self.log.append(("adc", self._usable(name, "adc")[1]))
        return self

    def read_u16(self):
        return 32768

    def read_uv(self):
        return 1650499

    def pwm(self, name, freq, duty_u16):
        self.log.append(("pwm", self._usable(name, "pwm")[1], freq, duty_u16))
        return self

    def deinit(self):
        self.log.append(("deinit",))


class FakePin:
    def __init__(self, pins, gpio):
        self.pins = pins
        self.gpio = gpio

    def value(self, level=None):
        if level is not None:
            self.pins.log.append(("value", self.gpio, level))
        return self.pins.levels.get(self.gpio, 0)


class ScriptedI2C:
    """A bus whose chip answers reads from a script, in order; None is no acknowledge."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.written = []

    def scan(self):
        return []

    def writeto(self, address, buf, stop=True):
        if address < 8:
            raise OSError(19)  # no chip may have such an address
        self.written.append(bytes(buf))

    def writeto_mem(self, address, register, buf, *, addrsize=8):
        self.written.append(bytes([register]) + bytes(buf))

    def readfrom_into(self, address, buf, stop=True):
        answer = self.answers.pop(0)
        if answer is None:
            raise OSError(19)
        for index in range(len(buf)):
            buf[index] = answer[index]

    def readfrom_mem_into(self, address, register, buf, *, addrsize=8):
        self.readfrom_into(address, buf)


class FakePort:
    """The part of a port that sensors and tools use."""

    kind = "esp32"
    small = False

    def __init__(self, root, i2c=None, spi=None, rows=""):
        self.root = root
        #: {bus name: FakeI2C}
        self.buses = {} if i2c is None else i2c
        #: {device name: FakeSPI}
        self.devices = {} if spi is None else spi
        #: Rows of pins.csv, with _ for a space in a note; calls on the pins, and their levels.
        self.rows = rows
        self.pin_log = []
        self.levels = {}
        #: Can it run programs?
        self.programs = False
        #: The agent's files that lie elsewhere.
        self.own = ()

    def path(self, name):
        return self.root + "/" + name

    def i2c_names(self):
        return sorted(self.buses)

    def has(self, kind):
        found = {"i2c": self.buses, "spi": self.devices, "exec": self.programs}
        return bool(found[kind] if kind in found else self.pins().names(kind))

    def why_not(self, kind, name):
        return None

    def private(self):
        return self.own

    def scan(self, name):
        return self.buses[name].scan()

    def spi_names(self):
        return sorted(self.devices)

    def i2c(self, name):
        return self.buses[name]

    def spi(self, device):
        bus = self.devices[device]
        return bus, bus.cs

    def pins(self):
        return FakePins(self.rows, self.pin_log, self.levels)

    def memory(self):
        return 50000, 60000

    def system_memory(self):
        return 40000, 30000, 20000

    def vitals(self):
        return {}


class FakeAgent:
    """The agent and its app in one, for tools that talk with others; `made` are the clients they
    were given."""

    def __init__(self):
        self.made = []
        self.notices = []

    @property
    def app(self):
        return self

    def get(self, name):
        return self

    def times(self, entry):
        return str(entry["schedule"])

    def notify(self, text):
        self.notices.append(text)

    def http(self):
        from tenner.net.http import Http

        self.made.append(Http())
        return self.made[-1]


class FakeTurn:
    untrusted_input = False

    def __init__(self, kind="person", channel="telegram", chat="1"):
        self.kind = kind
        self.channel = channel
        self.chat = chat
        self.text = "do it\n\n(now: Saturday 2026-11-21 06:48)"


class FakeCtx:
    """The context of a tool; `answers` are the owner's answers to its questions, then False."""

    def __init__(
        self, folder, settings=None, i2c=None, kind="person", answers=(), spi=None, rows=""
    ):
        self.workspace = folder + "/workspace"
        files.make_dirs(self.workspace)
        self.port = FakePort(folder, i2c, spi, rows)
        self.config = Config(settings)
        self.sensors = Sensors(self.port, self.workspace)
        self.registry = Registry(self.port, self.config, self.workspace)
        self.turn = FakeTurn(kind)
        self.answers = list(answers)
        self.asked = []
        self.sent = []
        self.brief = False

    def http(self):
        return self.agent.http()

    async def jobs(self):
        return self.agent.cron

    def spawn(self, task):
        return self.agent.spawn(task)

    async def send(self, text, chat=None, file=None):
        self.sent.append((chat, text) if file is None else (chat, text, file))
        return "sent"

    async def ask(self, text):
        self.asked.append(text)
        return self.answers.pop(0) if self.answers else False

    async def call(self, name, arguments):
        """Call a tool as the model would; `arguments` is JSON text or an object."""
        text = arguments if isinstance(arguments, str) else dumps(arguments)
        return await prepare.call(self, name, text)
