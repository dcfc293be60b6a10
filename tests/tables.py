# tenner tables: one function per kind of table, and the comparison of its cases with the firmware.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A table is `{"kind": ..., "cases": [...]}`; tests/vectors/README.md has the inputs and results of
each kind. `tests/vectors.py` is the command; tests import this module.
"""

import json
import os


class TableError(Exception):
    """A file that cannot be run at all; the text says why."""


# --- one function per kind: from a case to the firmware's result


def _heartbeat_ack(case):
    from tenner.schedule.strip_ack import strip_ack

    return {"deliver": strip_ack(case["reply"], ack_max_chars=case.get("ack_max_chars", 0))}


class Parsed:
    """All of a HEARTBEAT.md: general text, tasks as a table has them and their lines, (line,
    sentence) of problems."""

    def __init__(self, text):
        from tenner.schedule.heartbeat_parser import DONE, GENERAL, OFF, TASK, read

        general = []
        self.items = []
        self.lines = []
        self.off = []
        self.problems = []
        for kind, line, what, found in read(enumerate(text.split("\n"), 1)):
            if kind == GENERAL:
                general.append(what)
            elif kind == TASK:
                found["text"] = what
                self.items.append(found)
                self.lines.append(line)
            elif kind == DONE:
                continue
            elif kind == OFF:
                self.items.append({"text": what})
                self.lines.append(line)
                self.off.append(line)
            else:
                self.problems.append((line, what))
        self.general = "\n".join(general)

    def is_empty(self):
        return not self.general and not self.items


def _heartbeat_empty(case):
    return {"empty": Parsed(case["text"]).is_empty()}


def _heartbeat_items(case):
    found = Parsed(case["text"])
    says = [
        part for part in case.get("says", ()) if part in "\n".join([p[1] for p in found.problems])
    ]
    return {
        "general": found.general,
        "items": found.items,
        "problems": len(found.problems),
        "off": found.off,
        "says": says if says == list(case.get("says", ())) else found.problems,
    }


def _heartbeat_lines(case):
    from tenner.schedule.known_values import Known
    from tenner.schedule.line_reading import readings

    lines = list(enumerate(case["text"].split("\n"), 1))
    found = list(readings(lambda: iter(lines), Known(case["sensors"]), 1800))[-1]
    calls = round(found["calls_per_day"] * 100) / 100
    return {"kind": found["kind"], "sentence": found["text"], "calls": calls}


def _active_hours(case):
    from tenner.store.hours import Hours

    hours = Hours(case["window"])
    hour, minute = case.get("at", "00:00").split(":")
    return {"active": hours.active(int(hour) * 60 + int(minute))}


def _beat_slots(case):
    from tenner.schedule.due import next_period

    interval_s, phase_s, now = case["interval"], case["phase"], case["now"]
    due = next_period(interval_s, phase_s, case["last_run"]) <= now
    return {"due": due, "next": next_period(interval_s, phase_s, now)}


def iso_local(zone, utc):
    """`2026-11-21T08:30:00` on the zone's wall clock."""
    return "%04d-%02d-%02dT%02d:%02d:%02d" % zone.local(utc)[:6]


def _cron_next(case):
    from tenner.schedule.due import Cron
    from tenner.store.posix_tz import Zone

    zone = Zone(case["tz"])
    # A time with a Z is UTC, to tell the two passes of a repeated hour apart.
    after = case["after"]
    day, time = after.rstrip("Z").split("T")
    fields = [int(part) for part in day.split("-") + time.split(":")]
    utc = after[-1] == "Z"
    found = Cron(case["expr"]).next_after((Zone() if utc else zone).utc_of(*fields), zone)
    return {"next": iso_local(Zone(), found) + "Z" if utc else iso_local(zone, found)}


def _classify(case):
    from tenner.llm.failure import classify

    given = {key: case[key] for key in ("status", "body", "errno", "error") if key in case}
    return {"class": classify(**given)}


def _telegram_html(case):
    from channels_checks import to_html

    return {"html": to_html(case["markdown"])}


def _telegram_split(case):
    from channels_checks import split_problem
    from tenner.channels.split import parts

    text, limit = case["text"], case["limit"]
    return {"problem": split_problem(text, limit, list(parts(text, limit)))}


class _Board:
    """The board that tool tables speak of, with a workspace on disk; `with` removes it again."""

    kind = "esp32"
    small = False
    PINS = (
        "I2C0_SDA,GPIO0\nI2C0_SCL,GPIO1\nSPI0_SCK,GPIO2\nSPI0_MOSI,GPIO3\nSPI0_MISO,GPIO18\n"
        "SPI0_CS0,GPIO19\nA0,GPIO4\nD5,GPIO5\nD6,GPIO6\nD7,GPIO7\nD8,GPIO8\n"
        "BOOT,GPIO9,reserved: boot strapping\nD10,GPIO10\n"
    )

    def __enter__(self):
        from support import temp_folder
        from tenner.port.gpio import Gpio

        self.root = temp_folder()
        self.workspace = self.root + "/workspace"
        self._write("pins.csv", self.PINS)
        self._write("config.json", "{}")
        os.mkdir(self.workspace)
        os.mkdir(self.workspace + "/notes")
        for name in ("HEARTBEAT.md", "notes/a.md"):
            self._write("workspace/" + name, "text")
        self._pins = Gpio(self.root + "/pins.csv")
        return self

    def __exit__(self, *exc):
        from support import remove_tree

        remove_tree(self.root)

    def _write(self, name, text):
        with open(self.root + "/" + name, "w") as f:
            f.write(text)

    def link(self, name, target):
        # MicroPython has no os.symlink; the shell has.
        os.system("ln -s '%s' '%s/%s'" % (target, self.workspace, name))

    def has(self, kind):
        return kind != "exec" and bool(self._pins.names(kind) or self._pins.buses(kind))

    def why_not(self, kind, name):
        return None

    def private(self):
        return ()

    def i2c_names(self):
        return self._pins.buses("i2c")

    def spi_names(self):
        return self._pins.buses("spi")

    def pins(self):
        return self._pins


class _Turn:
    kind = "person"
    channel = chat = None


class _ToolContext:
    turn = _Turn
    sensors = None

    def __init__(self, board):
        from tenner.store import configload
        from tenner.tools.registry import Registry

        self.port = board
        self.workspace = board.workspace
        self.config = configload.load(board.root + "/config.json")
        self.registry = Registry(board, self.config, self.workspace)


def _path_sandbox(case):
    from tenner.tools import ToolError
    from tenner.tools.paths import resolve

    with _Board() as board:
        board.link("link_out", "/")
        board.link("link_in", board.workspace + "/notes")
        try:
            resolve(board.workspace, case["path"])
        except ToolError:
            return {"allowed": False}
    return {"allowed": True}


def _tool_args(case):
    from tenner.tools import ToolError
    from tenner.tools.prepare import parsed, verified

    text = ""
    with _Board() as board:
        ctx = _ToolContext(board)
        try:
            found = ctx.registry.find(case["tool"], ctx.turn.kind)
            module, args = verified(
                ctx, case["tool"], parsed(case["tool"], json.dumps(case["args"])), *found
            )
            if hasattr(module, "check"):
                module.check(args, ctx)
        except (ToolError, OSError) as exc:
            text = str(exc)
    says = [part for part in case.get("says", ()) if part.lower() in text.lower()]
    # A wrong outcome shows the entire text.
    complete = len(says) == len(case.get("says", ()))
    return {"ok": text if text and case["ok"] else not text, "says": says if complete else text}


def _url_guard(case):
    from tenner.net.web import guard

    try:
        host, port = guard.check(case["url"])
        if not guard.packed(host.rstrip(".")):
            found = [guard.packed(address) for address in case["resolves_to"]]
            guard.admit(host, port, found)
    except OSError:
        return {"allowed": False}
    return {"allowed": True}


# kind: (function, the keys of a case that hold the expected results, with their defaults)
KINDS = {
    "heartbeat_ack": (_heartbeat_ack, ("deliver",)),
    "heartbeat_empty": (_heartbeat_empty, ("empty",)),
    "heartbeat_lines": (_heartbeat_lines, ("kind", "sentence", "calls")),
    "heartbeat_items": (_heartbeat_items, ("general", "items", "problems", "off", "says")),
    "active_hours": (_active_hours, ("active", "error")),
    "beat_slots": (_beat_slots, ("due", "next")),
    "cron_next": (_cron_next, ("next", "error")),
    "classify": (_classify, ("class",)),
    "path_sandbox": (_path_sandbox, ("allowed",)),
    "url_guard": (_url_guard, ("allowed",)),
    "tool_args": (_tool_args, ("ok", "says")),
    "telegram_html": (_telegram_html, ("html",)),
    "telegram_split": (_telegram_split, ("problem",)),
}

DEFAULTS = {"problems": 0, "problem": None}


def expectation(kind, case):
    """Return the expected result of a case."""
    expected = {}
    for key in KINDS[kind][1]:
        if key in case:
            expected[key] = case[key]
        elif key in DEFAULTS:
            expected[key] = DEFAULTS[key]
    return expected


def check(kind, case):
    """Return (expected, got); they are equal when the case passes. ImportError passes through."""
    expected = expectation(kind, case)
    if not expected:
        return {"one of": list(KINDS[kind][1])}, "a case that expects nothing"
    try:
        got = KINDS[kind][0](case)
    except ImportError:
        raise
    except ValueError as exc:
        got = {"error": True} if expected.get("error") else "ValueError: %s" % exc
    except Exception as exc:
        got = "%s: %s" % (type(exc).__name__, exc)
    if isinstance(got, dict):
        got = {key: got[key] for key in got if key in expected or expected.get("error")}
    return expected, got


class Cases:
    """The cases of a table, read from its file one by one: a whole table does not fit a small
    heap."""

    _PIECE = 512
    _DEPTH = 3  # the table, its list, a case

    def __init__(self, path):
        """TableError says why a file is no table; a case that is not JSON is found when it is its
        turn."""
        # Not json: MicroPython's leaves surrogate pairs unjoined and lets broken texts pass.
        from tenner.store.json_strict import loads

        self.path = path
        self._loads = loads
        outside = bytearray()
        self.count = 0
        for is_case, text in self._parts():
            if is_case:
                self.count += 1
                outside += b"0"
            else:
                outside += text
        table = self._read(bytes(outside))
        is_table = isinstance(table, dict)
        self.kind = table.get("kind") if is_table else None
        if self.kind not in KINDS:
            known = ", ".join(sorted(KINDS))
            raise TableError('%s: unknown kind "%s"; known are %s' % (path, self.kind, known))
        cases = table.get("cases")
        if not isinstance(cases, list) or not cases:
            raise TableError("%s: has no cases" % path)
        if cases != [0] * self.count:
            raise TableError("%s: only cases may be objects in a list" % path)

    def __iter__(self):
        lines = 0
        for is_case, text in self._parts():
            if is_case:
                # Behind as many line ends as come before it, so that a mistake has the line of the
                # file.
                yield self._read(b"\n" * lines + text)
            lines += text.count(b"\n")

    def _read(self, text):
        try:
            return self._loads(text)
        except ValueError as exc:
            raise TableError("%s: is not a JSON table: %s" % (self.path, exc))

    def _parts(self):
        """Yield (whether it is a case, its bytes) for all of the file."""
        part = bytearray()
        depth = 0
        in_string = escaped = False
        for byte in self._bytes():
            opens, closes = byte in b"{[", byte in b"}]"
            if not in_string and opens:
                depth += 1
                if depth == self._DEPTH and byte == b"{"[0]:
                    yield False, bytes(part)
                    part = bytearray()
            part.append(byte)
            if in_string:
                in_string = escaped or byte != b'"'[0]
                escaped = not escaped and byte == b"\\"[0]
            elif byte == b'"'[0]:
                in_string = True
            elif closes:
                depth -= 1
                if depth == self._DEPTH - 1 and byte == b"}"[0]:
                    yield True, bytes(part)
                    part = bytearray()
        yield False, bytes(part)

    def _bytes(self):
        try:
            with open(self.path, "rb") as f:
                piece = f.read(self._PIECE)
                while piece:
                    for byte in piece:
                        yield byte
                    piece = f.read(self._PIECE)
        except OSError as exc:
            raise TableError("%s: cannot be read (%s)" % (self.path, exc))


def run_table(path):
    """Run one file; return (passed, list of lines about failures)."""
    cases = Cases(path)
    kind = cases.kind
    failures = []
    for number, case in enumerate(cases):
        try:
            expected, got = check(kind, case)
        except ImportError as exc:
            raise TableError("%s: the kind %s is not there yet: %s" % (path, kind, exc))
        if expected != got:
            given = {key: case[key] for key in case if key not in KINDS[kind][1]}
            failures.append(
                "%s: case %d: %r: expected %r, got %r" % (path, number + 1, given, expected, got)
            )
    return cases.count - len(failures), failures
