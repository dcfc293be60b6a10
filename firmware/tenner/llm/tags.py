# tenner llm.tags: removes reasoning and the marks of chat formats from a model's text.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A server without the right parser passes on the hidden parts of a model's template: reasoning
between <think> and </think> and their like, and marks such as <|im_end|>. The text comes in
pieces that may be cut anywhere. A tag that the answer quotes stays.
"""

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.llm.types import Tagged

_LONGEST = const(40)  # bytes of a tag
_LINE = const(120)  # characters of the last line of reasoning
_LONGEST_HEADER = const(120)
_LOST = const(400)  # characters of text behind a tag that no other closes
_IN_SENTENCE = (" ", ",", ".", ";", ":", ")")

_REASONING = const(
    " think thinking thought thoughts reasoning reflection analysis scratchpad antthinking "
    "unused94 "
)
# Tags around the answer that follows reasoning.
_AROUND = const(" answer response output final solution ")
# Marks without bars around them.
_ENDS = const(" </s> <eos> <end_of_turn> <start_of_turn> <turn|> <eot> ")
# Marks with bars that belong to tool calls, which llm.dialects reads.
_CALLS = const("tool python action plugin channel message constrain call sep")

_NONE = const(0)
_OPEN = const(1)
_CLOSE = const(2)
_END = const(3)
_WRAP = const(4)


def take(reply: "Tagged", piece: str) -> None:
    """Take a piece of text that may have a tag, or comes after the beginning of one."""
    text = reply.held + piece
    reply.held = ""
    while text:
        start = _first(text)
        if start:
            _put(reply, text[:start])
            text = text[start:]
            continue
        if text[:9] == "<|start|>" or text[:11] == "<|channel|>":
            size = text.find("<|message|>") + 11
            if size < 11:
                if len(text) < _LONGEST_HEADER:
                    reply.held = text
                    return
                size = 9
            _header(reply, text[:size])
            text = text[size:]
            continue
        size = _size(text)
        if not size:
            reply.held = text
            return
        tag = text[:size]
        kind = _kind(tag)
        if kind == _END and not reply.thinking:
            rest = text[size:].lstrip(" ")
            if not rest:
                # Only the next character shows whether it ends the answer.
                reply.held = text
                return
            if not reply.size():
                text = rest  # a mark before the answer
                continue
            if rest[0] in "\n\r<" and not _quoted(reply):
                reply.over = bool(reply.size())
                text = rest
                continue
            kind = _NONE
        if kind == _END and tag in ("<|end|>", "<|return|>"):
            reply.thinking = False
        elif kind == _NONE or not _act(reply, kind, tag):
            _put(reply, tag)
        text = text[size:]


def finish(reply: "Tagged") -> None:
    """End the text."""
    held, reply.held = reply.held, ""
    if _kind(held.strip()) == _END:
        reply.over = True
    elif held[:9] != "<|start|>" and held[:11] != "<|channel|>":
        _put(reply, held)
    lost = reply.lost
    if reply.thinking and lost and lost[lost.find(">") + 1 :][:1] in _IN_SENTENCE:
        # The answer only speaks of such a tag.
        reply.thinking = False
        reply.put(lost)


def _put(reply, text):
    if reply.thinking:
        reply.line = (reply.line + text).rpartition("\n")[2][-_LINE:]
        if reply.lost:
            reply.lost = "" if len(reply.lost) > _LOST else reply.lost + text
    else:
        reply.put(text)


def _first(text):
    """Return the place of the first character that may begin a tag, or the length."""
    first = len(text)
    for mark in ("<", "[", "\u25c1"):
        place = text.find(mark)
        if 0 <= place < first:
            first = place
    return first


def _size(text):
    """Return the length of the tag at the beginning of `text`; 1 if it is none, 0 if more must
    come."""
    end = text.find({"<": ">", "[": "]"}.get(text[0], "\u25b7"))
    inside = text[1 : min(end if end > 0 else len(text), _LONGEST)]
    if text[0] == "[":
        inside = inside.upper()
        if not ("THINK".startswith(inside) or "/THINK".startswith(inside)):
            return 1
    elif inside and (inside[0] in " \n0123456789=-" or "<" in inside or "\n" in inside):
        return 1
    if end < 0:
        return 1 if len(text) >= _LONGEST else 0
    return end + 1 if end < _LONGEST else 1


def _kind(tag):
    if " %s " % tag in _ENDS:
        return _END
    if tag == "<|channel>":
        return _OPEN
    if tag == "<channel|>":
        return _CLOSE
    inside = tag[1:-1].replace("\uff5c", "|").replace("\u2581", "_")
    name = inside.strip("|/ ").lower().split(" ")[0]
    # Some have the name of a model before, or a number: </M2_7think>.
    words = name.replace(":", "_").split("_")
    base = " %s " % words[-1].strip("0123456789")
    if name == "unused94" or name == "unused95":
        return _OPEN if name == "unused94" else _CLOSE
    closes = inside.strip("| ")[:1] == "/" or words[0] == "end"
    if len(base) > 2 and base in _REASONING:
        return _CLOSE if closes else _OPEN
    if len(base) > 2 and base in _AROUND:
        return _WRAP
    if (
        len(inside) > 2
        and inside[0] == inside[-1] == "|"
        and not any(word in name for word in _CALLS.split())
    ):
        return _END
    return _NONE


def _act(reply, kind, tag):
    """Begin or end the reasoning at a tag; return False for one that is only text."""
    if kind == _OPEN:
        if not reply.thinking and not _quoted(reply):
            reply.thinking = True
            reply.lost = tag if reply.draft()[-1:] == " " else ""
        return reply.thinking
    if kind == _CLOSE:
        if not reply.thinking:
            if _quoted(reply) or reply.closed and reply.draft()[-1:] == " ":
                return False
            # Some servers drop the opening tag: then all before the closing one is reasoning.
            reply.forget()
        elif reply.line[-1:] == "`" and reply.line.count("`") % 2:
            return True  # the reasoning quotes it
        reply.thinking = False
        reply.closed = True
        reply.lost = ""
        return True
    # Tags around the answer mean something only after reasoning.
    return reply.closed and not _quoted(reply)


def _quoted(reply):
    """Return whether the text so far ends inside a quotation or code."""
    before = reply.draft()
    line = before[before.rfind("\n") + 1 :]
    last = line[-1:]
    if (before.count("```") + reply.fences) % 2 or line.count("`") % 2:
        return True
    return last != "" and last in "\"'\u201c\u2018"


def _header(reply, header):
    """Take the header of a message, as gpt-oss writes it."""
    if " to=" in header or header[-11:] != "<|message|>":
        _put(reply, header)  # of a tool call
    else:
        reply.thinking = "analysis" in header or "commentary" in header
        reply.closed = True
