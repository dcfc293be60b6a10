"""An owner's week with everything at once: `make soak MIX=all`.

There are the people, alerts and faults of tests/host/soak.py. A browser is at the board's page,
and a broker carries messages and readings. People send media of wrong types and sizes, and ask
for updates: signed ones come now and then, by turns a good version and one that fails its trial.
The broker lies: it repeats retained orders, gives the board's session to another client, and goes
away. The clock jumps. Flash is full for some seconds. The interpreter crashes, and a watchdog
resets the board.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import paho.mqtt.client as paho

from tenner_host import FIRMWARE
from tenner_host.release import keys
from tenner_sim.services import OWNER, Services
from tenner_sim.services.authority import Authority
from tenner_sim.services.telegram_people import Sent
from tests import photos
from tests.host import releases
from tests.host import soak as one_channel
from tests.host.broker import PASSWORD, USER, Broker, Owner
from tests.host.e2e import Bench
from tests.host.web_client import Client
from tests.ports import free_port

_TOPIC = "attic"
_VIEWS = ("/now", "/chat", "/readings", "/now", "/events?after=0")
_MEDIA = (
    ("document", {"data": b"MZ" * 400, "file_name": "a.exe", "mime_type": "application/x-dos"}),
    ("document", {"data": b"", "file_name": "empty.png", "mime_type": "image/png"}),
    ("document", {"data": b"x" * 3000, "file_name": "text.png", "mime_type": "image/png"}),
    ("photo", {"sizes": {(90, 60): b"no picture"}}),
    ("photo", {"sizes": {(5000, 5000): b"\xff\xd8" * 400000}}),
    ("voice", {"data": b"no voice"}),
    ("audio", {"data": b"\0" * 50, "file_size": 900000000}),
)
#: A driver that takes all room on flash while a pin is high. It is asked in each beat, between
#: two writes of the agent.
FILL = """\
import os
from machine import Pin

PIN = Pin(3, Pin.IN)
PIECE = bytes(256)


def _put(number, blocks):
    try:
        with open("/fill/%d" % number, "wb") as file:
            for _ in range(blocks * 16):
                file.write(PIECE)
        return True
    except OSError:
        return False


async def read(port, cfg):
    full = PIN.value()
    names = os.listdir("/fill")
    if full:
        number = len(names)
        free = os.statvfs("/")[3]
        if free > 8:
            number += _put(number, free - 4)
        while _put(number, 1):
            number += 1
    else:
        for name in names:
            os.remove("/fill/" + name)
    return {"state": full}
"""
_FULL = "gpio3"
_FILES = {
    "/workspace/drivers/fill.py": FILL,
    "/workspace/SENSORS.json": '{"room": {"driver": "tmp102", "bus": "i2c0", "address": "0x48"}, '
    '"fill": {"driver": "fill"}}\n',
    "/fill/0": "-",
}
_BEAT = one_channel.BEAT + "- (every 1s; when fill.state > 1; notify) never\n"
#: The version in the code that is built; its place in a version has room for each of a run.
_VERSION = b"0.100.0"
#: The part of a bad one that fails: a service.
_PLANTED = "invalid syntax for integer with base 10: 'bad'"
_FAULT = (
    "runtime/services.py",
    '    host = app.config.get("time.ntp_host")\n',
    '    host = int("bad")\n',
)
_TRIAL_S = 60
#: Seconds in which an update must have come to an end, with all that stops it meanwhile.
_UPDATE_S = 240
#: Growth of a heap within a run that counts as a leak, in KB.
_GROWTH_KB = 12


class Mix(one_channel.Soak):
    """The soak with everything beside it."""

    faults = (
        *one_channel.Soak.faults,
        *("broker", "retained", "takeover", "clock", "full") * 2,
        "killed",
    )
    #: Beside a trial memory may be short for a service, which is counted and restarts.
    planted = (_PLANTED, "OutOfMemory: ", "MemoryError: ")

    def __init__(
        self,
        bench: Bench,
        messages: int,
        alerts: int,
        seed: int,
        page: int,
        broker: Broker,
        server: releases.Server,
    ) -> None:
        super().__init__(bench, messages, alerts, seed)
        self.page = page
        self.broker = broker
        self.server = server
        #: The versions that were offered, and whether each is a good one.
        self.versions: dict[str, bool] = {}
        self._orders = 0  # retained ones

    def _others(self) -> list[Callable[[], None]]:
        return [
            self._browse,
            self._talk_by_broker,
            self._attach,
            self._update,
            self._count_files,
        ]

    # --- the owner's other ways in

    def _browse(self) -> None:
        """Look at the views of the page, and talk there; pair again when a session is lost."""
        client = None
        number = 0
        while not self._over.wait(2):
            try:
                if client is None:
                    client = self._paired()
                path = _VIEWS[number % len(_VIEWS)]
                number += 1
                status = client("GET", path).status
                if number % 20 == 0:
                    status = client("POST", "/chat", {"text": f"say: page-{number}-"}).status
            except (OSError, AssertionError):
                self.report.others["page: no connection"] += 1
                continue
            self.report.others[f"page: {status}"] += 1
            if status == 401:
                client = None

    def _paired(self) -> Client:
        before = len(self.bench.log)
        self.bench.type("/web")
        end = time.monotonic() + 20
        while not (found := re.search(r"enter the code (\S+)", self.bench.log[before:])):
            if time.monotonic() > end:
                raise OSError("the console gives no code")
            time.sleep(0.1)  # polls a log that another thread fills

        class Here:
            port = self.page

        return Client(Here()).pair(found[1].rstrip("."))

    def _talk_by_broker(self) -> None:
        """Ask by way of the broker, also when it is away."""
        number = 0
        while not self._over.is_set():
            try:
                with contextlib.closing(Owner(self.broker, (f"{_TOPIC}/#",))) as owner:
                    for _ in range(8):
                        number += 1
                        owner.publish(f"{_TOPIC}/say", f"say: broker-{number}-")
                        self.report.others["broker: asked"] += 1
                        if self._over.wait(4):
                            break
                    for topic, text in list(owner.heard):
                        if topic == f"{_TOPIC}/answer" and "broker-" in text:
                            self.report.others["broker: answered"] += 1
                        elif topic.startswith(f"{_TOPIC}/sensor/"):
                            self.report.others["broker: readings"] += 1
            except (OSError, AssertionError, RuntimeError, ValueError):
                self.report.others["broker: away"] += 1
                self._over.wait(1)

    def _attach(self) -> None:
        """Send files of wrong types and sizes, and a real photo."""
        number = 0
        while not self._over.wait(7):
            number += 1
            if number % 5 == 3:
                message = self.bench.telegram.attach(OWNER, "photo", "look", sizes=_SIZES)
            else:
                kind, options = _MEDIA[number % len(_MEDIA)]
                message = self.bench.telegram.attach(OWNER, kind, "look", **options)
            self._said[message["message_id"]] = f"(media {number})"
            self.report.others["media: sent"] += 1

    def _update(self) -> None:
        """Order no version, a good one and a bad one by turns, each when the one before has
        ended."""
        number = 0
        while not self._over.wait(self.random.uniform(5, 20)):
            kind = ("none", "good", "bad")[number % 3]
            number += 1
            version = f"0.{99 + number}.0"
            if kind != "none":
                self.versions[version] = kind == "good"
                self.server.body = _release(version, kind == "good")
            outcome = self._ordered(f"/update {version}", version)
            if "short of memory" in outcome:
                # As the owner is told to.
                self.report.others["update: restarted for its memory"] += 1
                self.bench.board.power_cycle()
                outcome = self._ordered(f"/update {version}", version)
            self.server.body = b""
            self.report.others[f"update, {kind}: {outcome}"] += 1

    def _ordered(self, text: str, version: str) -> str:
        """Return the outcome of an order, which may be that the run is over."""
        before = len(self.bench.telegram.sent)
        self._said[self.bench.telegram.say(OWNER, text)["message_id"]] = text
        end = time.monotonic() + _UPDATE_S
        while time.monotonic() < end:
            outcome = _outcome(version, list(self.bench.telegram.sent)[before:])
            if outcome:
                return outcome
            if self._over.wait(0.2):
                return "the run was over"
        return "no outcome"

    def _count_files(self) -> None:
        while not self._over.wait(10):
            pid = self.bench.board.status().get("child")
            with contextlib.suppress(OSError):
                self.report.open_files.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))

    # --- faults

    def _break_more(self, fault: str) -> bool:
        if fault == "broker":
            self.broker.stop()
            self._over.wait(self.random.uniform(0.5, 4))
            self.broker.start()
        elif fault == "retained":
            with contextlib.suppress(OSError, AssertionError, RuntimeError, ValueError):
                self._orders += 1
                _retain(self.broker, f"say: retained-{self._orders}-")
        elif fault == "takeover":
            self._take_over()
        elif fault == "clock":
            self.bench.board.clock(drift_s=self.random.choice((-7200, -90, 90, 7200)))
        elif fault == "killed":
            pid = self.bench.board.status().get("child")
            if pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        elif fault == "full":
            self._fill()
        else:
            return False
        return True

    def _fill(self) -> None:
        """Take all room on flash for some seconds, in which the power may fail."""
        board = self.bench.board
        begun = max(len(self._shown) - 1, 0)
        answered = self._answered()
        board.set(_FULL, 1)
        self._over.wait(self.random.uniform(3, 8))
        is_cut = self.random.random() < 0.3
        if is_cut:
            self.report.others["power cut with a full flash"] += 1
            self.unnoted |= set(self._said) - answered
            board.power_cycle()
            self._over.wait(3)
        board.set(_FULL, 0)
        if is_cut:
            self.unnoted |= set(self._shown[begun:])

    def _take_over(self) -> None:
        """Be another client with the board's name for a moment: the broker cuts the board off."""
        names = re.findall(r" as (\S+) \(p2", self.broker.log)
        name = next((one for one in reversed(names) if one.startswith("tenner")), None)
        if not name:
            return
        self.report.others["broker: session taken over"] += 1
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=name)
        client.username_pw_set(USER, PASSWORD)
        client.tls_set_context(self.broker.authority.client_context())
        with contextlib.suppress(OSError):
            client.connect("localhost", self.broker.port)
            client.loop_start()
            self._over.wait(0.5)
            client.loop_stop()
            client.disconnect()

    # --- the judgment

    def _answered(self) -> set[int]:
        return {one.reply_to for one in list(self.bench.telegram.sent) if one.reply_to}

    def _given_up(self) -> int:
        """A message is lost if flash could not note it and the power failed before its answer."""
        lost = len(self.unnoted & set(self._said) - self._answered())
        self.report.others["messages lost to a full flash and a power cut"] = lost
        return super()._given_up() + lost

    def _joined(self) -> int:
        """After a jump of the clock messages are old ones: one answer is for all of them."""
        # A power cut repeats the line.
        joined = set(re.findall(r"I wrote this over an hour ago.*", self.bench.log))
        more = sum(int(one) for one in re.findall(r"\((\d+) more were left out", "".join(joined)))
        return more + sum(max(one.count(" | - ") - 1, 0) for one in joined)

    def _judge_retained(self) -> None:
        """A retained message is no order: one from before the board's time is never obeyed. The
        broker gives another to a board that is connected like any message: once, and once more
        if it is cut off before its receipt."""
        most: Counter[int] = Counter()
        for request in list(self.bench.model.requests):
            asked = [
                str(one)
                for one in (request.json or {}).get("messages", ())
                if one["role"] == "user"
            ]
            for number in range(self._orders + 1):
                times = sum(f"retained-{number}-" in one for one in asked)
                most[number] = max(most[number], times)
        if most.pop(0, 0):
            self.report.problems.append("a retained message was paid for")
        for number, times in most.items():
            if times > 2:
                self.report.problems.append(f"retained message {number} was obeyed {times} times")

    def _judge_updates(self) -> None:
        told = Counter(one.text for one in list(self.bench.telegram.sent))
        for version, is_good in self.versions.items():
            stays = [text for text in told if f"I run version {version} now" in text]
            if stays and not is_good:
                self.report.problems.append(f"the bad version {version} stayed")
            if sum(told[text] for text in stays if not text.startswith(one_channel.MARK)) > 1:
                self.report.problems.append(f"told twice of the update to {version}")

    def _judge(self) -> None:
        super()._judge()
        self._judge_updates()
        report = self.report
        log = self.bench.log
        self._judge_retained()
        for name in ("page: 200", "broker: answered", "broker: readings"):
            if not report.others[name]:
                report.problems.append(f"{name}: never")
        for what, values, most in (
            ("the heap", report.heap_kb, _GROWTH_KB),
            ("open files", report.open_files, 2),
        ):
            third = len(values) // 3
            if third > 3:
                first, last = (
                    sorted(one)[third // 2] for one in (values[:third], values[-third:])
                )
                if last > first + most:
                    report.problems.append(f"{what} grew from {first} to {last}")
        for failure in re.findall(r"\bapp:? +(\w+ failed: .*)", log):
            report.others[failure.strip()] += 1


def _retain(broker: Broker, text: str) -> None:
    with contextlib.closing(Owner(broker, ("nothing",))) as owner:
        owner.publish(f"{_TOPIC}/say", text, retain=True)


def _release(version: str, is_good: bool) -> bytes:
    """Return a signed release of this version; the code is built once."""
    changes = (releases.SHORT_TRIAL,) if is_good else (releases.SHORT_TRIAL, _FAULT)
    code = releases.code(_VERSION.decode(), *changes)
    made = {name: data.replace(_VERSION, version.encode()) for name, data in code.items()}
    return releases.release(made, version)


def _outcome(version: str, sent: list[Sent]) -> str | None:
    """Return how the update to a version has ended, as the owner was told; None before that."""
    for one in sent:
        if f"I run version {version} now" in one.text:
            return "stays"
        if f"Version {version} failed its trial" in one.text:
            return "rolled back"
        if one.text.startswith(("No update", "The trial of the last")):
            return "not begun: " + one.text.partition(": ")[2][:40]
    return None


_SIZES = photos.sizes()


def soak(
    messages: int,
    alerts: int,
    seed: int,
    heap: str = one_channel.HEAP,
    minutes: float | None = None,
) -> one_channel.Report:
    """Run a soak of this size with everything at once."""
    page, plain = free_port(), free_port()
    for is_good in (True, False):
        _release(_VERSION.decode(), is_good)  # the build takes the time of many beats
    script = (FIRMWARE / "boot_trial.py").read_text()
    files = {
        **_FILES,
        keys.ON_BOARD: releases.public(),
        "/boot_trial.py": script.replace("TRIAL_MS = 600000", f"TRIAL_MS = {_TRIAL_S * 1000}"),
    }
    with (
        releases.Server() as server,
        tempfile.TemporaryDirectory() as folder,
        Broker(Path(folder), Authority(), more=f"listener {plain} 127.0.0.1\n") as broker,
    ):

        def settings(services: Services) -> dict[str, object]:
            return {
                **broker.settings(),
                "mqtt.port": plain,
                "mqtt.topic": _TOPIC,
                "web.enabled": True,
                "web.port": page,
                "update.url": server.url.replace("http:", "https:"),
            }

        # Before the board has any session there.
        _retain(broker, "say: retained-0-")
        with one_channel.soaked(heap, settings, _BEAT, files) as bench:
            return Mix(bench, messages, alerts, seed, page, broker, server).run(minutes)
