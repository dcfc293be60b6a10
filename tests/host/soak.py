"""A hard week for one board, in minutes: people, alerts, faults of every kind, and the invariants
after it.

    make soak                       2,000 messages in, 500 alerts out
    make soak MESSAGES=200 ALERTS=50 SEED=7
    make soak MIX=all               the same with page, broker, media and clocks (soak_mix)
    make soak MINUTES=10            no more messages and alerts after that time

The 32-bit interpreter on a virtual board, with the heap of the budget. Meanwhile the Wi-Fi drops,
Telegram and the model refuse, break off and close connections, and the power is cut, also in the
middle of writing.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import random
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

# The tests' own modules are found by name, as pytest finds them.
sys.path[:0] = ["tests", "firmware"]

from tenner_host.interpreters import find_micropython32  # noqa: E402
from tenner_sim.services import OWNER, Services, Step  # noqa: E402
from tests import provider_requests  # noqa: E402
from tests.bench.agent import SHORT  # noqa: E402
from tests.host.e2e import ONE_SESSION, Bench, agent_board  # noqa: E402

HEAP = "152K"
BEAT = (
    "# Heartbeat\n\n- (every 1s; when room.temperature changes by 0.03; notify) Room at "
    "{room.temperature}\n"
)
MARK = "(maybe sent before) "
#: An alarm that is told over 5 minutes after its beginning names that: after an outage, or where
#: the clock was set in between.
LATE = re.compile(r" \(at \d\d:\d\d\)$")
LIMIT_S = 180
_IN_FLIGHT = 3
_VALUES = 640

#: On a chip TLS takes memory beside Python's heap; this interpreter would take it from the heap.
#: So it is left out, and all that the firmware does about it is there: the TLS semaphore, with one
#: session at a time.
SSL = """\
PROTOCOL_TLS_CLIENT = CERT_REQUIRED = 0


class SSLContext:
    def __init__(self, protocol):
        self.verify_mode = None

    def load_verify_locations(self, cadata):
        pass

    def wrap_socket(self, sock, server_hostname=None, do_handshake_on_connect=True):
        return sock
"""

#: The faults: (weight, name). Faults of a service are steps of its plan.
_TELEGRAM = (
    Step(status=429, retry_after_s=1, path="sendMessage"),
    Step(status=429, retry_after_s=1, path="getUpdates"),
    Step(status=502, path="sendMessage"),
    Step(reset=0, path="sendMessage"),
    Step(cut=40, path="sendMessage"),
    Step(reset=0, path="getUpdates"),
    Step(close="silent"),
)
_MODEL = (
    Step(status=500),
    Step(status=429, retry_after_s=1),
    Step(reset=30, where="body"),
    Step(cut=10, where="body"),
    Step(close="silent"),
)
_FAULTS = ("telegram",) * 6 + ("model",) * 4 + ("wifi",) * 3 + ("power", "torn")


@dataclass
class Report:
    """The result of a soak; `problems` is empty when everything held."""

    problems: list[str] = field(default_factory=list)
    messages: int = 0
    alerts: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    #: People whose answer was given up, as it may have been sent, or has another's answer.
    given_up: int = 0
    #: Of them those whose message was old and was joined with others.
    joined: int = 0
    marked: int = 0
    late: int = 0
    heap_kb: list[int] = field(default_factory=list)
    short: int = 0
    #: Of those beside Telegram: their acts and the outcomes.
    others: Counter[str] = field(default_factory=Counter)
    #: Files that the interpreter had open, at each look.
    open_files: list[int] = field(default_factory=list)
    flash_bytes: int = 0
    flash_erases: int = 0
    seconds: float = 0.0
    log: str = ""


class Soak:
    """Drives one board; people, the room and the faults are threads of their own."""

    faults: tuple[str, ...] = _FAULTS
    #: Stand in the tracebacks of faults that are meant to be there.
    planted: tuple[str, ...] = ()

    def __init__(self, bench: Bench, messages: int, alerts: int, seed: int) -> None:
        self.bench = bench
        self.messages = messages
        self.alerts = alerts
        self.random = random.Random(seed)
        self.report = Report()
        self._said: dict[int, str] = {}  # message id -> the word asked for
        self._shown: list[str] = []
        self._over = threading.Event()
        #: The alerts, and the ids of messages, of a time in which flash took nothing and the power
        #: failed: these may come twice.
        self.unnoted: set[str | int] = set()
        #: Of the monotonic clock: the end of messages and alerts.
        self.end_s: float | None = None

    # --- concurrent events

    def _people(self) -> None:
        telegram = self.bench.telegram
        for number in self._numbers(self.messages):
            word = f"word-{number}-"
            text = "/status" if number % 10 == 9 else f"say: {word}"
            self._said[telegram.say(OWNER, text)["message_id"]] = text
            self._wait(lambda: self._unanswered() < _IN_FLIGHT, "a person was not answered")

    def _numbers(self, most: int) -> Iterator[int]:
        for number in range(most):
            if self.end_s is not None and time.monotonic() > self.end_s:
                return
            yield number

    def _room(self) -> None:
        # The same words within an hour are one alert: each value comes once, as long as there are
        # any.
        for number in self._numbers(min(self.alerts, _VALUES)):
            value = number / 4 - 40
            self.bench.board.set("room.temperature", value)
            text = f"Room at {value:g} \N{DEGREE SIGN}C"
            self._shown.append(text)
            self._wait(lambda text=text: self._told(text) > 0, f"not told: {text}")

    def _break_things(self) -> None:
        board = self.bench.board
        while not self._over.wait(self.random.uniform(1, 8)):
            fault = self.random.choice(self.faults)
            self.report.faults[fault] += 1
            if self._break_more(fault):
                continue
            if fault == "telegram":
                self.bench.telegram.plan([self.random.choice(_TELEGRAM)])
            elif fault == "model":
                self.bench.model.plan([self.random.choice(_MODEL)])
            elif fault == "wifi":
                board.wifi(False)
                self._over.wait(self.random.uniform(0.2, 3))
                board.wifi(True)
            elif fault == "power":
                board.power_cycle()
            else:
                board.power_cut(self.random.randrange(8), self.random.random() < 0.5)
                self._over.wait(3)
                board.power_cycle()

    def _break_more(self, fault: str) -> bool:
        """Cause a fault that is not of this class; return whether it was one."""
        return False

    def _others(self) -> list[Callable[[], None]]:
        """Work beside that of people, each until `_over`."""
        return []

    # --- the invariants

    def _unanswered(self) -> int:
        """Return the number of people who wait. Answers come in order: one that was overtaken
        never comes."""
        answered = [one.reply_to for one in list(self.bench.telegram.sent) if one.reply_to]
        last = max(answered, default=0)
        return sum(id > last for id in list(self._said))

    def _given_up(self) -> int:
        """Answers whose fate is unknown are given up, and said to be; some of them have
        arrived."""
        return len(re.findall(r"outbox +message to telegram:\d+: maybe sent", self.bench.log))

    def _joined(self) -> int:
        """Messages beside the first one of those that are answered in one."""
        return 0

    def _told(self, text: str) -> int:
        return sum(_alert(one.text) == text for one in list(self.bench.telegram.sent))

    def _wait(self, holds, otherwise: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not holds():
            if time.monotonic() > end:
                self.report.problems.append(otherwise)
                return
            time.sleep(0.05)  # polls a list that other threads fill

    # --- the run and its judgment

    def run(self, minutes: float | None = None) -> Report:
        """Run everything, let it come to rest, and judge."""
        start = time.monotonic()
        self.end_s = start + minutes * 60 if minutes else None
        before = self.bench.board.flash_counters()
        breaking = threading.Thread(target=self._break_things)
        working = [threading.Thread(target=self._people), threading.Thread(target=self._room)]
        others = [threading.Thread(target=one) for one in self._others()]
        for thread in (breaking, *working, *others):
            thread.start()
        for thread in working:
            thread.join()
        self._over.set()
        for thread in (breaking, *others):
            thread.join()
        self._wait(lambda: self._unanswered() <= 0, "a person was never answered")
        self._judge()
        used = self.bench.board.flash_counters().since(before)
        self.report.flash_bytes, self.report.flash_erases = used.bytes, used.erases
        self.report.log = self.bench.log
        self.report.messages, self.report.alerts = len(self._said), len(self._shown)
        self.report.seconds = time.monotonic() - start
        return self.report

    def _judge(self) -> None:
        report = self.report
        sent = list(self.bench.telegram.sent)
        quoted = Counter(one.reply_to for one in sent if one.reply_to is not None)
        for id, text in self._said.items():
            if quoted[id] > 1 + (id in self.unnoted):
                answers = [one.text[:80] for one in sent if one.reply_to == id]
                report.problems.append(f"{quoted[id]} answers to {text!r}: {answers}")
        report.given_up = sum(quoted[id] == 0 for id in self._said)
        report.joined = min(self._joined(), report.given_up)
        if report.given_up > self._given_up() + report.joined:
            silent = [text for id, text in self._said.items() if not quoted[id]]
            report.problems.append(
                f"{report.given_up} without an answer, {self._given_up()} of them given up, "
                f"{report.joined} joined with others: {silent[:20]}"
            )
        for one in sent:
            if one.reply_to in self._said:
                asked = self._said[one.reply_to]
                report.answers[_kind(asked, one.text)] += 1
        alerts: dict[str, list[str]] = {}
        for one in sent:
            alerts.setdefault(_alert(one.text), []).append(one.text)
        for text in self._shown:
            told = alerts.get(text, [])
            marked = sum(one.startswith(MARK) for one in told)
            plain = len(told) - marked
            report.marked += marked
            report.late += sum(LATE.search(one) is not None for one in told)
            if plain + marked == 0:
                report.problems.append(f"never told: {text}")
            if plain > 1 + (text in self.unnoted):
                report.problems.append(f"told {plain} times unmarked: {text}")
        for used in re.findall(
            r"heap \d+ KB free, (\d+) KB used", "\n".join(o.text for o in sent)
        ):
            report.heap_kb.append(int(used))
        report.short = len(SHORT.findall(self.bench.log))
        found = [one[:2500] for one in self.bench.log.split("Traceback")[1:]]
        if unknown := [one for one in found if not any(word in one for word in self.planted)]:
            report.problems.append(
                f"the board printed a traceback {len(unknown)} times; the first:\n"
                + unknown[0][:800]
            )


def _alert(text: str) -> str:
    """Return the text of an alert without its marks."""
    return LATE.sub("", text.removeprefix(MARK))


def _kind(asked: str, answer: str) -> str:
    if asked == "/status":
        return "status" if answer.startswith("tenner ") else "other"
    if asked.removeprefix("say: ") in answer:
        return "answered"
    return "told of the restart" if "restarted" in answer else "a sentence of failure"


@contextlib.contextmanager
def soaked(  # type: ignore[no-untyped-def]
    heap: str,
    more: Callable[[Services], dict[str, object]] = lambda _: {},
    beat: str = BEAT,
    files: dict[str, str | bytes] | None = None,
):
    """The board of a soak; `more` are settings of its own, as are the file HEARTBEAT.md and
    further files. Yields its Bench."""

    def settings(services: Services) -> dict[str, object]:
        return {
            "heartbeat.dedup_h": 1,
            "session.max_kb": 16,
            "llm.base_url": services.model.base_url.replace("http:", "https:"),
            "telegram.base_url": services.telegram.url.replace("http:", "https:"),
            **more(services),
        }

    with agent_board(
        beat,
        interpreter=find_micropython32(),
        heap=heap,
        tls=False,
        files={"/lib/ssl.py": SSL, "/certs/any.der": b"-", **(files or {})},
        changes=settings,
    ) as bench:
        bench.board.set("chip.idf_free", ONE_SESSION)
        # The first beat takes the value that changes are counted from.
        bench.wait_for("no condition met")
        yield bench


def soak(
    messages: int, alerts: int, seed: int, heap: str = HEAP, minutes: float | None = None
) -> Report:
    """Run a soak of this size."""
    with soaked(heap) as bench:
        return Soak(bench, messages, alerts, seed).run(minutes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--alerts", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--heap", default=HEAP)
    parser.add_argument("--log", type=Path, help="keep the board's output in this file")
    parser.add_argument("--minutes", type=float, help="no more messages and alerts after these")
    parser.add_argument("--mix", choices=("all",), help="with everything else at once")
    options = parser.parse_args()
    provider_requests.install()
    run = soak
    if options.mix:
        # It needs a broker.
        run = importlib.import_module("tests.host.soak_mix").soak
    report = run(options.messages, options.alerts, options.seed, options.heap, options.minutes)
    print(f"{report.messages} messages, {report.alerts} alerts in {report.seconds:.0f} s")
    print("faults:", ", ".join(f"{count} {name}" for name, count in report.faults.most_common()))
    print("answers:", ", ".join(f"{count} {name}" for name, count in report.answers.most_common()))
    print(f"old messages that were joined with others, which have the answer: {report.joined}")
    print(f"answers given up as maybe sent that had not been: {report.given_up - report.joined}")
    print(f"alerts repeated with their mark: {report.marked}, with the time of day: {report.late}")
    print(f"short of memory: {report.short} times")
    for name, count in sorted(report.others.items()):
        print(f"{name}: {count}")
    if report.open_files:
        print("open files:", *report.open_files)
    print("heap used at /status, KB:", *report.heap_kb)
    print(f"flash: {report.flash_bytes} bytes written, {report.flash_erases} erases")
    if options.log:
        options.log.write_text(report.log)
    for problem in report.problems[:20]:
        print("PROBLEM:", problem)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
