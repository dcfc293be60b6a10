"""The whole agent in a heap of a given size, on an interpreter whose objects are the size of an
ESP32's.

It is wired as on a board: it polls Telegram, the heartbeat waits, all tools are there, the code is
.mpy. Only the chip's own modules, which are C there, are replaced by a few lines each (`chip/`).
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import queue
import re
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tenner_host import build
from tenner_sim.services import OWNER, Services
from tenner_sim.vboard.time_server import answer
from tests.bench import code
from tests.bench.images import STOCK, Image

PATIENCE_S = 120.0

#: A turn with one tool call; the stand-in for the model makes exactly this call and repeats the
#: result.
QUESTION = 'call i2c {"action":"read","bus":"i2c0","address":"0x48","register":0,"length":2}'
IN_ANSWER = "0x1f 0x80"

#: The agent's log lines when it repeats or drops a step for lack of memory.
SHORT = re.compile("memory allocation failed|out of memory|no memory for an|MemoryError")

HEARTBEAT = "- (every 1h; when room.temperature > 90) Far too hot.\n"

_BUILDING = threading.Lock()

# The agent counts as idle after so many equal samples of the live heap in a row.
_EQUAL_LOOKS = 3
_BETWEEN_LOOKS_S = 0.1


class Died(Exception):
    """The agent ended, or gave a wrong answer; the text is the last it printed."""


@functools.cache
def standins_bytes() -> int:
    """The heap that the stand-ins for the chip's own modules take: on a chip these are C, so an
    agent gets it on top."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        STOCK.install(code.chip_tree(), root)
        done = subprocess.run(
            STOCK.find().command("-c", _STANDINS),
            cwd=root,
            env=STOCK.environment(root),
            capture_output=True,
            text=True,
            check=True,
        )
    return int(done.stdout)


_STANDINS = """
import gc
gc.collect()
before = gc.mem_alloc()
import esp32, machine, network, ntptime
gc.collect()
print(gc.mem_alloc() - before)
"""


class Agent:
    """One agent process and the services it talks to, over plain HTTP."""

    def __init__(
        self, root: Path, services: Services, heap_kb: int, image: Image, mode: str
    ) -> None:
        self.root = root
        self.services = services
        self._process = subprocess.Popen(
            image.find().command("-m", "start", mode, heap=str(heap_kb * 1024 + standins_bytes())),
            cwd=root,
            env=image.environment(root),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._printed = threading.Condition()
        self._live: queue.Queue[tuple[str, int]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            words = line.split()
            if len(words) == 3 and words[0] == "live":
                self._live.put((words[1], int(words[2])))
                continue
            with self._printed:
                self.lines.append(line.rstrip())
                self._printed.notify_all()
        self._live.put(("end", 0))

    def live(self, label: str = "now") -> int:
        """Bytes alive now; in the mode `watched` and with the label `most` at the highest point so
        far."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(label + "\n")
            self._process.stdin.flush()
            found, size = self._live.get(timeout=PATIENCE_S)
        except (OSError, queue.Empty) as exc:
            raise Died(self.last()) from exc
        if found == "end":
            raise Died(self.last())
        return size

    def idle(self) -> int:
        """Wait until nothing runs but a poll for messages; return the bytes alive then."""
        self._wait(lambda timeout_s: self.services.telegram.wait_requests(1, timeout_s))
        end = time.monotonic() + PATIENCE_S
        looks = [self.live()]
        while time.monotonic() < end and looks != looks[:1] * _EQUAL_LOOKS:
            time.sleep(_BETWEEN_LOOKS_S)  # the agent changes it, another process
            looks = [*looks, self.live()][-_EQUAL_LOOKS:]
        return min(looks)

    def wait_line(self, text: str, count: int = 1, unless: str = "") -> None:
        """Wait until so many of its printed lines contain `text`; Died if one contains `unless`
        before."""

        def is_over() -> bool:
            return found(text) >= count or bool(unless) and found(unless) > 0

        def found(wanted: str) -> int:
            return sum(wanted in line for line in self.lines)

        with self._printed:
            self._printed.wait_for(is_over, PATIENCE_S)
            if found(text) < count:
                raise Died(f"{text!r} was not printed; {self.last()}")

    def not_short(self) -> None:
        """Died if a printed line reports a lack of memory."""
        for line in list(self.lines):
            if SHORT.search(line):
                raise Died(line)

    def last(self) -> str:
        return " | ".join(self.lines[-6:])

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, text: str, expect: str = "") -> str:
        """Send a message as the owner, agree to a question of its tool, wait for a message that
        contains `expect` and return it. A long answer comes in several messages."""
        telegram = self.services.telegram
        before = len(telegram.sent)
        telegram.say(OWNER, text)
        self.wait_sent(before + 1)
        if telegram.sent[before].buttons:
            telegram.allow(telegram.sent[before])
            before += 1
            self.wait_sent(before + 1)
        while expect not in (answer := telegram.sent[before].text):
            before += 1
            try:
                self.wait_sent(before + 1)
            except Died:
                raise Died(f"answered {answer[:200]!r}; {self.last()}") from None
        return answer

    def _wait(self, arrival: Callable[[float], object]) -> None:
        """Call `arrival(timeout_s)` until it meets no TimeoutError, or the agent has ended."""
        for _ in range(int(PATIENCE_S * 4)):
            with contextlib.suppress(TimeoutError):
                arrival(0.25)
                return
            if self.ended:
                return

    def wait_sent(self, count: int) -> None:
        """Wait until so many messages have arrived."""
        telegram = self.services.telegram
        self._wait(lambda timeout_s: telegram.wait_sent(count, timeout_s))
        if len(telegram.sent) < count:
            raise Died(self.last())

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join(5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()


def _tree(
    services: Services,
    heartbeat: str,
    llm: dict[str, object],
    settings: dict[str, object],
    debug: bool,
    image: Image,
) -> dict[str, bytes]:
    page = "enabled" in str(settings.get("web"))
    # CPython 3.11 cannot parse in two threads at once.
    with _BUILDING:
        tree = build.firmware_tree("VIRTUAL", debug=debug, form=image.form, page=page)
        tree.update(code.chip_tree())
    own = services.settings()
    config: dict[str, object] = {
        **own,
        "wifi": {"ssid": "home", "password": "of the house"},
        "console": {"enabled": False},
        **settings,
    }
    for section, more in (("llm", llm), ("telegram", settings.get("telegram"))):
        if isinstance(more, dict):
            config[section] = {**own[section], **more}
    tree["/config.json"] = json.dumps(config).encode()
    tree["/workspace/SENSORS.json"] = b'{"room":{"driver":"tmp102","bus":"i2c0","address":"0x48"}}'
    tree["/workspace/HEARTBEAT.md"] = heartbeat.encode()
    return tree


def history(messages: int) -> bytes:
    """A session of so many messages, in turns with a tool call now and then."""
    lines = []
    for number in range(messages // 2):
        lines.append(
            json.dumps(["u", f"question {number}: how warm is it?"], separators=(",", ":"))
        )
        lines.append(
            json.dumps(["a", f"{number % 40} degrees, as before."], separators=(",", ":"))
        )
    return "".join([line + "\n" for line in lines]).encode()


def readings(names: Sequence[str] = ("room.temperature",), count: int = 288) -> bytes:
    """A file of readings up to now, five minutes apart, as a board keeps them: a wave for each
    name."""
    end = int(time.time())
    records = []
    for number in range(count):
        at = end - (count - 1 - number) * 300
        for index in range(len(names)):
            value = 20 + index + 5 * math.sin(number / 40)
            records.append(struct.pack("<IBf", at, index + 1, value))
    return json.dumps([1, *names]).encode() + b"\n" + b"".join(records)


@contextlib.contextmanager
def time_server(fault: str | None = None) -> Iterator[str]:
    """Answer by NTP with this computer's time; yield the server as a setting names it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("127.0.0.1", 0))
        port = end.getsockname()[1]

        def serve() -> None:
            while True:
                query, address = end.recvfrom(512)
                if not query:
                    return
                data = answer(query, time.time(), fault)
                if data:
                    end.sendto(data, address)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{port}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.sendto(b"", ("127.0.0.1", port))
        thread.join(5)


@contextlib.contextmanager
def agent(
    heap_kb: int,
    *,
    image: Image = STOCK,
    messages: int = 0,
    session: bytes = b"",
    heartbeat: str = HEARTBEAT,
    llm: dict[str, object] | None = None,
    settings: dict[str, object] | None = None,
    mode: str = "asked",
    files: dict[str, bytes] | None = None,
    debug: bool = False,
) -> Iterator[Agent]:
    """Run the agent in a heap of this size. The owner's chat has a history of so many messages, or
    the file `session`; `llm` are further settings of that section, `settings` further sections.
    `files` are more of them, by path. `mode` is that of chip/start.py, `debug` that of the
    build."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Services(tls=False) as services,
        time_server() as host,
    ):
        root = Path(folder)
        settings = {"time": {"ntp_host": host}, **(settings or {})}
        tree = _tree(services, heartbeat, llm or {}, settings, debug, image)
        tree.update(files or {})
        image.install(tree, root)
        session = session or history(messages)
        if session:
            path = root / "state" / "sessions" / f"telegram_{OWNER}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(session)
        running = Agent(root, services, heap_kb, image, mode)
        try:
            yield running
        finally:
            running.stop()
