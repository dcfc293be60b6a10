# tenner page.conversation: the conversation of a chip's page, on flash.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner import log
from tenner.agent.history_lines import calls_of
from tenner.agent.message_queue import Message
from tenner.channels.console import KEPT
from tenner.channels.question import Question
from tenner.page.request import Refused
from tenner.port.compat import const
from tenner.store import files
from tenner.store.appendlog import AppendLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.page.types import Talk

_FILE = "/page.jsonl"
_MAX_BYTES = const(8192)
#: Characters of a message; a longer text is several.
_LONGEST = const(800)
#: Milliseconds after which a browser asks for further events.
_AGAIN_MS = const(4000)


def question(page: "Talk", text: str) -> Question:
    """Return a new question to the owner; its number is that of its event."""
    page.count = _count(page) + 1
    return Question(log.visible(log.redact(text), KEPT))


def show(page: "Talk", chat: int | str, text: str) -> None:
    """Keep an answer, or a message to the owner."""
    is_answer = chat == page.chat
    failed = is_answer and page.failed
    tools = ()
    if is_answer:
        tools, page.lines = calls_of(page.lines), ()
    text = log.visible(log.redact(text), KEPT)
    while text:
        cut = len(text) if len(text) <= _LONGEST else text.rfind("\n", 1, _LONGEST) + 1 or _LONGEST
        _add(page, "agent", text[:cut], failed, tools)
        text = text[cut:]
        tools = ()
    if is_answer:
        page.waits = page.failed = False


def say(page: "Talk", text: str) -> None:
    """Pass a person's words to the agent."""
    if page.waits:
        raise Refused(409, "the agent has not answered yet")
    inbox = page.app.inbox
    if len(inbox) >= inbox.limit:
        raise Refused(503, "the board has enough to do: try again in a moment")
    try:
        _add(page, "you", text, False)
    except OSError as error:
        raise Refused(
            507, "I cannot keep your words (%s): delete files, then say it again" % error
        )
    inbox.put_nowait(Message(page.name, page.chat, text, page.chat))
    page.waits = True


def answer(page: "Talk", yes: bool) -> None:
    """Answer the agent's question."""
    if page.question is None:
        raise Refused(409, "the agent asks nothing now")
    page.question.resolve(yes)
    page.question = None
    try:
        _add(page, "you", "yes" if yes else "no", False)
    except OSError as error:
        log.log("page", "an answer is not kept: %s" % error)


async def send(page: "Talk", connection: "Connection", status: int) -> None:
    """Send the conversation."""
    found = {
        "messages": _messages(page),
        "question": page.question.text if page.question else None,
        "waiting": page.waits,
    }
    await connection.answer(status, found)


async def follow(page: "Talk", connection: "Connection", request: "Request") -> None:
    """
    Send the events behind that of the header Last-Event-ID, and end: a browser asks again, as it
    does for a lost connection. Without the header there is none.
    """
    after = request.headers.get("last-event-id", "")
    last = int(after) if after.encode().isdigit() and len(after) < 10 else _count(page)
    await connection.start(200, "text/event-stream", ("Cache-Control: no-store",))
    await connection.put("retry: %d\n\n" % _AGAIN_MS)
    if last > _count(page):
        last = 0
    for message in _messages(page):
        number = message["number"]
        if number > last:
            event = {"id": number, "type": "chat", "at": message["time"], "message": message}
            await _put(connection, event)
    if page.question and _count(page) > last:
        event = {"id": _count(page), "type": "question", "at": page.app.clock.now()}
        event["text"] = page.question.text
        await _put(connection, event)
    elif after == "":
        await connection.put("id: %d\n\n" % last)
    await connection.flush()


async def _put(connection, event):
    await connection.put("id: %d\nevent: %s\ndata: " % (event["id"], event["type"]))
    await connection.put_value(event)
    await connection.put("\n\n")


def last_event(page: "Talk") -> int:
    """Return the number of the newest event."""
    return _count(page)


def _count(page: "Talk") -> int:
    if page.count is None:
        found = AppendLog(_path(page), _MAX_BYTES).tail(1)
        page.count = found[0].get("number", 0) if found else 0
    return page.count


def _add(page, who, text, failed, tools=()):
    number = _count(page) + 1
    message = {
        "number": number,
        "who": who,
        "text": text,
        "failed": failed,
        "time": page.app.clock.now(),
    }
    if tools:
        message["tools"] = tools
    AppendLog(_path(page), _MAX_BYTES).append([message])
    page.count = number


def _messages(page: "Talk") -> "Any":
    """Yield the kept messages, oldest first."""
    path = _path(page)
    if files.exists(path):
        for line in files.lines_of(files.blocks(path)):
            try:
                # The last line may be torn, and MicroPython's reader accepts some cut-off texts.
                if line[-1:] == b"}":
                    yield json.loads(line.decode())
            except ValueError:
                continue


def _path(page):
    return page.app.state + _FILE
