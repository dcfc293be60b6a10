# tenner llm.chat_completions: a request in OpenAI's format, which many servers accept.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.llm import records
from tenner.net.json.writer import escape, escaped, quote
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.llm.types import Candidate, Request


_USER = b'{"role":"user","content":"'
_ASSISTANT = b'{"role":"assistant","content":"'
_CONTENT = b',"content":"'
# Behind the arguments of a call whose signature is not known; Gemini documents this value.
_SIGNATURE = (
    b',"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}'
)
_IMAGE = b',{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:%s;base64,'


def target(candidate: "Candidate") -> tuple[str, list[tuple[str, str]]]:
    """Return (URL, headers) of a request to `candidate`."""
    headers = [("Content-Type", "application/json")]
    if candidate.api_key:
        headers.append(("Authorization", "Bearer " + candidate.api_key))
    return candidate.base_url.rstrip("/") + "/chat/completions", headers


def body(candidate: "Candidate", request: "Request") -> "Iterator[bytes]":
    """Yield the request's body. The order of the keys is fixed; the variable parts come last."""
    yield b'{"model":' + quote(candidate.model)
    quirks = getattr(request, "quirks", "")
    yield b',"stream":true'
    if "o" not in quirks:
        yield b',"stream_options":{"include_usage":true}'
    limit = records.max_tokens(candidate, request)
    if limit and "l" not in quirks:
        # Every compatible server accepts max_tokens; OpenAI's newer models reject it, and all
        # models of OpenAI accept the other name.
        own = ("api.openai.com" in candidate.base_url) != ("m" in quirks)
        yield b',"max_completion_tokens":%d' % limit if own else b',"max_tokens":%d' % limit
    yield b',"messages":[{"role":"system","content":"'
    yield from escaped(request.system())
    yield from _messages(candidate, request, quirks)
    opening = b',"tools":['
    for first, block in files.blocks_of(request.tools()):
        if first:
            block = opening + b'{"type":"function","function":' + block
            opening = b"},"
        yield block
    yield b"}]}" if opening == b"}," else b"}"


def _messages(candidate, request, quirks):
    """Close the system message and yield the messages of the history."""
    # Neighbors of the user role become one message: some models' templates reject two in a row.
    # A message stays open until the next line is known; `ending` closes it.
    ending = b'"}'
    role = ""  # the kind of the open message: u, a, t, o before its text, or c once it has calls
    skip = False
    # Of each message, and the end of its first call.
    assistant, call_end = _forms(quirks) if quirks else (_ASSISTANT, b'"}}]}')
    splitter = records.Splitter()
    for piece in request.records():
        end = role != "o" and records.dialog_end(piece, role)
        if end:
            yield ending + b"," + _dialog(piece, assistant)
            role = end
            ending = b'"}'
            continue
        for line, part, _ in splitter.parts(piece):
            if line:
                kind, id, name = line
                skip = False
                if quirks or kind in "ox" or role == "o":
                    skip, id = records.own(line, candidate, quirks)
            if skip:
                continue
            if line:
                before = ending
                fields = kind in "ox" or role == "o" and kind == "a"
                if fields or role == "o":
                    before, role, ending = _around_fields(kind, role, ending)
                    if not fields:
                        yield before
                        before = ending
                if fields:
                    pass
                elif kind == "c":
                    if role == "c":
                        before = before[:-2] + b","
                    elif role == "a":
                        before = b'","tool_calls":['
                    else:
                        before += b"," + assistant + b'","tool_calls":['
                    before += b'{"id":%s,"type":"function","function":{"name":%s,"arguments":"' % (
                        id,
                        name,
                    )
                    part = escape(part)
                    ending = b'"}}]}' if role == "c" else call_end
                    role = "c"
                elif kind == "i":
                    if role == "u":
                        # A summary; it cannot share the message, whose content is a list.
                        before += b"," + assistant + b'(noted)"}'
                    yield before + _IMAGE % id[1:-1]
                    yield from records.base64(part)
                    before = b""
                    part = b'"}},{"type":"text","text":"'
                    role = "u"
                    ending = b'"}]}'
                elif kind in "at" or role != "u":
                    if kind == "t":
                        before += b',{"role":"tool","tool_call_id":%s,"content":"' % id
                    elif kind == "a":
                        before += b"," + assistant
                    else:
                        kind = "u"
                        before += b"," + _USER
                    role = kind
                    ending = b'"}'
                else:
                    # The text of a picture is empty so far.
                    before = b"\\n\\n" if ending == b'"}' else b""
                part = before + part
            elif kind == "c":
                part = escape(part)
            yield part
    yield ending + b"]"


def _forms(quirks):
    """Return the beginning of the assistant's messages, and the end of a first call that has no
    signature."""
    assistant = _ASSISTANT
    if "r" in quirks:
        assistant = assistant.replace(b"content", b'reasoning_content":"","content')
    return assistant, b'"}%s}]}' % (_SIGNATURE if "g" in quirks else b"")


def _around_fields(kind, role, ending):
    """Return (bytes before a line of fields, or behind the last one; the role and the ending of
    the message from there on)."""
    if kind == "o":
        before = b"," if role == "o" else ending + b',{"role":"assistant",'
        return before, "o", _CONTENT + b'"}'
    if kind == "x":
        return b'"},', role, b"}]}"
    return _CONTENT, "a", b'"}'


def _dialog(piece, assistant):
    """Return the messages of a dialog; the last stays open."""
    start = _USER if piece[2:3] == b"u" else assistant
    piece = piece[6:-3].replace(b'"]\n["u","', b'"},' + _USER)
    return start + piece.replace(b'"]\n["a","', b'"},' + assistant)
