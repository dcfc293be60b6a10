"""Heap of the whole agent on the 32-bit interpreter, whose objects are the size of an ESP32's.

The agent is wired as on a board: Telegram is polled, the heartbeat waits, all tools are there, the code is
.mpy. Only the chip's own modules are replaced by a few lines (`chip/`), because on the chip they are C.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from host_tools import build, interpreters
from host_tools.bench import code
from host_tools.bench.rows import NotMeasured
from host_tools.services import OWNER, McpTools, Services

#: Search for the smallest heap ends at this grain.
STEP_KB = 4
LOWEST_KB, HIGHEST_KB = 48, 512

#: A turn with one tool call; the stand-in for the model makes exactly this call and repeats the result.
QUESTION = 'call i2c {"action":"read","bus":"i2c0","address":"0x48","register":0,"length":2}'
IN_ANSWER = "0x1f 0x80"

#: The same with a tool of an MCP server.
MCP_QUESTION = 'call home-weather {"place":"hall"}'
MCP_ANSWER = "21.5 degrees, dry, no wind"
PATIENCE_S = 30.0

#: Heap of the long run: that of the budget.
LONG_RUN_KB = 112


class Died(Exception):
    """The agent ended, or did not answer as it should; the text is what it printed last."""


class Agent:
    """One agent process and the services it talks to, over plain HTTP."""

    def __init__(self, root: Path, services: Services, heap_kb: int, arguments: list[str]) -> None:
        self.root = root
        self.services = services
        command = interpreters.find_micropython32().command(
            "-m", "start", *arguments, heap=f"{heap_kb}K"
        )
        self._process = subprocess.Popen(
            command,
            cwd=root,
            env={"MICROPYPATH": code.MODULE_PATH},
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
            with self._printed:
                self.lines.append(line.rstrip())
                self._printed.notify_all()
            words = line.split()
            if len(words) == 3 and words[0] == "live":
                self._live.put((words[1], int(words[2])))
        self._live.put(("end", 0))

    def live(self, label: str) -> int:
        """Wait for the agent's next report of its live heap under `label`, in bytes."""
        while True:
            try:
                found, size = self._live.get(timeout=PATIENCE_S)
            except queue.Empty as exc:
                raise Died(self.last()) from exc
            if found == "end":
                raise Died(self.last())
            if found == label:
                return size

    def wait_line(self, text: str, count: int = 1) -> None:
        """Wait until so many of the lines it has printed hold `text`."""
        with self._printed:
            if not self._printed.wait_for(
                lambda: sum(text in line for line in self.lines) >= count, PATIENCE_S
            ):
                raise Died(f"{text!r} was not printed; {self.last()}")

    def last(self) -> str:
        return " | ".join(self.lines[-6:])

    def ask(self, text: str, expect: str = "") -> str:
        """Send a message as the owner and wait for an answer that holds `expect`; return it."""
        telegram = self.services.telegram
        before = len(telegram.sent)
        telegram.say(OWNER, text)
        for _ in range(int(PATIENCE_S * 4)):
            with contextlib.suppress(TimeoutError):
                telegram.wait_sent(before + 1, 0.25)
                break
            if self._process.poll() is not None:
                break
        if len(telegram.sent) == before:
            raise Died(self.last())
        answer = telegram.sent[before].text
        if expect not in answer:
            raise Died(f"answered {answer[:200]!r}; {self.last()}")
        return answer

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join(5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()


def _tree(
    services: Services, llm: dict[str, object], settings: dict[str, object]
) -> dict[str, bytes]:
    tree = build.firmware_tree("VIRTUAL")
    tree.update(code.chip_tree())
    own = services.settings()
    tree["/config.json"] = json.dumps(
        {
            "llm": {**own["llm"], **llm},
            "telegram": own["telegram"],
            "wifi": {"ssid": "home", "password": "of the house"},
            "console": {"enabled": False},
            **settings,
        }
    ).encode()
    tree["/workspace/SENSORS.json"] = b'{"room":{"driver":"tmp102","bus":"i2c0","address":"0x48"}}'
    tree["/workspace/HEARTBEAT.md"] = b"- (every 1h; when room.temperature > 90) Far too hot.\n"
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


@contextlib.contextmanager
def agent(
    heap_kb: int,
    *,
    messages: int = 0,
    session: bytes = b"",
    llm: dict[str, object] | None = None,
    settings: dict[str, object] | None = None,
    idle_ms: int = 1500,
    watch: bool = False,
) -> Iterator[Agent]:
    """Run the agent in a heap of this size. The owner's chat has a history of so many messages, or the
    file `session`; `llm` are further settings of that section, `settings` further sections. With `watch` each answer
    is followed by `live("most")`, what was alive at the highest point so far."""
    with tempfile.TemporaryDirectory() as folder, Services(tls=False) as services:
        root = Path(folder)
        build.write_tree(_tree(services, llm or {}, settings or {}), root)
        session = session or history(messages)
        if session:
            path = root / "state" / "sessions" / f"telegram_{OWNER}.jsonl"
            path.parent.mkdir(parents=True)
            path.write_bytes(session)
        running = Agent(root, services, heap_kb, [str(idle_ms), *(["watch"] if watch else [])])
        try:
            yield running
        finally:
            running.stop()


def one_turn(heap_kb: int, messages: int = 0) -> None:
    """One turn with a tool call; Died when it does not fit."""
    with agent(heap_kb, messages=messages, idle_ms=300) as running:
        running.live("rest")
        running.ask(QUESTION, IN_ANSWER)


def mcp_turn(heap_kb: int) -> None:
    """Turns with a call of an MCP server's tool: one asks for its tools first, one knows them."""
    with McpTools({"weather": MCP_ANSWER, "news": "none"}) as server:
        settings: dict[str, object] = {"mcp": {"home": {"url": server.mcp_url}}}
        with agent(heap_kb, settings=settings, idle_ms=300) as running:
            running.live("rest")
            for _ in range(2):
                running.ask(MCP_QUESTION, "21.5 degrees")


def long_reply_turn(heap_kb: int) -> None:
    """One turn whose answer of 1,500 characters comes in chunks of one byte."""
    from host_tools.services import Step

    with agent(heap_kb, idle_ms=300) as running:
        running.live("rest")
        running.services.model.plan([Step(path="/chat/completions", chunk_bytes=1)])
        running.ask("say something long 1500", "")


def smallest_kb(
    fits: Callable[[int], None], step_kb: int = STEP_KB, lowest_kb: int = LOWEST_KB
) -> int:
    """The smallest heap, in steps of so many KB, in which `fits(heap_kb)` does not raise Died."""
    _need_32_bit()
    low, high = lowest_kb // step_kb, HIGHEST_KB // step_kb
    last = ""
    while low < high:
        middle = (low + high) // 2
        try:
            fits(middle * step_kb)
            high = middle
        except Died as exc:
            last = str(exc)
            low = middle + 1
    if low * step_kb >= HIGHEST_KB:
        raise NotMeasured(f"does not fit into {HIGHEST_KB} KB: {last}")
    return low * step_kb


def _need_32_bit() -> None:
    try:
        interpreters.find_micropython32()
    except interpreters.InterpreterMissing as exc:
        raise NotMeasured(str(exc)) from exc


def turn_min_kb() -> float:
    return smallest_kb(one_turn)


def turn_min_history_kb() -> float:
    return smallest_kb(lambda heap_kb: one_turn(heap_kb, messages=10000))


def turn_min_mcp_kb() -> float:
    return smallest_kb(mcp_turn)


def turn_min_long_reply_kb() -> float:
    return smallest_kb(long_reply_turn)


def idle_live_kb() -> float:
    """Live heap of the agent that polls Telegram and waits for its heartbeat."""
    _need_32_bit()
    with agent(HIGHEST_KB) as running:
        try:
            return running.live("rest") / 1024
        except Died as exc:
            raise NotMeasured(str(exc)) from exc


def history_growth_kb() -> float:
    """What is alive at the highest point of a turn with a long history, more than with a short one."""
    _need_32_bit()
    return (_most_alive(10000) - _most_alive(10)) / 1024


def _most_alive(messages: int) -> int:
    """Bytes alive at the highest point of a turn with a tool call, where there is heap enough."""
    with agent(HIGHEST_KB, messages=messages, idle_ms=300, watch=True) as running:
        try:
            running.live("rest")
            running.ask(QUESTION, IN_ANSWER)
            return running.live("most")
        except Died as exc:
            raise NotMeasured(str(exc)) from exc


def live_series(turns: int, heap_kb: int) -> list[int]:
    """Live heap after each of so many turns in a row, in bytes: every other one has a tool call, and the
    context is so short that the conversation is summed up again and again."""
    series = []
    summed = 0
    with agent(heap_kb, llm={"context_tokens": 2000}, idle_ms=300) as running:
        running.live("rest")
        session = running.root / "state" / "sessions" / f"telegram_{OWNER}.jsonl"
        # Numbers that gain a digit take a block more, which is no growth.
        running.services.telegram.next_message = 10_001
        for number in range(1000, 1000 + turns):
            if number % 2:
                running.ask(QUESTION, IN_ANSWER)
            else:
                running.ask(f"say turn {number}", f"turn {number}")
            series.append(running.live("turn"))
            if session.stat().st_size > 3 * 2000:
                # It would make way for the next message, again and again.
                summed += 1
                running.wait_line("compacted", summed)
    return series


def live_growth_kb() -> float:
    """Growth of live heap over 1,000 turns, not counting the first 50."""
    _need_32_bit()
    try:
        series = live_series(1000, LONG_RUN_KB)
    except Died as exc:
        raise NotMeasured(f"the agent did not survive: {exc}") from exc
    print("live bytes every 50 turns:", " ".join(str(size) for size in series[::50]))
    return (max(series[-50:]) - max(series[50:100])) / 1024
