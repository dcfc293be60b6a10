# tenner tools.wording: writes the question to the owner about a tool call.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The first line asks in plain words and names the origin of the call, the second has the exact
action, and further lines the content. No text of a call can pass for another line: each line but
the first begins with a mark of its own.
"""

from tenner.log import is_plain, visible
from tenner.port.compat import const
from tenner.tools.untrusted import SOMEBODY, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import Turn

#: Before the exact action.
EXACTLY = const("\nExactly: ")

_SOURCES = {
    "heartbeat": "a task of HEARTBEAT.md",
    "cron": "a job of CRON.json",
    "spawn": "a background task",
}
_NOW = const("(now: ")  # at the end of a person's text, see agent.answer
_TIME = const(5)


def question(turn: "Turn", name: str, action: "str | tuple[str, ...]") -> str:
    """Return the question about `action`, the result of `approval` of the tool `name`."""
    if isinstance(action, str):
        action = (action, "use the tool %s" % name)
    text = "May I %s? Asked for by %s.%s No answer in 10 minutes is a no.%s%s" % (
        visible(action[1]),
        _origin(turn),
        " Text of others was read for it." if turn.untrusted_input else "",
        EXACTLY,
        visible(action[0]),
    )
    return text if len(action) < 3 else text + quoted(action[2])


def exact(question: str) -> str:
    """Return the exact action of a question, without the content."""
    return question.split("\n", 2)[1][len(EXACTLY) - 1 :].rstrip(":")


def arguments(text: str) -> str:
    """Return the JSON of a call's arguments as words, for the log and for people."""
    text = text.replace('"action":', "").replace('":', " ").replace('"', "")
    return " ".join(text.strip("{} \n").split())


def named(kind: str, name: str) -> str:
    """Return `kind name`, or `a kind` for a name that could be read as a part of the question."""
    return "%s %s" % (kind, name) if is_plain(name.replace("/", "")) else "a " + kind


def _origin(turn):
    """Return the origin of a call: a person's message with its time, or the schedule."""
    if turn.kind in _SOURCES:
        return _SOURCES[turn.kind]
    text = turn.text
    when = text[text.rfind(_NOW) :].rstrip(")")[-_TIME:]
    when = " of " + when if when[2:3] == ":" else ""
    if text.startswith("(" + SOMEBODY):
        return "a guest's message%s (%s:%s)" % (when, turn.channel, turn.chat)
    return "your message" + when
