"""Turn a plain request into intents: tool calls that fulfill it.

Every rule needs two things: words that ask for something, and a tool on offer that can do it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from .conversation import Conversation, ToolCall
from .intent import Intent, find, fit
from .measuring import read_chips, read_sensors

_FILE = r"[\"'`]?([\w./-]*\w\.\w+|/[\w./-]+)[\"'`]?"
_QUOTES = "\"'`“”‘’ "


Rule = Callable[[str, Conversation], Intent | None]


def orders(text: str, conversation: Conversation) -> list[list[Intent]]:
    """Split a text into steps (`and then`) of simultaneous intents (`and also`); keep the known ones."""
    steps = []
    for step in re.split(r"[,;.]?\s+(?:and\s+)?then,?\s+", text, flags=re.I):
        intents: list[Intent] = []
        for part in re.split(r"[,;.]?\s+and\s+also,?\s+", step, flags=re.I):
            intents += order(part, conversation)
        if intents:
            steps.append(intents)
    return steps


def order(text: str, conversation: Conversation) -> list[Intent]:
    """Return the intents in one plain request."""
    text = re.sub(
        r"^(?:please|now|then|could you|can you|you must)[, ]+", "", text.strip(), flags=re.I
    )
    for rule in _RULES:
        intent = rule(text, conversation)
        if intent is not None:
            return [intent]
    return read_sensors(text, conversation) or read_chips(text, conversation)


def _make(conversation: Conversation, names: str, wanted: list[tuple[str, Any]]) -> Intent:
    """Make a call of the first tool on offer among `names`, or report that there is none."""
    for name in names.split("|"):
        tool = conversation.tools.get(name)
        if tool is not None:
            return Intent(ToolCall(name, fit(tool, wanted)))
    return Intent(say=f"I would need the tool {names.split('|')[0]} for that; it is not on offer.")


def _clean(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        return text.strip(_QUOTES)
    return text


# --- rules, the most explicit first ----------------------------------------------------------


def _call(text: str, conversation: Conversation) -> Intent | None:
    """`call TOOL {"argument": 1}`: exactly that."""
    match = find(
        r"^(?:call|use)(?: the tool)?\s+[`\"]?([\w.-]+)[`\"]?(?:\s+with)?\s*(\{.*\})", text
    )
    if match is None or match.group(1) not in conversation.tools:
        return None
    try:
        arguments = json.loads(match.group(2))
    except ValueError:
        return None
    return Intent(ToolCall(match.group(1), arguments))


def _say(text: str, conversation: Conversation) -> Intent | None:
    match = find(r"^say something long\D*(\d+)", text)
    if match:
        return Intent(say=long_text(int(match.group(1))))
    match = find(r"^say[:\s]\s*(?!what\b)(.+)$", text)
    return Intent(say=_clean(match.group(1))) if match else None


def _spawn(text: str, conversation: Conversation) -> Intent | None:
    match = (
        find(r"^spawn(?: a task| an agent)?(?: to)?:?\s+(.+)$", text)
        or find(r"^in the background[,:]?\s+(.+)$", text)
        or find(r"^(.+?)\s+in the background\.?$", text)
    )
    if match is None:
        return None
    return _make(
        conversation, "spawn", [("task|prompt|message|text|instructions", match.group(1))]
    )


def _cron(text: str, conversation: Conversation) -> Intent | None:
    tool = conversation.tools.get("cron")
    if find(r"^(?:list|show)\b.*\b(?:cron|jobs|schedules?)\b", text):
        return _make(conversation, "cron", [("action", "list")])
    match = find(r"^(remove|delete|enable|disable)\b.*\bjob\s+[\"'`]?([\w-]+)", text)
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
    return Intent(ToolCall("cron", fit(tool, [item for item in wanted if item[1] is not None])))


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
    """Return schedule and task, from `every 10 minutes …`, `daily 07:30 …`, `cron F F F F F …`."""
    match = find(r"^cron:?\s+((?:[\d*/,-]\S*\s+){4}\S+)\s+(.+)$", text)
    if match:
        return {"kind": "cron", "expr": match.group(1)}, match.group(2)
    lead = r"^(?:(remind me)\s+)?"
    match = find(
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
    match = find(lead + r"(daily|every day|each day|every (?:" + days + r"))" + clock, text)
    if match is None:
        return None
    day = match.group(2).lower().split()[-1]
    week_day = str(_DAYS.index(day)) if day in _DAYS else "*"
    expr = f"{int(match.group(4))} {int(match.group(3))} * * {week_day}"
    return {"kind": "cron", "expr": expr}, _reminder(match.group(1), match.group(5))


def _reminder(remind: str | None, what: str) -> str:
    return f"Remind me {what}" if remind else what


def _edit(text: str, conversation: Conversation) -> Intent | None:
    match = find(r"\breplace\s+(.+?)\s+(?:with|by)\s+(.+?)\s+in\s+" + _FILE, text)
    if match:
        old, new, path = match.groups()
    else:
        match = find(r"\bin\s+" + _FILE + r",?\s+replace\s+(.+?)\s+(?:with|by)\s+(.+?)\.?$", text)
        match = match or find(
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


def _write(text: str, conversation: Conversation) -> Intent | None:
    match = find(r"^(?:write|save|put)\s+(.+?)\s+(?:to|into|in)\s+(?:the file\s+)?" + _FILE, text)
    if match:
        content, path = match.groups()
    else:
        match = find(r"^create\s+(?:the file\s+)?" + _FILE + r"\s+with\s+(.+)$", text)
        if match is None:
            return None
        path, content = match.groups()
    return _make(conversation, "write_file", _path_and_content(path, content))


def _append(text: str, conversation: Conversation) -> Intent | None:
    match = find(
        r"^(?:append|add|remember|note)\s+(?:that\s+)?(.+?)\s+(?:to|into|in)\s+(?:the file\s+)?"
        + _FILE,
        text,
    )
    if match:
        wanted = _path_and_content(match.group(2), match.group(1))
    else:
        match = find(r"^remember\s+(?:that\s+)?(.+)$", text)
        if match is None:
            return None
        wanted = _path_and_content("memory/MEMORY.md", match.group(1))
    return _make(conversation, "append_file", wanted)


def _path_and_content(path: str, content: str) -> list[tuple[str, Any]]:
    return [("path|file|filename|name", path), ("content|text|data|line", _clean(content))]


def _list(text: str, conversation: Conversation) -> Intent | None:
    match = find(
        r"^(?:list|show)\s+(?:me\s+)?(?:the\s+|all\s+|my\s+)*files(?:\s+in\s+(\S+?))?[.?]?$", text
    )
    if match is None:
        return None
    path = match.group(1) or "."
    return _make(conversation, "list_dir", [("path|folder|directory|dir", path)])


def _read(text: str, conversation: Conversation) -> Intent | None:
    match = find(
        r"^(?:read|open|show|cat|what(?: is|'s) in|what does)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?"
        + _FILE,
        text,
    )
    if match is None:
        return None
    return _make(conversation, "read_file", [("path|file|filename|name", match.group(1))])


def _message(text: str, conversation: Conversation) -> Intent | None:
    match = find(r"^send\s+(?:a\s+)?message\s+to\s+(\S+?)(?:\s+saying|:)\s*(.+)$", text)
    match = match or find(
        r"^(?:tell|message)\s+(?!me\b|us\b|the\b|what\b)(\S+?)[:,]?\s+(?:that\s+)?(.+)$", text
    )
    if match:
        chat, said = match.groups()
    else:
        match = find(r"^send\s+(?:the\s+)?message\s+(.+?)\s+to\s+(\S+?)\.?$", text)
        if match:
            said, chat = match.groups()
        else:
            match = find(r"^send\s+(?:a\s+|the\s+)?message(?:\s+saying)?:?\s+(.+)$", text)
            if match is None:
                return None
            said, chat = match.group(1), ""
    wanted: list[tuple[str, Any]] = [("text|message|content", _clean(said))]
    if chat:
        wanted.append(("chat|chat_id|to|recipient", chat))
    return _make(conversation, "message|send_message", wanted)


def _web(text: str, conversation: Conversation) -> Intent | None:
    match = find(r"^(?:fetch|get|open|read|download)\s+(https?://\S+)", text)
    if match:
        return _make(conversation, "web_fetch", [("url", match.group(1).rstrip(".,"))])
    match = find(r"^search\s+(?:the\s+)?(?:web|internet)\s+for\s+(.+)$", text)
    if match:
        return _make(conversation, "web_search", [("query|q", _clean(match.group(1)))])
    match = find(
        r"^(?:search|look in)\s+(?:my\s+|the\s+|your\s+)?(?:memory|notes)\s+for\s+(.+)$", text
    )
    if match:
        return _make(conversation, "search_memory", [("query|q", _clean(match.group(1)))])
    return None


def _pin(text: str, conversation: Conversation) -> Intent | None:
    match = find(
        r"^(?:set|switch|turn|drive)\s+(?:pin\s+)?(\w+)\s+(?:to\s+)?(on|off|high|low|1|0)\b", text
    )
    if match and "gpio" in conversation.tools:
        value = 1 if match.group(2).lower() in ("on", "high", "1") else 0
        return _make(
            conversation, "gpio", [("action", "write"), ("pin", match.group(1)), ("value", value)]
        )
    match = find(r"^read\s+pin\s+(\w+)", text)
    if match:
        return _make(conversation, "gpio", [("action", "read"), ("pin", match.group(1))])
    match = find(r"^scan\s+(?:the\s+)?(?:bus\s+)?(i2c\d)?", text)
    if match and "i2c" in conversation.tools:
        return _make(conversation, "i2c", [("action", "scan"), ("bus", match.group(1) or "i2c0")])
    return None


_RULES: tuple[Rule, ...] = (
    _call, _say, _spawn, _cron, _edit, _write, _append, _list, _web, _pin, _read, _message,
)  # fmt: skip


def long_text(size: int) -> str:
    """Return exactly `size` characters of numbered words, so that a missing piece is noticed."""
    words: list[str] = []
    length = 0
    while length < size:
        word = f"word{len(words) + 1} "
        words.append(word)
        length += len(word)
    return "".join(words)[:size]
