"""The entire agent on the virtual board, against the stand-ins: the base of the end-to-end tests.

    with agent_board(heartbeat="- (every 1s) Say: hello") as bench:
        bench.ready()
        assert bench.ask("What does the TMP102 at 0x48 on i2c0 say?") == ...

Nothing here sleeps: tests wait for the board's serial line, the model's requests and the owner's
messages, each with a limit.
"""

import contextlib
import functools
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenner.schedule.due import board_phase, next_period
from tenner_host import BOARDS
from tenner_host.build import firmware_tree
from tenner_sim import LIMIT_S
from tenner_sim.services import OWNER, Services
from tenner_sim.vboard import BoardError, VirtualBoard
from tenner_sim.vboard.chips import mac_of

#: As on a board without PSRAM, and on one with it.
HEAP = "512K"
PSRAM = "2M"
#: `chip.idf_free` that leaves no room for a second TLS session.
ONE_SESSION = 40000
#: `llm.timeout_s` of a test that waits until it passes: a busy machine answers sooner.
STALLED_S = 20
PASSWORD = "tenner-virtual"

#: Nothing to do: the board looks after people only.
QUIET = "# Heartbeat\n"
SENSORS = '{"room": {"driver": "tmp102", "bus": "i2c0", "address": "0x48"}}\n'
TMP102 = "the TMP102 at 0x48 on i2c0"
ASK = f"What does {TMP102} say?"
READS = "The TMP102 at 0x48 on i2c0 reads {:g} °C."

#: A room that is too warm wakes the model, which reads the sensor and tells the owner.
WARM_ROOM = (
    "# Heartbeat\n\n- (every 1s; when room.temperature > 30 reset 28) The room is too warm. "
    f"Read {TMP102} with the i2c tool and tell me the temperature in one sentence.\n"
)


#: Tests that run side by side need the same trees; besides, CPython 3.11 cannot parse in two
#: threads at once.
BUILDING = threading.Lock()


def _firmware(mpy, page):
    with BUILDING:
        return _built(mpy, page)


@functools.cache
def _built(mpy, page):
    return firmware_tree("VIRTUAL", mpy=mpy, workspace=False, page=page)


def wifi():
    return json.loads((BOARDS / "VIRTUAL" / "devices.json").read_text())["wifi"]


def settings(services, changes=None):
    """config.json of an agent that uses the stand-ins; `changes` by dotted key, None takes one
    out."""
    config = {
        "wifi": {"ssid": wifi()["ssid"], "password": wifi()["password"]},
        **services.settings(poll_s=2),
    }
    for key, value in (changes or {}).items():
        section, _, name = key.partition(".")
        if not name:
            config[section] = value
        elif value is None:
            config.get(section, {}).pop(name, None)
        else:
            config.setdefault(section, {})[name] = value
    return config


def tree(services, heartbeat=QUIET, files=None, changes=None, roots=None, mpy=True):
    """Everything on the flash of a board; `heartbeat` None leaves the file out."""
    made = dict(_firmware(mpy, bool((changes or {}).get("web.enabled"))))
    if heartbeat is not None:
        made["/workspace/HEARTBEAT.md"] = heartbeat.encode()
    made["/workspace/SENSORS.json"] = SENSORS.encode()
    made["/config.json"] = json.dumps(settings(services, changes)).encode()
    own = {"stand-in": services.ca_der} if services.ca_der else {}
    for name, der in (own if roots is None else roots).items():
        made[f"/certs/{name}.der"] = der
    for name, data in (files or {}).items():
        made[name] = data if isinstance(data, bytes) else data.encode()
    return made


class Bench:
    """A board with the agent on it, and the services it talks to."""

    def __init__(self, board, services):
        self.board = board
        self.model = services.model
        self.telegram = services.telegram

    @property
    def log(self):
        """Return the board's output so far, line by line."""
        return self.board.serial_log

    def ready(self):
        """Wait until the agent is on the network and knows the time."""
        self.board.wait_for("connected")
        self.board.wait_for("(pool.ntp.org)")
        return self

    def wait_for(self, text, timeout_s=LIMIT_S):
        """Wait until the board prints `text`, after the text of the last wait."""
        self.board.wait_for(text, timeout_s)

    def told(self, chat=OWNER):
        """Return the messages to a chat so far."""
        return [one.text for one in list(self.telegram.sent) if one.chat_id == chat]

    def wait_told(self, pattern, chat=OWNER, count=1, timeout_s=LIMIT_S):
        """Wait until a chat was told `count` things that fit a regular expression; return the
        last."""

        def found(_telegram=None):
            return [text for text in self.told(chat) if re.search(pattern, text)]

        try:
            self.telegram.wait_for(lambda _: len(found()) >= count, timeout_s)
        except TimeoutError as exc:
            raise AssertionError(
                f"{count} x {pattern!r} not told; told: {self.told(chat)}; the board: "
                f"{self.log[-3000:]}"
            ) from exc
        return found()[count - 1]

    def ask(self, text, chat=OWNER, timeout_s=LIMIT_S, quotes=True):
        """Write by Telegram and return the answer, which quotes the question: other messages may
        come before it. A chart and a welcome quote nothing: they are the next message."""
        before = len(self.told(chat))
        asked = self.telegram.say(chat, text)["message_id"]

        def answers(telegram):
            if quotes:
                return [one.text for one in list(telegram.sent) if one.reply_to == asked]
            return self.told(chat)[before:]

        try:
            self.telegram.wait_for(answers, timeout_s)
        except TimeoutError as exc:
            raise AssertionError(f"no answer to {text!r}; the board: {self.log[-3000:]}") from exc
        return answers(self.telegram)[0]

    def echo(self, word):
        """Have the model say a word: whether a person is answered at all."""
        # The stand-in repeats the time too, which every message of a person comes with.
        answer = self.ask(f"say: {word}")
        assert answer.startswith(word + "\n\n(now: "), answer

    def type(self, line):
        """Type a line at the serial console."""
        self.board.type(line + "\r")

    def type_until(self, line, text):
        """Type a line again and again, until the board prints `text`: its answer is of a state
        that comes in a moment."""
        while True:
            self.type(line)
            with contextlib.suppress(BoardError):
                return self.wait_for(text, 1)

    def fresh(self):
        """Forget the model's requests, so that a test can count the next ones."""
        with self.model.changed:
            self.model.requests.clear()


@contextlib.contextmanager
def agent_board(
    heartbeat=QUIET,
    *,
    files=None,
    changes=None,
    certificate="right",
    tls=True,
    roots=None,
    runtime="micropython",
    heap=HEAP,
    name=None,
    **options,
):
    """A running board with the agent, and its services; all of it ends with the block. `changes`
    may be a function of the services."""
    with Services(certificate=certificate, tls=tls) as services:
        if callable(roots):
            roots = roots(services)
        if callable(changes):
            changes = changes(services)
        made = tree(services, heartbeat, files, changes, roots, runtime == "micropython")
        with VirtualBoard(made, runtime=runtime, heap=heap, name=name, **options) as board:
            yield Bench(board, services)


def begin_the_hour(board):
    """Switch the board on a minute into one of its hourly slots, so that none begins during a
    test."""
    now = board.clock()["time"]
    slot = next_period(3600, board_phase(mac_of(board.name)), now)
    board.clock(advance_s=slot + 60 - now)
    board.power_on()


class SideBySide:
    """The checks of a module that have boards of their own, run some at once: a board mostly
    waits.

    together = SideBySide()

    @together.check
    def test_one(): ...

    @together.each([("a", 1), ("b", 2)])
    def test_many(letter, number): ...

    The first test that is asked for starts all that are selected; each then reports its own
    result.
    """

    def __init__(self, at_once=6):
        self._pool = ThreadPoolExecutor(at_once)
        self._started = {}

    def check(self, function):
        return self.each([()])(function)

    def each(self, cases):
        def wrap(function):
            def test(request, case):
                if not self._started:
                    self._start(request.session.items)
                self._started[request.node.nodeid].result()

            test.side_by_side = (self, function)
            test.__doc__ = function.__doc__
            ids = [str(case[0]) if case else "-" for case in cases]
            return pytest.mark.parametrize("case", cases, ids=ids)(test)

        return wrap

    def _start(self, items):
        for item in items:
            # A whole file under MicroPython is an item without a function.
            test = getattr(item, "function", None)
            owner, function = getattr(test, "side_by_side", (None, None))
            if owner is self:
                case = item.callspec.params["case"]
                self._started[item.nodeid] = self._pool.submit(function, *case)
