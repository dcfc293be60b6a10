# tenner agent.call_repair: puts the tool calls of a reply into the form that the rest expects.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.errors import Stopped
from tenner.llm import dialects
from tenner.llm.reply import Call
from tenner.log import log
from tenner.port.compat import const, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.types import Origin
    from tenner.llm.reply import Reply

_MAX_CALLS = const(16)
_MAX_ID = const(56)
_AS_TEXT = const("I have no answer: the model wrote a tool call as text, which does not run")
_BESIDE = const("\n\n(The model wrote a tool call as text, which does not run.)")
_LETTERS = const(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


async def repair(turn: "Origin", reply: "Reply") -> None:
    """
    Clean the names and arguments of the calls in `reply`, or turn its text into calls, if it is
    nothing else and all the tools exist. Raise Stopped for the markup of any other call.
    """
    names = turn.agent.get("registry").names(turn.kind)
    if reply.calls:
        reply.calls = _repaired(reply.calls, names)
    else:
        _from_text(reply, names)


def _repaired(calls, names):
    found = []
    for call in calls:
        name = tool(call.name, names) or call.name
        if name != call.name:
            log("llm", "the call of %s is taken as %s" % (call.name, name))
        texts = [None]
        if call.arguments_text is not None:
            texts = dialects.arguments(call.arguments_text)
        for number, text in enumerate(texts):
            if len(found) >= _MAX_CALLS and len(texts) > 1:
                text = None
            id = "%s_%d" % (call.id[:_MAX_ID], number) if number else call.id
            found.append(Call(id, name, text))
            if not number:
                found[-1].extra = call.extra
    return found


def _from_text(reply, names):
    text = reply.text.strip()
    found = dialects.calls(text)
    if found and not reply.kept:
        calls = []
        for number, (name, arguments) in enumerate(found[0][:_MAX_CALLS]):
            known = tool(name, names)
            if not known:
                break
            calls.append(Call("call_%x_%d" % (ticks_ms(), number), known, arguments))
        else:
            log("llm", "the model wrote its tool calls as text")
            reply.text = ""
            reply.calls = calls
            reply.stop = "tools"
            return
    place = 0 if found and found[1] else dialects.mark(text)
    if place >= 0:
        words = text[:place].strip()
        log("llm", "the model wrote a tool call as text: %s" % text[place : place + 200])
        if reply.kept:
            reply.text = words + _BESIDE
        else:
            raise Stopped(_AS_TEXT + (", after these words: " + words if words else "."))


def tool(name: str, names: list[str]) -> str | None:
    """
    Return the tool that a name with decorations means, such as `functions.list_dir` or
    `list_dir<|channel|>commentary`; None unless exactly one remains.
    """
    if name in names:
        return name
    while "<|" in name:
        before, _, rest = name.partition("<|")
        name = before + " " + rest.partition("|>")[2]
    # As bytes: each letter of a text would become a name that MicroPython keeps.
    letters = [bytes((c,)) if c in _LETTERS else b" " for c in name[:200].encode()]
    words = str(b"".join(letters), "utf-8").split()
    for form in (_same, _lower, _bare):
        found = [known for known in names if known in [form(word) for word in words]]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _same(word):
    return word


def _lower(word):
    return word.lower().replace("-", "_")


def _bare(word):
    for prefix in ("functions_", "default_api_", "tools_", "tool_"):
        if word.startswith(prefix):
            return word[len(prefix) :]
    return word
