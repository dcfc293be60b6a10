"""Run a HEARTBEAT.md against readings, on a moved clock: which alarms, which messages, how many
model calls?"""

from __future__ import annotations

import bisect
import csv
import datetime
from collections.abc import Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tenner_host.errors import CommandError
from tenner_host.heartbeat import check
from tenner_host.sensors.ring import read_ring

#: A request's tokens without its tasks: system prompt and tools, measured by `make bench
#: B=requests.`; then its answer's.
_REQUEST_TOKENS = 640
_ANSWER_TOKENS = 60
_LETTERS_A_TOKEN = 4
_LONGEST_WAIT_S = 60
_KINDS = {"al": "alarm", "ae": "end", "di": "digest"}


@dataclass
class Readings:
    """Times and numbers by `sensor.value`, in order."""

    times: dict[str, list[float]] = field(default_factory=dict)
    numbers: dict[str, list[float]] = field(default_factory=dict)

    def add(self, time: float, name: str, number: float) -> None:
        times = self.times.setdefault(name, [])
        place = bisect.bisect_right(times, time)
        times.insert(place, time)
        self.numbers.setdefault(name, []).insert(place, number)

    def at(self, sensor: str, time: float) -> dict[str, float]:
        """The values of a sensor: the newest up to then, or else its first."""
        found = {}
        for name, times in self.times.items():
            if name.rpartition(".")[0] == sensor:
                place = max(bisect.bisect_right(times, time) - 1, 0)
                found[name.rpartition(".")[2]] = self.numbers[name][place]
        return found

    @property
    def span(self) -> tuple[int, int]:
        firsts = [times[0] for times in self.times.values()]
        lasts = [times[-1] for times in self.times.values()]
        return int(min(firsts)), int(max(lasts))


def read_csv(lines: Iterable[str], name: str) -> Readings:
    """Lines `time,sensor.value,number`; the time in Unix seconds or as ISO 8601, UTC without a
    zone."""
    found = Readings()
    for row in csv.reader(lines):
        if not row or row[0].startswith("#") or row[0].strip().lower() == "time":
            continue
        try:
            time, value, number = (cell.strip() for cell in row)
            found.add(_seconds(time), value, float(number))
        except ValueError as exc:
            raise CommandError(
                f'{name}: "{",".join(row)}" is no reading; expected time,sensor.value,number, '
                "such as "
                "2026-11-21T08:00:00Z,room.temperature,21.5"
            ) from exc
        if "." not in value:
            raise CommandError(f'{name}: "{value}" is no sensor.value, such as room.temperature')
    if not found.times:
        raise CommandError(f"{name}: there are no readings in it")
    return found


def from_ring(files: dict[str, bytes], where: str) -> Readings:
    """The readings that a board keeps for `sensor history` (tenner_host.sensors.ring)."""
    found = Readings()
    for series in read_ring(files):
        found.times[series.name] = list(series.times)
        found.numbers[series.name] = series.values
    if not found.times:
        raise CommandError(
            f"{where} has kept no readings; name its sensors in workspace/SENSORS.json, or a CSV "
            "file with --readings"
        )
    return found


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        return (time if time.tzinfo else time.replace(tzinfo=datetime.timezone.utc)).timestamp()


class _Clock:
    trusted = True

    def __init__(self, utc: int) -> None:
        self.utc = utc
        self.mono = 0

    def now(self) -> int:
        return self.utc

    def mono_s(self) -> int:
        return self.mono

    def pass_s(self, seconds: int) -> None:
        self.utc += seconds
        self.mono += seconds


class _Files:
    """Replaces a board's flash (schedule.schedule_files)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.held: list[str] = []
        self.known: list[str] = []

    def signature(self) -> tuple[int, int, int]:
        return len(self.text), 0, 0

    def lines(self) -> Iterator[tuple[int, str]]:
        return iter(enumerate(self.text.split("\n"), 1))

    def load(self, name: str) -> tuple[None, None]:
        return None, None

    def numbers(self) -> tuple[int, ...]:
        return ()

    def save(self, name: str, pieces: Iterable[str]) -> None:
        "".join(pieces)

    def append(self, lines: list[str]) -> None:
        pass

    def tail(self, count: int) -> list[Any]:
        return []

    def keep_mark(self, line: str) -> None:
        self.known.append(line)

    def marks(self) -> list[bytes]:
        return [line.encode() for line in self.known[-500:]]

    def hold(self, line: list[Any]) -> None:
        import json

        self.held.append(json.dumps(line))

    def is_holding(self) -> bool:
        return bool(self.held)

    def holding(self) -> list[bytes]:
        return [line.encode() for line in self.held]

    def release(self) -> None:
        self.held = []


class _Result:
    error = None
    interrupted = None
    outage = estimated = False
    ms = 0

    def __init__(self, text: str, tokens: int) -> None:
        self.text = text
        self._tokens = tokens

    def tokens(self) -> int:
        return self._tokens


class Board:
    """Replaces the application for the heartbeat (schedule.service), with the readings for its
    sensors."""

    small = shares_memory = False
    mqtt = console = True
    workspace = state = full = ""

    def __init__(self, text: str, readings: Readings, settings: dict[str, Any]) -> None:
        self.readings = readings
        self.settings = {
            "name": "tenner",
            "heartbeat.every": 1800,
            "heartbeat.active_hours": "",
            "heartbeat.mode": "reply",
            "heartbeat.model": "",
            "heartbeat.patience": 120,
            "heartbeat.ack_max_chars": 0,
            "heartbeat.dedup_h": 24,
            "heartbeat.dedup_numbers": False,
            **settings,
        }
        # A replay asks no model.
        is_off = self.settings.get("heartbeat.prose") == "off"
        self.settings["heartbeat.prose"] = "off" if is_off else "ask"
        self.start, self.end = readings.span
        self.clock = _Clock(self.start)
        self.zone = check.firmware("store.posix_tz").Zone(self.settings.get("time.zone", "UTC0"))
        self.port = self.config = self.agent = self.lane = self
        self.messages: list[dict[str, Any]] = []
        self.model_calls = self.tokens = 0
        check.firmware("log").write = lambda line: None
        self.units = check.firmware("sensors.units")
        self.service = check.firmware("schedule.service").Heartbeat(self)
        self.service.files = _Files(text)
        self.service.run_turn = self._run_turn
        self.service.deliver = self._deliver

    # --- queries of the service

    def get(self, name: str) -> Any:
        """Return a setting, or a part of the application."""
        if name in self.settings:
            return self.settings[name]
        if name.startswith(("people.", "telegram.")):
            # A replay knows every name that `escalate` has.
            return ["1"] if name == "telegram.allow" else "1"
        return self.zone if name == "zone" else self

    @property
    def outbox(self) -> Board:
        """Return one in which nothing waits: a message arrives at once."""
        return self

    items = ()

    def device_id(self) -> bytes:
        return b"replay"

    def unit(self, name: str) -> Any:
        return self.units.unit(name)

    async def read(self, sensor: str) -> dict[str, float]:
        found = self.readings.at(sensor, self.clock.utc)
        if not found:
            raise ValueError("the readings have none of it")
        return found

    def busy(self) -> None:
        return None

    def idle_s(self) -> int:
        return 3600

    def online(self) -> bool:
        return True

    def left(self, kind: str) -> None:
        return None

    per_day = 0

    def notify(self, text: str) -> None:
        if not text.startswith("HEARTBEAT.md line "):
            self._say("notice", 0, text)

    # --- its output

    async def _run_turn(self, request: Any) -> _Result:
        self.model_calls += 1
        used = _REQUEST_TOKENS + len(request.text) // _LETTERS_A_TOKEN + _ANSWER_TOKENS
        self.tokens += used
        texts = [one[1] for one in self._texts(request.tasks)] if request.mark else []
        return _Result("(a model's answer to: %s)" % " ".join(texts) if texts else "", used)

    def _texts(self, tasks: list[Any]) -> Any:
        return check.firmware("schedule.heartbeat_tasks").read(self.service, tasks)[1]

    async def _deliver(
        self, app: Any, text: str, alert: Any = False, channel: Any = None, chat: Any = None
    ) -> str:
        name, _, number = str(alert).partition(":")
        kind = "repeat" if name == "al" and "." in number else _KINDS.get(name, "notice")
        under_way = [task.line for task in self.service.tasks or () if task.run]
        self._say(kind, under_way[0] if under_way and kind != "digest" else 0, text)
        return "yes"

    def _say(self, kind: str, line: int, text: str) -> None:
        self.messages.append(
            {"time": self._iso(), "line": line, "kind": kind, "text": text},
        )

    def _iso(self) -> str:
        utc = self.clock.utc
        offset = self.zone.offset(utc)
        zone = datetime.timezone(datetime.timedelta(seconds=offset))
        text = datetime.datetime.fromtimestamp(utc, zone).isoformat()
        return text if offset else text.replace("+00:00", "Z")

    # --- time

    def run(self) -> None:
        """Advance through the readings' time, and on until the last message is due."""
        self._step()
        while self.clock.utc < self.end:
            wake_s = self.service.next_wake()
            wait_s = _LONGEST_WAIT_S if wake_s is None else min(max(wake_s, 1), _LONGEST_WAIT_S)
            self.clock.pass_s(min(wait_s, self.end - self.clock.utc))
            self._step()

    def _step(self) -> None:
        _drive(self.service.step())


def _drive(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise RuntimeError("the replay waits for something")


def replay(
    text: str, readings: Readings, settings: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The messages, model calls and tokens in the time of the readings, and the errors in the
    file."""
    board = Board(text, readings, settings or {})
    wrong = check.problems(text)
    board.run()
    wrong += _unread(board, readings)
    return {
        "messages": board.messages,
        "model_calls": board.model_calls,
        "tokens": board.tokens,
        "problems": sorted(wrong, key=lambda one: int(one["line"])),
    }


def _unread(board: Board, readings: Readings) -> list[dict[str, Any]]:
    """The lines whose conditions need values that the readings lack."""
    terms = check.firmware("schedule.decide").terms
    found = []
    for task in board.service.tasks or ():
        for term in terms(task.condition) if task.condition else ():
            if term.name() not in readings.times:
                found.append(
                    {"line": task.line, "text": f"there are no readings of {term.name()}"}
                )
    return found
