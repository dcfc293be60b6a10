"""From what somebody says in plain words to the tool calls that would do it.

Every rule needs two things: words that ask for something, and a tool on offer that can do it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import readings
from .conversation import Conversation, Tool, ToolCall

_FILE = r"[\"'`]?([\w./-]*\w\.\w+|/[\w./-]+)[\"'`]?"
_QUOTES = "\"'`“”‘’ "


@dataclass(frozen=True)
class Wish:
    """Something asked for: a call, or words to say. `chip` or `sensor` explain a reading."""

    call: ToolCall | None = None
    say: str | None = None
    chip: readings.Chip | None = None
    sensor: str = ""
    #: A step on the way, of which nobody wants to hear.
    quiet: bool = False


Rule = Callable[[str, Conversation], Wish | None]


def orders(text: str, conversation: Conversation) -> list[list[Wish]]:
    """Split a text into steps (`and then`) of wishes at a time (`and also`); keep the known ones."""
    steps = []
    for step in re.split(r"[,;.]?\s+(?:and\s+)?then,?\s+", text, flags=re.I):
        wishes: list[Wish] = []
        for part in re.split(r"[,;.]?\s+and\s+also,?\s+", step, flags=re.I):
            wishes += order(part, conversation)
        if wishes:
            steps.append(wishes)
    return steps


def order(text: str, conversation: Conversation) -> list[Wish]:
    """Return the wishes in one plain request."""
    text = re.sub(
        r"^(?:please|now|then|could you|can you|you must)[, ]+", "", text.strip(), flags=re.I
    )
    for rule in _RULES:
        wish = rule(text, conversation)
        if wish is not None:
            return [wish]
    return _sensor(text, conversation) or _chip(text, conversation)


def fit(tool: Tool, wanted: list[tuple[str, Any]]) -> dict[str, Any]:
    """Name arguments as the tool's schema does.

    Each wanted value comes with the names it may have, `path|file|name`; the first one in the schema is used.
    """
    arguments: dict[str, Any] = {}
    for names, value in wanted:
        for name in names.split("|"):
            if name in tool.properties and name not in arguments:
                arguments[name] = _typed(value, tool.properties[name])
                break
    return arguments


def _typed(value: Any, schema: Any) -> Any:
    kind = schema.get("type") if isinstance(schema, dict) else None
    kinds = kind if isinstance(kind, list) else [kind]
    if isinstance(value, str) and value.lower().startswith("0x") and "string" not in kinds:
        return int(value, 16) if "integer" in kinds or "number" in kinds else value
    if isinstance(value, int) and kinds == ["string"]:
        return str(value)
    if isinstance(value, str) and kinds == ["array"]:
        return [value]
    return value


def _make(conversation: Conversation, names: str, wanted: list[tuple[str, Any]]) -> Wish:
    """Wish for a call of the first tool on offer among `names`, or admit that there is none."""
    for name in names.split("|"):
        tool = conversation.tools.get(name)
        if tool is not None:
            return Wish(ToolCall(name, fit(tool, wanted)))
    return Wish(say=f"I would need the tool {names.split('|')[0]} for that; it is not on offer.")


def _match(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.I | re.S)


def _clean(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        return text.strip(_QUOTES)
    return text


# --- rules, the most explicit first ----------------------------------------------------------


def _call(text: str, conversation: Conversation) -> Wish | None:
    """`call TOOL {"argument": 1}`: exactly that."""
    match = _match(
        r"^(?:call|use)(?: the tool)?\s+[`\"]?([\w.-]+)[`\"]?(?:\s+with)?\s*(\{.*\})", text
    )
    if match is None or match.group(1) not in conversation.tools:
        return None
    try:
        arguments = json.loads(match.group(2))
    except ValueError:
        return None
    return Wish(ToolCall(match.group(1), arguments))


def _say(text: str, conversation: Conversation) -> Wish | None:
    match = _match(r"^say something long\D*(\d+)", text)
    if match:
        return Wish(say=long_text(int(match.group(1))))
    match = _match(r"^say[:\s]\s*(?!what\b)(.+)$", text)
    return Wish(say=_clean(match.group(1))) if match else None


def _spawn(text: str, conversation: Conversation) -> Wish | None:
    match = (
        _match(r"^spawn(?: a task| an agent)?(?: to)?:?\s+(.+)$", text)
        or _match(r"^in the background[,:]?\s+(.+)$", text)
        or _match(r"^(.+?)\s+in the background\.?$", text)
    )
    if match is None:
        return None
    return _make(
        conversation, "spawn", [("task|prompt|message|text|instructions", match.group(1))]
    )


def _cron(text: str, conversation: Conversation) -> Wish | None:
    tool = conversation.tools.get("cron")
    if _match(r"^(?:list|show)\b.*\b(?:cron|jobs|schedules?)\b", text):
        return _make(conversation, "cron", [("action", "list")])
    match = _match(r"^(remove|delete|enable|disable)\b.*\bjob\s+[\"'`]?([\w-]+)", text)
    if match:
        action = "remove" if match.group(1).lower() == "delete" else match.group(1).lower()
        return _make(conversation, "cron", [("action", action), ("id|name|job", match.group(2))])
    found = _schedule(text)
    if found is None:
        return None
    schedule, what = found
    if tool is None:
        return _make(conversation, "cron", [])
    kind = schedule["kind"]
    name = "-".join(re.findall(r"[a-z0-9]+", what.lower())[:3]) or "job"
    payload: dict[str, Any] = {"kind": "agent_turn", "message": what}
    wanted: list[tuple[str, Any]] = [
        ("action", "add"),
        ("id", name),
        ("name", name),
        ("kind", kind),
        ("every_seconds|every|interval_s", schedule.get("every_seconds")),
        ("expr|cron|expression", schedule.get("expr")),
        ("schedule", schedule),
        ("payload", payload),
        ("message|task|text|prompt", what),
    ]
    return Wish(ToolCall("cron", fit(tool, [item for item in wanted if item[1] is not None])))


_UNITS = {
    "second": 1,
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "day": 86400,
    "s": 1,
    "m": 60,
    "h": 3600,
}
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


def _schedule(text: str) -> tuple[dict[str, Any], str] | None:
    """Return schedule and what to do, from `every 10 minutes …`, `daily 07:30 …`, `cron F F F F F …`."""
    match = _match(r"^cron:?\s+((?:[\d*/,-]\S*\s+){4}\S+)\s+(.+)$", text)
    if match:
        return {"kind": "cron", "expr": match.group(1)}, match.group(2)
    lead = r"^(?:(remind me)\s+)?"
    match = _match(
        lead + r"every\s+(\d+)?\s*(seconds?|minutes?|mins?|hours?|days?|[smh])\b[,:]?\s+(.+)$",
        text,
    )
    if match and not (match.group(2) is None and match.group(3).lower().startswith("day")):
        unit = match.group(3).lower()
        seconds = int(match.group(2) or 1) * _UNITS[unit if len(unit) == 1 else unit.rstrip("s")]
        return {"kind": "every", "every_seconds": seconds}, _reminder(
            match.group(1), match.group(4)
        )
    clock = r"(?:\s+at)?\s+(\d{1,2}):(\d{2})[,:]?\s+(.+)$"
    days = "|".join(_DAYS)
    match = _match(lead + r"(daily|every day|each day|every (?:" + days + r"))" + clock, text)
    if match is None:
        return None
    day = match.group(2).lower().split()[-1]
    week_day = str(_DAYS.index(day)) if day in _DAYS else "*"
    expr = f"{int(match.group(4))} {int(match.group(3))} * * {week_day}"
    return {"kind": "cron", "expr": expr}, _reminder(match.group(1), match.group(5))


def _reminder(remind: str | None, what: str) -> str:
    return f"Remind me {what}" if remind else what


def _edit(text: str, conversation: Conversation) -> Wish | None:
    match = _match(r"\breplace\s+(.+?)\s+(?:with|by)\s+(.+?)\s+in\s+" + _FILE, text)
    if match:
        old, new, path = match.groups()
    else:
        match = _match(
            r"\bin\s+" + _FILE + r",?\s+replace\s+(.+?)\s+(?:with|by)\s+(.+?)\.?$", text
        )
        match = match or _match(
            r"^edit\s+" + _FILE + r"[,:]?\s+(?:and\s+)?replace\s+(.+?)\s+(?:with|by)\s+(.+?)\.?$",
            text,
        )
        if match is None:
            return None
        path, old, new = match.groups()
    wanted = [
        ("path|file|filename|name", path),
        ("old|old_text|old_string|find|search", _clean(old)),
        ("new|new_text|new_string|replace|replacement", _clean(new)),
    ]
    return _make(conversation, "edit_file", wanted)


def _write(text: str, conversation: Conversation) -> Wish | None:
    match = _match(
        r"^(?:write|save|put)\s+(.+?)\s+(?:to|into|in)\s+(?:the file\s+)?" + _FILE, text
    )
    if match:
        content, path = match.groups()
    else:
        match = _match(r"^create\s+(?:the file\s+)?" + _FILE + r"\s+with\s+(.+)$", text)
        if match is None:
            return None
        path, content = match.groups()
    return _make(conversation, "write_file", _path_and_content(path, content))


def _append(text: str, conversation: Conversation) -> Wish | None:
    match = _match(
        r"^(?:append|add|remember|note)\s+(?:that\s+)?(.+?)\s+(?:to|into|in)\s+(?:the file\s+)?"
        + _FILE,
        text,
    )
    if match:
        wanted = _path_and_content(match.group(2), match.group(1))
    else:
        match = _match(r"^remember\s+(?:that\s+)?(.+)$", text)
        if match is None:
            return None
        wanted = _path_and_content("memory/MEMORY.md", match.group(1))
    return _make(conversation, "append_file", wanted)


def _path_and_content(path: str, content: str) -> list[tuple[str, Any]]:
    return [("path|file|filename|name", path), ("content|text|data|line", _clean(content))]


def _list(text: str, conversation: Conversation) -> Wish | None:
    match = _match(
        r"^(?:list|show)\s+(?:me\s+)?(?:the\s+|all\s+|my\s+)*files(?:\s+in\s+(\S+?))?[.?]?$", text
    )
    if match is None:
        return None
    path = match.group(1) or "."
    return _make(conversation, "list_dir", [("path|folder|directory|dir", path)])


def _read(text: str, conversation: Conversation) -> Wish | None:
    match = _match(
        r"^(?:read|open|show|cat|what(?: is|'s) in|what does)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?"
        + _FILE,
        text,
    )
    if match is None:
        return None
    return _make(conversation, "read_file", [("path|file|filename|name", match.group(1))])


def _message(text: str, conversation: Conversation) -> Wish | None:
    match = _match(r"^send\s+(?:a\s+)?message\s+to\s+(\S+?)(?:\s+saying|:)\s*(.+)$", text)
    match = match or _match(
        r"^(?:tell|message)\s+(?!me\b|us\b|the\b|what\b)(\S+?)[:,]?\s+(?:that\s+)?(.+)$", text
    )
    if match:
        chat, said = match.groups()
    else:
        match = _match(r"^send\s+(?:the\s+)?message\s+(.+?)\s+to\s+(\S+?)\.?$", text)
        if match:
            said, chat = match.groups()
        else:
            match = _match(r"^send\s+(?:a\s+|the\s+)?message(?:\s+saying)?:?\s+(.+)$", text)
            if match is None:
                return None
            said, chat = match.group(1), ""
    wanted: list[tuple[str, Any]] = [("text|message|content", _clean(said))]
    if chat:
        wanted.append(("chat|chat_id|to|recipient", chat))
    return _make(conversation, "message|send_message", wanted)


def _web(text: str, conversation: Conversation) -> Wish | None:
    match = _match(r"^(?:fetch|get|open|read|download)\s+(https?://\S+)", text)
    if match:
        return _make(conversation, "web_fetch", [("url", match.group(1).rstrip(".,"))])
    match = _match(r"^search\s+(?:the\s+)?(?:web|internet)\s+for\s+(.+)$", text)
    if match:
        return _make(conversation, "web_search", [("query|q", _clean(match.group(1)))])
    match = _match(
        r"^(?:search|look in)\s+(?:my\s+|the\s+|your\s+)?(?:memory|notes)\s+for\s+(.+)$", text
    )
    if match:
        return _make(conversation, "search_memory", [("query|q", _clean(match.group(1)))])
    return None


def _pin(text: str, conversation: Conversation) -> Wish | None:
    match = _match(
        r"^(?:set|switch|turn|drive)\s+(?:pin\s+)?(\w+)\s+(?:to\s+)?(on|off|high|low|1|0)\b", text
    )
    if match and "gpio" in conversation.tools:
        value = 1 if match.group(2).lower() in ("on", "high", "1") else 0
        return _make(
            conversation, "gpio", [("action", "write"), ("pin", match.group(1)), ("value", value)]
        )
    match = _match(r"^read\s+pin\s+(\w+)", text)
    if match:
        return _make(conversation, "gpio", [("action", "read"), ("pin", match.group(1))])
    match = _match(r"^scan\s+(?:the\s+)?(?:bus\s+)?(i2c\d)?", text)
    if match and "i2c" in conversation.tools:
        return _make(conversation, "i2c", [("action", "scan"), ("bus", match.group(1) or "i2c0")])
    return None


_RULES: tuple[Rule, ...] = (
    _call, _say, _spawn, _cron, _edit, _write, _append, _list, _web, _pin, _read, _message,
)  # fmt: skip


# --- sensors: by name, or a chip on a bus -----------------------------------------------------


def _sensor(text: str, conversation: Conversation) -> list[Wish]:
    """Read each named sensor that the text mentions; ask for the names when it mentions none."""
    tool = conversation.tools.get("sensor")
    if tool is None:
        return []
    listing = ToolCall("sensor", fit(tool, [("action", "list")]))
    if _match(r"^(?:list|which|what)\b.*\bsensors\b", text):
        return [Wish(listing)]
    brought = [name.partition(".")[0] for name, _, _ in readings.given(conversation.task())]
    names = [name for name in _sensor_names(text, tool) if name not in brought]
    if not names and _match(_MEASURED, text) and not _knows_better(text, conversation):
        listed = next((result for call, result in conversation.done() if call.same(listing)), None)
        if listed is None:
            return [Wish(listing, quiet=True)]
        known = re.findall(r"[A-Za-z_][\w-]*", listed.partition(";")[0])
        known = [] if known[:1] in (["none"], ["error"]) else known
        names = [name for name in known if _match(rf"\b{re.escape(name)}\b", text)] or known[:1]
    return [
        Wish(
            ToolCall("sensor", fit(tool, [("action", "read"), ("name|sensor", name)])), sensor=name
        )
        for name in names
    ]


_MEASURED = (
    r"\b(temperature|humidity|pressure|light|moisture|level|voltage|warm|hot|cold|degrees)\b"
)


def _knows_better(text: str, conversation: Conversation) -> bool:
    """Say whether the value came along with the task, or its chip is known and can be read."""
    if readings.given(conversation.task()):
        return True
    return "i2c" in conversation.tools and bool(readings.chips_meant(text, conversation.system))


_NOT_NAMES = frozenset(
    (
        "the",
        "a",
        "an",
        "this",
        "that",
        "my",
        "your",
        "each",
        "every",
        "any",
        "temperature",
        "humidity",
    )
)


def _sensor_names(text: str, tool: Tool) -> list[str]:
    schema = tool.properties.get("name") or tool.properties.get("sensor") or {}
    listed = schema.get("enum") if isinstance(schema, dict) else None
    if isinstance(listed, list):
        named = [name for name in listed if _match(rf"\b{re.escape(str(name))}\b", text)]
        if not named and readings.asks_temperature(text):
            named = listed[:1]
        return named
    names = re.findall(r"\b([a-z_]\w*)\.[a-z_]\w*\s*(?:[<>=!]|is\b|outside|changes)", text, re.I)
    names += re.findall(r"\bsensor\s+(?:named\s+|called\s+)?[\"'`]([\w-]+)[\"'`]", text, re.I)
    names += re.findall(r"\b([\w-]+)\s+sensor\b", text, re.I)
    unique: list[str] = []
    for name in names:
        if name.lower() not in _NOT_NAMES and name not in unique and not name.isupper():
            unique.append(name)
    return unique


def _chip(text: str, conversation: Conversation) -> list[Wish]:
    """Read register 0 of the chips that the text is about."""
    tool = conversation.tools.get("i2c")
    if tool is None or (not readings.chips(text) and readings.given(conversation.task())):
        return []  # The readings came along with the task.
    wishes = []
    for chip in readings.chips_meant(text, conversation.system):
        wanted = [
            ("action", "read"),
            ("bus", chip.bus),
            ("address", chip.address),
            ("register", 0),
            ("length", 2),
        ]
        wishes.append(Wish(ToolCall("i2c", fit(tool, wanted)), chip=chip))
    return wishes


def long_text(size: int) -> str:
    """Return exactly `size` characters of numbered words, so that a missing piece is noticed."""
    words: list[str] = []
    length = 0
    while length < size:
        word = f"word{len(words) + 1} "
        words.append(word)
        length += len(word)
    return "".join(words)[:size]
