"""Requests for readings: of named sensors, or of a chip on a bus."""

from __future__ import annotations

import re

from . import readings
from .conversation import Conversation, Tool, ToolCall
from .intent import Intent, find, fit


def read_sensors(text: str, conversation: Conversation) -> list[Intent]:
    """Read each named sensor in the text; ask for the names if it names none."""
    tool = conversation.tools.get("sensor")
    if tool is None:
        return []
    listing = ToolCall("sensor", fit(tool, [("action", "list")]))
    if find(r"^(?:list|which|what)\b.*\bsensors\b", text):
        return [Intent(listing)]
    brought = [name.partition(".")[0] for name, _, _ in readings.given(conversation.task())]
    names = [name for name in _sensor_names(text, tool) if name not in brought]
    if not names and find(_MEASURED, text) and not _knows_better(text, conversation):
        listed = next((result for call, result in conversation.done() if call.same(listing)), None)
        if listed is None:
            return [Intent(listing, quiet=True)]
        known = re.findall(r"[A-Za-z_][\w-]*", listed.partition(";")[0])
        known = [] if known[:1] in (["none"], ["error"]) else known
        names = [name for name in known if find(rf"\b{re.escape(name)}\b", text)] or known[:1]
    return [
        Intent(
            ToolCall("sensor", fit(tool, [("action", "read"), ("name|sensor", name)])), sensor=name
        )
        for name in names
    ]


_MEASURED = (
    r"\b(temperature|humidity|pressure|light|moisture|level|voltage|warm|hot|cold|degrees)\b"
)


def _knows_better(text: str, conversation: Conversation) -> bool:
    """Return whether the value came with the task, or its chip is known and readable."""
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
        named = [name for name in listed if find(rf"\b{re.escape(str(name))}\b", text)]
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


def read_chips(text: str, conversation: Conversation) -> list[Intent]:
    """Read register 0 of the chips that the text is about."""
    tool = conversation.tools.get("i2c")
    if tool is None or (not readings.chips(text) and readings.given(conversation.task())):
        return []  # The readings came with the task.
    intents = []
    for chip in readings.chips_meant(text, conversation.system):
        wanted = [
            ("action", "read"),
            ("bus", chip.bus),
            ("address", chip.address),
            ("register", 0),
            ("length", 2),
        ]
        intents.append(Intent(ToolCall("i2c", fit(tool, wanted)), chip=chip))
    return intents
