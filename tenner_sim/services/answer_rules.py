"""The offline model's fixed rules, from a request to its answer.

It is a pure function of the request: the same request always gets the same answer, which depends
on nothing but the request's own texts and tools.
"""

from __future__ import annotations

import re

from . import intent_rules, readings
from .conversation import Answer, Conversation, ToolCall
from .intent import Intent, fit

SILENCE = "HEARTBEAT_OK"

_FAILED = re.compile(
    r"\b(error|failed|refused|denied|no answer|not found|invalid|timed? ?out|unknown|stuck)\b",
    re.I,
)
_TELL = re.compile(r"\b(what|how|which|tell|report|say|send me|give me|let me know)\b", re.I)
_ADVICE = re.compile(
    r"\b(?:tell me|tell us|say|warn me|remind me|ask me|alert me)\s+(?:that\s+|to\s+)?(.+?)\s*(?:[.;\n]|$)",
    re.I,
)


def decide(conversation: Conversation, *, obey: bool = False) -> Answer:
    """Answer a request; `obey` follows orders found in tool results, as a duped model would."""
    system, task = conversation.system, conversation.task()
    if not conversation.tools and _asks_summary(system, task):
        return Answer(_summary(conversation))
    beat = SILENCE in system or SILENCE in task
    if "heartbeat" in conversation.tools:
        return _decide_beat(conversation, task)
    # Each step keeps its source text, which holds its limits and its words for the answer.
    steps: list[tuple[str, list[Intent]]] = []
    for item in _items(task, beat):
        steps += [(item, step) for step in intent_rules.orders(item, conversation)]
    done = list(conversation.done())
    if obey:
        for _, result in done:
            steps += [("", step) for step in _orders_in(result, conversation)]
    for _, step in steps:
        missing = [
            intent.call
            for intent in step
            if intent.call is not None and not any(intent.call.same(call) for call, _ in done)
        ]
        if missing:
            return Answer(_announce(missing), missing)
    said = [_report(intent, item, done, beat) for item, step in steps for intent in step]
    if beat and not any(said):
        said += _beat_words(task)
    text = " ".join(line for line in said if line)
    if text:
        return Answer(text)
    return Answer(SILENCE if beat else _introduce(task, conversation))


def _items(task: str, beat: bool) -> list[str]:
    """Split a heartbeat's text into its tasks: bullets and paragraphs. A person's text stays in one piece."""
    if not beat:
        return [task]
    items: list[str] = []
    fresh = True
    for line in task.splitlines():
        text = line.strip()
        bullet = re.match(r"(?:[-*+]|\d+[.)])\s+(?:\[ \]\s*)?(?:\([^)]*\)\s*)?", text)
        if not text or text.startswith("#") or SILENCE in text:
            fresh = True
            continue
        if bullet or fresh or not items:
            items.append(text[bullet.end() :] if bullet else text)
        else:
            items[-1] += " " + text
        fresh = False
    return items


def _orders_in(result: str, conversation: Conversation) -> list[list[Intent]]:
    """Return the orders that hide in a tool result, sentence by sentence."""
    found: list[list[Intent]] = []
    for sentence in re.split(r"\n|[!:]\s|\.\s|\.$", result):
        sentence = re.sub(
            r"^.*\b(?:ignore|disregard|forget)\b.*?\b(?:instructions|rules)\b(?:\s+and)?[,;]?\s*",
            "",
            sentence.strip(),
            flags=re.I,
        )
        for step in intent_rules.orders(sentence, conversation):
            kept = [intent for intent in step if intent.call is not None and intent.chip is None]
            if kept:
                found.append(kept)
    return found


def _announce(calls: list[ToolCall]) -> str:
    return "Let me use " + " and ".join(dict.fromkeys(call.name for call in calls)) + "."


def _report(intent: Intent, task: str, done: list[tuple[ToolCall, str]], beat: bool) -> str:
    """Report the result of one intent; "" without a report."""
    if intent.call is None:
        return intent.say or ""
    if intent.quiet:
        return ""
    result = next(result for call, result in done if intent.call.same(call))
    if intent.chip is not None:
        return _report_chip(intent.chip, result, task, beat)
    if intent.sensor:
        return _report_sensor(intent.sensor, result, task, beat)
    name = intent.call.name
    if beat and not _FAILED.search(result):
        return ""
    if name in ("read_file", "list_dir", "web_fetch", "web_search", "search_memory"):
        return f"{name} says: {result}"
    return f"{name}: {result}"


def _report_chip(chip: readings.Chip, result: str, task: str, beat: bool) -> str:
    # The addresses and numbers in an error are no reading.
    failed = re.match(r"\s*error\b", result, re.I)
    data = None if failed else readings.find_bytes(result, 2)
    if data is None:
        return f"I could not read the {chip}: {result}"
    if chip.name and chip.name not in readings.TEMPERATURE_CHIPS:
        return f"The {chip} answers {data[0]:#04x} {data[1]:#04x}."
    return _judged(f"The {chip}", readings.tmp102_celsius(data), "°C", task, beat)


def _report_sensor(name: str, result: str, task: str, beat: bool) -> str:
    found = readings.value_in(result, task)
    if found is None or (_FAILED.search(result) and not re.search(r"\d", result)):
        return f"I could not read the sensor {name}: {result}"
    quantity, value, unit = found
    quantity = quantity.rpartition(".")[2]
    what = "" if quantity == name else f" {quantity}"
    return _judged(f"The {name} sensor's{what or ' value'}", value, unit, task, beat)


def _judged(subject: str, value: float, unit: str, task: str, beat: bool) -> str:
    """State a value, compared with the limit in the task if there is one."""
    verb = "reads" if " at 0x" in subject else "is"
    sentence = f"{subject} {verb} {value:.4f}".rstrip("0").rstrip(".") + (
        f" {unit}" if unit else ""
    )
    verdict = readings.judge(value, task, unit)
    if verdict is None:
        return "" if beat and not _TELL.search(task) else sentence + "."
    if not verdict.crossed:
        return "" if beat else f"{sentence}, {verdict.words}."
    return f"{sentence}, {verdict.words}.{_advice(task)}"


def _advice(task: str) -> str:
    """Repeat the task's own words for the answer, if it has any."""
    match = _ADVICE.search(task)
    if match is None:
        return ""
    words = match.group(1).strip(" \"'`“”")
    if len(words.split()) < 2 or re.match(
        r"(?:if|when|what|so|about it|the (?:value|temp))\b", words, re.I
    ):
        return ""
    return f" {words[0].upper()}{words[1:]}."


def _beat_words(task: str) -> list[str]:
    """State the words of a beat's tasks that need no tool: reminders, and readings in the text."""
    said = []
    for name, value, line in readings.given(task):
        unit = "°C" if "°C" in line else ""
        verdict = readings.judge(value, line, unit)
        words = f", {verdict.words}" if verdict else ""
        advice = "".join(_advice(item) for item in _items(task, True))
        if not advice and verdict and re.search(r"\bwhat to do\b", task, re.I):
            advice = (
                " Find the cause of its rise."
                if "above" in words
                else " Find the cause of its drop."
            )
        said.append(f"{name} is {value:g}{' ' + unit if unit else ''}{words}.{advice}")
    for item in _items(task, True):
        match = re.match(r"remind me\s+(?:to\s+|about\s+|of\s+)?(.+?)\.?$", item, re.I)
        if match:
            said.append(f"Reminder: {match.group(1)}.")
    return said


def _decide_beat(conversation: Conversation, task: str) -> Answer:
    """Answer the cheap question of decide mode: is there anything to do?"""
    tool = conversation.tools["heartbeat"]
    numbered = re.findall(r"^\s*(\d+)[.)]\s+(.+)$", task, re.M)
    items = numbered or [(str(n), item) for n, item in enumerate(_items(task, True), 1)]
    if not readings.given(task):
        items = [one for one in items if _is_task(one[1], conversation)]
    if not items:
        return Answer("", [ToolCall("heartbeat", fit(tool, [("action", "skip")]))])
    kind = tool.properties.get("tasks", {}).get("type")
    chosen = (
        [int(number) for number, _ in items] if kind == "array" else "\n".join(t for _, t in items)
    )
    return Answer("", [ToolCall("heartbeat", fit(tool, [("action", "run"), ("tasks", chosen)]))])


def _is_task(item: str, conversation: Conversation) -> bool:
    if re.match(r"(?:remind|tell|check|look|read|compare|report)\b", item, re.I):
        return True
    return bool(intent_rules.orders(item, conversation))


def _asks_summary(system: str, task: str) -> bool:
    return bool(
        re.search(
            r"\b(?:summari[sz]e|summary|compress (?:a|the|this) conversation)\b", system, re.I
        )
        or re.match(r"\s*(?:please\s+)?summari[sz]e\b", task, re.I)
    )


def _summary(conversation: Conversation) -> str:
    """Return a short summary: the start of each given text."""
    lines = []
    for message in conversation.messages:
        text = " ".join(message.text.split())
        if text and message.role != "tool":
            who = "user" if message.role == "user" else "assistant"
            lines.append(f"{who}: {text[:80]}")
    return "Summary of the conversation: " + ("; ".join(lines)[:600] or "nothing was said") + "."


def _introduce(task: str, conversation: Conversation) -> str:
    heard = " ".join(task.split())[:80]
    offered = ", ".join(conversation.tools) or "none"
    return (
        "I am the offline stand-in for a language model and follow fixed rules. "
        f"I heard: “{heard}”. Tools on offer: {offered}."
    )
