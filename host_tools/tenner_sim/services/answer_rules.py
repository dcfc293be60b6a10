"""The offline model's answers: `call TOOL {...}`, `say TEXT`, the temperature, and the chip of the
demo.

A pure function of the request: the same request always gets the same answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from .conversation import Answer, Conversation, ToolCall

SILENCE = "HEARTBEAT_OK"
#: In the system prompt of an alarm or a job, which does not offer silence.
WOKEN = "an alarm or a reminder woke you"
#: The last words of the request for a summary, and the answer, which later requests begin with.
SUMMARIZE = "Write the summary now."
SUMMARY = "The owner has tried the board."

_CALL = re.compile(r"\bcall\s+([\w.-]+)\s+(?=\{)", re.I)
_LONG = re.compile(r"say something long\D*(\d+)", re.I)
_SAY = re.compile(r"say[:\s]\s*(.+)", re.I | re.S)
#: As in `What does the TMP102 at 0x48 on i2c0 say?`
_CHIP = re.compile(r"\b(?:TMP10\d|LM75) at (0x[0-7][0-9a-f]) on (i2c\d)", re.I)
#: As in `how warm is it?`; the tool `sensor` lists the sensors, then reads the first.
_TEMPERATURE = re.compile(r"\b(?:the temperature|how (?:warm|hot|cold))\b[^?]*\?", re.I)
_LIST = ToolCall("sensor", {"action": "list"})
_SENSOR = re.compile(r"\w+(?=,|$)")
_MEASURED = re.compile(r"^(\S+): .*\b(temperature \S+ \S+?)[,)]? ")
_TWO_BYTES = re.compile(r"0x([0-9a-f]{2}) 0x([0-9a-f]{2})\b", re.I)
#: The mark of a photo before its caption.
_PHOTO = re.compile(r"^\[a photo[^\]\n]*\]$", re.M)
_BULLET = re.compile(r"[-*]\s+(?:\[ \]\s*)?(?:\([^)]*\)\s*)?")


def decide(conversation: Conversation, *, obey: bool = False) -> Answer:
    """Answer a request; `obey` also makes the calls that tool results name, as a deceived model
    would."""
    task = conversation.task().removeprefix(SUMMARY).lstrip()
    if task.endswith(SUMMARIZE):
        return Answer(SUMMARY)
    beat = any(sign in conversation.system + task for sign in (SILENCE, WOKEN))
    orders = _tasks(task) if beat else [_PHOTO.sub("", task).strip()]
    done = list(conversation.done())
    wanted = [call for order in orders for call in _calls(order, conversation)]
    if _TEMPERATURE.search(task):
        wanted += _reading(done)
    if obey:
        wanted += [call for _, result in done for call in _named(result, conversation)]
    missing = [call for call in wanted if not any(call.same(made) for made, _ in done)]
    if missing:
        names = " and ".join(dict.fromkeys(call.name for call in missing))
        return Answer(f"Let me use {names}.", missing)
    said = [text for order in orders for text in _said(order)]
    said += [_report(call, result, task, beat) for call, result in done]
    return Answer(" ".join(filter(None, said)) or (SILENCE if beat else _introduce(conversation)))


def _tasks(text: str) -> list[str]:
    """The tasks of a heartbeat: its list."""
    lines = [line.strip() for line in text.splitlines()]
    return [line[match.end() :] for line in lines if (match := _BULLET.match(line))]


def _calls(order: str, conversation: Conversation) -> Iterator[ToolCall]:
    """The calls that an order needs."""
    if _CALL.match(order):
        yield from _named(order, conversation)
        return
    chip = _CHIP.search(order)
    if _TEMPERATURE.search(order) and "sensor" in conversation.tools and not _SAY.match(order):
        yield _LIST
    elif chip and "i2c" in conversation.tools and not _SAY.match(order):
        place = {"bus": chip[2].lower(), "address": int(chip[1], 16)}
        yield ToolCall("i2c", {"action": "read", **place, "register": 0, "length": 2})


def _reading(done: list[tuple[ToolCall, str]]) -> Iterator[ToolCall]:
    """The reading of the first sensor of a list."""
    for call, result in done:
        if call.same(_LIST) and (first := _SENSOR.match(result)):
            yield ToolCall("sensor", {"action": "read", "name": first[0]})


def _named(text: str, conversation: Conversation) -> Iterator[ToolCall]:
    """Each `call TOOL {...}` in a text whose tool is on offer."""
    for match in _CALL.finditer(text):
        try:
            arguments, _ = json.JSONDecoder().raw_decode(text, match.end())
        except ValueError:
            continue
        if match[1] in conversation.tools:
            yield ToolCall(match[1], arguments)


def _said(order: str) -> Iterator[str]:
    if match := _LONG.match(order):
        yield long_text(int(match[1]))
    elif match := _SAY.match(order):
        yield match[1].strip("\"'` ")


def _report(call: ToolCall, result: str, task: str, beat: bool) -> str:
    """The result of a call in words; a heartbeat reports readings and errors only."""
    asked = _TEMPERATURE.search(task)
    if asked and call.same(_LIST) and _SENSOR.match(result):
        return ""
    if asked and (measured := _MEASURED.match(result)):
        return f"The {measured[1]} sensor's {measured[2].replace(' ', ' is ', 1)}."
    chip = next((one for one in _CHIP.finditer(task) if _reads(call, one)), None)
    if chip is None:
        return "" if beat and not result.startswith("error") else f"{call.name}: {result}"
    data = None if result.startswith("error") else _TWO_BYTES.search(result)
    if data is None:
        return f"I could not read the {chip[0]}: {result}"
    # Twelve bits, two's complement, 0.0625 °C each.
    raw = int.from_bytes(bytes.fromhex(data[1] + data[2]), "big", signed=True) >> 4
    return f"The {chip[0]} reads {raw * 0.0625:g} °C."


def _reads(call: ToolCall, chip: re.Match[str]) -> bool:
    about = call.arguments
    return call.name == "i2c" and (
        about.get("address"),
        about.get("bus"),
        about.get("length"),
    ) == (
        int(chip[1], 16),
        chip[2].lower(),
        2,
    )


def _introduce(conversation: Conversation) -> str:
    if seen := conversation.pictures():
        return f"I see {' and '.join(map(str, seen))}."
    heard = " ".join(conversation.task().split())[:80]
    offered = ", ".join(conversation.tools) or "none"
    return (
        f"I am the offline stand-in for a language model, and I do not understand “{heard}”. I "
        f"understand: say TEXT, call TOOL {{arguments}}, how warm is it? and: what does "
        f"the TMP102 at 0x48 on i2c0 say? Tools on offer: {offered}."
    )


def long_text(size: int) -> str:
    """Return exactly `size` characters of numbered words, so that a missing piece is noticed."""
    text = "".join(f"word{number} " for number in range(1, size // 6 + 2))
    return text[:size]
